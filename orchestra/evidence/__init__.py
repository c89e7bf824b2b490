"""What may be claimed: sources, quotes, claims, the brief and the checked report."""
