"""Faults that a replay injects in place of a recorded answer."""
