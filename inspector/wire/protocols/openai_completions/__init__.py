"""OpenAI Completions (legacy)."""
