"""Mistral's conversations: entries that the API keeps."""
