"""The end of a run, in a few lines."""

from pathlib import Path

from turntape.proxy.sidecar.run_totals import RunTotals
from turntape.proxy.sidecar.summary import summary_lines

PATH = Path("run.cassette.jsonl")


def label(**changes: object) -> dict[str, object]:
    return {
        "turn": 1,
        "status": 200,
        "model": {"tool_calls": [{"id": "a"}, {"id": "b"}]},
        "api": {"error": None},
        "usage": {"input": 1200, "cache_read": 1000, "output": 30},
        "cost_usd": "0.0012",
        "findings": [],
    } | changes


FINDING = {"layer": "client", "severity": "error", "message": "a call was not answered", "evidence": ["#1 x"]}


def test_counts_add_up_and_the_next_step_is_named() -> None:
    totals = RunTotals()
    totals.add(0, label())
    totals.add(1, label(turn=2, findings=[FINDING]))
    totals.add(2, label(turn=None, model=None, usage=None, cost_usd=None))

    assert summary_lines(totals.as_json(), PATH, 3, colour=False) == [
        "turntape  2 turns · 4 tool calls · 1 other round trip",
        "          2,400 tokens in (2,000 cached), 60 out · $0.0024",
        "          1 error",
        "            client: a call was not answered (#1 x)",
        "          recorded in run.cassette.jsonl",
        "          next: turntape show run.cassette.jsonl",
    ]


def test_tool_runs_are_counted_and_messages_of_tool_servers_are_not_failures() -> None:
    totals = RunTotals()
    totals.add(0, label(tool_runs=[{"index": 1}]))
    message = label(kind="tools", turn=None, model=None, api=None, usage=None, cost_usd=None, status=None)
    totals.add(1, message | {"tool_runs": []})
    totals.add(2, message | {"tool_runs": [{"index": 2}]})

    lines = summary_lines(totals.as_json(), PATH, 3, colour=False)

    assert lines[0] == "turntape  1 turn · 2 tool calls · 2 tool runs"


def test_a_later_label_replaces_the_earlier_one() -> None:
    totals = RunTotals()
    totals.add(0, label(findings=[FINDING]))
    totals.add(0, label())

    assert "no findings" in "\n".join(summary_lines(totals.as_json(), PATH, 1, colour=False))


def test_an_unknown_price_is_not_zero() -> None:
    totals = RunTotals()
    totals.add(0, label(cost_usd=None))

    assert totals.cost is None
    assert "30 out · unpriced" in "\n".join(summary_lines(totals.as_json(), PATH, 1, colour=False))


def test_tokens_that_the_api_did_not_report_are_not_zero() -> None:
    totals = RunTotals()
    totals.add(0, label(usage=None, cost_usd=None))

    silent = summary_lines(totals.as_json(), PATH, 1, colour=False)
    totals.add(1, label(turn=2))
    partly = summary_lines(totals.as_json(), PATH, 2, colour=False)

    assert silent[1] == "          the API did not report token usage"
    assert partly[1] == (
        "          1,200 tokens in (1,000 cached), 30 out (1 turn not counted) · "
        "≥$0.0012 (1 request without a known price)"
    )


def test_a_run_of_failures_shows_no_tokens() -> None:
    totals = RunTotals()
    totals.add(0, label(usage=None, cost_usd=None, status=None))

    assert not any("token" in line for line in summary_lines(totals.as_json(), PATH, 1, colour=False))


def test_what_could_not_be_labelled_is_shown() -> None:
    totals = RunTotals()
    totals.fault("round trip 3 could not be labelled: ValueError: x")

    assert "round trip 3 could not be labelled" in "\n".join(summary_lines(totals.as_json(), PATH, 1, colour=False))


def test_without_labels_the_round_trips_are_counted() -> None:
    assert "3 round trips recorded" in summary_lines(None, PATH, 3, colour=False)[0]
