"""The words for a tool run."""

from typing import Any, get_args

import pytest

from turntape.inspector.tools.run_words import SEEN, joined_words, outcome_words, seen_words
from turntape.inspector.tools.tool_run import Outcome, SeenAs, ToolRun


def run(**fields: Any) -> ToolRun:
    given: dict[str, Any] = {"outcome": "answered", "is_error": False, "joined": "exact", **fields}
    return ToolRun(index=0, session="a", server="files", name="read", arguments={}, started_at=0.0, **given)


def test_every_way_of_seeing_and_ending_has_its_words() -> None:
    assert set(SEEN) == set(get_args(SeenAs.__value__))
    assert [bool(outcome_words(run(outcome=one))) for one in get_args(Outcome.__value__)] == [
        False,
        True,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"seen_as": "equal"}, "seen whole"),
        ({"seen_as": "equal", "lost": ("error_mark",)}, "seen whole, without its error mark"),
        ({"seen_as": "cut", "lost": ("text",)}, "a part of it was seen"),
        ({"seen_as": "structured", "lost": ("text",)}, "only the structured content was seen"),
        (
            {"seen_as": "structured", "lost": ("text", "image", "link")},
            "only the structured content was seen, without its image and link",
        ),
        ({"seen_as": "text", "lost": ("structured",)}, "only the text was seen"),
        ({"seen_as": "dropped", "lost": ("text", "image")}, "not shown to the model"),
        ({"seen_as": None}, "not seen yet"),
        ({"seen_as": None, "joined": None}, ""),
        ({"outcome": "cancelled", "seen_as": "changed"}, ""),
    ],
)
def test_what_was_seen_says_what_was_lost(fields: dict[str, Any], words: str) -> None:
    assert seen_words(run(**fields)) == words


def test_an_error_of_the_tool_is_said() -> None:
    assert outcome_words(run(is_error=True)) == "the tool reported an error"


def test_how_it_was_joined_is_said_unless_it_is_certain() -> None:
    assert joined_words(run()) == ""
    assert joined_words(run(joined="inferred", by="name, arguments")) == "joined by name, arguments"
    assert joined_words(run(joined=None)) == "no call of the model"
