"""What may differ, and what a difference is called."""

import re
from typing import Any

import pytest

from turntape.cassettes.matching.grades import Match, Matching, TurnName, grade_of
from turntape.cassettes.matching.json_diff import Difference

TURN = TurnName(2, 5, "t1")


@pytest.mark.parametrize(
    ("arguments", "tolerant"),
    [
        ({}, False),
        ({"profile": "ordered"}, True),
        ({"rules": {"system": "warn"}}, True),
        ({"rules": {"system": "ignore", "tools": "fail"}}, False),
    ],
)
def test_only_a_warning_rule_allows_a_different_request(arguments: dict[str, Any], tolerant: bool) -> None:
    assert Matching(**arguments).is_tolerant is tolerant


def test_the_profile_gives_the_rule_for_all_other_fields() -> None:
    assert Matching().default == Matching("strict").default == "fail"
    assert Matching("ordered").default == "warn"


def test_what_is_given_cannot_change_afterwards() -> None:
    rules: dict[str, Any] = {"system": "warn"}
    matching = Matching(rules=rules, ignore=["/a"], ignore_text=["b"])  # type: ignore[arg-type]
    rules["system"] = "fail"

    assert dict(matching.rules) == {"system": "warn"}
    assert (matching.ignore, matching.ignore_text) == (("/a",), ("b",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (TurnName(2, 5), "turn 2, #5"),
        (TurnName(2, 5, "t1"), "turn 2 of t1, #5"),
        (TurnName(None, 5), "#5"),
        (TurnName(None, 5, "t1"), "#5"),
    ],
)
def test_a_turn_is_named_as_in_every_view(name: TurnName, text: str) -> None:
    assert str(name) == text


def test_a_match_is_one_line() -> None:
    changed = Difference("/a", "changed", 1, 2)

    assert str(Match("exact", TURN)) == "turn 2 of t1, #5: exact"
    assert (
        str(Match("same turn, small change", TURN, (changed, changed), fault="cut"))
        == "turn 2 of t1, #5: same turn, small change: /a was 1 and is 2; /a was 1 and is 2 [cut]"
    )


def test_a_match_with_many_differences_names_the_first() -> None:
    many = tuple(Difference(f"/a{n}", "changed", 1, 2) for n in range(12))

    said = str(Match("same turn, small change", TURN, many))

    assert said.endswith("/a9 was 1 and is 2; and 2 more differences")


@pytest.mark.parametrize(
    ("difference", "grade"),
    [
        (Difference("/temperature", "changed", 1, 2), "same turn, small change"),
        (Difference("/system", "changed", "a b", "a  b\n"), "same turn, small change"),
        (Difference("/system", "changed", "a b", "a c"), "same turn, other prompt"),
        (Difference("/system", "removed", "a"), "same turn, other prompt"),
        (Difference("/system", "changed", "1", 1), "same turn, other prompt"),
        (Difference("/system", "changed", 1, "1"), "same turn, other prompt"),
        (Difference("/tools", "added", given=[]), "same turn, other prompt"),
        (Difference("/messages/0/content", "changed", "a", "b"), "same turn, other prompt"),
        (Difference("/messages/1", "added", given={"role": "tool"}), "same turn, other prompt"),
        (Difference("/input/1", "removed", {"type": "function_call_output"}), "same turn, other prompt"),
        (Difference("/options/system", "added", given="a"), "same turn, other prompt"),
        (Difference("/options/seed", "added", given=1), "same turn, small change"),
        (Difference("", "changed", "a", "b"), "same turn, other prompt"),
        (Difference("model", "changed", "a", "b"), "same turn, small change"),
    ],
)
def test_a_change_of_what_the_model_reads_is_another_prompt(difference: Difference, grade: str) -> None:
    assert grade_of((difference,)) == grade
    assert grade_of((Difference("/seed", "changed", 1, 2), difference)) == grade


def test_no_difference_is_an_exact_match() -> None:
    assert grade_of(()) == "exact"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"profile": "loose"}, "'loose' is not a matching profile; write one of strict, ordered, sequence"),
        ({"rules": {"system": "maybe"}}, "the rule for 'system' is 'maybe'; write one of fail, warn, ignore"),
        ({"ignore": ["a"]}, "'a' is not a JSON pointer: it does not begin with /; write it like /metadata/run"),
        ({"ignore_text": ["("]}, "'(' in ignore_text is not a regular expression: missing ), unterminated subpattern"),
    ],
)
def test_a_value_that_cannot_be_used_is_an_error(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Matching(**arguments)


def test_equal_settings_have_one_hash() -> None:
    """So that they can be the key of a dict, although rules are a mapping."""
    assert hash(Matching(rules={"system": "warn"})) == hash(Matching(rules={"system": "warn"}))


def test_new_values_replace_recorded_ones_unless_that_is_switched_off() -> None:
    assert Matching().map_values is True


def test_a_rule_for_a_field_that_is_misspelled_names_the_field() -> None:
    with pytest.raises(ValueError, match="there is no field 'sytem' to have a rule; did you mean 'system'"):
        Matching(rules={"sytem": "warn"})

    assert Matching(rules={"/sytem": "warn", "temperature": "warn"}).is_tolerant
