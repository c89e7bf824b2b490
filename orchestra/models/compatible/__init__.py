"""The adapter `openai`: any endpoint that speaks OpenAI's chat completions, more or less."""
