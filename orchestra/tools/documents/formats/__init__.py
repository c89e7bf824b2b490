"""One module for each family of document formats; `reading.py` says which file goes to which."""
