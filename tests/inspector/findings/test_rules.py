"""The table of rules: every exception that it promises to users holds, and nothing is promised without a test."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import HELLO, TOOLS, chat, said
from judged import Ended, Said, judged, steps
from round_trips import CHAT, unanswered
from rule_exceptions_answers import ANSWERS
from rule_exceptions_client import CLIENT
from rule_exceptions_contradictions import CONTRADICTIONS
from rule_exceptions_fields import FIELDS
from rule_exceptions_history import HISTORY
from rule_exceptions_model_api import API, MODEL, Row, Run
from rule_exceptions_promises import PROMISES
from rule_exceptions_steps import STEPS
from rule_exceptions_tools import FIRES as TOOLS_FIRE
from rule_exceptions_tools import TOOLS as ABOUT_TOOLS

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.catalogue import OWN, catalogue
from turntape.inspector.findings.rule import Rule
from turntape.inspector.findings.rules import RULES

sys.path.append(str(Path(__file__).parents[3]))  # bench is not installed

from bench.faults.catalogue import CASES

DONE = said("It is a strip.")

ROWS: list[Row] = [*CONTRADICTIONS, *MODEL, *API, *CLIENT, *HISTORY, *STEPS, *ANSWERS, *ABOUT_TOOLS, *PROMISES, *FIELDS]


def found(name: str, run: Run) -> list[Said]:
    trips: Sequence[RoundTrip] = [run] if isinstance(run, RoundTrip) else run
    end = run.end if isinstance(run, Ended) else None
    return [one for one in judged(*trips, hints=True, advice=True, end=end) if one.id == name]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_rule_keeps_its_exceptions(row: Row) -> None:
    name, exception, fires, spared, *milder = row

    assert found(name, fires), "without the exception the rule must fire, or this test proves nothing"
    if not milder:
        assert found(name, spared) == [], exception
        return
    [became] = milder
    assert all(became not in (one.severity, one.tier) for one in found(name, fires))
    assert [one for one in found(name, spared) if became in (one.severity, one.tier)], exception
    assert all(became in (one.severity, one.tier) for one in found(name, spared)), exception


def unproven(rules: Iterable[Rule], rows: Iterable[Row]) -> set[tuple[str, str]]:
    """The rule and the words of each exception that is printed and has no row, and of each row that is not printed."""
    promised = {(rule.id, clause) for rule in rules for clause in rule.not_when}
    return promised ^ {(row[0], row[1]) for row in rows}


def test_every_exception_that_is_printed_has_a_test_and_no_other() -> None:
    assert unproven(RULES, ROWS) == set()


def test_an_exception_without_a_test_and_a_test_without_an_exception_are_found() -> None:
    first, *others = RULES
    promising = replace(first, not_when=(*first.not_when, "It rains"))
    stray: Row = (first.id, "It snows", with_mark(), with_mark())

    assert unproven([promising, *others], ROWS) == {(first.id, "It rains")}
    assert unproven(RULES, [*ROWS, stray]) == {(first.id, "It snows")}
    name, clause, *_ = ROWS[0]
    assert unproven(RULES, [row for row in ROWS if row[:2] != (name, clause)]) == {(name, clause)}


def with_mark(**extra: object) -> RoundTrip:
    return replace(chat([HELLO], DONE), extra=extra)


def with_tool(description: str | None = "Look a word up.", **properties: object) -> RoundTrip:
    function: dict[str, object] = {"name": "look_up", "parameters": {"type": "object", "properties": properties}}
    if description:
        function["description"] = description
    return chat([HELLO], DONE, tools=[{"type": "function", "function": function}])


def failed_as(word: str, status: int) -> RoundTrip:
    return chat([HELLO], status=status, error={"error": {"message": "no recording", "type": word}})


def forced(count: int) -> list[RoundTrip]:
    return [
        replace(one, request=replace(one.request, content=one.request.body[:-1] + b',"tool_choice":"required"}'))
        for one in steps(count, word=None)
    ]


FIRES: dict[str, Run] = {
    "answer-edited-by-hand": with_mark(breakpoint={"did": "edited", "on": "finish=stop"}),
    "answer-refused-by-hand": with_mark(breakpoint={"did": "refused", "on": "finish=stop", "message": "no"}),
    "run-ended-by-limit": with_mark(guard={"message": "the limit of 3 turns is reached"}),
    "replay-missed": failed_as("turntape_replay_miss", 404),
    "request-led-back": failed_as("turntape_loop", 508),
    "replay-without-answer": failed_as("turntape_no_answer", 502),
    "api-unreachable": unanswered(CHAT, {"model": "gpt-5", "messages": [HELLO]}, "refused"),
    "api-wrong-role": chat([HELLO], {"role": "user", "content": "A strip."}),
    "cut-by-stop-string": chat([HELLO], said('{"word": "ta'), stop=["\n"]),
    "tool-without-description": with_tool(None),
    "param-without-description": with_tool(word={"type": "string"}),
    "string-wants-enum": with_tool(word={"type": "string", "description": "Must be one of 'near', 'far'"}),
    "similar-tool-names": chat(
        [HELLO], DONE, tools=[*TOOLS, {"type": "function", "function": {"name": "lookUp", "parameters": {}}}]
    ),
    "no-max-tokens": chat([HELLO], DONE),
    "tool-choice-forced-every-turn": forced(4),
    "parallel-calls-one-by-one": steps(5, word=None),
    "unused-tools-paid-for": [chat([HELLO], DONE, index=n) for n in range(3)],
    **TOOLS_FIRE,
}
"""Rules without exceptions that no fault of the bench is about."""


@pytest.mark.parametrize("name", FIRES)
def test_a_rule_without_exceptions_fires(name: str) -> None:
    assert found(name, FIRES[name])


def test_every_rule_has_a_case_in_which_it_fires() -> None:
    """The bench asserts that each of its faults is found."""
    proven = {row[0] for row in ROWS} | set(FIRES) | {name for case in CASES for name in case.fault.ids}

    assert {rule.id for rule in RULES} - proven == set()


def test_our_own_rules_come_first_and_all_load() -> None:
    table = catalogue()

    assert table.problems == ()
    assert table.rules[: len(RULES)] == RULES
    assert OWN.endswith("findings.rules")


REQUESTS_OF_MANY: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "messages": lambda count: [{"role": "user", "content": f"question {at}"} for at in range(count)],
    "messages without content": lambda count: [{"role": "user", "content": ""} for _ in range(count)],
    "parts": lambda count: [
        {"role": "user", "content": [{"type": "text", "text": f"question {at}"} for at in range(count)]}
    ],
    "system prompts": lambda count: [*({"role": "system", "content": f"rule {at}"} for at in range(count)), HELLO],
    "results without a call": lambda count: [
        HELLO,
        *({"role": "tool", "tool_call_id": f"call_{at}", "content": f"result {at}"} for at in range(count)),
    ],
}


@pytest.mark.parametrize("kind", REQUESTS_OF_MANY)
def test_the_work_of_all_rules_grows_with_the_request_and_not_with_its_square(kind: str) -> None:
    def calls(count: int) -> int:
        made = 0

        def see(_frame: object, event: str, _argument: object) -> None:
            nonlocal made
            made += event == "call"

        trip = chat(REQUESTS_OF_MANY[kind](count), DONE)
        sys.setprofile(see)
        try:
            judged(trip)
        finally:
            sys.setprofile(None)
        return made

    calls(1000)  # what is made once is not counted

    assert calls(1000) < 2.3 * calls(500)
