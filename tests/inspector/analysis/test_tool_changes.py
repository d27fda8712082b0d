"""A change of tools in words."""

import pytest

from turntape.inspector.analysis.tool_changes import tool_change, tools_sentence

A, B, C = ("a", "1"), ("b", "2"), ("c", "3")
MANY = [(name, "") for name in "defghi"]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ([A, B], [A, B], None),
        ([A], [A, B], "b added"),
        ([A, B], [B], "a removed"),
        ([A], [B, C], "a removed and b, c added"),
        ([A, B], [B, A], "only their order changed"),
        ([A, B], [B, ("a", "new")], "the definition of a changed"),
        ([A, B], [("a", "new"), ("b", "new")], "the definitions of a, b changed"),
        ([A], [A, *MANY], "d, e, f, g, h and 1 more added"),
        (MANY, [(name, "new") for name, _ in MANY], "the definitions of d, e, f and 3 more changed"),
        ([A, A], [A], None),
    ],
)
def test_names_come_before_definitions_and_these_before_the_order(
    before: list[tuple[str, str]], after: list[tuple[str, str]], what: str | None
) -> None:
    assert tool_change(before, after) == what


def test_the_sentence() -> None:
    assert tools_sentence("b added") == "the tools changed: b added"
