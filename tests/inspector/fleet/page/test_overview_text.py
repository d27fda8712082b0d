"""The overview as lines: long times without runs are short."""

from datetime import date
from decimal import Decimal

import pytest

from turntape.inspector.fleet.page.overview_text import overview_text
from turntape.inspector.views.fleet_figures import Group, Overview

RAN = Group("2026-11-20", 1, 10, Decimal("1.5"), 0, 0, 0)


def day(number: int) -> Group:
    return Group(f"2026-11-{number:02}", 0, 0, None, 0, 0, 0)


def days_shown(*days: Group) -> list[str]:
    found = Overview("dir", date(2026, 11, 1), date(2026, 11, 30), RAN, 0, 0, 0, days=list(days))
    lines = ["".join(part for part, _ in line) for line in overview_text(found, 100)]
    start = lines.index("by day") + 1
    return [line[2:12].strip() for line in lines[start : lines.index("", start)]]


@pytest.mark.parametrize(
    ("empty", "shown"),
    [(0, []), (3, ["2026-11-01", "2026-11-02", "2026-11-03"]), (4, ["· 4 days w"]), (12, ["· 12 days"])],
)
def test_four_days_without_runs_are_one_line(empty: int, shown: list[str]) -> None:
    gap = [day(number) for number in range(1, empty + 1)]

    assert days_shown(*gap, RAN) == [*shown, "2026-11-20"]
    assert days_shown(RAN, *gap, RAN) == ["2026-11-20", *shown, "2026-11-20"]


def test_the_bar_of_the_dearest_day_is_full() -> None:
    found = Overview("dir", date(2026, 11, 1), date(2026, 11, 30), RAN, 0, 0, 0, days=[day(1), RAN])
    lines = ["".join(part for part, _ in line) for line in overview_text(found, 100)]

    (line,) = [line for line in lines if line.startswith("  2026-11-20")]
    assert line.count("█") == 30
    assert not [line for line in lines if line.startswith("  2026-11-01") and "█" in line]
