"""How the end of a stream looks, so that a client that hangs up right after it is not taken for a fugitive.

Only bytes are looked for, near the end of what arrived and where its last event begins; what they mean is the
inspector's to say.
"""

import re

TAIL = 1 << 20
"""How much of the end of a stream is wanted: OpenAI's last event holds the whole answer and all tools again."""
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
    b'"finishReason"',
    b'"finish_reason":"',
    b'"finish_reason": "',
)


def ended(tail: bytes) -> bool:
    """True when the end of a stream is in `tail`."""
    last = re.split(rb"\r?\n\r?\n", tail.rstrip())[-1][:_NAME]
    return any(terminal in place for place in (tail[-_NEAR:], last) for terminal in TERMINALS)
