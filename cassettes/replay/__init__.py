"""Replay: the player, its record modes and pace, and the report of what was not as recorded."""
