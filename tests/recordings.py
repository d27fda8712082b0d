"""Cassettes on disk for tests: round trips that resend their history, and recordings of them."""

import os
from pathlib import Path

import orjson
from factories import round_trip

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.compression import ZstdDecompressor


def growing(count: int, name: str = "a") -> list[RoundTrip]:
    """Requests that resend what was before, so that each is a delta of the one before it, and compress badly."""
    body = b'{"messages":['
    trips: list[RoundTrip] = []
    for number in range(count):
        body += b'"%s %d %s",' % (name.encode(), number, os.urandom(200).hex().encode())
        trips.append(round_trip(body))
    return trips


def history(turns: int) -> list[RoundTrip]:
    """Requests with a history that grows, in front of tools that stay."""
    body = b'{"messages":['
    trips: list[RoundTrip] = []
    for turn in range(turns):
        body += b'{"role":"user","content":"%d %s"},' % (turn, b"word " * 60)
        trips.append(round_trip(body + '{}],"tools":"é☃"}'.encode()))
    return trips


def single(count: int, start: int = 0) -> list[RoundTrip]:
    """Requests that have nothing in common."""
    return [round_trip(b'{"n":%d,"x":"%s"}' % (start + n, os.urandom(80).hex().encode())) for n in range(count)]


def record(path: Path, trips: list[RoundTrip], append: bool = False) -> Recorder:
    with Recorder(path, append=append, durable=False) as recorder:
        for trip in trips:
            recorder.write(trip)
    return recorder


def bodies(trips: list[RoundTrip]) -> list[bytes]:
    return [trip.request.body for trip in trips]


def read_by_any_tool(path: Path) -> bool:
    """A compressed file is whole frames and nothing else, as `zstdcat` asks for; a plain one is whole lines."""
    data = path.read_bytes()
    if path.suffix != ".zst":
        return data.endswith(b"\n")
    while data:
        frame = ZstdDecompressor()
        frame.decompress(data)
        if not frame.eof:
            return False
        data = frame.unused_data
    return True


def text_line(number: int, body: dict[str, object] | None = None, **fields: object) -> bytes:
    """The line of a round trip, as a recorder would write it."""
    request = {"method": "POST", "url": "https://a.example"} | ({} if body is None else {"body": body})
    return orjson.dumps({"n": number, "started_at": "2026-01-01T00:00:00Z", "request": request} | fields) + b"\n"


def loaded(tmp_path: Path, *lines: bytes) -> Cassette:
    """The cassette of these lines, behind a header."""
    path = tmp_path / "written.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0"}\n' + b"".join(lines))
    return Cassette.load(path)
