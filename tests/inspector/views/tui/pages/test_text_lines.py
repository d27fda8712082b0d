"""Texts that are cut into lines as they are shown."""

from turntape.inspector.views.tui.pages.text_lines import LONG, Prose


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
