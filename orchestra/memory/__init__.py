"""What is known across sessions: facts about a user or a project by key, a project's past answers."""
