"""What is asked of an endpoint, and when: one governor for each, shared by all sessions."""
