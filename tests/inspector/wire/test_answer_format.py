"""The words of a format, and what departs from it."""

from typing import Any

import pytest

from turntape.inspector.wire.answer_format import Format, OneOf, Tagged, departures, words

BLOCK = Tagged("type", {"text": {"text!": "text"}, "call": {"name!": "name"}})


@pytest.mark.parametrize(
    ("expected", "value", "says"),
    [
        ("text", "", []),
        ("text", 7, [" is the number 7, where the API has a text"]),
        ("name", " ", [" is blank, where the API has a text ~"]),
        ("count", 3.0, []),
        ("count", 3.5, [" is the number 3.5, where the API has a whole number from 0 on"]),
        ("count", float("inf"), [" is the number inf, where the API has a whole number from 0 on"]),
        ("count", True, [" is true, where the API has a whole number from 0 on"]),
        ("number", -1.5, []),
        ("flag", "yes", [" is the text 'yes', where the API has true or false"]),
        ("text|list", {}, [" is an object, where the API has a text or a list"]),
        ("~text", [], [" is a list, where the API has a text ~"]),
        ("any", None, []),
        (words("a", "b"), "c", [" is the text 'c', where the API has 'a' or 'b'"]),
        (words("a", lenient=True), 7, [" is the number 7, where the API has 'a' ~"]),
        (["count"], [1, "x"], ["[1] is the text 'x', where the API has a whole number from 0 on"]),
        (["count"], "x", [" is the text 'x', where the API has a list"]),
        ({"id": "text"}, {}, ["id is missing ~"]),
        ({"id!": "text"}, {"id": None}, ["id is null"]),
        ({"id?": "text"}, {"id": None}, []),
        ({"id": "text|null"}, {"id": None}, []),
        ({"id": {"name!": "text"}}, {"id": {}}, ["id.name is missing"]),
        ({"id": "text"}, [], [" is a list, where the API has an object"]),
        (BLOCK, {"type": "text"}, ["text is missing"]),
        (BLOCK, {"type": "new"}, []),
        (BLOCK, {"text": "hi"}, ["type is missing"]),
        (OneOf({"a?": "text", "b?": "text"}), {"a": "x"}, []),
        (OneOf({"a?": "text", "b?": "text"}), {"a": "x", "b": None, "__type": "A"}, []),
        (OneOf({"a?": "text"}), {"a": "x", "new": {}}, [" has 'a' and 'new', where the API has one of them alone"]),
        (OneOf({"a?": "text"}), [], [" is a list, where the API has an object"]),
        (BLOCK, {"type": 7}, ["type is the number 7, where the API has a text"]),
    ],
)
def test_what_departs_from_a_format(expected: Format, value: Any, says: list[str]) -> None:
    found = [f"{one.path} {one.says}{' ~' if one.lenient else ''}" for one in departures(value, expected)]

    assert found == says
