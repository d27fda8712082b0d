"""The words and figures that every view of the ledger shares."""

from decimal import Decimal
from typing import get_args

import pytest

from turntape.inspector.ledger import Figure
from turntape.inspector.ledger.groups import UNDIVIDED
from turntape.inspector.ledger.model import Certainty, PieceKind
from turntape.inspector.views.vocabulary.pieces import FIGURES, KINDS, SHORT_FIGURES, figure, piece_cost, short_figure

EXACT = Figure.exact(1204)
BOUNDED = Figure(1200, 1150, 1260, "bounded")
ESTIMATED = Figure(1234, 0, 2000, "estimated")


def test_a_figure_shows_how_sure_it_is() -> None:
    assert [figure(EXACT), figure(BOUNDED), figure(ESTIMATED)] == ["1,204", "1,150–1,260", "≈ 1,200"]


def test_an_unknown_figure_is_not_zero() -> None:
    assert figure(None) == "?"


def test_a_figure_is_short_in_a_narrow_column() -> None:
    assert [short_figure(EXACT), short_figure(BOUNDED), short_figure(ESTIMATED)] == ["1,204", "±1,200", "≈1,234"]


@pytest.mark.parametrize("certainty", get_args(Certainty.__value__))
def test_the_legend_names_the_sign_before_a_short_figure(certainty: Certainty) -> None:
    assert f" {short_figure(Figure(12, 12, 12, certainty))} is" in SHORT_FIGURES


@pytest.mark.parametrize(
    ("tokens", "shown"), [(EXACT, "$0.012"), (BOUNDED, "≈$0.012"), (ESTIMATED, "≈$0.012"), (None, "$0.012")]
)
def test_a_cost_is_exact_only_where_its_tokens_are(tokens: Figure | None, shown: str) -> None:
    assert piece_cost(Decimal("0.012"), tokens) == shown
    assert piece_cost(Decimal(0), tokens) == "$0"


def test_the_legend_shows_the_forms_of_a_figure() -> None:
    assert all(figure(tokens) in FIGURES for tokens in (EXACT, Figure(1200, 1150, 1260, "bounded"), ESTIMATED))


def test_a_small_estimate_is_not_rounded_away() -> None:
    assert figure(Figure(87, 0, 200, "estimated")) == "≈ 87"


def test_every_kind_of_a_piece_has_its_words() -> None:
    kinds = get_args(PieceKind.__value__)
    assert len(kinds) > 8
    assert {*kinds, UNDIVIDED} - set(KINDS) == set()
