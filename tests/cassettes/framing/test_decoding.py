"""Which framing a body has: by its bytes, the content type being only a hint."""

import random
from pathlib import Path

import pytest
from botocore.eventstream import EventStreamBuffer
from corpus import corpus
from httpx_sse._decoders import SSEDecoder

from turntape.cassettes.framing import decode, decoding, frame
from turntape.inspector.wire.exchange import Exchange

JSON = "application/json"
SSE = "text/event-stream"


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        (SSE, b"data: {}\n\n", "sse"),
        (JSON, b"data: {}\n\n", "sse"),
        ("", b": ping\n\n", "sse"),
        (SSE, b"\n\nevent: x\n\n", "sse"),
        (SSE, b"\xef\xbb\xbfdata: a\n\n", "sse"),
        (SSE, b'{"error":{"message":"no"}}', None),
        (SSE, b"", "sse"),
        (SSE, b"dat", "sse"),
        (JSON, b'{"a":1}', None),
        (JSON, b'\n \n  {"a":1}', None),
        (JSON, b'{\n "a":1\n}', None),
        (JSON, b'{"a":1}\n{"a":2}\n', "ndjson"),
        ("application/x-ndjson", b'{"a":1}\n', "ndjson"),
        ("application/stream+json", b'{"a":1}', "ndjson"),
        (JSON, b'[{\n"candidates": []}\n', "json-array"),
        (JSON, b"[1,2]", None),
        ("text/plain", b"error: model not found", None),
        ("text/html", b"<html>data: x</html>", None),
        ("", b"", None),
    ],
)
def test_framing_goes_by_the_bytes(content_type: str, body: bytes, expected: str | None) -> None:
    assert frame(content_type, body) == expected


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
@pytest.mark.parametrize("path", corpus.files(), ids=lambda path: path.name.removesuffix(".jsonl.zst"))
def test_every_recorded_stream_reads_the_same_however_it_is_split(path: Path) -> None:
    """Whole, in random pieces, and (the short ones) byte by byte; and as the oracles read it."""
    rng = random.Random(path.name)
    for recorded in corpus.read_file(path):
        exchange = Exchange(recorded.round_trip)
        if exchange.framing is None or exchange.response is None:
            continue
        body = exchange.response.body
        whole = decode(exchange.framing, [(body, 0)])
        cuts = sorted(rng.randrange(len(body) + 1) for _ in range(20))
        pieces = [(body[a:b], 0) for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
        assert decode(exchange.framing, pieces) == whole, recorded.cassette
        if len(body) < 3000:
            assert decode(exchange.framing, [(body[i : i + 1], 0) for i in range(len(body))]) == whole
        _compare_with_the_oracle(exchange.framing, body, [e.data for e in whole if e.kind == "data"])


def _compare_with_the_oracle(framing: str, body: bytes, ours: list[bytes]) -> None:
    if framing == "aws-event-stream":
        buffer = EventStreamBuffer()
        buffer.add_data(body)
        assert [message.payload for message in buffer] == ours
    elif framing == "sse":
        decoder = SSEDecoder()
        text = body.decode().replace("\r\n", "\n").replace("\r", "\n")
        # `id:` makes the oracle yield events without data; ours has no event there.
        lines = [line for line in [*text.split("\n"), ""] if not line.startswith("id:")]
        found = [decoder.decode(line) for line in lines]
        assert [e.data.encode() for e in found if e is not None] == ours


def test_a_long_stream_keeps_the_values_of_its_first_events_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_MOST_VALUES", 3)
    events = decode("sse", [(b'data: {"a": [%d]}\n\n' % number, number) for number in range(5)])

    assert [event.value for event in events] == [{"a": [number]} for number in range(5)]
    assert [event.value is event.value for event in events] == [True, True, True, False, False]
