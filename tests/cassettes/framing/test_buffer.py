"""What every decoder does with bytes that do not end an event."""

import pytest

from turntape.cassettes.framing.buffer import BufferedDecoder
from turntape.cassettes.framing.json_array import JsonArrayDecoder
from turntape.cassettes.framing.ndjson import NdjsonDecoder
from turntape.cassettes.framing.sse import SseDecoder

LONG = {SseDecoder: b"data: ", NdjsonDecoder: b'{"a": "', JsonArrayDecoder: b'[{"a": "'}


@pytest.mark.parametrize(
    ("decoder", "unit", "before"),
    [(SseDecoder, "event", 0), (NdjsonDecoder, "line", 0), (JsonArrayDecoder, "element", len("["))],
)
def test_an_event_that_does_not_end_is_cut_at_the_limit(decoder: type[BufferedDecoder], unit: str, before: int) -> None:
    reader = decoder(100)
    start = LONG[decoder]

    assert not reader.feed(start + b"x" * (before + 100 - len(start)), 5)
    [event] = reader.feed(b"y", 7)

    assert event.problem == f"No {unit} ended within 100 bytes; what had come was cut here."
    assert event.data.endswith(b"xy")
    assert event.at == 7
    assert event.end == before + 101


@pytest.mark.parametrize("decoder", list(LONG))
def test_after_a_cut_the_offsets_go_on(decoder: type[BufferedDecoder]) -> None:
    reader = decoder(100)
    reader.feed(LONG[decoder] + b"x" * 100)
    cut = len(LONG[decoder]) + 100

    events = reader.feed(b'1"}\n\n{"b": 2}\n\n') + reader.close()

    assert events[0].start >= cut
    assert events[-1].end <= cut + 15


@pytest.mark.parametrize("decoder", list(LONG))
def test_no_bytes_change_nothing(decoder: type[BufferedDecoder]) -> None:
    reader = decoder()
    reader.feed(LONG[decoder], 3)

    assert reader.feed(b"", 9) == []
    [event] = reader.close()
    assert event.at == 3
