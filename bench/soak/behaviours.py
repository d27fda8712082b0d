"""What an HTTP/1.1 upstream can answer, byte by byte, healthy and odd.

An answer is a sequence of steps: bytes to send, a pause in seconds, or how the connection ends. An upstream that closes
nothing keeps the connection open for the next request.
"""

import gzip
from dataclasses import dataclass
from typing import Literal

type Step = bytes | float | Literal["close", "reset"]

OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
SSE = b"Content-Type: text/event-stream\r\n"
ID = b"id-000000000"
"""What an upstream replaces by the id of the request."""
BODY = b'{"choices":[{"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}' % ID
SIZED = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
EVENTS = [b'data: {"n":%d,"id":"%s"}\n\n' % (n, ID) for n in range(5)] + [b"data: [DONE]\n\n"]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


LAST = b"0\r\n\r\n"
_STREAM = b"".join(chunk(event) for event in EVENTS)
_TWO = gzip.compress(BODY[:20], mtime=0) + gzip.compress(BODY[20:], mtime=0)


@dataclass(frozen=True, slots=True)
class Behaviour:
    name: str
    steps: tuple[Step, ...]
    method: str = "POST"
    differs: str | None = None
    """Why the client does not see the same bytes through the proxy; None when it must."""


def _(name: str, *steps: Step, method: str = "POST", differs: str | None = None) -> Behaviour:
    return Behaviour(name, steps, method, differs)


BEHAVIOURS: tuple[Behaviour, ...] = (
    # Healthy
    _("a length", OK + JSON + SIZED + b"\r\n" + BODY),
    _("chunks", OK + JSON + CHUNKED + b"\r\n" + chunk(BODY) + LAST),
    _("a stream", OK + SSE + CHUNKED + b"\r\n", *(chunk(event) for event in EVENTS), LAST),
    _("a stream in one piece", OK + SSE + CHUNKED + b"\r\n" + _STREAM + LAST),
    _("byte by byte", *(bytes([byte]) for byte in OK + JSON + SIZED + b"\r\n" + BODY)),
    _("until it closes", OK + JSON + b"\r\n" + BODY, "close"),
    _("a stream until it closes", OK + SSE + b"\r\n", *EVENTS, "close"),
    _("connection: close", OK + JSON + SIZED + b"Connection: close\r\n\r\n" + BODY, "close"),
    _("HTTP/1.0", b"HTTP/1.0 200 OK\r\n" + JSON + b"\r\n" + BODY, "close"),
    _("HTTP/1.0 with a length", b"HTTP/1.0 200 OK\r\n" + JSON + SIZED + b"\r\n" + BODY, "close"),
    _("HTTP/1.0 kept alive", b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + JSON + SIZED + b"\r\n" + BODY),
    _("204", b"HTTP/1.1 204 No Content\r\n\r\n"),
    _("304", b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"),
    _("an empty body", OK + JSON + b"Content-Length: 0\r\n\r\n"),
    _("empty chunks", OK + JSON + CHUNKED + b"\r\n" + LAST),
    _("HEAD with a length", OK + JSON + SIZED + b"\r\n", method="HEAD"),
    _("429", b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n" + JSON + SIZED + b"\r\n" + BODY),
    _("529 without a reason", b"HTTP/1.1 529 \r\n" + JSON + SIZED + b"\r\n" + BODY),
    _("no reason and no space", b"HTTP/1.1 200\r\n" + JSON + SIZED + b"\r\n" + BODY),
    _("status 600", b"HTTP/1.1 600 Odd\r\n" + JSON + SIZED + b"\r\n" + BODY),
    _("trailers", OK + JSON + CHUNKED + b"Trailer: X-End\r\n\r\n" + chunk(BODY) + b"0\r\nX-End: 1\r\n\r\n"),
    _("two gzip members", OK + JSON + b"Content-Encoding: gzip\r\n" + b"Content-Length: %d\r\n\r\n" % len(_TWO) + _TWO),
    _("an encoding that is a lie", OK + JSON + b"Content-Encoding: gzip\r\n" + SIZED + b"\r\n" + BODY),
    _("an unknown encoding", OK + JSON + b"Content-Encoding: secret\r\n" + SIZED + b"\r\n" + BODY),
    _("a large head", OK + JSON + SIZED + b"X-Large: " + b"x" * 100_000 + b"\r\n\r\n" + BODY),
    _("500 fields", OK + JSON + SIZED + b"".join(b"X-%d: y\r\n" % n for n in range(500)) + b"\r\n" + BODY),
    _("repeated fields", OK + JSON + SIZED + b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nx-a: 1\r\nX-A: 2\r\n\r\n" + BODY),
    _("Latin-1 in a field", OK + JSON + SIZED + b"X-Name: caf\xe9\r\n\r\n" + BODY),
    _("an empty field", OK + JSON + SIZED + b"X-Empty:\r\n\r\n" + BODY),
    _("tabs in a field", OK + JSON + SIZED + b"X-Tab: a\tb\r\n\r\n" + BODY),
    # Interim answers
    _("103", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + JSON + SIZED + b"\r\n" + BODY),
    _("103 in a separate packet", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.02, OK + JSON + SIZED + b"\r\n" + BODY),
    _("an unasked 100", b"HTTP/1.1 100 Continue\r\n\r\n" + OK + JSON + SIZED + b"\r\n" + BODY),
    _("100, 102, 103", b"".join(b"HTTP/1.1 %d X\r\n\r\n" % n for n in (100, 102, 103)) + OK + SIZED + b"\r\n" + BODY),
    _("103 before a stream", b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + SSE + CHUNKED + b"\r\n" + _STREAM + LAST),
    _("103 and then nothing", b"HTTP/1.1 103 Early Hints\r\n\r\n", "close"),
    # Framing that clients accept
    _("chunks and a length", OK + JSON + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n" + chunk(BODY) + LAST),
    _("a length and chunks", OK + JSON + CHUNKED + b"Content-Length: 5\r\n\r\n" + chunk(BODY) + LAST),
    _("the length twice", OK + JSON + SIZED + SIZED + b"\r\n" + BODY),
    _("a list of equal lengths", OK + JSON + b"Content-Length: %d, %d\r\n\r\n" % (len(BODY), len(BODY)) + BODY),
    _("a length with zeros", OK + JSON + b"Content-Length: 000%d\r\n\r\n" % len(BODY) + BODY),
    _("HTTP/1.0 with chunks", b"HTTP/1.0 200 OK\r\n" + JSON + CHUNKED + b"\r\n" + chunk(BODY) + LAST, "close"),
    _("CHUNKED in capitals", OK + JSON + b"TRANSFER-ENCODING: Chunked\r\n\r\n" + chunk(BODY) + LAST),
    _("identity, chunked", OK + JSON + b"Transfer-Encoding: identity, chunked\r\n\r\n" + chunk(BODY) + LAST),
    _("chunked with a parameter", OK + JSON + b"Transfer-Encoding: chunked;a=b\r\n\r\n" + chunk(BODY) + LAST),
    _("a coding like chunked", OK + JSON + b"Transfer-Encoding: xchunked\r\n\r\n" + BODY, "close"),
    _("chunked, then a coding", OK + JSON + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + BODY, "close"),
    _("an unknown coding", OK + JSON + b"Transfer-Encoding: secret\r\n\r\n" + BODY, "close"),
    _("204 with a coding", b"HTTP/1.1 204 No Content\r\n" + CHUNKED + b"\r\n"),
    _("304 with a coding", b"HTTP/1.1 304 Not Modified\r\n" + CHUNKED + b"\r\n"),
    _("a field name with a space", OK + JSON + SIZED + b"X Name: y\r\n\r\n" + BODY),
    _("chunk extensions", OK + JSON + CHUNKED + b"\r\n%x;a=b\r\n" % len(BODY) + BODY + b"\r\n" + LAST,
      differs="the proxy writes its own chunks, without extensions"),
    _("a size with 40 zeros", OK + JSON + CHUNKED + b"\r\n" + b"0" * 40 + chunk(BODY) + b"0" * 40 + LAST,
      differs="the proxy writes its own chunks, without zeros before their size"),
    _("lines that end in LF", (OK + JSON + SIZED + b"\r\n").replace(b"\r\n", b"\n") + BODY),
    _("a folded field", OK + JSON + SIZED + b"X-Long: a\r\n b\r\n\r\n" + BODY),
    _("no space after the colon", OK + b"Content-Length:%d\r\n\r\n" % len(BODY) + BODY),
    _("more than the length", OK + JSON + SIZED + b"\r\n" + BODY + b"more", "close"),
    # Broken
    _("closed before the answer", "close"),
    _("reset before the answer", "reset"),
    _("closed within the status line", b"HTTP/1.1 20", "close"),
    _("closed within the head", OK + b"Content-Le", "close"),
    _("reset within the head", OK + b"Content-Le", 0.05, "reset"),
    _("less than the length", OK + JSON + SIZED + b"\r\n" + BODY[:20], "close"),
    _("reset within the body", OK + JSON + SIZED + b"\r\n" + BODY[:20], 0.05, "reset"),
    _("reset within chunks", OK + SSE + CHUNKED + b"\r\n" + chunk(EVENTS[0]), 0.05, "reset"),
    _("reset in place of the end", OK + JSON + b"\r\n" + BODY[:20], 0.05, "reset"),
    _("closed within a chunk", OK + SSE + CHUNKED + b"\r\n" + chunk(EVENTS[0]) + b"ff\r\ndata", "close",
      differs="the proxy writes its own chunks: the last one is whole, and the body is cut after it"),
    _("closed between chunks", OK + SSE + CHUNKED + b"\r\n" + chunk(EVENTS[0]), "close"),
    _("no last chunk", OK + SSE + CHUNKED + b"\r\n" + _STREAM, "close"),
    _("a size that is not a number", OK + SSE + CHUNKED + b"\r\n" + chunk(EVENTS[0]) + b"zz\r\nx\r\n", "close",
      differs="the client sees the body cut in place of the broken chunk"),
    _("a length that is not a number", OK + JSON + b"Content-Length: many\r\n\r\n" + BODY, "close"),
    _("two lengths", OK + JSON + SIZED + b"Content-Length: 7\r\n\r\n" + BODY, "close"),
    _("a negative length", OK + JSON + b"Content-Length: -1\r\n\r\n" + BODY, "close"),
    _("a line without a colon", OK + b"nonsense\r\n" + SIZED + b"\r\n" + BODY, "close"),
    _("HTTP/2 in the status line", b"HTTP/2 200 OK\r\n" + SIZED + b"\r\n" + BODY, "close"),
    _("another protocol", b"SSH-2.0-OpenSSH_9.6\r\n", "close"),
    _("a page without a head", b"<html>busy</html>", "close"),
    _("blank lines first", b"\r\n\r\n" + OK + JSON + SIZED + b"\r\n" + BODY, "close"),
    _("a status that is not a number", b"HTTP/1.1 OK OK\r\n" + SIZED + b"\r\n" + BODY, "close"),
)  # fmt: skip
