"""Framing: bytes in, events out, no I/O."""

from .decoding import decode, frame
from .event import Event

__all__ = ["Event", "decode", "frame"]
