"""Secrets: what they look like, how they are replaced before writing, and a check of files on disk."""
