"""When a run has reached a limit."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from turntape.cassettes.tape.model import Request, RoundTrip
from turntape.proxy.limits.limit_checker import LimitChecker
from turntape.proxy.limits.limits import MARK, Limits
from turntape.proxy.limits.progress import NO_PROGRESS, ProgressReport

CHAT = "https://api.openai.com/v1/chat/completions"


def trip(url: str = CHAT, method: str = "POST", **extra: object) -> RoundTrip:
    return RoundTrip(Request(method, url), None, 0.0, extra=dict(extra))


def report(read: int, turns: int = 0, cost: str = "0", **findings: str) -> ProgressReport:
    named = {name.replace("_", "-"): message for name, message in findings.items()}
    return {**NO_PROGRESS, "read": read, "turns": turns, "cost": cost, "findings": named}


def message(checker: LimitChecker, running: int = 0) -> str | None:
    reached = checker.check(running)
    return reached.message if reached else None


def test_turns_are_those_labelled_those_not_labelled_yet_and_those_running() -> None:
    checker = LimitChecker(Limits(max_turns=4))
    checker.report(report(2, turns=1))
    checker.written(trip(), 1)  # its label is counted already
    checker.written(trip(), 2)

    assert checker.check(running=1) is None
    reached = checker.check(running=2)
    assert reached is not None
    assert (reached.limit, reached.message) == (
        "max-turns",
        "turntape ended this run after 4 turns (--max-turns 4)",
    )


def test_turns_within_a_websocket_session_count_until_they_are_labelled() -> None:
    checker = LimitChecker(Limits(max_turns=3))
    checker.written(trip(method="GET"), 0, session_turns=2)
    assert checker.check(0) is None

    assert checker.check(1) is not None


def test_a_label_replaces_what_the_path_suggests() -> None:
    checker = LimitChecker(Limits(max_turns=1))
    checker.written(trip(), 0)

    checker.report(report(1, turns=0))

    assert checker.check(0) is None


def test_a_request_that_turntape_refused_is_not_a_turn() -> None:
    checker = LimitChecker(Limits(max_turns=1))
    mark: dict[str, Any] = {MARK: {}}
    checker.written(trip(**mark), 0)

    assert checker.check(0) is None


@pytest.mark.parametrize(("cost", "ends"), [("0.5999", None), ("0.60", "$0.6000"), ("0.61", "$0.6100")])
def test_a_run_ends_when_its_turns_cost_as_much_as_the_limit(cost: str, ends: str | None) -> None:
    checker = LimitChecker(Limits(max_cost=Decimal("0.60")))
    checker.report(report(1, 1, cost))

    assert message(checker) == (f"turntape ended this run at {ends} (--max-cost 0.60)" if ends else None)


@pytest.mark.parametrize(("pattern", "ends"), [("model-refusal", True), ("model-*", True), ("client-*", False)])
def test_a_finding_is_named_by_id_or_pattern(pattern: str, ends: bool) -> None:
    checker = LimitChecker(Limits(stop_on=("api-*", pattern)))
    checker.report(report(1, 1, model_refusal="it refused"))

    expected = f"turntape ended this run on model-refusal (--stop-on {pattern}): it refused"
    assert message(checker) == (expected if ends else None)


def test_a_run_that_was_ended_stays_ended() -> None:
    checker = LimitChecker(Limits(max_turns=1))
    first = checker.check(running=1)

    assert first is not None
    assert checker.check(running=0) is checker.reached is first


def test_a_path_that_the_labels_call_a_turn_counts_from_then_on() -> None:
    checker = LimitChecker(Limits(max_turns=1))
    assert not checker.is_turn("POST", "/predict")

    checker.report({**NO_PROGRESS, "paths": ["/predict"]})

    assert checker.is_turn("POST", "/predict?x=1")
    assert not checker.is_turn("GET", "/predict")
    assert not checker.is_turn("GET", CHAT)
    assert not checker.is_turn("POST", "/predict", (), b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')


def test_messages_to_a_tool_server_are_not_counted() -> None:
    checker = LimitChecker(Limits(max_turns=2))
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    asked = Request("POST", "http://127.0.0.1:9/messages?s=1", content=body)

    for number in range(5):
        checker.written(replace(trip(), request=asked), number)

    assert checker.check(running=1) is None
    checker.written(trip(), 5)
    assert checker.check(running=1) is not None


def test_a_round_trip_is_labelled_when_a_report_covers_it() -> None:
    checker = LimitChecker(Limits(max_turns=9))
    assert (checker.recorded, checker.is_labelled(0), checker.is_labelled(1)) == (0, True, False)
    checker.written(trip(), 0)
    checker.written(trip(), 1)

    checker.report(report(1))

    assert (checker.recorded, checker.is_labelled(1), checker.is_labelled(2)) == (2, True, False)


def test_labels_that_never_come_are_not_waited_for() -> None:
    checker = LimitChecker(Limits(max_turns=9))

    checker.labels_ended("it died")
    checker.labels_ended("something else")

    assert checker.is_labelled(1)
    assert checker.labels_missing == "it died"


def test_labels_of_a_round_trip_that_was_not_written_are_not_waited_for() -> None:
    checker = LimitChecker(Limits(max_turns=3))
    checker.report(report(1))
    for number in (1, 2, 3):
        checker.written(trip(), number)

    checker.lost(2)
    assert not checker.is_labelled(3)
    checker.report(report(2, turns=1))
    assert (checker.is_labelled(2), checker.is_labelled(3), checker.is_labelled(4)) == (True, True, False)
    checker.lost(3)
    assert checker.is_labelled(4)


@pytest.mark.parametrize("lost_first", [True, False])
def test_a_turn_that_was_not_written_counts_to_the_end_of_the_run(lost_first: bool) -> None:
    checker = LimitChecker(Limits(max_turns=3))
    steps = [lambda: checker.lost(0), lambda: checker.written(trip(), 0)]
    for step in steps if lost_first else reversed(steps):
        step()

    checker.report(report(2, turns=1))

    assert checker.check(0) is None
    assert checker.check(1) is not None


@pytest.mark.parametrize(
    ("limits", "lost", "remarks"),
    [
        (Limits(stop_on=("x",)), (0,), ["--max-cost and --stop-on did not see 1 turn that could not be written"]),
        (
            Limits(max_cost=Decimal(1)),
            (0, 1),
            ["--max-cost and --stop-on did not see 2 turns that could not be written"],
        ),
        (Limits(max_cost=Decimal(1)), (2,), []),
        (Limits(max_turns=9), (0,), []),
    ],
)
def test_the_remarks_name_turns_that_no_label_can_show(
    limits: Limits, lost: tuple[int, ...], remarks: list[str]
) -> None:
    checker = LimitChecker(limits)
    for number, one in enumerate((trip(), trip(), trip(method="GET"))):
        checker.written(one, number)
    for number in lost:
        checker.lost(number)

    assert checker.remarks(labels_missing=False) == remarks


def test_news_are_passed_on() -> None:
    checker, news = LimitChecker(Limits(max_turns=9)), list[int]()
    checker.on_news = lambda: news.append(checker.is_labelled(1))

    checker.report(report(0))
    checker.lost(0)
    checker.labels_ended("it died")

    assert news == [False, True, True]


MISSING = "--max-cost and --stop-on were not checked to the end, because labels are missing"


def test_the_remarks_at_the_end_say_what_the_limits_did() -> None:
    checker = LimitChecker(Limits(max_turns=1, max_cost=Decimal(1)))
    checker.report({**report(3, turns=2), "unpriced": 2})
    checker.check(0)

    assert checker.remarks(labels_missing=True) == [
        "ended this run after 1 turn (--max-turns 1)",
        "--max-cost did not count 2 requests without a known price",
        MISSING,
    ]


@pytest.mark.parametrize(
    ("limits", "labels_missing", "decided_without", "remarks"),
    [
        (Limits(max_turns=9), True, False, []),
        (Limits(stop_on=("x",)), True, False, [MISSING]),
        (Limits(stop_on=("x",)), False, True, [MISSING]),
        (Limits(stop_on=("x",)), False, False, []),
    ],
)
def test_missing_labels_matter_for_limits_that_need_them(
    limits: Limits, labels_missing: bool, decided_without: bool, remarks: list[str]
) -> None:
    checker = LimitChecker(limits)
    checker.decided_without_labels = decided_without

    assert checker.remarks(labels_missing) == remarks


def test_unpriced_turns_matter_for_a_cost_limit_only() -> None:
    checker = LimitChecker(Limits(max_turns=9))
    checker.report({**NO_PROGRESS, "unpriced": 2})

    assert checker.remarks(labels_missing=False) == []
