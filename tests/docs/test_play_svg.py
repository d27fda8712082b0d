"""The animated picture of the README."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conversations import HELLO, chat, loop, said
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run

PICTURE = Path(EXAMPLE).with_name("play.svg")


def play_svg(run: Run) -> str:
    """As docs/play_svg.py draws it."""
    spec = spec_from_file_location("play_svg", EXAMPLE.with_name("play_svg.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.play_svg(run)


@pytest.fixture(scope="module")
def drawn() -> str:
    return play_svg(Run.load(EXAMPLE))


def test_it_is_a_small_picture_without_script_and_without_anything_from_outside(drawn: str) -> None:
    assert len(drawn.encode()) < 500_000
    assert {tag.tag.partition("}")[2] for tag in ElementTree.fromstring(drawn).iter()} <= {
        "svg", "style", "rect", "circle", "text", "g", "path",
    }  # fmt: skip
    assert "http" not in drawn.replace('xmlns="http://www.w3.org/2000/svg"', "") and "url(" not in drawn


def test_every_turn_appears_with_its_cost_and_the_cost_so_far_grows(drawn: str) -> None:
    run = Run.load(EXAMPLE)
    turns = [row for row in run.rows.all if row.is_turn]

    assert [f'class="a{at}"' in drawn for at in range(len(turns))] == [True] * len(turns)
    shown = [float(amount) for amount in re.findall(r'class="money big">\$([0-9.]+)<', drawn)]
    assert shown == sorted(shown) and len(shown) == len(turns) and shown[-1] == 0.071


def test_a_row_has_the_words_of_the_viewers_list(drawn: str) -> None:
    words = [re.findall(r">([^<]+)</text>", row) for row in re.findall(r'<g class="a\d+">(.*?)</g>', drawn, re.DOTALL)]
    rows = {line[0]: line[1:] for line in words if line and re.fullmatch(r"t\d+ [\d·]+", line[0])}

    assert rows["t1 3"][2:] == ["■", "length", "▶", "ran", "$0.021"]
    assert rows["t1 6"][2:] == ["■", "calls", "▶", "ran", "$0.0018"]
    assert rows["t1 7"][2:] == ["■", "done", "▶", "ended", "$0.0022"]
    assert rows["t1 5"] == ["◆", "■", "529 Overloaded", "–"]


def test_the_finding_appears_in_its_turn(drawn: str) -> None:
    run = Run.load(EXAMPLE)
    at = [place for place, row in enumerate(run.rows.all) if row.is_turn].index(run.rows.first_trouble() or 0)

    group = drawn[drawn.index("api-length-truncated-tool-call") - 400 : drawn.index("api-length-truncated-tool-call")]
    assert f'<g class="a{at}">' in group


def test_who_asked_for_less_motion_sees_the_whole_run(drawn: str) -> None:
    assert "@media(prefers-reduced-motion:reduce){*{animation:none!important}.gone{opacity:0}}" in drawn
    assert "@media(prefers-color-scheme:dark)" in drawn


@pytest.mark.parametrize("trips", [loop(), [chat([HELLO], said("<b>"), usage=None)]], ids=["healthy", "no tokens"])
def test_any_run_can_be_drawn(trips: list[object]) -> None:
    ElementTree.fromstring(play_svg(Run.of(trips)))  # type: ignore[arg-type]


def test_the_picture_in_the_folder_is_the_one_that_is_drawn(drawn: str) -> None:
    assert PICTURE.read_text("utf-8") == drawn
