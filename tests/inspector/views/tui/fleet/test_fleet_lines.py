"""The lines of the fleet's screen fit, and say what is not known."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from turntape.inspector.views.fleet_figures import FindingCount, Group, Overview, RunFigures
from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.tui.fleet.fleet_lines import (
    finding_line,
    group_heads,
    group_line,
    heading,
    run_heads,
    run_line,
    strip_lines,
    summary,
)
from turntape.inspector.views.tui.formatting import clipped
from turntape.inspector.views.tui.pages.blocks import Spans

MAIN = Group("main", 2, 10, Decimal("1.5"), 3, 1, 1, unpriced=2)
NO_PRICE = Group("", 1, 1, None, 0, 0, 0, unpriced=1)
NOTHING = Group("2026-11-02", 0, 0, None, 0, 0, 0)
ODD = "fix/ünïcode-日本語\x1b[31m" + "x" * 300
RUN = RunFigures(
    "s3://b/p#" + "a" * 32,
    "nightly",
    ODD,
    "coder",
    "task",
    "fail",
    datetime(2026, 11, 2, 9, tzinfo=UTC),
    5,
    None,
    3,
    0,
    ("late", "lost"),
    unpriced=5,
    without_price=("m-9",),
)
FOUND = Overview("s3://b/p", date(2026, 11, 1), date(2026, 11, 2), MAIN, 1000, 400, 2, ["Google Maps", "m-9"])


def text(spans: Spans) -> str:
    return "".join(part for part, _ in spans)


@pytest.mark.parametrize("width", [20, 40, 59, 60, 80, 120, 200])
def test_lines_fit_on_the_screen(width: int) -> None:
    lines = [
        heading("s3://bucket/" + "x" * 300, "2026-11-01 to 2026-11-14", width),
        summary(FOUND, width),
        *strip_lines([MAIN, NO_PRICE, NOTHING] * 40, width, 6),
    ]

    assert max(width_of(text(line)) for line in lines) <= width


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_heads_are_as_wide_as_their_columns(width: int) -> None:
    for one in (MAIN, replace(MAIN, name=ODD), NO_PRICE, NOTHING):
        assert width_of(text(group_line(one, Decimal(3), 60, width))) == width
    assert width_of(text(group_heads("branch", width, 60))) == width
    found = FindingCount("some-" + "x" * 300, "client", "error", 12, 3)
    assert width_of(text(finding_line(found, width))) == width_of(text(group_heads("finding", width, 9))) == width
    head, line = text(run_heads(width, "worst of 1 run")), text(run_line(RUN, width))
    assert line[: head.index("worst")].count(" fail") == 0 and line[head.index("worst") :].startswith("fail fix/")


def test_a_run_says_what_is_not_known_and_no_control_character() -> None:
    line = text(clipped(run_line(RUN, 120), 120))

    assert "     3    ·   unpriced      5 11-02 09:00 fail fix/ünïcode-日本語\\x1b[31m" in f" {line}"
    assert "\x1b" not in line
    assert text(run_line(RUN, 120)).endswith("late, lost  no known price: m-9")
    whole = replace(RUN, cost=Decimal("0.003"), without_price=())
    assert "≥$0.0030" in text(run_line(whole, 120)) and " $0.0030" in text(run_line(replace(whole, unpriced=0), 120))
    nameless = replace(RUN, without_price=(), branch="", task="", name="", agent="", verdict="", findings=())
    assert text(run_line(nameless, 120)).endswith(" " + "a" * 12)


def test_the_totals_leave_out_what_has_no_room() -> None:
    whole = " 2 runs · ≥$1.50 · 3 ✗ 1 ! · 1 run failed · 2 turns without a known price: Google Maps, m-9 · 10 turns"

    assert text(summary(FOUND, 200)) == f"{whole} · 1.0k input tokens, 40 % from the cache"
    assert text(summary(FOUND, 110)) == whole
    short = " 2 runs · ≥$1.50 · 3 ✗ 1 ! · 1 run failed · 2 turns without a known price"
    assert text(summary(FOUND, 80)) == short
    assert text(summary(FOUND, 30)) == " 2 runs · ≥$1.50 · 3 ✗ 1 !"
    assert "unpriced" in text(summary(replace(FOUND, whole=NO_PRICE), 80))
    assert "turntape ship" in text(summary(replace(FOUND, whole=NOTHING), 80))


def test_the_bars_are_dollars_or_else_runs() -> None:
    days = [replace(MAIN, name="2026-11-01"), replace(MAIN, name="2026-11-02", cost=Decimal("0.75")), NOTHING]
    top, middle, errors, names = map(text, strip_lines(days, 60, 4))

    assert top == "  ≥$1.50 ███████         " + " " * 8
    assert middle == "         ███████ ███████ " + " " * 8
    assert errors.split() == ["errors", "3", "3"] and names.split() == ["11-01", "11-02", "11-02"]
    free = [replace(one, cost=None) for one in days]
    assert text(strip_lines(free, 60, 4)[0]).startswith("  2 runs ███████ ███████ ")
    assert strip_lines([], 60, 4) == [()] * 4


def test_of_more_days_than_fit_the_newest_are_shown() -> None:
    days = [replace(MAIN, name=f"2026-01-{number:02}") for number in range(1, 32)]
    days += [replace(MAIN, name=f"2026-02-{number:02}") for number in range(1, 28)]

    assert text(strip_lines(days, 30, 4)[-1]).split() == ["02-07", "02-27"]
    assert text(strip_lines(days, 14, 4)[-1]).split() == ["02-27"]
    assert text(strip_lines(days[:15], 9 + 15 * 3, 4)[-1]).split() == [f"{number:02}" for number in range(1, 16)]


def test_the_chosen_day_has_another_look() -> None:
    lines = strip_lines([replace(MAIN, name="2026-11-01"), NOTHING], 60, 4, NOTHING.name)

    assert [look for _, look in lines[-1]] == ["dim", "dim", "bold"]
    assert [look for _, look in lines[0]] == ["dim", "money", "accent"]
