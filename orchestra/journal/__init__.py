"""WHAT HAPPENED: events, the store, blobs by hash, and what a prompt was."""
