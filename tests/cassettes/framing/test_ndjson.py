"""NDJSON, whole and in pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.framing import Event, decode

BODIES = [b'{"a":1}\n{"b":2}\n', b'{"a":1}\r\n\r\n{"b":2}', b'\n\n{"a":"\xe2\x80\xa8"}\n', b'\xef\xbb\xbf{"a":1}\n']


def events(pieces: list[bytes]) -> list[Event]:
    return decode("ndjson", [(piece, 0) for piece in pieces])


@pytest.mark.parametrize("body", BODIES)
def test_lines_are_the_same_however_they_are_split(body: bytes) -> None:
    whole = events([body])
    assert all(event.problem is None for event in whole)
    assert events([body[i : i + 1] for i in range(len(body))]) == whole
    assert all(events([body[:cut], body[cut:]]) == whole for cut in range(len(body)))


def test_a_torn_last_line_is_reported() -> None:
    first, last = events([b'{"done":false}\n{"don'])
    assert first.problem is None
    assert (last.data, last.start, last.end) == (b'{"don', 15, 20)
    assert last.problem == "The stream ended inside this line."


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_events_and_no_error(body: bytes) -> None:
    assert events([body]) == events([body[i : i + 1] for i in range(len(body))])
