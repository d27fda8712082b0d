"""Each mark has one sign, and each sign its words."""

from turntape.inspector.run.strip import MARK_KINDS
from turntape.inspector.views.text.status_styles import SEVERITY
from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.vocabulary.signs import MARKS


def test_every_mark_has_a_sign_of_one_cell() -> None:
    assert list(MARKS) == list(MARK_KINDS)
    assert all(width_of(sign.glyph) == 1 for sign in MARKS.values())


def test_no_two_signs_are_the_same() -> None:
    assert len({sign.glyph for sign in MARKS.values()}) == len(MARKS)


def test_severities_have_the_same_sign_as_in_lists() -> None:
    assert [MARKS[name].glyph for name in ("error", "warning")] == [SEVERITY[n][0] for n in ("error", "warning")]
