"""Two turns compared."""

from dataclasses import replace

import pytest
from conversations import chat, said, user
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.compare_page import compare_page
from turntape.inspector.views.tui.pages.page import Page

RUN = Run.load(EXAMPLE)


def page(first: int | None, second: int, run: Run = RUN) -> Page:
    return compare_page(run.detail(first) if first is not None else None, run.detail(second), run.rows, run.ledger)


def shown(given: Page, width: int = 78, **folds: bool) -> list[str]:
    return list(given.laid_out(width, folds).text())


def test_cost_tokens_and_time_come_first_with_their_difference() -> None:
    third, fourth = (next(p for p, row in enumerate(RUN.rows.all) if row.index == n) for n in (6, 7))
    lines = shown(page(third, fourth))

    assert lines[0].endswith("turn 3 of t1 against turn 4 of t1")
    assert [line.split() for line in lines[2:8]] == [
        ["cost", "$0.021", "$0.028", "+$0.0066", "+31", "%"],
        ["input", "3,240", "3,331", "+91", "+3", "%"],
        ["cache", "read", "1,814", "0", "−1,814", "−100", "%"],
        ["cache", "write", "1,422", "3,327", "+1,905", "+134", "%"],
        ["uncached", "4", "4", "±0"],
        ["output", "1,024", "1,024", "±0"],
    ]
    assert "time" in lines[8] or "time" in lines[9]
    assert "The minute" not in lines and any("[−" in line and "[+" in line for line in lines)


def test_only_what_changed_in_the_words_is_shown() -> None:
    trips = [
        chat([user("please count the reels")], said("there are five reels")),
        chat([user("please count the tapes")], said("there are five tapes"), index=1, model="gpt-5-mini"),
    ]
    run = Run.of(trips)
    lines = shown(page(0, 1, run))

    assert "there are five [−reels] [+tapes]" in "\n".join(lines)
    assert "please count the [−reels] [+tapes]" in "\n".join(lines)
    assert any(line.split() == ["model", "gpt-5-2025-08-07", "gpt-5-mini-2025-08-07"] for line in lines)


def test_equal_answers_and_unknown_figures() -> None:
    trips = [chat([user("a")], said("ok"), usage=None), chat([user("b")], said("ok"), index=1)]
    lines = shown(page(0, 1, Run.of(trips)))

    assert "  the same" in lines
    assert ["input", "–", "100", "–"] in [line.split() for line in lines]


@pytest.mark.parametrize(("first", "text"), [(None, "press m on a turn to mark it"), (0, "this is the marked turn")])
def test_without_two_turns_the_page_says_what_to_do(first: int | None, text: str) -> None:
    assert shown(page(first, 0))[0].startswith(text)


@pytest.mark.parametrize("width", [38, 56, 78, 120])
def test_long_words_are_broken_at_the_width(width: int) -> None:
    trips = [chat([user("x" * 300)], said("a b")), chat([user("y" * 300 + "\nz")], said("a c"), index=1)]
    lines = shown(page(0, 1, Run.of([replace(trip) for trip in trips])), width, **{"compared:0": True})

    assert all(len(line) <= width for line in lines if "xxx" in line or "yyy" in line)
    assert sum(line.count("x") for line in lines) >= 300


def test_the_words_of_both_turns_are_one_below_the_other() -> None:
    first, second = RUN.detail(0), RUN.detail(1)
    changed = replace(second, row=replace(second.row, model="m", emitted="none", finish="cut"))
    lines = shown(compare_page(first, changed, RUN.rows, RUN.ledger))
    row = {line.split()[0]: line for line in lines if line.split()[:1] and line.split()[0] in ("model", "finish")}

    assert row["model"].rindex("m") == row["finish"].rindex("cut") == 14 + 2 + len(first.row.model or "") + 2
