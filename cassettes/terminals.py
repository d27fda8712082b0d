"""How the end of a stream looks, so that a client that hangs up right after it is not taken for a fugitive.

Only bytes are looked for, near the end of what arrived; what they mean is the inspector's to say.
"""

TAIL = 4096
"""How far from its end a stream is searched."""

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
    return any(terminal in tail for terminal in TERMINALS)
