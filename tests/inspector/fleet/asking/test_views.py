"""What the columns of the views mean."""

from itertools import product

import pytest

from turntape.inspector.run.label_costs import is_unpriced

duckdb = pytest.importorskip("duckdb", reason="turntape[fleet] is not installed")


def test_a_row_and_its_label_agree_on_what_has_no_known_price() -> None:
    from turntape.inspector.fleet.asking.views import IS_UNPRICED

    columns = ("unpriced_fees", "cost_usd", "status", "effective", "emitted", "input")
    cases = list(
        product(
            (None, [], ["web search"]),
            (None, 0.5),
            (None, 200, 399, 400, 529),
            (None, "complete", "error"),
            (None, "none", "text"),
            (None, 0, 7),
        )
    )
    ask = (
        f"select {IS_UNPRICED} from (select ?::varchar[] as unpriced_fees, ?::decimal as cost_usd, ?::int as status, "
        "?::varchar as effective, ?::varchar as emitted, ?::int as input)"
    )
    with duckdb.connect() as database:
        found = [database.execute(ask, case).fetchone()[0] for case in cases]

    labels = [dict(zip(columns, case, strict=True)) for case in cases]
    wanted = [
        is_unpriced(
            {
                **label,
                "turn": 1,
                "api": {"effective": label["effective"]},
                "model": {"emitted": label["emitted"]},
                "usage": {"input": label["input"]},
            }
        )
        for label in labels
    ]
    differ = [case for case, one, other in zip(cases, found, wanted, strict=True) if one != other]
    assert differ == []
    assert 0 < sum(wanted) < len(wanted)
