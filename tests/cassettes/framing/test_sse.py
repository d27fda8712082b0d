"""SSE, whole, byte by byte and split at random; httpx-sse is the oracle."""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from httpx_sse._decoders import SSEDecoder
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.framing import Event
from turntape.cassettes.framing.sse import SseDecoder

CASES = {
    "lf": b"data: a\n\ndata: b\n\n",
    "crlf": b"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
    "cr": b"data: a\r\rdata: b\r\r",
    "mixed ends": b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n",
    "no space": b"data:a\n\ndata:  b\n\n",
    "several lines": b"data: a\ndata: b\ndata\ndata:\n\n",
    "byte order mark": b"\xef\xbb\xbfdata: a\n\n",
    "comments": b": OPENROUTER PROCESSING\n\n: \n\n:\n\ndata: a\n\n",
    "blank lines first": b"\n\n\r\ndata: a\n\n",
    "unicode line ends are text": "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(),
    "event only": b"event: ping\n\n",
    "field without colon": b"data\n\n",
    "split character": "data: żółć 🙂\n\n".encode(),
}


def events(pieces: Iterable[bytes]) -> list[Event]:
    """The events of a stream that comes in these pieces."""
    decoder = SseDecoder()
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return found + decoder.close()


def oracle(body: bytes) -> list[tuple[str, str]]:
    """What httpx-sse reads, on lines split as the standard says."""
    text = body.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    decoder = SSEDecoder()
    found = [decoder.decode(line) for line in text.split("\n")]
    return [("" if e.event == "message" else e.event, e.data) for e in found if e is not None]


def payloads(found: list[Event]) -> list[tuple[str, str]]:
    return [(e.name, e.data.decode()) for e in found if e.kind == "data"]


@pytest.mark.parametrize("body", CASES.values(), ids=CASES.keys())
def test_every_case_reads_as_the_oracle_does_however_it_is_split(body: bytes) -> None:
    whole = events([body])
    assert payloads(whole) == oracle(body)
    assert events(body[i : i + 1] for i in range(len(body))) == whole
    assert all(events([body[:cut], body[cut:]]) == whole for cut in range(len(body)))


@pytest.mark.parametrize("body", CASES.values(), ids=CASES.keys())
def test_spans_are_in_order_and_hold_the_event(body: bytes) -> None:
    found = [e for e in events([body]) if e.kind == "data"]
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    for event in found:
        assert payloads(events([body[event.start : event.end]])) == [(event.name, event.data.decode())]


def test_comments_and_foreign_fields_are_events_of_their_own() -> None:
    found = events([b': keepalive\n\nerror: {"code":500}\n\n'])
    assert [(e.kind, e.name, e.data) for e in found] == [
        ("comment", "", b"keepalive"),
        ("field", "error", b'{"code":500}'),
    ]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b"foo: x", False),
        (b"x-trace:", False),
        (b"retry_after: 7", False),
        (b"Error: out of memory", True),
        (b'dota: {"id": 1}', True),
        (b"upstream connect error: reset", True),
        (b"<html>", True),
        (b'{"id": 1}', True),
    ],
    ids=repr,
)
def test_a_field_of_the_senders_own_is_ignored_as_the_standard_says(line: bytes, kept: bool) -> None:
    """Kept is what readers lose: an error, a piece of the answer, or a text of somebody else."""
    found = events([b"data: 1\n\n" + line + b"\n\ndata: 2\n\n"])

    assert [event.kind for event in found] == ["data", *(["field"] if kept else []), "data"]


@pytest.mark.parametrize("tail", [b"data: b", b"data: b\n", b"event: x\ndata: b", b"data: b\r\n"])
def test_an_unterminated_tail_is_reported_and_not_dropped(tail: bytes) -> None:
    first, last = events([b"data: a\n\n" + tail])
    assert first.problem is None
    assert (last.data, last.end) == (b"b", 9 + len(tail))
    assert last.problem == "The stream ended before the blank line that ends this event."


def test_an_event_arrives_when_its_last_byte_does() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n", 10) == []
    assert [e.at for e in decoder.feed(b"\ndata: b\n\n", 20)] == [20, 20]


def test_an_endless_event_is_cut_at_the_limit() -> None:
    decoder = SseDecoder(limit=100)
    found = [e for _ in range(10) for e in decoder.feed(b"x" * 50)]
    assert found
    assert all(e.problem and "100 bytes" in e.problem for e in found)
    assert sum(len(e.data) for e in [*found, *decoder.close()]) <= 500


LINES = st.sampled_from(["data: a", "data:b", "data", "event: e", ": c", "", "", "foo: x", 'data:  {"k":\u2028}'])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_random_streams_read_as_the_oracle_does(lines: list[tuple[str, str]], rng: random.Random) -> None:
    body = "".join(a + b for a, b in lines).encode() + b"\n\n"
    cuts = sorted(rng.randrange(len(body) + 1) for _ in range(5))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert payloads(events(pieces)) == oracle(body)


@given(st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_events_and_no_error(body: bytes) -> None:
    assert events([body]) == events(body[i : i + 1] for i in range(len(body)))


def test_thousands_of_empty_lines_are_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: Counter[str] = Counter()
    line = SseDecoder._line

    def counted(self: SseDecoder, *given: Any, **more: Any) -> None:
        lines["all"] += 1
        line(self, *given, **more)

    monkeypatch.setattr(SseDecoder, "_line", counted)
    found = events([b"data: a\n", b"\r" * 5000, b"\n\r" * 5000, b"data: b\n\n"])

    assert payloads(found) == [("", "a"), ("", "b")]
    assert lines.total() < 10
