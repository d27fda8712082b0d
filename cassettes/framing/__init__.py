"""Framing: bytes in, events out, no I/O."""

from .decoding import decode, frame
from .event import Event
from .json_batch import batch, messages

__all__ = ["Event", "batch", "decode", "frame", "messages"]
