import pytest

from turntape.inspector.views.text import terminal_text
from turntape.inspector.views.text.terminal_text import (
    Line,
    ansi,
    clip,
    clip_path,
    fit,
    flow,
    folded,
    plain,
    width_of,
    wrap,
)
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


@pytest.mark.parametrize("cells", [6, 9, 20, 80])
@pytest.mark.parametrize("text", ["plain words that go on", "日本語 と words 日本語日本語", "x" * 30, "one  two"])
def test_folding_loses_nothing_and_keeps_within_the_cells(text: str, cells: int) -> None:
    lines = list(folded([("→ ", "model"), (text, "plain")], cells, "  "))

    assert "".join(map(plain, lines)).replace(" ", "") == "→" + text.replace(" ", "")
    assert max(width_of(plain(line)) for line in lines) <= cells
    assert all(plain(line).startswith("  ") for line in lines[1:])


def test_folding_breaks_at_spaces_and_keeps_the_styles() -> None:
    line: Line = [("  ■ api  ", "api"), ("length and more", "warn")]

    assert list(folded(line, 16, "    ")) == [
        [("  ■ api  ", "api"), ("length", "warn")],
        [("    ", "plain"), ("and more", "warn")],
    ]


@pytest.mark.parametrize(
    ("text", "last"), [("aa bb cc dd ee", "cc dd…"), ("aa bb cc ddd ee", "cc d…"), ("aa bb " + "c" * 20, "ccccc…")]
)
def test_folding_into_few_lines_says_that_there_is_more(text: str, last: str) -> None:
    lines = [plain(line) for line in folded([(text, "plain")], 6, "", 2)]

    assert lines == ["aa bb", last]


def test_all_lines_before_the_last_one_are_whole() -> None:
    lines = [plain(line) for line in folded([("aa bb cc dd ee ff gg", "plain")], 6, "", 3)]

    assert lines == ["aa bb", "cc dd", "ee ff…"]


@pytest.mark.parametrize("sign", [",", ";", ".", ":", ")"])
def test_no_line_begins_with_a_sign_that_closes_what_is_before_it(sign: str) -> None:
    line: Line = [("one ", "plain"), ("two", "good"), (f"{sign} three", "plain")]

    assert [plain(one).rstrip() for one in folded(line, 7, "")] == ["one", f"two{sign}", "three"]


def test_folding_into_few_lines_says_nothing_where_all_fits() -> None:
    assert [plain(line) for line in folded([("aa bb cc", "plain")], 6, "", 2)] == ["aa bb", "cc"]


@pytest.mark.parametrize(
    "text", ["word " * 3, "a" + " " * 900 + "b", " " * 900, "日本" * 200, "a\u0301" * 900 + "x" * 30]
)
def test_a_clipped_text_is_that_of_the_whole_text_on_one_line(text: str) -> None:
    line = " ".join(text.split())

    for cells in (1, 10, 40):
        assert clip(text, cells) == clip(line, cells)
        assert width_of(clip(text, cells)) <= max(cells, 1)


def test_of_a_large_text_only_its_beginning_is_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr("turntape.inspector.views.text.terminal_text.safe", lambda text: seen.append(len(text)) or text)

    assert clip("word " * 1_000_000, 12) == "word word w…"
    assert sum(seen) < 1000


def test_a_long_word_of_wide_characters_takes_no_time() -> None:
    lines = list(folded([("漢" * 100_000, "plain")], 80, "  "))

    assert sum(text.count("漢") for line in lines for text, _ in line) == 100_000


@pytest.mark.parametrize("cells", range(9, 30))
def test_no_line_begins_with_the_comma_behind_a_styled_word(cells: int) -> None:
    line: Line = [("    ", "plain"), ("400 new", "dim"), (", 90 cache write", "good"), (", 50 out", "plain")]
    lines = [plain(one) for one in folded(line, cells, "  ")]

    assert " ".join(one.strip() for one in lines) == "400 new, 90 cache write, 50 out"
    assert not any(one.lstrip().startswith(",") for one in lines)
    assert all(len(one) <= cells for one in lines)


@pytest.mark.parametrize(("text", "cells"), [("a漢b", 4), ("e\u0301a", 2), ("▁▂█", 3), ("", 0), ("ab", 2)])
def test_the_width_of_a_text_counts_wide_and_combining_characters(text: str, cells: int) -> None:
    assert width_of(text) == cells
    assert clip(text, cells) == text and width_of(clip(text, cells - 1)) <= max(1, cells - 1)


def test_the_widths_of_many_characters_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_text, "_MOST_WIDTHS", 3)
    widths = terminal_text._Widths()

    assert [widths[sign] for sign in "漢éßñ漢▁"] == [2, 1, 1, 1, 2, 1]
    assert len(widths) <= 3
