"""Lint: what could be better. It blames no layer and runs only with its option."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, ids, judged, lines, only, steps, words


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


def advised(*tools: dict[str, Any], turns: int = 1, **fields: Any) -> list[str]:
    trips, history = [], [HELLO]
    for n in range(turns):
        trips.append(chat(history, said(f"x{n}"), tools=list(tools), max_completion_tokens=500, index=n, **fields))
        history = [*history, said(f"x{n}"), user("and?")]
    return lines(*trips, advice=True)


def test_advice_names_the_tool_and_its_place_and_comes_once_in_a_thread() -> None:
    bare: dict[str, Any] = {f"p{n}": {"type": "string"} for n in range(7)}

    assert advised(tool("a", description=None, word=WORD), tool("b", description="  ", word=WORD)) == [
        "#0 tool-without-description (client, info, P): the tool 'a' has no description | #0 request /tools/0",
        "#0 tool-without-description (client, info, P): the tool 'b' has no description | #0 request /tools/1",
    ]
    assert len(advised(tool("a", description=None, word=WORD), turns=2)) == 1
    assert advised(tool("a", **bare)) == [
        (
            "#0 param-without-description (client, info, P): parameters of 'a' have no description: p0, p1, "
            "p2, p3, p4, p5 and 1 more | #0 request /tools/0"
        ),
    ]
    assert len(advised(tool("a", word={"type": "string"}), turns=2)) == 1
    assert advised(tool("a", word={"type": "string", "enum": ["x"]})) == []
    assert advised(tool("a", word={"type": "string", "title": "The word"})) == []


@pytest.mark.parametrize(
    "text",
    ["one of 'a', 'b'", "Either `a` or `b`", 'must be "a" | "b"', "Can be 'a'/'b'", "Options: 'a', or 'b'",
     "option: 'a', 'b'", "values: 'a', 'b'", "value: 'a', 'b'", "use 'near' or 'far'"],
)  # fmt: skip
def test_alternatives_in_a_description_are_found(text: str) -> None:
    [line] = advised(tool("a", mode={"type": "string", "description": text}))

    assert line == (
        f"#0 string-wants-enum (client, info, S): a.mode lists its alternatives in its description: {text!r} "
        "| #0 request /tools/0"
    )
    assert len(advised(tool("a", mode={"type": "string", "description": text}), turns=2)) == 1
    assert advised(tool("a", mode={"type": "STRING", "description": text})) != []
    assert advised(tool("a", mode={"type": "array", "items": {}, "description": text})) == []
    assert advised(tool("a", mode={"type": "string", "description": "The word 'a'."})) == []


def test_names_that_are_easily_confused_are_named_in_pairs() -> None:
    def confused(*names: str, turns: int = 1) -> list[str]:
        return [one for one in advised(*(tool(name, word=WORD) for name in names), turns=turns) if "confused" in one]

    assert confused("look_up", "lookUp", "other") == [
        (
            "#0 similar-tool-names (client, info, H): the tools 'lookUp' and 'look_up' are easily confused | "
            "#0 request tools"
        ),
    ]
    assert confused("file", "files") != []
    assert confused("file", "filer") == []
    assert confused("x", "lookUp", "y", "look-up") == confused("lookUp", "look-up")
    assert len(confused("look_up", "lookUp", turns=2)) == 1


def test_tools_that_are_not_strict_are_listed() -> None:
    loose = [tool(f"t{chr(97 + n)}", word=WORD) for n in range(7)]
    for one in loose:
        del one["function"]["strict"]
    bare = {"type": "function", "function": {"name": "free", "description": "x"}}

    assert [one for one in advised(*loose) if "strict" in one] == [
        (
            "#0 strict-not-set (client, info, P): 7 tools without `strict`: ta, tb, tc, td, te, tf and 1 more | "
            "#0 request tools"
        ),
    ]
    assert len([one for one in advised(*loose, turns=2) if "strict" in one]) == 1
    assert [one for one in advised(bare) if "strict" in one] == []
    local = chat([HELLO], said("x"), tools=loose, max_completion_tokens=5)
    local = replace(
        local, request=replace(local.request, url="http://127.0.0.1:8000/v1/chat/completions"), upstream=None
    )
    assert "strict-not-set" not in ids(local, advice=True)


def test_a_request_without_tools_needs_no_cap() -> None:
    assert lines(chat([HELLO], said("x"), tools=[tool(word=WORD)]), advice=True) == [
        "#0 no-max-tokens (client, info, H): the request sets no cap on output tokens | #0 request",
    ]
    assert lines(chat([HELLO], said("x"), tools=None), advice=True) == []


def offering(count: int, *names: str, called: str = "look_up") -> list[str]:
    """A run of so many turns that offers these tools and calls one of them."""
    trips, history = [], [HELLO]
    for n in range(count):
        call = said(None, (f"c{n}", called, f'{{"word":"{n}"}}'))
        trips.append(chat(history, call, index=n, tools=[tool(name, word=WORD) for name in names], max_tokens=9))
        history = [*history, call, result(f"c{n}", f"r{n}")]
    return lines(*trips, only="unused", advice=True)


def test_tools_that_nobody_calls_are_counted_in_tokens() -> None:
    assert offering(3, "look_up", *(f"idle{n}" for n in range(7))) == [
        (
            "#2 unused-tools-paid-for (client, info, P): 7 of 8 tools never called (idle0, idle1, idle2, "
            "idle3, idle4, idle5 and 1 more); their definitions took about 577 input tokens in 3 requests | "
            "#2 request tools"
        ),
    ]
    assert offering(2, "look_up", "idle") == []
    assert offering(3, "look_up") == []


def test_a_tool_that_is_offered_once_is_not_unused() -> None:
    first = chat([HELLO], said(None, CALL), tools=[tool(word=WORD), tool("idle", word=WORD)])
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    second = chat(history, said("a"), index=1, tools=[tool(word=WORD)])
    third = chat([*history, said("a"), user("b")], said("c"), index=2, tools=[tool(word=WORD)])

    assert lines(first, second, third, only="unused", advice=True) == []


def test_unused_tools_are_reported_once_in_a_run_of_several_threads() -> None:
    idle = [tool("idle", word=WORD)]
    trips = [chat([user(f"question {n}")], said("x"), index=n, tools=idle, max_tokens=9) for n in range(4)]

    assert len(lines(*trips, only="unused", advice=True)) == 1


def test_a_choice_that_is_forced_on_three_turns_is_reported_once() -> None:
    def forced(*choices: object) -> list[str]:
        trips = []
        for one, choice in zip(steps(len(choices), word=None), choices, strict=True):
            body = orjson.loads(one.request.body) | ({"tool_choice": choice} if choice else {})
            trips.append(replace(one, request=replace(one.request, content=orjson.dumps(body))))
        return lines(*trips, only="tool-choice", advice=True)

    by_name = {"type": "function", "function": {"name": "look_up"}}
    assert forced(*["required"] * 4) == [
        (
            "#2 tool-choice-forced-every-turn (client, info, P): a tool call is forced on every turn | #2 "
            "request tool choice"
        ),
    ]
    assert forced(*[by_name] * 3) != []
    assert forced("required", "required") == []
    assert forced("required", "auto", "required") == []
    assert forced("required", None, "required") == []
    assert forced("auto", "auto", "auto") == []
    assert forced("required", "required", by_name) == []


def test_calls_in_four_turns_in_a_row_are_reported_once() -> None:
    assert lines(*steps(7, word=None), only="parallel", advice=True) == [
        (
            "#4 parallel-calls-one-by-one (client, info, H): 'look_up' was called in four turns in a row, one "
            "call each | #4 request"
        ),
    ]
    history, trips = [HELLO], []
    for n, name in enumerate(("look_up", "look_up", "find", "look_up", "look_up")):
        call = said(None, (f"c{n}", name, f'{{"word":"{n}"}}'))
        trips.append(chat(history, call, index=n))
        history = [*history, call, result(f"c{n}", f"r{n}")]
    assert lines(*trips, only="parallel", advice=True) == []


def test_tools_of_the_api_need_no_advice() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}

    assert lines(anthropic([asked("hi")], [words("x")], tools=[search]), only="tool-w", advice=True) == []
