import pytest

from turntape.inspector.views.text.terminal_text import Line, ansi, clip, clip_path, fit, flow, plain, width_of, wrap
from turntape.inspector.wire.printable import safe


def test_control_characters_from_the_wire_do_not_reach_the_terminal() -> None:
    assert safe("a\x1b[2Jb\x07\u202ec\ud83d") == "a\\x1b[2Jb\\x07\\x202ec\\ud83d"


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("日本", 4), ("e\u0301", 1)])
def test_width_is_in_cells(text: str, cells: int) -> None:
    assert width_of(text) == cells


def test_clipping_keeps_within_the_cells_and_on_one_line() -> None:
    assert clip("a\nb  c", 10) == "a b c"
    assert clip("日本語日本語", 5) == "日本…"
    assert width_of(clip("x" * 100, 7)) == 7


def test_a_line_is_fitted_across_its_spans() -> None:
    line: Line = [("abc", "bold"), ("defgh", "dim")]

    assert plain(fit(line, 6)) == "abcde…"
    assert plain(fit(line, 8)) == "abcdefgh"


def test_without_colour_no_escape_is_written() -> None:
    assert ansi([("x", "bad"), ("  ", "plain")], colour=False) == "x"
    assert "\x1b[" in ansi([("x", "bad")], colour=True)


@pytest.mark.parametrize("text", ["plain words that go on", "日本語 と words 日本語日本語", "x" * 30])
def test_wrapping_loses_nothing_and_keeps_within_the_cells(text: str) -> None:
    lines = wrap(text, 9)

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(width_of, lines)) <= 9


def test_a_path_that_is_too_long_keeps_its_end() -> None:
    assert clip_path("a/b.jsonl", 20) == "a/b.jsonl"
    assert clip_path("some/long/folder/run.cassette.jsonl", 20) == "…/run.cassette.jsonl"
    assert width_of(clip_path("日本" * 20, 11)) <= 11


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (20, ["1 in, 2 cached  $3"]),
        (18, ["1 in, 2 cached  $3"]),
        (17, ["1 in, 2 cached", "  $3"]),
        (14, ["1 in, 2 cached", "  $3"]),
        (13, ["1 in", "  2 cached", "  $3"]),
        (9, ["1 in", "  2 cach…", "  $3"]),
    ],
)
def test_a_line_flows_between_its_spans(cells: int, lines: list[str]) -> None:
    line: Line = [("1 in", "plain"), (", 2 cached", "good"), ("  $3", "money")]

    assert [plain(one) for one in flow(line, cells, "  ")] == lines
