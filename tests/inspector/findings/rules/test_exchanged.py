"""Results under each other's call, and calls with two results in different requests, in every API."""

import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import HELLO, chat, result, said
from judged import (
    CONVERSE,
    SCHEMA,
    anthropic,
    asked,
    gemini,
    given,
    ids,
    item_call,
    item_output,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)
from judged import calls as gemini_call
from judged import gives as gemini_gives

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.rules.exchanged import SHOWN

ID, TWICE = "client-results-exchanged", "client-tool-result-rewritten"
PARIS, OSLO = '{"city": "Paris", "degrees": 21}', '{"city": "Oslo", "degrees": 4}'
WORDS = ("Paris", "Oslo")
DONE = "Paris is warmer than Oslo."


def _anthropic(first: str, second: str) -> list[RoundTrip]:
    made = [use(f"toolu_{n}", word) for n, word in enumerate(WORDS)]
    back = asked(given("toolu_0", first), given("toolu_1", second))
    return [anthropic([asked("hi")], made), anthropic([asked("hi"), spoke(*made), back], [words(DONE)], 1)]


def _chat(first: str, second: str) -> list[RoundTrip]:
    answer = said(None, *((f"call_{n}", "look_up", json.dumps({"word": word})) for n, word in enumerate(WORDS)))
    back = [result("call_0", first), result("call_1", second)]
    return [chat([HELLO], answer), chat([HELLO, answer, *back], said(DONE), index=1)]


def _responses(first: str, second: str) -> list[RoundTrip]:
    made = [item_call(f"call_{n}", word) for n, word in enumerate(WORDS)]
    back = [item_output("call_0", first), item_output("call_1", second)]
    end = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": DONE}]}
    return [responses([HELLO], made), responses([HELLO, *made, *back], [end], 1)]


def _gemini(first: str, second: str) -> list[RoundTrip]:
    made = [gemini_call(word) for word in WORDS]
    back = turn("user", gemini_gives(first), gemini_gives(second))
    hi = turn("user", {"text": "hi"})
    return [gemini([hi], made), gemini([hi, turn("model", *made), back], [{"text": DONE}], 1)]


def _converse(first: str, second: str) -> list[RoundTrip]:
    made = [
        {"toolUse": {"toolUseId": f"t{n}", "name": "look_up", "input": {"word": word}}} for n, word in enumerate(WORDS)
    ]
    back = [
        {"toolResult": {"toolUseId": f"t{n}", "content": [{"text": text}]}} for n, text in enumerate((first, second))
    ]
    hi = {"role": "user", "content": [{"text": "hi"}]}
    offered = {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": {"json": SCHEMA}}}]}

    def answered(messages: list[Any], content: list[Any], stop: str, index: int) -> RoundTrip:
        body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop,
                "usage": {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}}  # fmt: skip
        return trip(CONVERSE, {"messages": messages, "toolConfig": offered}, body, index)

    history = [hi, {"role": "assistant", "content": made}, {"role": "user", "content": back}]
    return [answered([hi], made, "tool_use", 0), answered(history, [{"text": DONE}], "end_turn", 1)]


APIS = {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini, "converse": _converse}


@pytest.mark.parametrize("api", sorted(APIS))
def test_results_that_speak_of_each_others_calls(api: str) -> None:
    one = only(ID, *APIS[api](OSLO, PARIS))

    assert (one.at, one.layer, one.severity, one.tier) == (1, "client", "error", "S")
    assert "speaks of 'oslo', and that of" in one.message and one.message.endswith("of 'paris'")
    assert ID not in ids(*APIS[api](PARIS, OSLO))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("4 degrees", "21 degrees"),
        ("Oslo and Paris", "Paris"),
        ("Oslo", "Oslo and Paris"),
        ("Oslo", "21 degrees"),
        ("Osloer", "Parisian"),
    ],
)
def test_results_that_do_not_separate_the_calls_are_silent(first: str, second: str) -> None:
    assert ID not in ids(*_chat(first, second))


def test_arguments_that_hold_each_other_or_are_short_prove_nothing() -> None:
    def of(one: str, two: str) -> set[str]:
        answer = said(None, *((f"c{n}", "look_up", json.dumps({"word": [word]})) for n, word in enumerate((one, two))))
        back = [result("c0", f"about {two}"), result("c1", f"about {one}")]
        return ids(chat([HELLO], answer), chat([HELLO, answer, *back], said(DONE), index=1))

    assert ID in of("north", "south")
    assert ID not in of("north", "north-west")
    assert ID not in of("abc", "xyz")
    assert ID not in of("a" * 81, "b" * 81)


def _two_runs(first: str, second: str, *, gap: float) -> list[RoundTrip]:
    """Two requests that answer one call: the second is sent `gap` seconds after the first, which takes 5."""
    made = [use("toolu_1", "the order of the customer who called in the morning")]
    opened = [asked("Hello."), spoke(words("Hello, what may I look up for you today?")), asked("What was ordered?")]
    history = [*opened, spoke(*made)]

    def answered(text: str, index: int, at: float) -> RoundTrip:
        words_of = words(f"The customer has ordered something that is called {text[:9]}, and it was sent on Monday.")
        one = anthropic([*history, asked(given("toolu_1", text))], [words_of], index, at=at)
        return replace(one, ended_at=5_000_000)

    return [anthropic(opened, made), answered(first, 1, 10.0), answered(second, 2, 10.0 + gap)]


def test_a_call_that_ran_twice_at_the_same_time() -> None:
    [line] = lines(*_two_runs("order 17", "order 18", gap=1.0), only=TWICE)

    assert line == (
        f"#2 {TWICE} (client, warning, P): the call toolu_1 has another result than in #1, so it ran twice: "
        "'order 17' became 'order 18' | #1 request, #2 request /messages/4/content/0"
    )
    assert "(client, info, P)" in lines(*_two_runs("order 17", "order 18", gap=60.0), only=TWICE)[0]
    assert lines(*_two_runs("order 17", "order 17", gap=1.0), only=TWICE) == []
    assert lines(*_two_runs("order 17", "  order 17 ", gap=1.0), only=TWICE) == []
    assert "(client, info, P)" in lines(*_two_runs("order 17", "order 18", gap=5.0), only=TWICE)[0]
    [line] = lines(*_two_runs("x" * 50 + "1", "y" * 50 + "2", gap=1.0), only=TWICE)
    assert f"{'x' * 40!r} became {'y' * 40!r}" in line
    long = "x" * SHOWN
    assert lines(*_two_runs(f"{long}1", f"{long}2", gap=1.0), only=TWICE) == []


def test_errors_and_results_of_one_request_are_not_two_runs() -> None:
    """A tool that failed may run again, and one request may answer several calls."""
    made = [use("toolu_1", "the first order of the customer"), use("toolu_2", "the second order of the customer")]
    opened = [asked("Hello."), spoke(words("Hello, what may I look up for you today?")), asked("What was ordered?")]

    def answered(index: int, *results: dict[str, Any]) -> RoundTrip:
        text = f"The customer has ordered a lamp and a chair, {index} of them, and both were sent on Monday."
        one = anthropic([*opened, spoke(*made), asked(*results)], [words(text)], index, at=10.0 + index)
        return replace(one, ended_at=5_000_000)

    def of(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[str]:
        return lines(anthropic(opened, made), answered(1, *first), answered(2, *second), only=TWICE)

    good = [given("toolu_1", "a lamp"), given("toolu_2", "a chair")]
    assert of(good, good) == []
    assert of([given("toolu_1", "timed out", is_error=True), good[1]], good) == []
    assert of(good, [given("toolu_1", "timed out", is_error=True), good[1]]) == []
    both = of(good, [given("toolu_1", "a bed"), given("toolu_2", "a desk")])
    assert [line.split(" became ")[1][:8] for line in both] == ["'a bed' ", "'a desk'"]


def test_only_one_pair_is_named() -> None:
    names = ("Paris", "Oslo", "Rome")
    answer = said(None, *((f"c{n}", "look_up", json.dumps({"word": word})) for n, word in enumerate(names)))
    back = [result("c0", "about Oslo"), result("c1", "about Paris"), result("c2", "about Rome")]
    [line] = lines(chat([HELLO], answer), chat([HELLO, answer, *back], said(DONE), index=1), only=ID)

    assert line == (
        f"#1 {ID} (client, error, S): the result of the call c0 speaks of 'oslo', and that of the call c1 of 'paris' | "
        "#0 call c0, #0 call c1, #1 request /messages/2, #1 request /messages/3"
    )
    kept = [result("c0", "about Paris"), result("c1", "about Rome"), result("c2", "about Oslo")]
    [line] = lines(chat([HELLO], answer), chat([HELLO, answer, *kept], said(DONE), index=1), only=ID)
    assert "the call c1 speaks of 'rome', and that of the call c2 of 'oslo'" in line


def test_gemini_names_the_tool_where_a_call_has_no_id() -> None:
    assert only(ID, *_gemini(OSLO, PARIS)).message == (
        "the result of a call of 'look_up' speaks of 'oslo', and that of a call of 'look_up' of 'paris'"
    )


@pytest.mark.parametrize(("count", "found"), [(20, True), (21, False)])
def test_so_many_calls_are_compared(count: int, found: bool) -> None:
    names = [f"word{n:04}" for n in range(count)]
    answer = said(None, *((f"c{n}", "look_up", json.dumps({"word": word})) for n, word in enumerate(names)))
    back = [result(f"c{n}", f"about {word}") for n, word in enumerate([names[1], names[0], *names[2:]])]

    assert (ID in ids(chat([HELLO], answer), chat([HELLO, answer, *back], said(DONE), index=1))) is found


LOOK = [("call_1", "weather", '{"city":"Paris"}'), ("call_2", "weather", '{"city":"Oslo"}')]


def both(first: str, second: str, *calls: tuple[str, str, str]) -> list[str]:
    """What is found where these are the results of two calls."""
    call = said(None, *(calls or LOOK))
    history = [HELLO, call, result("call_1", first), result("call_2", second)]
    return lines(chat([HELLO], call), chat(history, said(DONE), index=1), only=ID)


def test_one_result_under_two_calls_that_speaks_of_one_of_them() -> None:
    assert both(PARIS, PARIS) == [
        f"#1 {ID} (client, warning, S): the call call_1 and the call call_2 have the same result, which speaks of "
        "'paris' alone | #0 call call_1, #0 call call_2, #1 request /messages/2, #1 request /messages/3"
    ]


@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [
        ("No weather was found.", "No weather was found.", ()),
        ("Paris and Oslo are cold.", "Paris and Oslo are cold.", ()),
        (PARIS, OSLO, ()),
        (PARIS, PARIS, (LOOK[0], ("call_2", "weather", '{"city":"Paris"}'))),
        (PARIS, PARIS, (LOOK[0], ("call_2", "news", '{"city":"Oslo"}'))),
    ],
    ids=["of neither", "of both", "each its own", "the same call", "another tool"],
)
def test_equal_results_that_may_be_right(first: str, second: str, calls: tuple[tuple[str, str, str], ...]) -> None:
    assert both(first, second, *calls) == []
