"""The growth plot as text."""

import pytest
from conversations import loop

from turntape.inspector.run.growth import GrowthStep, Tokens, steps
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.growth_lines import figures, legend

ALL = Tokens(cache_read=30, cache_write=20, resent=10, new=10, output=20, reasoning=10)


def line(spans: object) -> str:
    return "".join(text for text, _ in spans).rstrip()  # type: ignore[attr-defined]


LONG = "run    █ cache read 30 %  █ cache write 20 %  █ resent 10 %  █ new input 10 %  █ output 20 %  █ reasoning 10 %"
SHORT = "run    █ c.read 30 %  █ c.write 20 %  █ resent 10 %  █ new 10 %  █ output 20 %  █ think 10 %"
BARE = "█ c.read █ c.write █ resent █ new █ output █ think"


@pytest.mark.parametrize(
    ("width", "shown"),
    [(len(LONG), LONG), (len(LONG) - 1, SHORT), (len(SHORT), SHORT), (len(SHORT) - 1, BARE), (80, BARE)],
)
def test_the_legend_names_every_kind_at_any_width(width: int, shown: str) -> None:
    assert line(legend(ALL, width, colour=True)) == shown


def test_without_colour_the_legend_shows_the_characters() -> None:
    assert line(legend(Tokens(new=1, output=1), 60, colour=False)) == "run    █ new input 50 %  ◼ output 50 %"


def step() -> GrowthStep:
    run = Run.of(loop())
    return list(steps(enumerate(run.rows.all)))[1]


@pytest.mark.parametrize("end", ["window ▏        0 % of 400k", "window 0 % of 400k", "0 % of 400k", ""])
def test_how_full_the_window_is_takes_the_room_that_is_left(end: str) -> None:
    start = line(figures(step(), 0)) + "  "

    assert line(figures(step(), len(start) + len(end))) == (start + end).rstrip()
    if end:
        assert line(figures(step(), len(start) + len(end) - 1)) != (start + end).rstrip()
