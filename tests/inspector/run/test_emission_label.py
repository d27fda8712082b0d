import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import chat, loop, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run import emission_label
from turntape.inspector.run.labels import Labeller
from turntape.inspector.wire.values import Choice, Emission, Part, ToolCall, ToolResult

LONG = "a word of its own " * 6000


def test_what_was_emitted_as_json_has_every_key() -> None:
    call, search = ToolCall("look_up", "c1", {"a": 1}, '{"a":1}'), ToolCall("search", "s1", None, "{", server=True)
    found = Part("result", "", result=ToolResult("s1", "search", True, "nothing", server=True))
    parts = (
        Part("text", "", "half"),
        Part("reasoning", "", "hm"),
        Part("refusal", "", "no"),
        Part("call", "", call=call),
    )
    choice = Choice(1, "length", "length", parts)
    of_call = {"id": "c1", "name": "look_up", "arguments": {"a": 1}, "arguments_raw": '{"a":1}'}
    emission = Emission(
        emitted="calls",
        text="said",
        reasoning="thought",
        refusal="no",
        calls=(call,),
        server_calls=(search,),
        content=(found,),
        choices=(choice,),
    )

    assert emission_label.emission_label(emission) == {
        "emitted": "calls",
        "text": "said",
        "reasoning": "thought",
        "refusal": "no",
        "tool_calls": [of_call],
        "server_calls": [{"id": "s1", "name": "search", "arguments": None, "arguments_raw": "{"}],
        "server_results": [{"call_id": "s1", "name": "search", "is_error": True, "text": "nothing"}],
        "choices": [
            {
                "index": 1,
                "finish_raw": "length",
                "finish": "length",
                "text": "half",
                "reasoning": "hm",
                "refusal": "no",
                "tool_calls": [of_call],
            }
        ],
    }
    assert emission_label.emission_label(Emission())["choices"] is None


def labels(trips: list[RoundTrip], again: Callable[[int], RoundTrip] | None) -> list[Any]:
    labeller = Labeller(again=again)
    # As JSON at once: a label that is kept changes when its turn is followed.
    made = [(index, orjson.dumps(label)) for trip in trips for index, label in labeller.add(trip)]
    return made + [(index, orjson.dumps(label)) for index, label in labeller.close()]


@pytest.mark.parametrize("length", [1, 64 << 10])
def test_labels_are_the_same_when_what_was_emitted_is_not_kept(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(emission_label, "_LONG", length)
    other = chat([user("hi"), said(LONG), user("more")], said(f"{LONG} too"))
    trips = [chat([user("hi")], said(LONG)), other, *loop()]
    trips = [replace(trip, index=at, started_at=trip.started_at + at) for at, trip in enumerate(trips)]

    assert labels(trips, lambda number: trips[number]) == labels(trips, None)


def test_a_thread_that_waits_does_not_hold_its_long_answer() -> None:
    def answered(number: int) -> RoundTrip:
        text = f"{number:03} " * 30_000
        return replace(chat([user(f"question {number}")], said(text)), index=number, started_at=1000.0 + number)

    labeller = Labeller(again=answered)
    for number in range(100):
        labeller.add(answered(number))
    gc.collect()
    held = {id(one): len(one) for one in texts_of(labeller) if len(one) > 100_000}

    assert sum(held.values()) < 60 * 200_000


def texts_of(root: object) -> list[str]:
    """All texts that can be reached from an object."""
    seen, todo, found = set[int](), [root], list[str]()
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            found.append(one)
        else:
            todo += gc.get_referents(one)
    return found
