"""A JSON array that grows, whole and in pieces."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.framing import Event, decode


def events(pieces: list[bytes]) -> list[Event]:
    return decode("json-array", [(piece, 0) for piece in pieces])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=6), st.sampled_from([None, 1]))
@settings(max_examples=150, deadline=None)
def test_elements_are_those_of_the_array_however_it_is_split(values: list[object], indent: int | None) -> None:
    body = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    whole = events([body])
    assert [json.loads(event.data) for event in whole] == values
    assert all(body[event.start : event.end] == event.data for event in whole)
    assert events([body[i : i + 1] for i in range(len(body))]) == whole


def test_gemini_separates_elements_by_a_comma_on_a_line_of_its_own() -> None:
    found = events([b'[{"a": "x]\\"}"}\n', b",\r\n", b'{"b": [1, 2]}\n', b"]"])
    assert [event.data for event in found] == [b'{"a": "x]\\"}"}', b'{"b": [1, 2]}']
    assert not any(event.problem for event in found)


def test_a_torn_last_element_is_reported() -> None:
    first, last = events([b'[{"a":1},{"b":'])
    assert first.problem is None
    assert last.problem == "The stream ended inside this element."


@pytest.mark.parametrize("body", [b"]]]][", b"[,,,", b'["\\', b"}{", b"[1 2]"])
def test_anything_but_an_array_raises_nothing(body: bytes) -> None:
    assert events([body]) == events([body[i : i + 1] for i in range(len(body))])


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_events_and_no_error(body: bytes) -> None:
    events([body])
