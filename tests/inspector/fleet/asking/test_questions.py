"""The named questions: their answers on rows whose answers are known, and what is wrong with a name or a parameter."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fleet_rows import DAY, call, finding, folder, row

from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.questions import QUESTIONS, question, values
from turntape.inspector.fleet.asking.sql_errors import QuestionError
from turntape.inspector.fleet.store.store import Store

A, B, C = "a" * 32, "b" * 32, "c" * 32
LATER = DAY + timedelta(days=7)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two runs on main, one passed, and one on `fix`; 1 to 3 cents a turn."""
    main: dict[str, Any] = {"branch": "main", "task": "t", "system_hash": "s1", "prefix_hash": "p"}
    fix: dict[str, Any] = {**main, "branch": "fix", "system_hash": "s2", "verdict": "fail"}
    passed: dict[str, Any] = {**main, "verdict": "pass"}
    failed: dict[str, Any] = {**main, "verdict": "fail"}
    bash, read = call("bash", 50, is_error=True), call("read", 700)
    return folder(
        tmp_path_factory.mktemp("store"),
        [
            row(0, A, **passed, finish="complete", cache_read=50, first_byte_ms=10.0, tool_calls=[bash, read]),
            row(1, A, **passed, history="changed", cache_read=0, first_byte_ms=30.0, findings=[finding("f")]),
        ],
        [row(0, B, LATER, **failed, finish="length", first_byte_ms=20.0, findings=[finding("f")])],
        [row(0, C, LATER, **fix, cost_usd=Decimal("0.03"), request_model="m-2", tool_calls=[bash])]
        + [row(1, C, LATER, **fix, status=429, cost_usd=None, input=None, provider="acme")],
    )


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "cost-by-branch": [
        ("fix", None, 1, 2, Decimal("0.03")),
        ("main", "m-1", 2, 3, Decimal("0.03")),
    ],
    "findings-trend": [("f", "error", DAY, 1, 1), ("f", "error", LATER, 1, 1)],
    "prompt-regressions": [("s2", "fix", 1, 1, 1.0), ("s1", "main", 2, 1, 0.5)],
    "dearest-tools": [("read", 1, 0, 700, 700.0), ("bash", 2, 2, 100, 50.0)],
    "cache-by-client": [("agent", "1.0", 4, 400, 50, 0.125)],
    "slowest": [("m-1", 3, 20.0, 29.0, 30.0)],
    "task-costs": [("t", "fix", 1, 0.03, 0.015, 1.0), ("t", "main", 2, 0.015, 0.015, 0.0)],
    "flaky-tasks": [("t", "main", 2, 1, 1)],
    "flaky-turns": [("p", "m-1", 0, 2, 2, ["complete", "length"])],
    "api-errors": [("acme", 429, 9, 1, 1)],
    "cache-breaks": [("agent", "1.0", 1, 100, Decimal("0.01"))],
    "dearest-runs": [("fix", "t", None, 2, 100, Decimal("0.03"), 0)],
}
"""The first columns that matter of each answer."""
LEFT_OUT = {"prompt-regressions": {"first_seen"}, "dearest-runs": {"address"}}


def rows(store: Store, name: str, **given: str) -> list[dict[str, Any]]:
    one = question(name)
    with Database(store) as database:
        return database.ask(one.sql, values(one, given)).to_pylist()


@pytest.mark.parametrize("name", [one.name for one in QUESTIONS])
def test_each_question_has_the_answer_that_the_rows_give(name: str, store: Store) -> None:
    found = rows(store, name)

    left_out = LEFT_OUT.get(name, set())
    shown = [tuple(value for key, value in one.items() if key not in left_out) for one in found]
    for wanted, got in zip(ANSWERS[name], _only(name, shown), strict=True):
        assert got[: len(wanted)] == wanted


def _only(name: str, shown: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """`fix` has two models in cost-by-branch; of the dearest runs only the first is compared."""
    if name == "cost-by-branch":
        cheap = [one for one in shown if one[0] == "main"]
        dear = [one for one in shown if one[0] == "fix"]
        assert [one[1] for one in dear] == ["m-2", "m-1"]
        return [("fix", None, 1, 2, Decimal("0.03")), *cheap]
    return shown[:1] if name == "dearest-runs" else shown


def test_there_are_twelve_and_each_orders_its_rows() -> None:
    assert len(QUESTIONS) == 12
    assert all(" order by " in one.sql.replace("\n", " ") for one in QUESTIONS)


def test_a_parameter_selects_a_branch(store: Store) -> None:
    assert [one["name"] for one in rows(store, "dearest-tools", branch="fix")] == ["bash"]
    assert len(rows(store, "dearest-runs", limit="1")) == 1
    assert [one["base_cost_per_run"] for one in rows(store, "task-costs", base="fix")] == [0.03, 0.03]


@pytest.mark.parametrize("name", ["cost-by-branch", "task-costs", "cache-breaks", "dearest-runs"])
def test_a_sum_without_a_fee_says_so(tmp_path: Path, name: str) -> None:
    known: dict[str, Any] = {"branch": "main", "task": "t", "history": "changed", "cache_read": 0, "turn": 2}
    whole = folder(tmp_path / "whole", [row(0, A, **known, unpriced_fees=[]), row(1, A, **known)])
    part = folder(tmp_path / "part", [row(0, A, **known, unpriced_fees=["web search"]), row(1, A, **known)])

    assert [(one["unpriced"], one["unpriced_fees"]) for one in rows(whole, name)] == [(0, [])]
    assert [(one["unpriced"], one["unpriced_fees"]) for one in rows(part, name)] == [(1, ["web search"])]


def test_a_change_of_costs_that_are_not_whole_is_not_known(tmp_path: Path) -> None:
    base = row(0, A, branch="main", task="t", unpriced_fees=["web search"])
    store = folder(tmp_path, [base], [row(0, B, branch="fix", task="t")])

    changes = {one["branch"]: (one["change"], one["base_unpriced"]) for one in rows(store, "task-costs")}
    assert changes == {"fix": (None, 1), "main": (None, 1)}


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("slowest", {"limit": "x"}, "'limit' must be a number, not 'x'"),
        ("slowest", {"limt": "3"}, "no parameter 'limt'; its parameters: limit"),
        ("api-errors", {"x": "3"}, "its parameters: none"),
        ("slowst", {}, "did you mean 'slowest'"),
        ("zzz", {}, "query --list"),
    ],
)
def test_a_wrong_name_or_parameter_is_named(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        values(question(name), given)
