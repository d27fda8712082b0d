"""How the end of a stream looks, so that a client that hangs up right after it is not taken for a fugitive.

Only bytes are looked for, near the end of what arrived and where its last event begins; what they mean is the
inspector's to say.
"""

import re
from collections.abc import Sequence

_TAIL = 1 << 20
"""How much of the end of a stream is looked at: OpenAI's last event holds the whole answer and all tools again."""
_NEAR = 4096
"""How far from its end a stream is searched."""
_NAME = 200
"""How far from its beginning the last event is."""

TERMINALS: tuple[bytes, ...] = (
    b"data: [DONE]",
    b"data:[DONE]",
    b"response.completed",
    b"response.incomplete",
    b"response.failed",
    b"message_stop",
    b'"stop_reason":"',
    b"message-end",
    b'"done":true',
    b'"done": true',
    b"event: done",
    b"interaction.complete",
    b"messageStop",
    b"eyJ0eXBlIjoibWVzc2FnZV9zdG9w",  # `{"type":"message_stop` in a chunk of Bedrock's invoke
    b'"finishReason"',
    b'"finish_reason":"',
    b'"finish_reason": "',
)


def ended(pieces: Sequence[bytes]) -> bool:
    """True when what arrived, in pieces, holds the end of a stream."""
    tail = _tail(pieces)
    last = re.split(rb"\r?\n\r?\n", tail.rstrip())[-1][:_NAME]
    return any(terminal in place for place in (tail[-_NEAR:], last) for terminal in TERMINALS)


def _tail(pieces: Sequence[bytes]) -> bytes:
    first, size = len(pieces), 0
    while first and size < _TAIL:
        first -= 1
        size += len(pieces[first])
    return b"".join(pieces[first:])[-_TAIL:]
