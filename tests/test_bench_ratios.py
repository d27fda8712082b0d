"""A ratio of the benchmarks says how far chance can move it, and misses its bar only beyond that."""

import random

import pytest

from bench._ratios import Ratio


def noisy(rounds: int, slower: float, noise: float) -> Ratio:
    """The ratio of two things of which the first is `slower`, both with `noise`."""
    chance = random.Random(5)
    one = [slower * (1 + noise * chance.random()) for _ in range(rounds)]
    return Ratio.of(one, [1 + noise * chance.random() for _ in range(rounds)])


def test_the_true_ratio_lies_between_its_edges() -> None:
    for slower in (0.5, 1.0, 1.3):
        ratio = noisy(40, slower, 0.4)
        assert ratio.low < slower < ratio.high
        assert ratio.low <= ratio.middle <= ratio.high


def test_more_noise_puts_the_edges_further_apart() -> None:
    calm, loud = noisy(40, 1.0, 0.02), noisy(40, 1.0, 0.5)
    assert calm.high - calm.low < (loud.high - loud.low) / 5


def test_a_bar_is_missed_only_by_more_than_noise() -> None:
    assert noisy(40, 1.3, 0.02).verdict(1.05) == "MISSED"
    assert noisy(40, 0.9, 0.02).verdict(1.05) == "ok"
    near = Ratio(middle=1.08, low=0.97, high=1.2)
    assert not near.misses(1.05)
    assert near.verdict(1.05) == "above the bar, but within the noise"


def test_a_ratio_pairs_the_rounds() -> None:
    assert str(Ratio.of([1.0, 20.0, 3.0], [2.0, 40.0, 6.0])) == "0.50x (0.50 to 0.50)"
    with pytest.raises(ValueError):
        Ratio.of([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="at least one round"):
        Ratio.of([], [])
