"""Lint: what could be better. It blames nobody and is silent unless asked for."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, said
from judged import ids, judged, only, steps


def tool(name: str = "look_up", description: str | None = "Look a word up.", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    function = {"name": name, "parameters": schema, "strict": True}
    return {"type": "function", "function": function | ({"description": description} if description else {})}


WORD = {"type": "string", "description": "The word."}


def advice(*tools: dict[str, Any], **fields: Any) -> set[str]:
    return ids(chat([HELLO], said("x"), tools=list(tools), max_completion_tokens=500, **fields), advice=True)


def test_a_tool_that_is_well_described_needs_no_advice() -> None:
    assert advice(tool(word=WORD)) == set()


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([tool(description=None, word=WORD)], "tool-without-description"),
        ([tool(word={"type": "string"})], "param-without-description"),
        (
            [tool(word={"type": "string", "description": "Must be one of 'near', 'far'"})],
            "string-wants-enum",
        ),
        ([tool("look_up", word=WORD), tool("lookUp", word=WORD)], "similar-tool-names"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_weakness_of_a_tool_has_its_advice(tools: list[dict[str, Any]], expected: str) -> None:
    assert advice(*tools) == {expected}


def test_alternatives_that_are_an_enum_are_as_they_should_be() -> None:
    described = {"type": "string", "description": "Must be one of 'near', 'far'", "enum": ["near", "far"]}

    assert advice(tool(mode=described)) == set()


def test_tools_that_are_not_strict_are_reported_at_openai_alone() -> None:
    loose = tool(word=WORD)
    del loose["function"]["strict"]

    assert advice(loose) == {"strict-not-set"}


def test_a_request_without_a_cap_is_reported() -> None:
    assert "no-max-tokens" in ids(chat([HELLO], said("x"), tools=[tool(word=WORD)]), advice=True)


def test_tools_that_nobody_calls_are_paid_for() -> None:
    trips = [
        replace(trip, request=replace(trip.request, content=trip.request.body.replace(
            b'"tools":[', b'"tools":[{"type":"function","function":{"name":"idle","description":"x"}},')))
        for trip in steps(4, word=None)
    ]  # fmt: skip

    assert "idle" in only("unused-tools-paid-for", *trips, advice=True).message
    assert "unused-tools-paid-for" not in ids(*steps(4, word=None), advice=True)


def test_a_choice_that_is_forced_on_every_turn_cannot_end() -> None:
    forced = [chat_like(trip, True) for trip in steps(4, word=None)]
    first_only = [chat_like(trip, n == 0) for n, trip in enumerate(steps(4, word=None))]

    assert "tool-choice-forced-every-turn" in ids(*forced, advice=True)
    assert "tool-choice-forced-every-turn" not in ids(*first_only, advice=True)


def chat_like(trip: Any, forced: bool) -> Any:
    body = trip.request.body[:-1] + b',"tool_choice":"required"}' if forced else trip.request.body
    return replace(trip, request=replace(trip.request, content=body))


def test_calls_one_by_one_are_reported_after_four() -> None:
    assert "parallel-calls-one-by-one" in ids(*steps(5, word=None), advice=True)
    assert "parallel-calls-one-by-one" not in ids(*steps(3, word=None), advice=True)


def test_advice_is_silent_unless_asked_for_and_is_only_information() -> None:
    trip = chat([HELLO], said(None, CALL), tools=[tool(description=None, word={"type": "string"})])

    assert ids(trip) == set()
    assert {one.severity for one in judged(trip, advice=True)} == {"info"}
