"""Contrast, by the examples of WCAG."""

import pytest

from turntape.inspector.views.vocabulary.contrast import contrast


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#ff0000", "#ffffff", 4.0),
        ("#123456", "#123456", 1),
    ],
)
def test_ratios(one: str, other: str, ratio: float) -> None:
    assert round(contrast(one, other), 2) == ratio
    assert contrast(one, other) == contrast(other, one)
