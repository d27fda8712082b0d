"""What a model's counts teach."""

import pytest

from turntape.inspector.ledger.fit import Sum, fitted
from turntape.inspector.ledger.shape import (
    ANSWER,
    CALLED,
    FEATURES,
    MAY_BE_LESS,
    MESSAGE,
    REASONING,
    USUAL,
    shape_of,
    tokens_of,
)

TEXTS = [
    b"plain words in a short sentence",
    b'{"id": 4711, "ok": true, "list": [1, 2, 3, 44]}',
    b"def f(x):\n    return x * 2\n",
    "Größe überschritten, höchstens fünf".encode(),
    b"2026-05-28T21:04:00Z ERROR id=af01c2 took 4021 ms",
    b"a much longer sentence with many more words than the first one had, and a comma",
]


def test_without_counts_the_usual_rates_hold() -> None:
    assert fitted([]) == USUAL


def test_a_tokenizer_that_is_twice_as_fine_is_learned_from_few_sums() -> None:
    twice = tuple(2 * rate for rate in USUAL)
    sums = [Sum(shape_of(text), round(tokens_of(shape_of(text), twice))) for text in TEXTS[:3]]

    shape = shape_of(TEXTS[-1])
    assert tokens_of(shape, fitted(sums)) == pytest.approx(tokens_of(shape, twice), rel=0.2)


def test_a_sum_of_a_few_tokens_does_not_rescale_all_texts() -> None:
    found = fitted([Sum(shape_of(b"T 4711"), 2)])

    text = shape_of(TEXTS[-1])
    assert tokens_of(text, found) == pytest.approx(tokens_of(text, USUAL), rel=0.25)


def test_a_token_for_each_byte_is_learned() -> None:
    sums = [Sum(shape_of(text * n), len(text) * n) for text in TEXTS for n in (1, 2, 5)]

    text = b"other words, 12 signs; and more"
    assert tokens_of(shape_of(text), fitted(sums)) == pytest.approx(len(text), rel=0.15)


@pytest.mark.parametrize("place", REASONING)
@pytest.mark.parametrize("returned", [0.0, 1.0])
def test_whether_reasoning_comes_back_is_learned(returned: float, place: int) -> None:
    sums: list[Sum] = []
    for number, text in enumerate(TEXTS * 2):
        thought = 40 + 37 * number
        shape = list(shape_of(text))
        shape[place] = thought
        sums.append(Sum(tuple(shape), round(tokens_of(shape_of(text), USUAL) + returned * thought)))

    assert fitted(sums)[place] == pytest.approx(returned, abs=0.2)


def behind_calls(fewer: int, noise: int = 0) -> list[Sum]:
    """Texts behind an answer without calls, and results behind one with a call.

    The prompts with a call have so many tokens fewer than their texts and the answer had, more or less `noise`.
    """
    sums: list[Sum] = []
    for n, text in enumerate(TEXTS * 4):
        shape = list(shape_of(text))
        shape[MESSAGE], shape[ANSWER], shape[CALLED] = 2, 1, n % 2
        tokens = round(tokens_of(tuple(shape), USUAL)) - (fewer - noise * (n % 3 - 1)) * shape[CALLED]
        sums.append(Sum(tuple(shape), tokens))
    return sums


def test_calls_that_the_history_writes_in_another_way_are_noticed() -> None:
    """A form with eight tokens less: at the usual closeness, most of them would be missing in the results."""
    assert fitted(behind_calls(8))[CALLED] == pytest.approx(-8, abs=1)


@pytest.mark.parametrize(("fewer", "noise"), [(0, 0), (0, 2), (2, 0), (-2, 1)])
def test_a_few_tokens_are_no_other_way_of_writing_calls(fewer: int, noise: int) -> None:
    assert abs(fitted(behind_calls(fewer, noise))[CALLED]) < 1.6


def test_where_calls_are_everywhere_what_is_around_a_message_is_not_taken_for_another_form() -> None:
    sums = [one for one in behind_calls(-8) if one.shape[CALLED]]

    assert fitted(sums)[CALLED] < 3 < fitted(behind_calls(-8))[CALLED]


def test_two_calls_are_too_few_to_show_another_form() -> None:
    few = [one for n, one in enumerate(behind_calls(8)) if n < 3 or not one.shape[CALLED]]

    assert sum(one.shape[CALLED] for one in few) == 1
    assert abs(fitted(few)[CALLED]) < 1.6


def test_without_calls_nothing_is_said_of_them() -> None:
    sums = [Sum(shape_of(text), round(tokens_of(shape_of(text), USUAL))) for text in TEXTS]

    assert fitted(sums)[CALLED] == USUAL[CALLED]


def test_no_rate_is_below_nothing() -> None:
    sums = [Sum(shape_of(b"some words " * 9 + b"7" * n), 100 - n) for n in range(60)]

    found = fitted(sums)
    assert min(rate for place, rate in enumerate(found) if place not in MAY_BE_LESS) >= 0
    assert found[FEATURES.index("digits")] == 0
