"""Stand-ins for what left: structured, checked against the facts of what they cover, versioned."""
