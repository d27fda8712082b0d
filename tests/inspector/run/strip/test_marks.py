"""The marks of a turn."""

from dataclasses import replace
from decimal import Decimal

from strips import row

from turntape.inspector.analysis.turn import Edge
from turntape.inspector.findings.finding import Finding
from turntape.inspector.ledger import CacheEntry, Miss, TurnEntry
from turntape.inspector.run.row import Row
from turntape.inspector.run.strip.marks import marks_of, priced_miss


def found(finding: str, severity: str) -> Finding:
    return Finding.from_json(
        {"id": finding, "layer": "client", "severity": severity, "tier": "P", "message": f"{finding} was seen"}
    )


def kinds(one: Row, fill: float | None = None) -> list[str]:
    return [mark.kind for mark in marks_of(one, fill)]


def test_a_healthy_turn_has_none() -> None:
    assert kinds(row(1), 0.5) == []


def test_findings_are_marks_by_their_severity() -> None:
    one = row(1, findings=(found("a", "warning"), found("b", "error"), found("c", "info")))

    assert [(mark.kind, mark.text) for mark in marks_of(one, None)] == [
        ("warning", "a was seen"),
        ("error", "b was seen"),
    ]


def test_a_lost_cache_is_a_miss_unless_nothing_was_lost() -> None:
    assert kinds(row(1, findings=(found("client-tools-changed", "warning"),))) == ["warning", "miss"]
    assert kinds(row(1, findings=(found("client-tools-changed", "info"),))) == []


def test_a_failed_attempt_says_why() -> None:
    one = row(1, finish="error", status=429, error="slow down")

    assert [(mark.kind, mark.text) for mark in marks_of(one, None)] == [("failed", "HTTP 429: slow down")]
    assert [mark.text for mark in marks_of(row(1, finish="cut", status=200, error=None), None)] == ["cut"]
    assert [mark.text for mark in marks_of(row(1, finish=None, status=None, error=None), None)] == ["no answer"]


def test_a_retry_and_a_compaction() -> None:
    assert kinds(row(3, attempt=2)) == ["retry"]
    assert kinds(row(3, edge=Edge("compaction"))) == ["compaction"]


def test_a_window_that_is_nearly_full() -> None:
    assert kinds(row(1), 0.89) == []
    assert [mark.text for mark in marks_of(row(1), 0.93)] == ["93% of the context window is used"]
    assert kinds(row(1, finish="context_full"), None) == ["window"]


def test_the_ledger_says_what_a_miss_cost_and_why() -> None:
    miss = Miss(cause="changed-tools", message="the tools changed", tokens=1200, price=Decimal("0.0031"))
    cache = CacheEntry(
        rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    known = {"input": 1500, "added": None, "input_cost": None, "output_cost": None, "cost": None}
    entry = TurnEntry(place=0, thread="t1", turn=1, attempt=1, cache=cache, **known)

    (mark,) = marks_of(row(1, findings=(found("client-tools-changed", "info"),)), None, entry)
    assert (mark.kind, mark.text) == (
        "miss",
        "1,200 tokens were paid again (changed-tools), $0.0031 more: the tools changed",
    )
    assert [len([*marks_of(row(1, cost=cost), None, entry)]) for cost in ("0.062", "0.063")] == [1, 0]
    free = replace(entry, cache=replace(cache, miss=replace(miss, price=Decimal(0))))
    assert list(marks_of(row(1), None, free)) == []


def test_a_miss_that_no_provider_promised_to_avoid_has_no_mark() -> None:
    miss = Miss(cause="not-promised", message="the API may read it", tokens=1200, price=Decimal("0.0031"))
    cache = CacheEntry(
        rule="grid of 128", expected="possible", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    known = {"input": 1500, "added": None, "input_cost": None, "output_cost": None, "cost": None}
    entry = TurnEntry(place=0, thread="t1", turn=1, attempt=1, cache=cache, **known)

    assert list(marks_of(row(1), None, entry)) == []
    broken = replace(entry, cache=replace(cache, miss=replace(miss, cause="changed-system")))
    assert [mark.kind for mark in marks_of(row(1), None, broken)] == ["miss"]
    assert (found := priced_miss(row(1), entry)) is not None and "1,200 tokens were paid again" in found.text
