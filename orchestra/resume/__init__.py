"""How a session goes on over its record: how it was started, what stands in for what is gone, who is told."""
