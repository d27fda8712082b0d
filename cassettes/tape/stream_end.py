"""Whether a stream has reached its end: a client that hangs up right after it did not abort.

Only bytes are searched, near the end of what arrived and where its last event begins. Which bytes end a stream is a
trait of each API (`apis/interface.py`); those of all APIs count, since gateways translate one into another.
"""

import re
from collections.abc import Sequence

from ..apis.lookup import ends_an_answer, stream_ends

_TAIL = 1 << 20
"""How many bytes of the end of a stream are kept: OpenAI's last event holds the whole answer and all tools again."""
_NEAR = 4096
"""How far from its end a stream is searched."""
_NAME = 200
"""How far from its beginning the last event is."""


def ended(pieces: Sequence[bytes]) -> bool:
    """True when what arrived, in pieces, holds the end of a stream."""
    tail = _tail(pieces)
    whole = re.split(rb"\r?\n\r?\n", tail.rstrip())[-1]
    if any(terminal in place for place in (tail[-_NEAR:], whole[:_NAME]) for terminal in stream_ends()):
        return True
    return tail.endswith((b"\n\n", b"\r\n\r\n")) and ends_an_answer(whole)


def _tail(pieces: Sequence[bytes]) -> bytes:
    first, size = len(pieces), 0
    while first and size < _TAIL:
        first -= 1
        size += len(pieces[first])
    return b"".join(pieces[first:])[-_TAIL:]
