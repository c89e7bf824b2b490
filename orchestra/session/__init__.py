"""One request: its agents, budget, deadline and events."""
