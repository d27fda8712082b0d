"""Where two JSON values differ, said in few words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turntape.cassettes.matching.json_diff import CLIP, Difference, around, differences, shown


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


def test_long_texts_are_shown_where_they_part() -> None:
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON, JSON)
def test_there_are_differences_exactly_where_values_differ(one: object, other: object) -> None:
    assert differences(one, one) == []
    assert bool(differences(one, other)) == bool(differences(other, one))
    for difference in differences(one, other):
        if difference.kind != "added":
            assert at(one, difference.pointer) == difference.recorded


def at(value: object, pointer: str) -> object:
    """RFC 6901."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]  # type: ignore[index]
    return value
