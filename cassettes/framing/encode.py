"""The inverse of decoding: one event as bytes."""

import struct
from binascii import crc32

import orjson


def sse_event(data: object, name: str = "", end: bytes = b"\n") -> bytes:
    """A server-sent event. `data` is JSON, or a string that is sent as it is, such as `[DONE]`."""
    payload = data.encode() if isinstance(data, str) else orjson.dumps(data)
    return (b"event: " + name.encode() + end if name else b"") + b"data: " + payload + end + end


def aws_event(payload: object, name: str, kind: str = "event") -> bytes:
    """A frame of an AWS event stream, with both checksums. `kind` is `event` or `exception`.

    https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (read 2026-11-21)
    """
    headers = b"".join(
        struct.pack("B", len(key)) + key + b"\x07" + struct.pack(">H", len(value)) + value
        for key, value in (
            (f":{kind}-type".encode(), name.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", kind.encode()),
        )
    )
    data = orjson.dumps(payload)
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    content = prelude + struct.pack(">I", crc32(prelude)) + headers + data
    return content + struct.pack(">I", crc32(content))
