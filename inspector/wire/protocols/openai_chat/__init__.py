"""OpenAI Chat Completions and the APIs that speak it."""
