"""The native Ollama API: chat and generate."""
