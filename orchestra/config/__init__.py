"""Settings: their shape, where they come from, and which models were chosen and why."""
