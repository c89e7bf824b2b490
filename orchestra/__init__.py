"""A runtime for teams of role agents that research and then write, with every claim quoted."""
