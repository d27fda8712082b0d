"""The page of help."""

import pytest

from turntape.inspector.run.filters import FIELDS
from turntape.inspector.run.strip import KINDS
from turntape.inspector.views.tui.commands import COMMANDS, HELP_SECTIONS
from turntape.inspector.views.tui.pages.help_page import LAYERS, SIGNS, STRIP, help_page
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS
from turntape.inspector.views.vocabulary.signs import MARKS


def shown(width: int, **terminal: bool) -> list[str]:
    layout = help_page(HELP_SECTIONS, **terminal).laid_out(width, {})
    return ["".join(text for text, _ in layout.line(y)) for y in range(len(layout))]


@pytest.mark.parametrize("width", [44, 70, 96])
def test_no_line_is_cut_at_any_width_and_no_word_is_lost(width: int) -> None:
    lines = shown(width)

    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    said = [what for section in HELP_SECTIONS for _, what in section.keys]
    said += [*LAYERS.values(), *(what for _, _, what in (*SIGNS, *STRIP)), *(what for _, what in FIELDS.values())]
    assert [text for text in said if text not in words] == []


def test_each_key_says_in_words_what_it_does() -> None:
    actions = [action for _, _, action in COMMANDS]

    assert [what for section in HELP_SECTIONS for _, what in section.keys if what in actions or "app." in what] == []


def test_a_long_meaning_continues_below_itself() -> None:
    lines = shown(44)
    start = next(n for n, line in enumerate(lines) if line.startswith("  Tab "))

    assert lines[start] == "  Tab            the other pane"
    model = next(n for n, line in enumerate(lines) if line.startswith("  ◆ model"))
    assert lines[model + 1].startswith(" " * 17 + "text, calls")


@pytest.mark.parametrize("sign", ["◆ model", "✗2", "!2", "4·2", "·", "?", "–", "≥$0.30", "~1.2 s", "→ ←", "+1", "✓"])
def test_each_sign_of_the_list_is_explained(sign: str) -> None:
    assert any(line.startswith(f"  {sign} ") for line in shown(80))


def test_each_colour_and_each_mark_of_the_growth_strip_is_explained() -> None:
    lines = shown(100)

    assert [line[17:].partition(":")[0] for line in lines if line.startswith("  █ ")] == [word for _, word in KINDS]
    marks = [sign.words for sign in MARKS.values() if f"  {sign.glyph:<15}{sign.words}" in lines]
    assert marks == [sign.words for sign in MARKS.values()]


def test_without_colours_the_kinds_have_the_signs_that_the_strip_draws() -> None:
    lines = shown(100, coloured=False)

    assert [line[2] for kind in KIND_LOOKS for line in lines if line[17:].partition(":")[0] == kind.title] == [
        kind.shade for kind in KIND_LOOKS
    ]


def test_without_unicode_arrow_keys_are_words() -> None:
    lines = shown(100, unicode=False)

    assert "  j k Up Down    next and previous line" in lines
    assert "  Left Right h l previous, next turn; the mouse shows the numbers of a turn" in lines
