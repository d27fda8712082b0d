"""The overview as a page and as text: it holds what it must, runs nothing, and no name becomes markup."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from turntape.inspector.fleet.page.fleet_page import fleet_page
from turntape.inspector.fleet.page.overview_text import overview_text
from turntape.inspector.views.fleet_figures import FindingCount, Group, Overview, RunFigures

EVIL = "<script>alert(1)</script>"
MAIN = Group("main", 2, 10, Decimal("1.5"), 3, 1, 1, unpriced=2)
RUN = RunFigures(
    "s3://b/p#" + "a" * 32,
    "run",
    "main",
    "coder",
    EVIL,
    "fail",
    datetime(2026, 11, 2, 9, tzinfo=UTC),
    5,
    None,
    3,
    1,
    ("f",),
    unpriced=2,
    without_price=("Google Maps", ""),
)
FOUND = Overview(
    "s3://b/p",
    date(2026, 11, 1),
    date(2026, 11, 2),
    MAIN,
    1000,
    400,
    2,
    ["Google Maps", "", "m-9", "m-8", "m-7"],
    days=[Group("2026-11-01", 0, 0, None, 0, 0, 0), replace(MAIN, name="2026-11-02")],
    branches=[MAIN, Group("", 1, 1, None, 0, 0, 0, unpriced=1)],
    findings=[FindingCount("f", "client", "error", 3, 2)],
    worst=[RUN],
)
DAYS = [replace(MAIN, name=str(date(2020, 1, 1) + timedelta(days=n))) for n in range(4000)]
NOTHING = Overview("dir", date(2026, 11, 1), date(2026, 11, 1), Group("", 0, 0, None, 0, 0, 0), 0, 0, 0)


def test_the_page_runs_no_script_and_loads_nothing() -> None:
    page = fleet_page(FOUND)

    assert "<script" not in page and EVIL.replace("<", "&lt;").replace(">", "&gt;") in page
    assert "default-src &#x27;none&#x27;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_run_has_its_command_and_its_report() -> None:
    assert f"turntape view &#x27;s3://b/p#{'a' * 32}&#x27;" in fleet_page(FOUND)
    assert 'href="runs/a.html"' in fleet_page(FOUND, {RUN.address: "runs/a.html"})


def test_the_text_has_the_same_figures() -> None:
    text = "\n".join("".join(part for part, _ in line) for line in overview_text(FOUND, 100))

    assert "2 runs · 10 turns · ≥$1.50 · 1.0k input tokens, 40 % from the cache" in text
    assert "3 ✗ 1 !  1 run failed" in text
    missing = "2 turns without a known price: Google Maps, a model without a name, m-9, m-8 and 1 more"
    assert missing in text and missing in fleet_page(FOUND)
    assert "no known price: Google Maps, a model without a name" in text
    assert text.count("≥$1.50") == 3 and "≥ is at least" in fleet_page(FOUND)
    assert "not known" in text and RUN.address in text


def test_nothing_is_shown_without_failing() -> None:
    assert "no cost" in "".join(part for line in overview_text(NOTHING, 80) for part, _ in line)
    assert "No errors and no warnings." in fleet_page(NOTHING)


@pytest.mark.parametrize(
    ("days", "bars", "named"), [(120, 120, "day"), (121, 18, "week"), (841, 29, "30 days"), (4000, 11, "365 days")]
)
def test_many_days_share_bars(days: int, bars: int, named: str) -> None:
    page = fleet_page(replace(FOUND, days=DAYS[:days]))

    assert f"Cost by {named} " in page
    assert page.count('class="day"') == bars
    assert (days == 120) is ("2020-01-01 to 2020-" not in page)


def test_bars_of_several_days_have_their_sums() -> None:
    page = fleet_page(replace(FOUND, days=[*DAYS[:127], Group("2020-05-07", 0, 0, None, 0, 0, 0)]))

    assert 'title="2020-01-01 to 2020-01-07: 14 runs, ≥$10.50, 21 errors, 7 warnings"' in page
    assert 'title="2020-05-06 to 2020-05-07: 2 runs, ≥$1.50, 3 errors, 1 warning"' in page
