"""What is on the disk afterwards: the recording, and everything that commands write from it."""

import base64
import contextlib
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

from turntape.cassettes import Cassette
from turntape.cassettes.errors import CassetteError
from turntape.proxy.cli.command_line import main

COMMANDS: dict[str, list[str]] = {
    "show": ["show", "{F}"],
    "show --json": ["show", "{F}", "--json", "-o", "{O}.json"],
    "check": ["check", "{F}", "--json", "-o", "{O}.check"],
    "report": ["report", "{F}", "-o", "{O}.html"],
    "HAR": ["export", "{F}", "--format", "har", "-o", "{O}.har"],
    "OpenTelemetry": ["export", "{F}", "--format", "otel", "-o", "{O}.otel"],
    "ATIF": ["export", "{F}", "--format", "atif", "-o", "{O}.atif"],
    "Markdown": ["export", "{F}", "--format", "markdown", "-o", "{O}.md"],
    "shipped": ["ship", "{F}", "--to", "{O}.store", "--content"],
}
_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


def files(cassette: Path, say: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of everything that is written, with what the recording means when it is read.

    `say` gets the name of each command before it is run.
    """
    folder = cassette.parent / "written"
    folder.mkdir()
    for name, arguments in COMMANDS.items():
        say(f"writing {name}")
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        given = [one.format(F=cassette, O=folder / name.replace(" ", "")) for one in arguments]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
            main(given)
        out.flush()
        assert isinstance(out.buffer, io.BytesIO)
        yield f"{name} (printed)", out.buffer.getvalue()
    for path in sorted(cassette.parent.rglob("*")):
        if path.is_file() and path.suffix != ".pem":
            yield f"{path.name}", path.read_bytes()
            yield f"{path.name} (its name)", str(path).encode()
    for trip in Cassette.load(cassette):
        for part in (trip.request, trip.response):
            if part is not None:
                with contextlib.suppress(CassetteError):
                    yield f"{cassette.name} (read)", part.body


def readings(data: bytes) -> Iterator[bytes]:
    """The bytes, and what somebody who looks for a secret makes of them."""
    yield data
    if b"\\u" in data:
        yield _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode("utf-8", "replace"), data)
    if b"%" in data:
        yield unquote_to_bytes(data)
    if b"\0" in data:
        yield data.replace(b"\0", b"")  # a text of UTF-16
    if data.startswith(b"data:"):
        yield joined(data)
    for match in _BASE64.finditer(data):
        with contextlib.suppress(ValueError):
            yield base64.b64decode(match[0][: len(match[0]) // 4 * 4])
    if data.startswith(b"\x1f\x8b"):
        yield inflated(data)


def joined(stream: bytes) -> bytes:
    """The text of a stream of events, put together."""
    texts: dict[str, list[str]] = {}
    for line in stream.decode("utf-8", "replace").split("\n"):
        with contextlib.suppress(ValueError, LookupError):
            delta = json.loads(line.removeprefix("data: "))["choices"][0]["delta"]
            texts.setdefault("content", []).append(delta.get("content") or "")
            for call in delta.get("tool_calls", []):
                texts.setdefault("arguments", []).append(call["function"]["arguments"])
    return "\n".join("".join(pieces) for pieces in texts.values()).encode()


def inflated(data: bytes) -> bytes:
    """As much as can be inflated, twice if it is packed twice."""
    stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
    plain = bytearray()
    with contextlib.suppress(zlib.error):
        for at in range(len(data)):  # byte by byte: an error takes nothing away
            plain += stream.decompress(data[at : at + 1])
    with contextlib.suppress(OSError, EOFError, zlib.error):
        return gzip.decompress(bytes(plain))
    return bytes(plain)


def quiet(home: Path) -> None:
    """No settings of whoever runs this count."""
    os.environ["TURNTAPE_HOME"] = str(home)
    os.environ["COLUMNS"] = "4000"
