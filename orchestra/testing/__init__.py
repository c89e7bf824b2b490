"""For tests, ours and users': recorded sessions that run again with no model and no network."""
