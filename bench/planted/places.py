"""37 places in the traffic of an LLM client: what is sent and answered there when a secret is in it."""

import base64
import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from .kinds import Kind

JSON = "application/json"
SSE = "text/event-stream"
OK = "HTTP/1.1 200 OK"


@dataclass
class Exchange:
    """A request and the bytes of its answer. The secret is somewhere in it."""

    path: str = "/v1/chat/completions"
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    body: bytes = b""
    answer: bytes = b""
    run: str = ""
    """The name of the run with percent escapes: in the base URL, and as the user of the proxy."""


def chat(text: str, **more: object) -> bytes:
    return json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": text}], **more}).encode()


def message(**said: object) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "", **said}}
    return json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-5", "choices": [choice]}).encode()


def call(arguments: str) -> list[dict[str, object]]:
    return [{"id": "call_1", "type": "function", "function": {"name": "set", "arguments": arguments}}]


def events(*deltas: Mapping[str, object]) -> bytes:
    chunks = [{"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d}]} for d in deltas]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


def pieces(text: str, size: int = 5) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def answer(body: bytes, kind: str = JSON, *fields: str, status: str = OK) -> bytes:
    lines = [status, f"content-type: {kind}", f"content-length: {len(body)}", *fields]
    return "\r\n".join([*lines, "", ""]).encode() + body


PLAIN = answer(message(content="done"))
ASKED = chat("go")


def unicode_escapes(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _br(data: bytes) -> bytes:
    import brotli

    return brotli.compress(data)


def _zstd(data: bytes) -> bytes:
    from turntape.cassettes.tape.compression import ZstdCompressor

    return ZstdCompressor().compress(data, ZstdCompressor.FLUSH_FRAME)


def damaged(data: bytes) -> bytes:
    """Whole until its check sum, which is wrong; most clients read all of it."""
    packed = gzip.compress(data * 3)
    return packed[:-8] + bytes(8)


def _sent(body: bytes, encoding: str) -> Exchange:
    return Exchange(fields=[("content-encoding", encoding)], body=body, answer=PLAIN)


def _answered(body: bytes, encoding: str) -> Exchange:
    return Exchange(body=ASKED, answer=answer(body, JSON, f"content-encoding: {encoding}"))


def _line(text: str) -> str:
    """On one line, as a field of a header must be."""
    return text.replace("\n", " ")


def _multipart(file: bytes) -> Exchange:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    body = head + file + b"\r\n--b--\r\n"
    return Exchange(
        path="/v1/files", fields=[("content-type", "multipart/form-data; boundary=b")], body=body, answer=PLAIN
    )


def _trailer(text: str) -> bytes:
    body = message(content="done")
    head = f"{OK}\r\ncontent-type: {JSON}\r\ntransfer-encoding: chunked\r\ntrailer: x-note\r\n\r\n".encode()
    return head + b"%x\r\n" % len(body) + body + b"\r\n0\r\nx-note: " + _line(text).encode() + b"\r\n\r\n"


def _result(text: str) -> bytes:
    asked = {"role": "assistant", "content": None, "tool_calls": call("{}")}
    result = {"role": "tool", "tool_call_id": "call_1", "content": text}
    return json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "go"}, asked, result]}).encode()


def _fields(name: str, value: str) -> Exchange:
    return Exchange(fields=[(name, value)], body=ASKED, answer=PLAIN)


def _asked(body: bytes, path: str = "/v1/chat/completions", kind: str = JSON) -> Exchange:
    return Exchange(path=path, fields=[("content-type", kind)], body=body, answer=PLAIN)


def _streamed(*deltas: Mapping[str, object]) -> Exchange:
    return Exchange(body=chat("go", stream=True), answer=answer(events(*deltas), SSE))


type Place = Callable[[Kind, str], Exchange]
"""Makes the exchange with this value of this kind."""

PLACES: dict[str, Place] = {
    "request header": lambda k, v: _fields("x-team", _line(v)),
    "request header, listed": lambda k, v: _fields("x-title", _line(k.said(v))),
    "Authorization": lambda k, v: _fields("authorization", f"Bearer {_line(v)}"),
    "cookie": lambda k, v: _fields("cookie", f"sid={_line(v)}"),
    "cookie without a name": lambda k, v: _fields("cookie", _line(v)),
    "query, by name": lambda k, v: _asked(ASKED, f"/v1/chat/completions?api_key={quote(v, safe='')}"),
    "query, other name": lambda k, v: _asked(ASKED, f"/v1/chat/completions?q={quote(k.said(v), safe='')}"),
    "path": lambda k, v: _asked(ASKED, f"/v1/files/{quote(k.said(v), safe='')}"),
    "run name": lambda k, v: Exchange(body=ASKED, answer=PLAIN, run=quote(k.said(v), safe="")),
    "JSON field": lambda k, v: _asked(chat("go", metadata={k.variable.lower(): v})),
    "JSON text": lambda k, v: _asked(chat(f"please use {k.said(v)} for it")),
    "JSON in JSON": lambda k, v: _asked(chat(json.dumps({"env": json.dumps({k.variable: v})}))),
    "pair in JSON": lambda k, v: _asked(chat("go", env=[{"name": k.variable, "value": v}])),
    "\\u escapes": lambda k, v: _asked(
        b'{"model":"gpt-5","messages":[{"role":"user","content":"' + unicode_escapes(k.said(v)).encode() + b'"}]}'
    ),
    "percent escapes": lambda k, v: _asked(chat(f"see https://a.example/?q={percent(k.said(v))}")),
    "base64": lambda k, v: _asked(_result(base64.b64encode(f"# settings\n{k.said(v)}\n".encode()).decode())),
    "form": lambda k, v: _asked(
        f"{k.variable.lower()}={quote(v, safe='')}&a=b".encode(), "/v1/token", "application/x-www-form-urlencoded"
    ),
    "multipart": lambda k, v: _multipart(k.said(v).encode()),
    "UTF-16 file": lambda k, v: _multipart(k.said(v).encode("utf-16")),
    "tool result": lambda k, v: _asked(_result(f"$ env\nHOME=/root\n{k.said(v)}\nLANG=C")),
    "gzip request": lambda k, v: _sent(gzip.compress(chat(k.said(v))), "gzip"),
    "zstd request": lambda k, v: _sent(_zstd(chat(k.said(v))), "zstd"),
    "gzip, gzip request": lambda k, v: _sent(gzip.compress(gzip.compress(chat(k.said(v)))), "gzip, gzip"),
    "damaged gzip request": lambda k, v: _sent(damaged(chat(k.said(v))), "gzip"),
    "unknown encoding": lambda k, v: _sent(chat(k.said(v)), "x-own"),
    "gzip under another name": lambda k, v: _sent(gzip.compress(chat(k.said(v))), "x-own"),
    "tool arguments": lambda k, v: Exchange(
        body=ASKED, answer=answer(message(tool_calls=call(json.dumps({k.variable: v}))))
    ),
    "SSE event": lambda k, v: _streamed({"content": f"it is {k.said(v)} "}, {"content": "."}),
    "SSE, spelled": lambda k, v: _streamed(*({"content": piece} for piece in pieces(f"it is {k.said(v)} ."))),
    "SSE arguments, spelled": lambda k, v: _streamed(
        *({"tool_calls": [{"index": 0, **call(piece)[0]}]} for piece in pieces(json.dumps({k.variable: v})))
    ),
    "br answer": lambda k, v: _answered(_br(message(content=k.said(v))), "br"),
    "deflate answer": lambda k, v: _answered(zlib.compress(message(content=k.said(v))), "deflate"),
    "damaged gzip answer": lambda k, v: _answered(damaged(message(content=k.said(v))), "gzip"),
    "response header": lambda k, v: Exchange(
        body=ASKED, answer=answer(message(content="done"), JSON, f"x-note: {_line(k.said(v))}")
    ),
    "interim answer": lambda k, v: Exchange(
        body=ASKED, answer=f"HTTP/1.1 103 Early Hints\r\nx-note: {_line(k.said(v))}\r\n\r\n".encode() + PLAIN
    ),
    "trailer": lambda k, v: Exchange(body=ASKED, answer=_trailer(k.said(v))),
    "error": lambda k, v: Exchange(
        body=ASKED,
        answer=answer(
            json.dumps({"error": {"message": f"Incorrect key: {k.said(v)}.", "type": "auth"}}).encode(),
            status="HTTP/1.1 401 Unauthorized",
        ),
    ),
}
