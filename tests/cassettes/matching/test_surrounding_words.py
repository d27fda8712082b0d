"""A text without a name is covered by the words around it, and by nothing that takes more."""

import re

import pytest

from turntape.cassettes.matching.ignored_fields import blanked
from turntape.cassettes.matching.surrounding_words import expressions_for


@pytest.mark.parametrize(
    ("recorded", "given", "expected"),
    [
        ("Started container romantic_wozniak", "Started container vigilant_hopper", [r"Started container \w+"]),
        ("mood is good\n3 left", "mood is bad\n3 left", [r"mood is \w+"]),
        ('{"a":"x","city":"Rome"}', '{"a":"x","city":"Oslo"}', [r'"city":"\w+']),
        ("root 12 3.1 ? Ss a.py", "root 9 0.4 ? R a.py", [r"root [^\n]+? a\.py"]),
        ("2 failed, 5 passed", "0 failed, 7 passed", [r"(?m:^)[^\n]+? passed"]),
        ("Ana wrote it", "Bo wrote it", [r"\w+ wrote it"]),
        ("first: a b c d e f g h i, last: x", "first: z b c d e f g h i, last: y", [r"first: \w+", r"i, last: \w+"]),
    ],
)
def test_words_around_a_text_cover_it(recorded: str, given: str, expected: list[str]) -> None:
    found = expressions_for(recorded, given)

    assert found == expected
    compiled = tuple(map(re.compile, found))
    assert blanked(recorded, compiled) == blanked(given, compiled)
    assert blanked(f"before\n{recorded}\nbehind", compiled).endswith("\nbehind")
    assert blanked(f"before\n{recorded}\nbehind", compiled).startswith("before\n")


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ("same", "same"),
        ("one", "two"),
        ("1 2", "1 3"),
        ("say it", "say it now or never, says Ana to Bo"),
        ("a1 and\nb2 and\nc3 and\nd4 and\ne5 and", "z1 and\ny2 and\nx3 and\nw4 and\nv5 and"),
    ],
)
def test_a_text_without_words_around_it_has_none(recorded: str, given: str) -> None:
    assert expressions_for(recorded, given) == []


def test_an_expression_that_leaves_a_difference_is_not_offered() -> None:
    assert expressions_for("id is a\nid is b", "id is c\nid is b d") == []
