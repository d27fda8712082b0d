"""Where two JSON values differ, said in few words."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.matching.json_diff import CLIP, Difference, around, differences, shown, words


def found(recorded: object, given_: object) -> list[tuple[str, str]]:
    return [(difference.pointer, difference.kind) for difference in differences(recorded, given_)]


def test_what_is_equal_has_none() -> None:
    assert differences({"a": [1, {"b": None}], "c": 1.5}, {"c": 1.5, "a": [1, {"b": None}]}) == []


def test_each_kind_has_its_pointer_and_both_sides() -> None:
    found = differences({"a": 1, "b": 2, "d": [1]}, {"a": 5, "c": 3, "d": [1]})

    assert found == [
        Difference("/a", "changed", 1, 5),
        Difference("/b", "removed", recorded=2),
        Difference("/c", "added", given=3),
    ]
    assert [str(difference) for difference in found] == ["/a was 1 and is 5", "/b is missing: 2", "/c is new: 3"]


def test_keys_are_escaped_as_pointers_ask() -> None:
    assert found({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}) == [("/a~1b/c~0d", "changed")]


def test_an_inserted_message_is_one_difference() -> None:
    messages = [{"role": "user", "content": str(n)} for n in range(300)]
    more = [*messages[:150], {"role": "user", "content": "new"}, *messages[150:]]

    assert found({"messages": messages}, {"messages": more}) == [("/messages/150", "added")]
    assert found({"messages": more}, {"messages": messages}) == [("/messages/150", "removed")]


def test_a_changed_message_is_reported_by_what_changed_in_it() -> None:
    messages = [{"role": "user", "content": str(n)} for n in range(5)]
    changed = [*messages[:2], {"role": "user", "content": "new"}, *messages[3:], {"role": "tool"}]

    assert found(messages, changed) == [("/2/content", "changed"), ("/5", "added")]


def test_arrays_that_share_nothing_are_compared_place_by_place_in_little_time() -> None:
    found = differences(list(range(5000)), list(range(10_000, 15_000)), limit=3)

    assert [difference.pointer for difference in found] == ["/0", "/1", "/2"]


def test_no_more_are_reported_than_are_requested() -> None:
    old, new = {str(n): n for n in range(50)}, {str(n): n + 1 for n in range(50)}

    assert len(differences(old, new)) == 10
    assert len(differences(old, new, limit=1)) == 1
    assert len(differences([[n] for n in range(50)], [], limit=4)) == 4


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), ("1", 1), (None, False), ([], {}), ({"a": None}, {})])
def test_values_of_two_types_differ(one: object, other: object) -> None:
    assert differences(one, other)
    assert differences(other, one)


def test_the_whole_body_has_no_pointer() -> None:
    assert str(differences("text", {"a": 1})[0]) == 'the body was "text" and is {"a":1}'


def test_long_texts_are_shown_from_their_first_difference() -> None:
    start = "the same beginning " * 20
    recorded, given_ = around(f"{start}in the morning{'.' * 99}", f"{start}in the evening{'.' * 99}")

    assert "morning" in recorded and "evening" in given_
    assert max(len(recorded), len(given_)) <= CLIP
    assert recorded.startswith('"…')


def test_a_text_that_continues_the_other_is_shown_at_its_end() -> None:
    recorded, given_ = around("a" * 200, "a" * 200 + " and more")

    assert "and more" in given_ and "and more" not in recorded


def test_what_json_cannot_hold_is_shown_too() -> None:
    assert shown({1, 2}) == "{1, 2}"
    assert shown(b"x") == "b'x'"
    assert len(shown("x" * 999)) == CLIP


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ({"a": [1]}, {"a": [True]})])
def test_items_of_a_list_that_only_python_calls_equal_differ(one: object, other: object) -> None:
    assert [difference.pointer.split("/")[1] for difference in differences([one], [other])] == ["0"]
    assert [d.pointer.split("/")[1] for d in differences([7, one, 8], [7, other, 8])] == ["1"]


def test_places_count_from_the_start_of_each_list() -> None:
    """Added items are where the request has them, removed and changed ones where the recording has them."""
    old = ["a", "b", "c", "d", "e", "f", "g"]
    new = ["a", "x", "b", "c", "y", "e", "f", "z", "g"]

    assert differences(old, new) == [
        Difference("/1", "added", given="x"),
        Difference("/3", "changed", "d", "y"),
        Difference("/7", "added", given="z"),
    ]
    assert differences(["a", "b", "c", "d"], ["a", "d"]) == [
        Difference("/1", "removed", recorded="b"),
        Difference("/2", "removed", recorded="c"),
    ]
    assert differences({"k": ["a", "b", "z"]}, {"k": ["c", "z"]}) == [
        Difference("/k/0", "changed", "a", "c"),
        Difference("/k/1", "removed", recorded="b"),
    ]


def test_items_are_compared_with_those_as_far_from_the_same_end() -> None:
    assert differences(["p", "q", "z"], ["s", "p", "z"]) == [
        Difference("/0", "added", given="s"),
        Difference("/1", "removed", recorded="q"),
    ]
    assert differences(["s", "p", "z"], ["p", "q", "z"]) == [
        Difference("/0", "removed", recorded="s"),
        Difference("/1", "added", given="q"),
    ]


def test_an_item_that_both_ends_have_counts_once() -> None:
    assert differences(["a"], ["a", "a"]) == [Difference("/1", "added", given="a")]
    assert differences(["a", "b", "a", "b"], ["a", "b"]) == [
        Difference("/2", "removed", recorded="a"),
        Difference("/3", "removed", recorded="b"),
    ]


@pytest.mark.parametrize("size", [400, 401])
def test_up_to_400_items_are_aligned(size: int) -> None:
    """Counted without the equal items at both ends; alignment of more takes too long."""
    same = [f"{n}" for n in range(size - 3)]

    found = differences(["x", "a", *same, "d", "y"], ["x", "b", "c", *same, "e", "y"], limit=1000)

    if size == 400:
        assert [(d.pointer, d.recorded, d.given) for d in found] == [
            ("/1", "a", "b"),
            ("/2", None, "c"),
            ("/399", "d", "e"),
        ]
    else:
        assert [d.kind for d in found] == ["changed"] * 400 + ["added"]


def test_no_more_are_reported_than_are_requested_from_lists() -> None:
    assert len(differences(["a"], list("xyz"), limit=2)) == 2
    assert len(differences(list("abc"), ["x"], limit=2)) == 2
    assert len(differences([["a", "b"], ["c"]], [["x", "y"], ["z"]], limit=2)) == 2
    assert len(differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 4}}, limit=1)) == 1
    assert differences(1, 2, limit=0) == []


@pytest.mark.parametrize(
    ("recorded", "given_", "expected"),
    [
        ("one two", "one  two\n", []),
        ("one two three", "one 2 three", [("two", "2")]),
        ("one three", "one two three", [("", "two")]),
        ("one two three", "one three", [("two", "")]),
        ("a b c d e f", "a x y c d z f", [("b", "x y"), ("e", "z")]),
        ("the the", "the", [("the", "")]),
        ("", "a b", [("", "a b")]),
    ],
)
def test_the_words_that_differ_are_paired(recorded: str, given_: str, expected: list[tuple[str, str]]) -> None:
    assert words(recorded, given_) == expected


def test_at_most_ten_pairs_of_words_are_given() -> None:
    recorded = " ".join(f"same{n} old{n}" for n in range(30))
    given_ = " ".join(f"same{n} new{n}" for n in range(30))

    assert words(recorded, given_) == [(f"old{n}", f"new{n}") for n in range(10)]
    assert words(recorded, given_, limit=2) == [("old0", "new0"), ("old1", "new1")]


@pytest.mark.parametrize("size", [400, 401])
def test_texts_that_differ_over_more_than_400_words_are_one_pair(size: int) -> None:
    old, new = [f"w{n}" for n in range(size)], [f"w{n}" for n in range(size)]
    old[0], new[0], old[-1], new[-1] = "a", "b", "c", "d"

    pairs = words(" ".join(["x", *old]), " ".join(["x", *new]))

    whole = [(" ".join(old), " ".join(new))]
    assert pairs == ([("a", "b"), ("c", "d")] if size == 400 else whole)


def test_short_texts_are_shown_whole() -> None:
    one, other = "a" * 77 + "b", "a" * 77 + "c"

    assert around(one, other) == (f'"{one}"', f'"{other}"')
    assert around(one + "b", other) == ('"…' + "a" * 20 + 'bb"', '"…' + "a" * 20 + 'c"')
    assert around(other, one + "b") == ('"…' + "a" * 20 + 'c"', '"…' + "a" * 20 + 'bb"')


def test_a_long_text_that_differs_near_its_start_is_shown_from_there() -> None:
    one, other = around("a" * 20 + "b" * 90, "a" * 20 + "c" * 90)

    assert one.startswith('"' + "a" * 20 + "b") and other.startswith('"' + "a" * 20 + "c")
    one, _ = around("a" * 21 + "b" * 90, "a" * 21 + "c" * 90)
    assert one.startswith('"…' + "a" * 20 + "b")


def test_only_two_texts_are_shown_from_their_first_difference() -> None:
    long = "x" * 200

    assert around(long, 5) == (shown(long), "5")
    assert around(5, long) == ("5", shown(long))


def test_a_value_of_80_characters_is_shown_whole() -> None:
    assert shown("x" * 78) == f'"{"x" * 78}"'
    assert shown("x" * 79) == f'"{"x" * 78}…'


def test_values_that_json_cannot_hold_are_compared_by_their_text() -> None:
    assert differences({1}, {1}) == []
    assert [d.kind for d in differences({1}, {2})] == ["changed"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON, JSON)
def test_there_are_differences_exactly_where_values_differ(one: object, other: object) -> None:
    assert differences(one, one) == []
    same = orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(other, option=orjson.OPT_SORT_KEYS)
    assert bool(differences(one, other)) == bool(differences(other, one)) == (not same)
    for difference in differences(one, other):
        if difference.kind != "added":
            assert at(one, difference.pointer) == difference.recorded


def at(value: object, pointer: str) -> object:
    """RFC 6901."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]  # type: ignore[index]
    return value
