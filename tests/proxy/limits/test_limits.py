"""What a run may take, and when it has taken it."""

from decimal import Decimal

import pytest

from turntape.cassettes.tape.model import Request, RoundTrip
from turntape.proxy.limits.limits import MARK, Guard, Limits, Tally, patterns

CHAT = "https://api.openai.com/v1/chat/completions"


def trip(url: str = CHAT, method: str = "POST", **more: object) -> RoundTrip:
    return RoundTrip(Request(method, url), None, 0.0, extra=dict(more))


def label(turn: int | None = 1, cost: str | None = "0.25", finding: str | None = None) -> dict[str, object]:
    findings = [{"id": finding, "message": "it happened"}] if finding else []
    return {"thread": "t1", "turn": turn, "cost_usd": cost, "url": CHAT, "findings": findings}


def reported(guard: Guard, *labels: dict[str, object]) -> Guard:
    tally = Tally()
    for index, one in enumerate(labels):
        tally.add(index, one)
    guard.report(tally.report(len(labels)))
    return guard


def test_turns_are_those_labelled_those_waiting_for_it_and_those_under_way() -> None:
    guard = reported(Guard(Limits(max_turns=4)), label(1), label(None))
    guard.written(trip(), 0)
    guard.written(trip(), 2)

    assert guard.stop(running=1) is None
    assert guard.is_behind
    stop = guard.stop(running=2)
    assert stop is not None
    assert stop.limit == "max-turns"
    assert "4 turns" in stop.message


def test_what_a_label_says_takes_the_place_of_the_guess_by_path() -> None:
    guard = Guard(Limits(max_turns=1))
    guard.written(trip(), 0)

    reported(guard, label(None))

    assert not guard.is_behind
    assert guard.stop(0) is None


def test_a_request_that_we_refused_is_no_turn() -> None:
    guard = Guard(Limits(max_turns=1))
    guard.written(trip(**{MARK: {}}), 0)

    assert guard.stop(0) is None


def test_cost_is_summed_over_turns_and_a_later_label_of_a_turn_replaces_the_earlier() -> None:
    guard, tally = Guard(Limits(max_cost=Decimal("0.60"))), Tally()
    for cost in ("0.25", "0.30"):
        tally.add(0, label(1, cost))
    guard.report(tally.report(1))
    assert guard.stop(0) is None

    tally.add(1, label(2, "0.30"))
    guard.report(tally.report(2))

    stop = guard.stop(0)
    assert stop is not None
    assert stop.limit == "max-cost"
    assert "$0.6000" in stop.message


def test_turns_without_a_price_are_named_at_the_end() -> None:
    guard = reported(Guard(Limits(max_cost=Decimal(1))), label(1, None), label(2))

    assert guard.remarks(labels_missing=False) == ["--max-cost did not count 1 turn without a known price"]


@pytest.mark.parametrize(("pattern", "stops"), [("model-refusal", True), ("model-*", True), ("client-*", False)])
def test_a_finding_is_named_by_id_or_pattern(pattern: str, stops: bool) -> None:
    guard = reported(Guard(Limits(stop_on=(pattern,))), label(finding="model-refusal"))

    assert (guard.stop(0) is not None) is stops


def test_once_ended_a_run_stays_ended() -> None:
    guard = Guard(Limits(max_turns=1))
    assert guard.stop(running=1) is not None

    assert guard.stop(running=0) is not None


def test_a_path_that_the_labels_call_a_turn_is_one_from_then_on() -> None:
    guard = Guard(Limits(max_turns=1))
    assert not guard.is_turn("POST", "/predict")

    tally = Tally()
    tally.add(0, label() | {"url": "http://llm.local/predict"})
    guard.report(tally.report(1))

    assert guard.is_turn("POST", "/predict?x=1")
    assert not guard.is_turn("GET", CHAT)


def test_without_labels_nobody_waits() -> None:
    guard = Guard(Limits(max_turns=9))
    guard.written(trip(), 0)
    assert guard.is_behind

    guard.lost()

    assert not guard.is_behind


def test_stop_on_takes_several_at_once() -> None:
    assert patterns(["a, b", "c,"]) == ("a", "b", "c")
