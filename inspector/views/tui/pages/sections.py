"""The titles of sections, and the gaps between them."""

from .blocks import Block, Spans
from .text_lines import lines


def rule(text: str, note: str = "", look: str = "accent") -> Spans:
    """The title of a section."""
    return [("━━ ", "faint"), (text, f"{look}"), (f"  {note}" if note else "", "dim")]


def gap(key: str) -> Block:
    """An empty line."""
    return Block(f"gap:{key}", (), lines(()))
