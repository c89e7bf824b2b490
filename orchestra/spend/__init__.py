"""Tokens and money: limits that are kept before they are broken."""
