"""One agent at work on its task."""
