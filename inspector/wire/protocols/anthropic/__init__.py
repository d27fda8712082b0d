"""Anthropic: Messages and text completions."""
