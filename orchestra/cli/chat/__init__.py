"""`orchestra chat`: a conversation with one agent, in a terminal or through a pipe."""
