"""Frozen values that pass between rooms. Nothing here does anything."""
