"""WHO ANSWERS: the port, its adapters, the tiers, and the wrappers around them."""
