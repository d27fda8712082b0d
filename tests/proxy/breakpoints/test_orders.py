"""Orders about a held answer, as lines of text."""

import pytest

from turntape.proxy.breakpoints.orders import REFUSED, VERBS, Order, parse_order, refused


@pytest.mark.parametrize(("word", "verb"), VERBS.items())
def test_each_word_is_an_order_in_any_case(word: str, verb: str) -> None:
    assert parse_order(word) == parse_order(f"  {word.upper()} \n") == Order(VERBS[word])
    assert verb == VERBS[word]


def test_each_order_has_its_whole_word_and_a_letter() -> None:
    assert {
        "p": "pass",
        "e": "edit",
        "x": "error",
        "s": "show",
        "g": "go",
        **{verb: verb for verb in ("pass", "edit", "error", "show", "go")},
    } == VERBS


def test_what_follows_the_word_is_its_argument() -> None:
    assert parse_order("error not  today \n") == Order("error", "not  today")


@pytest.mark.parametrize("line", ["maybe", "", "passed"])
def test_any_other_word_is_an_error_that_names_the_orders(line: str) -> None:
    with pytest.raises(ValueError, match="is not pass, edit, error, show or go"):
        parse_order(line)


def test_a_refusal_has_a_message_in_every_case() -> None:
    assert (refused("no").did, refused("no").message) == ("refused", "no")
    assert refused("").message == REFUSED
