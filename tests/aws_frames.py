"""AWS event-stream frames, made by hand."""

import json
from binascii import crc32
from struct import pack


def frame(name: str, payload: object, *, exception: bool = False) -> bytes:
    """One frame that carries `payload` as JSON."""
    kind = "exception" if exception else "event"
    pairs = ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind))
    headers = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + pack(">H", len(value)) + value.encode() for key, value in pairs
    )
    body = json.dumps(payload).encode()
    prelude = pack(">II", len(headers) + len(body) + 16, len(headers))
    message = prelude + pack(">I", crc32(prelude)) + headers + body
    return message + pack(">I", crc32(message))
