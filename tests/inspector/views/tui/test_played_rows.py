"""Rows as they were while the run happened."""

from decimal import Decimal

import pytest
from conversations import HELLO, chat, said, user
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.headings import summarize
from turntape.inspector.views.tui.played_rows import PlayedSummary, played_row

ROWS = Run.load(EXAMPLE).rows


def test_an_answer_that_is_arriving_has_no_end_and_no_findings() -> None:
    row = played_row(ROWS.all[6], 0.5)

    assert (row.finish, row.outcome, row.emitted, row.calls, row.findings) == (None, None, None, (), ())
    assert row.usage.output == 512
    # $0.0058887 of input and half of $0.01536 of output.
    assert row.cost == Decimal("0.0135687")


def test_a_complete_answer_does_not_know_what_the_client_will_do() -> None:
    row = played_row(ROWS.all[7], 1.0)

    assert row.outcome == "open"
    assert {found.layer for found in ROWS.all[7].findings} == {"api", "client"}
    assert {found.layer for found in row.findings} == {"api"}
    assert row.cost == ROWS.all[7].cost


def test_a_cost_that_is_not_divided_is_not_known_before_the_end() -> None:
    from dataclasses import replace

    assert played_row(replace(ROWS.all[6], cost_parts=None), 0.5).cost is None


def test_the_totals_rise_with_the_tokens_and_end_as_those_of_the_run() -> None:
    summary = PlayedSummary(ROWS)
    shown = [summary.at(place, share).totals for place in range(len(ROWS.all)) for share in (0.0, 0.5, 1.0)]

    costs = [sums.cost or Decimal(0) for sums in shown]
    assert costs == sorted(costs)
    outputs = [sums.output or 0 for sums in shown]
    assert outputs == sorted(outputs)
    whole = summarize(ROWS)
    assert (shown[-1].cost, shown[-1].turns, shown[-1].output, shown[-1].retries) == (
        whole.totals.cost,
        whole.totals.turns,
        whole.totals.output,
        whole.totals.retries,
    )


@pytest.mark.parametrize(
    ("place", "share", "trouble"), [(6, 0.9, ""), (6, 1.0, "turn 3 of t1"), (9, 0.0, "turn 3 of t1")]
)
def test_the_first_trouble_is_named_when_it_is_there(place: int, share: float, trouble: str) -> None:
    assert PlayedSummary(ROWS).at(place, share).trouble == trouble


def test_threads_models_and_turns_without_a_price_count_when_they_are_there() -> None:
    trips = [
        chat([HELLO], said("x")),
        chat([user("another")], said("y"), index=1, at=900.0, model="ours"),
        chat([user("a third")], said("z"), index=2, at=1800.0),
    ]
    rows = Run.of(trips).rows
    seen = [PlayedSummary(rows).at(place, share).totals for place in range(3) for share in (0.5, 1.0)]

    assert [(sums.threads, sums.unpriced, len(sums.models)) for sums in seen] == [
        (1, 0, 1),
        (1, 0, 1),
        (2, 1, 2),
        (2, 1, 2),
        (3, 1, 2),
        (3, 1, 2),
    ]
