"""What may differ, and what a difference is called."""

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


BODY = {"system": "a", "messages": [{"role": "user"}, {"role": "tool", "tool_call_id": "c"}], "temperature": 1}


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
        (Difference("/messages/1/content", "changed", "a", "b"), "same turn, other prompt"),
    ],
)
def test_a_change_of_what_the_model_reads_is_another_prompt(difference: Difference, grade: str) -> None:
    assert grade_of((difference,), BODY, BODY) == grade
    assert grade_of((Difference("/seed", "changed", 1, 2), difference), BODY, BODY) == grade


def test_no_difference_is_an_exact_match() -> None:
    assert grade_of((), BODY, BODY) == "exact"
