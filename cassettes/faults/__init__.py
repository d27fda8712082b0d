"""Faults that a replay puts in place of a recorded answer."""
