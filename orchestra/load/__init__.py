"""HOW IT HOLDS UP: a simulated endpoint to ask in place of a paid one."""
