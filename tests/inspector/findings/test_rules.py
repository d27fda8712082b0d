"""The table of rules: every exception that it promises to users holds, and nothing is promised without a test."""

from collections.abc import Sequence

import pytest
from judged import Said, judged
from rule_exceptions_client import CLIENT
from rule_exceptions_model_api import API, MODEL, Row, Run

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.catalogue import OWN, catalogue
from turntape.inspector.findings.rules import RULES

ROWS: list[Row] = [*MODEL, *API, *CLIENT]


def found(name: str, run: Run) -> list[Said]:
    trips: Sequence[RoundTrip] = [run] if isinstance(run, RoundTrip) else run
    return [one for one in judged(*trips, hints=True, advice=True) if one.id == name]


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


def test_every_exception_that_is_printed_has_a_test_and_no_other() -> None:
    promised = {(rule.id, clause) for rule in RULES for clause in rule.not_when}

    assert {(row[0], row[1]) for row in ROWS} == promised


def test_our_own_rules_come_first_and_all_load() -> None:
    table = catalogue()

    assert table.problems == ()
    assert table.rules[: len(RULES)] == RULES
    assert OWN.endswith("findings.rules")
