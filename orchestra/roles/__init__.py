"""Role files: reading them, and saying what is wrong or unwise in them."""
