"""The overview as lines: long times without runs are short."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from turntape.inspector.fleet.page.overview_text import overview_text
from turntape.inspector.views.fleet_figures import FindingCount, Group, Overview, RunFigures
from turntape.inspector.views.text.terminal_text import plain, width_of

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


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal_but_an_address(width: int) -> None:
    many = Group("特性/日本語ブランチ名がとても長い", 12_345, 10**6, Decimal(98765), 1234, 5678, 99)
    run = RunFigures(
        "/a" * 60, "run", "b" * 90, "a", "t", "fail", datetime(2026, 11, 1), 5, None, 99, 99, ("f" * 40,) * 3
    )
    found = Overview(
        "s3://" + "x" * 90, date(2026, 11, 1), date(2026, 11, 30), many, 10**8, 10**7, 12_345, days=[many, RAN],
        branches=[many, RAN], findings=[FindingCount("class-" * 9, "client", "error", 123_456, 12_345)], worst=[run],
    )  # fmt: skip

    lines = [plain(line) for line in overview_text(found, width)]

    assert [line for line in lines if width_of(line) > width and run.address not in line] == []
