"""The fault that cuts the arguments of a call: which call, and over how many pieces of a stream."""

from typing import Any

from turntape.inspector.wire.protocols.shared.shorten import half, last_call_shortened, without_last


def piece(arguments: str, index: int) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def test_the_last_call_is_cut_in_the_middle_of_all_its_pieces() -> None:
    said = [piece('{"a":1}', 0), piece('{"b"', 1), piece(':"long word"}', 1)]

    changed = last_call_shortened([(place, {"index": 0}, one) for place, one in enumerate(said)])

    assert changed == ({2}, set())
    assert said == [piece('{"a":1}', 0), piece('{"b"', 1), piece(':"lo', 1)]


def test_an_answer_without_a_call_stays_as_it_is() -> None:
    assert last_call_shortened([(0, {"index": 0}, {"content": "hello"})]) == (set(), set())


def test_of_several_answers_each_call_is_apart() -> None:
    said = [piece('{"a":1}', 0), piece('{"long":22}', 0)]

    changed = last_call_shortened([(place, {"index": place}, one) for place, one in enumerate(said)])

    assert changed == ({1}, set()) and said == [piece('{"a":1}', 0), piece('{"lon', 0)]


def test_calls_without_a_number_are_apart_by_their_place_and_odd_ones_are_left_out() -> None:
    calls = [
        {"function": {"arguments": "abcd"}},
        {"function": {"arguments": "efgh"}},
        {"function": {"arguments": None}},
    ]

    assert last_call_shortened([(0, {}, {"tool_calls": [*calls, None, "x"]})]) == ({0}, set())
    assert [call["function"]["arguments"] for call in calls] == ["abcd", "ef", None]


def test_a_text_and_an_object_lose_their_end() -> None:
    assert (half("abcde"), half("ab"), half("")) == ("ab", "a", "")
    fields: dict[str, object] = {"a": 1, "b": 2, "c": 3}
    assert without_last(fields) == {"a": 1, "b": 2} and len(fields) == 3 and without_last({}) == {}
