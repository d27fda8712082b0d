"""A run as one self-contained HTML page. It loads nothing, runs only its own script, and shows the same numbers as the
viewer in the terminal."""

from .page import report

__all__ = ["report"]
