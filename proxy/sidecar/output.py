"""The lines that the labeller process writes: a word and a JSON object."""

import json
import os
import sys
import threading
from collections.abc import Mapping

_lock = threading.Lock()
"""Held while a line is written: signs of life come from their own thread."""


def send(head: str, value: Mapping[str, object], *, now: bool = False) -> None:
    """Write a line; `now` sends it at once."""
    import orjson

    try:
        text = orjson.dumps(value)
    except TypeError:  # models emit lone surrogates, which no reader of the file takes, and integers beyond 64 bits
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    send_json(head, text, now=now)


def send_json(head: str, value: bytes, *, now: bool = False) -> None:
    """As `send`, for an object that is JSON already."""
    line = b"%s %s\n" % (head.encode(), value)
    with _lock:
        sys.stdout.buffer.write(line)
    if now:
        flush()


def flush() -> None:
    """Send what was written. Raises BrokenPipeError when nobody reads it, as the two above."""
    with _lock:
        sys.stdout.buffer.flush()


def discard() -> None:
    """Nobody reads: what is still to be sent goes nowhere, so that the end of the process does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
