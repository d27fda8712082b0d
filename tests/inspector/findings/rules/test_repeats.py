"""Calls that come again."""

from typing import Any

import pytest
from conversations import HELLO, chat, result, said, user
from judged import (
    OLLAMA,
    anthropic,
    asked,
    calls,
    gemini,
    given,
    gives,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    responses,
    spoke,
    steps,
    trip,
    turn,
    use,
)

from turntape.cassettes.tape.model import RoundTrip


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize(("turns", "severity"), [(2, None), (3, "warning"), (4, "warning"), (5, "error"), (8, "error")])
def test_the_same_call_with_the_same_result_is_a_loop(turns: int, severity: str | None) -> None:
    reported = [one for one in judged(*steps(turns)) if one.id == "model-repeated-call"]

    assert [one.severity for one in reported][-1:] == ([severity] if severity else [])
    assert len(reported) <= 2


def test_other_results_or_other_arguments_are_progress() -> None:
    history: list[dict[str, Any]] = [HELLO]
    polled = []
    for n in range(6):
        call = said(None, (f"call_{n}", "look_up", '{"word":"tape"}'))
        polled.append(chat(history, call, index=n))
        history = [*history, call, result(f"call_{n}", f"{n * 20} %")]

    assert "model-repeated-call" not in ids(*polled)
    assert "model-repeated-call" not in ids(*steps(6, word=None))


def test_a_tool_that_waits_may_be_asked_again() -> None:
    tool = {
        "type": "function",
        "function": {"name": "check_status", "parameters": {"type": "object", "properties": {}}},
    }
    history: list[dict[str, Any]] = [HELLO]
    trips = []
    for n in range(6):
        call = said(None, (f"call_{n}", "check_status", "{}"))
        trips.append(chat(history, call, index=n, tools=[tool]))
        history = [*history, call, result(f"call_{n}", "running")]

    assert "model-repeated-call" not in ids(*trips)


def looped(names: list[list[str]], answer: str = "same") -> list[str]:
    """The findings about repeats in a run of these calls, turn by turn."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    tools = [function(name) for name in sorted({name for one in names for name in one})]
    for n, called in enumerate(names):
        call = said(None, *((f"c{n}_{m}", name, "{}") for m, name in enumerate(called)))
        trips.append(chat(history, call, index=n, tools=tools))
        history = [*history, call, *(result(f"c{n}_{m}", answer) for m in range(len(called)))]
    return lines(*trips, only="model-repeated")


def test_repeated_calls_are_listed_once_as_a_warning_and_once_as_an_error() -> None:
    assert looped([["a"]] * 8) == [
        (
            "#2 model-repeated-call (model, warning, P): the model made the same call of 'a' 3 times in a row "
            "with the same result each time | #0 call a, #1 call a, #2 call a"
        ),
        (
            "#4 model-repeated-call (model, error, P): the model made the same call of 'a' 5 times in a row "
            "with the same result each time | #0 call a, #1 call a, #2 call a, #3 call a, #4 call a"
        ),
    ]
    assert looped([["a"]] * 2) == []
    assert looped([["a"], ["b"], ["a"], ["a"], ["b"], ["a"]]) == []
    assert len(looped([["a", "b"], ["b", "a"], ["a", "b"]])) == 1, "the order in an answer does not matter"
    assert looped([["a", "b"], ["a"], ["a", "b"]]) == []


def test_a_call_that_another_result_interrupts_is_not_repeated() -> None:
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n, text in enumerate(("x", "y", "x", "x")):
        call = said(None, (f"c{n}", "look_up", '{"word":"a"}'))
        trips.append(chat(history, call, index=n))
        history = [*history, call, result(f"c{n}", text)]

    assert lines(*trips, only="model-repeated") == []


@pytest.mark.parametrize("name", ["wait", "Poll_job", "get_status", "check", "sleep_for", "progress", "monitor_it"])
def test_a_tool_with_such_a_name_may_be_asked_again(name: str) -> None:
    assert looped([[name]] * 6) == []


def test_a_repeat_after_errors_that_say_nothing_is_because_of_them() -> None:
    history: list[dict[str, Any]] = [asked("hi")]
    trips: list[RoundTrip] = []
    for n in range(3):
        trips.append(anthropic(history, [use(f"toolu_{n}")], n))
        history = [*history, spoke(use(f"toolu_{n}")), asked(given(f"toolu_{n}", "invalid", is_error=True))]
    [line] = lines(*trips, only="model-repeated", hints=True)

    assert line.endswith("| because of client-opaque-tool-error")


def cycle(*steps: str, results: str = "", names: dict[str, str] | None = None) -> list[str]:
    """What is said of cycles in a run of these calls; each letter of a step is a call."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[Any] = []
    named = names or {}
    tools = [function(name) for name in ("look_up", *named.values())]
    for n, step in enumerate(steps):
        called = [(f"c{n}{m}", named.get(word, "look_up"), f'{{"word":"{word}"}}') for m, word in enumerate(step)]
        call = said(None, *called) if called else said("so far")
        trips.append(chat(history, call, index=n, tools=tools))
        texts = results[n] if results else "r"
        given = [result(f"c{n}{m}", f"{texts}{word}") for m, word in enumerate(step)]
        history = [*history, call, *(given or [user("go on with it")])]
    return lines(*trips, only="model-ping-pong")


def test_a_cycle_is_reported_at_its_second_round_and_when_the_run_is_stuck() -> None:
    pair = "'look_up', 'look_up'"
    assert cycle(*"ababababab") == [
        (
            "#3 model-ping-pong (model, warning, P): the last 4 turns are 2 rounds of 2 turns with the same calls and "
            f"the same results: {pair} | #0 response, #1 response, #2 response, #3 response"
        ),
        (
            "#7 model-ping-pong (model, error, P): the last 8 turns are 4 rounds of 2 turns with the same calls and "
            f"the same results: {pair} | #0 response, #1 response, #2 response, #3 response, #4 response, #5 response"
        ),
    ]
    [three] = cycle(*"abcabcabc", names={"a": "find", "b": "read"})
    assert three.startswith("#5 ") and "2 rounds of 3 turns" in three and ": 'find', 'read', 'look_up' | " in three
    [four] = cycle(*"abcdabcd")
    assert four.startswith("#7 ") and "the last 8 turns are 2 rounds of 4 turns" in four


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("aba", False),
        ("abba", False),
        ("xyabab", True),
        ("aabaab", True),
        ("abcdeabcde", False),
        ("abac", False),
        ("cbab", False),
        ("abcdabc", False),
    ],
)
def test_only_whole_rounds_of_two_to_four_turns_are_a_cycle(run: str, found: bool) -> None:
    assert bool(cycle(*run)) is found


def test_one_call_again_and_again_is_another_finding() -> None:
    assert cycle(*"aaaaaa") == []
    assert cycle("ab", "ba", "ab", "ba") == [], "the order in an answer does not matter"
    assert cycle("ab", "c", "ab", "c") != []


def test_an_answer_in_between_ends_a_cycle() -> None:
    assert cycle("a", "", "a", "") == []
    assert cycle("a", "b", "", "a", "b") == []


def test_a_cycle_whose_results_change_is_progress() -> None:
    assert cycle(*"abab", results="1111") != []
    assert cycle(*"abab", results="1121") == []
    assert cycle(*"ababa", results="11112") != [], "the last result is not known yet"
    assert cycle(*"ababab", results="121212") != []
    assert cycle(*"abcabc", results="123124") != []
    assert cycle(*"abcabc", results="123143") == []
    assert cycle(*"xabab", results="91111") != [], "what came before the cycle does not count"


def test_a_call_without_a_result_ends_a_cycle() -> None:
    history: list[dict[str, Any]] = [HELLO]
    trips: list[Any] = []
    for n, word in enumerate("abab"):
        call = said(None, (f"c{n}", "look_up", f'{{"word":"{word}"}}'))
        trips.append(chat(history, call, index=n))
        history = [*history, call, *([result(f"c{n}", "r")] if n else [])]

    assert lines(*trips, only="model-ping-pong") == []


def test_a_cycle_with_a_tool_that_waits_is_not_reported() -> None:
    assert cycle(*"abab", names={"a": "run", "b": "read"}) != []
    assert cycle(*"abab", names={"a": "sleep", "b": "read"}) == []
    assert cycle(*"abab", names={"a": "read", "b": "get_status"}) == []
    assert cycle(*"xabab", names={"x": "wait", "a": "read", "b": "run"}) != [], "the wait is before the cycle"


def words_of(n: int) -> str:
    return "ab"[n % 2]


def anthropic_cycle() -> list[RoundTrip]:
    history: list[dict[str, Any]] = [asked("hi")]
    trips: list[RoundTrip] = []
    for n in range(4):
        trips.append(anthropic(history, [use(f"toolu_{n}", words_of(n))], n))
        history = [*history, spoke(use(f"toolu_{n}", words_of(n))), asked(given(f"toolu_{n}"))]
    return trips


def gemini_cycle() -> list[RoundTrip]:
    history: list[dict[str, Any]] = [turn("user", {"text": "hi"})]
    trips: list[RoundTrip] = []
    for n in range(4):
        trips.append(gemini(history, [calls(words_of(n))], n))
        history = [*history, turn("model", calls(words_of(n))), turn("user", gives())]
    return trips


def responses_cycle() -> list[RoundTrip]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
    trips: list[RoundTrip] = []
    for n in range(4):
        trips.append(responses(history, [item_call(f"call_{n}", words_of(n))], n))
        history = [*history, item_call(f"call_{n}", words_of(n)), item_output(f"call_{n}")]
    return trips


def ollama_cycle() -> list[RoundTrip]:
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n in range(4):
        call = {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "look_up", "arguments": {"word": words_of(n)}}}],
        }
        body = {"model": "qwen3", "messages": history, "stream": False, "tools": [function("look_up")]}
        answer = {"model": "qwen3", "message": call, "done": True, "done_reason": "stop"}
        trips.append(trip(OLLAMA, body, answer, n, upstream="ollama"))
        history = [*history, call, {"role": "tool", "tool_name": "look_up", "content": "a strip"}]
    return trips


@pytest.mark.parametrize("run", [anthropic_cycle(), gemini_cycle(), responses_cycle(), ollama_cycle()])
def test_a_cycle_is_found_in_every_api(run: list[RoundTrip]) -> None:
    [line] = lines(*run, only="model-ping-pong")

    assert line.startswith("#3 model-ping-pong (model, warning, P): the last 4 turns are 2 rounds")


def test_a_cycle_of_errors_that_say_nothing_is_because_of_them() -> None:
    history: list[dict[str, Any]] = [asked("hi")]
    trips: list[RoundTrip] = []
    for n, word in enumerate("aabaab"):
        trips.append(anthropic(history, [use(f"toolu_{n}", word)], n))
        error = given(f"toolu_{n}", "invalid", is_error=True)
        history = [*history, spoke(use(f"toolu_{n}", word)), asked(error)]
    [line] = lines(*trips, only="model-ping-pong", hints=True)

    assert line.endswith("| because of client-opaque-tool-error")
