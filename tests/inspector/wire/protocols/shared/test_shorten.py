"""The fault that cuts the arguments of a call: which call, and over how many pieces of a stream."""

from typing import Any

from turntape.inspector.wire.protocols.shared.shorten import last_call_shortened


def piece(arguments: str, index: int) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def test_the_last_call_is_cut_in_the_middle_of_all_its_pieces() -> None:
    said = [piece('{"a":1}', 0), piece('{"b"', 1), piece(':"long word"}', 1)]

    changed = last_call_shortened([(place, {"index": 0}, one) for place, one in enumerate(said)])

    assert changed == ({2}, set())
    assert said == [piece('{"a":1}', 0), piece('{"b"', 1), piece(':"lo', 1)]


def test_an_answer_without_a_call_stays_as_it_is() -> None:
    assert last_call_shortened([(0, {"index": 0}, {"content": "hello"})]) == (set(), set())
