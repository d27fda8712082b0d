"""Texts that are cut into lines as they are shown."""

import tracemalloc
from collections.abc import Sequence

import pytest

from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.tui.pages.blocks import Spans
from turntape.inspector.views.tui.pages.text_lines import LONG, Prose, flowed, flowing


def test_a_line_breaks_at_words_and_keeps_its_indentation() -> None:
    wrapped = ["".join(part for part, _ in line) for line in Prose("    one two three four", 12)]

    assert wrapped == ["    one two", "    three", "    four"]
    assert all(len(line) <= 12 for line in wrapped)


def test_wide_characters_take_two_cells() -> None:
    assert ["".join(part for part, _ in line) for line in Prose("漢字漢字", 4)] == ["漢字", "漢字"]


def test_control_characters_never_reach_the_terminal() -> None:
    shown = "".join(part for line in Prose("a\x1b[31mb\x07", 80) for part, _ in line)

    assert "\x1b" not in shown and "\x07" not in shown


def test_a_long_text_is_cut_where_it_is_looked_at() -> None:
    seen: list[str] = []

    def look(text: str) -> list[tuple[str, str]]:
        seen.append(text)
        return [(text, "plain")]

    cut = Prose("x" * 20_000_000, 80, look)

    assert len(cut) == 250_000 and not seen
    assert cut[100_000] == [("x" * 80, "plain")]
    assert len(seen) == 1


def test_a_long_text_keeps_its_lines() -> None:
    cut = Prose("a" * LONG + "\n\n" + "b" * 30, 20)

    assert len(cut) == LONG // 20 + 1 + 2
    assert ["".join(part for part, _ in line) for line in cut[-4:]] == ["a" * 20, "", "b" * 20, "b" * 10]


@pytest.mark.parametrize("text", ["ab\n\nc" * LONG, "\n" * LONG * 2, "ab\n" * LONG + "end", "abcd efg\n" * LONG])
def test_a_long_text_of_short_lines_is_shown_line_by_line(text: str) -> None:
    cut = Prose(text, 4)
    expected = [line[at : at + 4] for line in text.split("\n") for at in range(0, len(line) or 1, 4)]

    assert len(cut) == len(expected)
    for at in (0, 1, 2, len(cut) // 2, len(cut) - 2, len(cut) - 1):
        assert "".join(part for part, _ in cut[at]) == expected[at]


def test_the_lines_of_a_long_text_take_less_memory_than_the_text() -> None:
    text = "a line of an answer\n" * 10_000
    tracemalloc.start()
    cut = Prose(text, 80)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert len(cut) == 10_001 and held < 1.5 * len(text)


def shown(lines: Sequence[Spans]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def test_a_line_of_pieces_is_broken_between_them_where_it_is_too_long() -> None:
    line = [("api  ", "api"), ("complete", "good"), ("  first byte 1s, ", "dim"), ("whole 2s", "dim")]

    assert shown(flowed(line, 40, 5)) == ["api  complete  first byte 1s, whole 2s"]
    assert shown(flowed(line, 38, 5)) == ["api  complete  first byte 1s, whole 2s"]
    assert shown(flowed(line, 37, 5)) == ["api  complete  first byte 1s, ", "     whole 2s"]
    assert [look for _, look in flowed(line, 37, 5)[1]] == ["plain", "dim"]
    assert shown(flowed(line, 20, 5)) == ["api  complete", "     first byte 1s, ", "     whole 2s"]


def test_a_piece_that_is_too_long_for_a_line_is_broken_between_its_words() -> None:
    assert shown(flowed([("one two three", "plain")], 8, 2)) == ["one", "  two", "  three"]
    assert shown(flowed([("one two three", "plain"), (" four", "dim")], 12, 2)) == ["one two", "  three four"]


def test_a_piece_on_a_new_line_keeps_its_distance_to_the_next_one() -> None:
    line = [("░ waits  ", "dim"), ("▒ works  ", "dim"), ("█ runs  ", "dim")]

    assert [text.rstrip() for text in shown(flowed(line, 17))] == ["░ waits  ▒ works", "█ runs"]
    assert [text.rstrip() for text in shown(flowed(line, 15))] == ["░ waits", "▒ works  █ runs"]


def test_every_line_of_a_flowing_body_fits() -> None:
    body = flowing([("a ", "dim"), ("bb ", "dim")], [("ccc ", "dim"), ("dddd", "dim")], indent=1)

    assert shown(body(6)) == ["a bb ", "ccc ", " dddd"]


def test_a_label_is_on_one_line_with_what_it_names() -> None:
    line = [("model  ", "model"), ("calls: ", "good"), ("one two three four", "plain")]

    assert shown(flowed(line, 28, 7)) == ["model  calls: one two three", "       four"]
    assert shown(flowed([*line[:1], ("calls ", "good"), *line[2:]], 28)) == ["model  calls ", "one two three four"]


def test_only_the_wide_lines_of_a_long_text_are_broken_early() -> None:
    plain, quoted, wide = "a" * 200, "“" + "—" * 198 + "”", "字" * 60
    cut = Prose("\n".join([plain, quoted, wide] * 200), 80)

    shown = ["".join(part for part, _ in cut[at]) for at in range(8)]

    assert [len(line) for line in shown] == [80, 80, 40, 80, 80, 40, 40, 20]
    assert len(cut) == 8 * 200 and all(width_of(line) <= 80 for line in shown)
    assert "".join(shown) == plain + quoted + wide


def test_each_wide_character_is_in_a_block_where_lines_are_broken_early() -> None:
    wide = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x20000)) if width_of(chr(code)) > 1]
    cut = Prose("\n".join(one * 9 for one in wide) + "\n" * LONG, 16)
    assert all(width_of("".join(part for part, _ in cut[at])) <= 16 for at in range(2 * len(wide)))
