"""Two texts, word by word."""

import pytest

from turntape.inspector.views.text.word_diff import MOST, word_changes


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("a b c", "a x c", [("equal", "a"), ("removed", " b"), ("added", " x"), ("equal", " c")]),
        ("a b", "a b c", [("equal", "a b"), ("added", " c")]),
        ("", "new text", [("added", "new text")]),
        ("old\ntext", "", [("removed", "old\ntext")]),
        ("same", "same", [("equal", "same")]),
        ("", "", []),
        ("a b c d", "x b y d", [
            ("removed", "a"), ("added", "x"), ("equal", " b"), ("removed", " c"), ("added", " y"), ("equal", " d"),
        ]),
    ],
)  # fmt: skip
def test_changes(old: str, new: str, changes: list[tuple[str, str]]) -> None:
    assert list(word_changes(old, new)) == changes


def test_nothing_is_lost_of_short_texts() -> None:
    old, new = "one two\n three four", "one 2\n three five four "
    changes = list(word_changes(old, new))

    assert "".join(text for kind, text in changes if kind != "added") == old
    assert "".join(text for kind, text in changes if kind != "removed") == new


def test_long_equal_parts_are_shortened_but_not_beside_a_change() -> None:
    words = " ".join(f"w{n}" for n in range(100))

    assert list(word_changes(f"{words} a {words}", f"{words} b {words}")) == [
        ("equal", " … w94 w95 w96 w97 w98 w99"),
        ("removed", " a"),
        ("added", " b"),
        ("equal", " w0 w1 w2 w3 w4 w5 …"),
    ]


def test_very_long_middles_are_one_change() -> None:
    old, new = ("x " * (MOST + 2)).split(), ("y " * 3).split()

    changes = word_changes(" ".join(["a", *old]), " ".join(["a", *new]))
    assert [kind for kind, _ in changes] == ["equal", "removed", "added"]
