"""OpenAI Assistants."""
