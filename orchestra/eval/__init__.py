"""Whether a context holds what it has to: scenarios, the runner, the table."""
