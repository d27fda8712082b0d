"""JSON pointers as patterns, planted in a tree."""

import pytest

from turntape.cassettes.matching.pointers import DROPPED, change, plant, pruned, segments, step, word

DROP = frozenset({"ignore"})


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/a", ["a"]),
        ("/a/b", ["a", "b"]),
        ("/", [""]),
        ("/a~1b/c~0d", ["a/b", "c~d"]),
        ("/~01", ["~1"]),
        ("/*/0", ["*", "0"]),
    ],
)
def test_the_segments_of_a_pointer_are_unescaped(pointer: str, expected: list[str]) -> None:
    assert segments(pointer) == expected


@pytest.mark.parametrize("pointer", ["", "a", "a/b", "#/a"])
def test_a_pointer_without_a_leading_slash_is_an_error(pointer: str) -> None:
    with pytest.raises(ValueError, match="is not a JSON pointer: it does not begin with /"):
        segments(pointer)


def test_a_name_takes_precedence_over_the_star() -> None:
    root = plant([("/a/*", "star"), ("/a/b", "name")])
    below = step((root,), "a")

    assert word(step(below, "b")) == "name"
    assert word(step(below, "c")) == "star"
    assert word(below) is None
    assert step((root,), "x") == ()


def test_the_star_counts_where_the_name_goes_further() -> None:
    root = plant([("/*", "star"), ("/a/b", "name")])

    assert word(step((root,), "a")) == "star"


def test_a_later_pattern_overwrites_an_equal_one() -> None:
    assert word(step((plant([("/a", "one"), ("/a", "two")]),), "a")) == "two"


@pytest.mark.parametrize(
    ("patterns", "value", "expected"),
    [
        (["/a"], {"a": 1, "b": 2}, {"b": 2}),
        (["/a/b"], {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        (["/a/b"], {"a": {"b": 1}, "c": 1}, {"c": 1}),
        (["/a/*"], {"a": [1, 2], "c": 1}, {"c": 1}),
        (["/a/1"], {"a": [1, 2, 3]}, {"a": [1, 3]}),
        (["/a/*/b"], {"a": [{"b": 1}, {"b": 2, "c": 3}]}, {"a": [{"c": 3}]}),
        (["/a/b"], {"a": {}}, {"a": {}}),
        (["/a/b"], {"a": []}, {"a": []}),
        (["/a/b"], {"a": 3}, {"a": 3}),
        (["/x"], {"a": {"x": 1}}, {"a": {"x": 1}}),
        (["/0"], [1, 2], [2]),
    ],
)
def test_what_a_pattern_names_is_dropped_and_what_this_empties(
    patterns: list[str], value: object, expected: object
) -> None:
    assert pruned(value, (plant((p, "ignore") for p in patterns),), "fail", DROP) == expected


@pytest.mark.parametrize("value", [1, "a", [], {}, {"a": 1}])
def test_a_value_of_which_nothing_is_kept_is_dropped(value: object) -> None:
    assert pruned(value, (), "ignore", DROP) is DROPPED
    assert pruned(value, (), "fail", DROP) is value


def test_a_pattern_can_keep_a_part_of_what_is_dropped() -> None:
    tree = (plant([("/a/b", "fail"), ("/c/0", "fail"), ("/e/x", "fail")]),)
    value = {"a": {"b": 1, "c": 2}, "c": [1, 2], "d": 3, "e": {}, "f": []}

    assert pruned(value, tree, "ignore", DROP) == {"a": {"b": 1}, "c": [1]}
    assert pruned({"e": {}}, tree, "ignore", DROP) is DROPPED
    assert pruned({"c": []}, tree, "ignore", DROP) is DROPPED


def test_what_patterns_name_is_replaced_in_place_and_in_order() -> None:
    value = {"b": [{"id": 1, "other": 2}, {"id": 3}], "a": {"id": 4}, "id": 5}
    seen: list[object] = []

    def new(old: object) -> object:
        seen.append(old)
        return f"<{old}>"

    change(value, (plant([("/b/*/id", "id"), ("/a/id", "id")]),), new)

    assert value == {"b": [{"id": "<1>", "other": 2}, {"id": "<3>"}], "a": {"id": "<4>"}, "id": 5}
    assert seen == [1, 3, 4]


def test_a_list_item_that_a_pattern_names_is_replaced_whole() -> None:
    value: list[object] = [[1], [2]]

    change(value, (plant([("/1", "id"), ("/1/0", "id")]),), lambda old: "x")

    assert value == [[1], "x"]
