"""Changes of a run, in words and together."""

import pytest

from turntape.inspector.ledger.what_if import Change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(), "as it was"),
        (Change(model="gpt-5"), "on gpt-5"),
        (Change(tier="batch"), "as batch requests"),
        (Change(cache="none"), "without a cache"),
        (
            Change(cache="1h", marks=("system", "last")),
            "cache entries kept 1 hour, cache marks behind the system prompt and the last piece",
        ),
        (Change(sort_tools=True), "tools always in the same order"),
        (Change(without=("a",)), "without the tool a"),
        (Change(without=("a", "b")), "without the tools a, b"),
        (Change(cap=2000), "results capped at 2,000 tokens"),
        (Change(no_clock=True), "no date, clock or id in the system prompt and the tools"),
    ],
)
def test_a_change_in_words(change: Change, words: str) -> None:
    assert change.words() == words


def test_two_changes_together() -> None:
    both = Change(model="a", without=("x",), cap=0) | Change(cache="1h", without=("y", "x"))
    assert both == Change(model="a", cache="1h", without=("x", "y"), cap=0)
    assert Change(cap=5) | Change(cap=0) == Change(cap=0)


def test_prices_alone_leave_the_prompts() -> None:
    assert not Change(model="a", tier="batch").prompt
    assert all(
        one.prompt for one in (Change(cap=0), Change(cache="none"), Change(sort_tools=True), Change(no_clock=True))
    )
    assert Change(without=("a",)).prompt and Change(marks=("last",)).prompt
