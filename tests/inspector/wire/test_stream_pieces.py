"""The pieces of a stream by the place that they grow, and whether a server repeats them."""

import json
from typing import Any

import pytest

from turntape.cassettes.framing import decode
from turntape.inspector.wire.stream_pieces import (
    Values,
    begun_again,
    doubled_text,
    repeated_text,
    repeats_calls,
    texts_of,
    values_of,
)

STORY = "Once upon a time there was a small recorder that kept every word it heard."


def stream(*bodies: Any, name: str = "") -> Values:
    lines = [f"event: {name}\n" * bool(name) + f"data: {json.dumps(one)}\n\n" for one in bodies]
    return values_of(decode("sse", [(("".join(lines)).encode(), 0)]))


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def chat(text: str, index: int = 0) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": {"role": "assistant", "content": text}}]}


def test_the_pieces_of_each_text_are_together_in_their_order() -> None:
    values = stream(chat("I "), chat("You ", 1), chat("look."), chat("wait.", 1), chat(""))

    assert sorted(map(list, texts_of(values))) == [["I ", "look."], ["You ", "wait."]]


@pytest.mark.parametrize("number", ["index", "output_index", "content_index", "summary_index", "contentBlockIndex"])
def test_texts_are_apart_by_any_number_that_an_api_gives_them(number: str) -> None:
    values = stream(*({"type": "x", number: n, "delta": {"text": f"{n}"}} for n in (0, 1, 0)))

    assert sorted(map(list, texts_of(values))) == [["0", "0"], ["1"]]


def test_texts_are_apart_by_the_kind_of_their_event_and_their_field() -> None:
    typed = stream({"type": "a", "delta": "1"}, {"type": "b", "delta": "2"}, {"type": "a", "text": "3"})

    assert sorted(map(list, texts_of(typed))) == [["1"], ["2"], ["3"]]
    assert texts_of(stream({"delta": "1"}, name="a")) == [["1"]]
    assert texts_of(stream({"id": "1", "model": "m", "delta": {"role": "r"}}, "text", [chat("no")])) == []


def test_items_without_a_number_are_apart_by_their_place() -> None:
    values = stream({"candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b"}]}}]})

    assert sorted(map(list, texts_of(values))) == [["a"], ["b"]]


def test_what_is_nested_too_deeply_is_left_out() -> None:
    def nested(depth: int) -> Any:
        return {"text": "x"} if depth == 0 else {"a": nested(depth - 1)}

    assert texts_of(stream(nested(8))) == [["x"]] and texts_of(stream(nested(9))) == []


def test_snapshots_are_pieces_that_each_hold_all_before_them() -> None:
    grown = [STORY[:10], STORY[:20], STORY[:40]]

    assert repeated_text([["a", "b", "c"], grown]) == grown[-2:]
    assert repeated_text([grown[:2]]) == [], "two may be one by accident"
    assert repeated_text([["a", "aa", "aaa"]]) == [], "and so may short ones"
    assert repeated_text([[STORY[:10], STORY[:40], STORY[:40]]]) == [], "it must grow"
    assert repeated_text([[STORY[:10], "x" + STORY[:19], "x" + STORY[:39]]]) == []


def test_a_text_is_doubled_where_all_its_pieces_come_twice() -> None:
    words = [word for word in ("The ", "cat ", "sat ", "down.") for _ in range(2)]

    assert doubled_text([words]) == "The "
    assert doubled_text([["x", "y"], words]) == "The "
    assert doubled_text([[words[0], " ", *words[1:]]]) == "The ", "white space does not count"
    assert doubled_text([words[:6]]) is None, "few may be there by accident"
    assert doubled_text([[*words[:-1], "up."]]) is None
    assert doubled_text([["ha "] * 12]) is None and doubled_text([["ha ", "ha ", "ho ", "ho "] * 3]) is None


@pytest.mark.parametrize("size", [1, 5, 13])
def test_a_text_that_starts_again_from_its_beginning_is_found_up_to_there(size: int) -> None:
    said = pieces(STORY, size)

    assert begun_again([["other"], [*said, *said]]) == STORY
    assert begun_again([[*said, *said, " The end."]]) == STORY
    assert begun_again([[*said, *said, *said]]) is None, "a model that repeats itself"
    assert begun_again([said]) is None and begun_again([[*said, *pieces(STORY[:30], size)]]) is None
    assert begun_again([pieces("la " * 40, size)]) is None, "one word again and again"


def test_a_short_text_or_one_of_few_pieces_may_come_twice() -> None:
    assert begun_again([[*pieces(STORY[:39], 5), *pieces(STORY[:39], 5)]]) is None
    assert begun_again([[STORY, STORY]]) is None


@pytest.mark.parametrize(
    "call", [{"functionCall": {"name": "a"}}, {"function": {"name": "a", "arguments": ""}, "index": 0}]
)
@pytest.mark.parametrize("field", ["parts", "tool_calls"])
def test_calls_are_repeated_where_each_list_begins_with_the_one_before(call: dict[str, Any], field: str) -> None:
    other = {**call, "id": "b"}

    assert repeats_calls(stream({field: [call]}, {field: [call, other]}))
    assert not repeats_calls(stream({field: [call]}, {field: [other, call]}))
    assert not repeats_calls(stream({field: [call]}, {field: [call]})), "nothing is added"
    assert not repeats_calls(stream({field: [call]})) and not repeats_calls(stream({field: [{"text": "x"}]}))
    assert not repeats_calls(stream({"other": [call]}, {"other": [call, other]}))
