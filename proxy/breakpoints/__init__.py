"""Breakpoints: an answer is held before the client sees it, until a person passes, edits or refuses it."""
