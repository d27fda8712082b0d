"""The limits of a run, as the user gave them."""

from decimal import Decimal

import pytest

from turntape.proxy.limits.limits import LimitReached, Limits, patterns


@pytest.mark.parametrize(
    ("limits", "any_limit", "need_labels"),
    [
        (Limits(), False, False),
        (Limits(max_turns=0), True, False),
        (Limits(max_cost=Decimal(0)), True, True),
        (Limits(stop_on=("model-*",)), True, True),
    ],
)
def test_cost_and_findings_are_known_from_labels_only(limits: Limits, any_limit: bool, need_labels: bool) -> None:
    assert bool(limits) is any_limit
    assert limits.need_labels is need_labels


def test_stop_on_takes_several_patterns_at_once() -> None:
    assert patterns(["a, b", "c,", ""]) == ("a", "b", "c")


def test_the_mark_in_the_cassette_names_limit_and_reason() -> None:
    assert LimitReached("max-turns", "why").as_json() == {"limit": "max-turns", "message": "why"}
