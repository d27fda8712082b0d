"""A run without its prose and code, for sending to somebody else: every text becomes a neutral one of equal length."""

from .neutral_run import NeutralRun

__all__ = ["NeutralRun"]
