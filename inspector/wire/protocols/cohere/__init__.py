"""Cohere: chat v1 and v2."""
