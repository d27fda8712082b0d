"""A run as one self-contained page: no network, no script but its own, all figures from the same values as the
inspector in the terminal."""

from .page import report

__all__ = ["report"]
