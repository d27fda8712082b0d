"""The words and figures that every view of the ledger shares."""

from decimal import Decimal
from typing import get_args

import pytest
from conversations import HELLO, chat, said

from turntape.inspector.ledger import Figure, ledger_of
from turntape.inspector.ledger.groups import UNDIVIDED
from turntape.inspector.ledger.model import Certainty, PieceKind
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.vocabulary.pieces import (
    KINDS,
    SHORT,
    SHORT_FIGURES,
    figure,
    figures_note,
    piece_cost,
    short_figure,
    why_no_total,
)

EXACT = Figure.exact(1204)
BOUNDED = Figure(1200, 1150, 1260, "bounded")
ESTIMATED = Figure(1234, 0, 2000, "estimated")


def test_a_figure_shows_how_sure_it_is() -> None:
    assert [figure(EXACT), figure(BOUNDED), figure(ESTIMATED)] == ["1,204", "1,150–1,260", "≈ 1,200"]


def test_an_unknown_figure_is_not_zero() -> None:
    assert figure(None) == "?"


def test_a_figure_is_short_in_a_narrow_column() -> None:
    assert [short_figure(EXACT), short_figure(BOUNDED), short_figure(ESTIMATED)] == ["1,204", "1,200±60", "≈1,200"]


@pytest.mark.parametrize("value", [0, 7, 1204, 119_021, 1_234_567])
@pytest.mark.parametrize("within", [0, 1, 160, 31_000])
@pytest.mark.parametrize("certainty", get_args(Certainty.__value__))
def test_a_short_figure_fits_its_column_and_its_bounds_are_never_narrower(
    certainty: Certainty, value: int, within: int
) -> None:
    shown = short_figure(Figure(value, max(0, value - within), value + within, certainty))

    assert len(shown) <= SHORT
    if certainty == "bounded":
        middle, part = (int(text.replace(",", "").replace("k", "000")) for text in shown.split("±"))
        assert middle - part <= max(0, value - within) and middle + part >= value + within


@pytest.mark.parametrize("certainty", get_args(Certainty.__value__))
def test_the_legend_names_the_sign_of_a_short_figure(certainty: Certainty) -> None:
    signs = [sign for sign in "±≈" if sign in short_figure(Figure(12, 10, 13, certainty))]

    assert signs == [sign for sign in signs if f" {sign} " in SHORT_FIGURES]
    assert signs or "without a sign is exact" in SHORT_FIGURES


@pytest.mark.parametrize(
    ("tokens", "shown"), [(EXACT, "$0.012"), (BOUNDED, "≈$0.012"), (ESTIMATED, "≈$0.012"), (None, "$0.012")]
)
def test_a_cost_is_exact_only_where_its_tokens_are(tokens: Figure | None, shown: str) -> None:
    assert piece_cost(Decimal("0.012"), tokens) == shown
    assert piece_cost(Decimal(0), tokens) == "$0"


def test_a_cost_that_rounds_to_nothing_has_one_sign() -> None:
    assert piece_cost(Decimal("0.000001"), ESTIMATED) == "<$0.00001"


@pytest.mark.parametrize(
    ("shown", "says"), [(EXACT, "without a sign"), (BOUNDED, "two numbers are its bounds"), (ESTIMATED, "≈ is")]
)
def test_the_legend_says_only_the_forms_that_are_shown(shown: Figure, says: str) -> None:
    others = [one for one in (EXACT, BOUNDED, ESTIMATED) if one is not shown]

    assert says in figures_note([shown]) and says in figures_note()
    assert says not in figures_note(others)


def test_a_small_estimate_is_not_rounded_away() -> None:
    assert figure(Figure(87, 0, 200, "estimated")) == "≈ 87"


def test_every_kind_of_a_piece_has_its_words() -> None:
    kinds = get_args(PieceKind.__value__)
    assert len(kinds) > 8
    assert {*kinds, UNDIVIDED} - set(KINDS) == set()


def test_the_legend_of_short_figures_has_their_sign() -> None:
    bounded = [Figure(40, 20, 60, "bounded")]

    assert figures_note(bounded, short=True) == "tokens: ± gives the bounds"
    assert figures_note(bounded) == "tokens: two numbers are its bounds"


def test_requests_that_the_api_refused_have_no_cost_and_are_not_unpriced() -> None:
    error = {"error": {"message": "slow down", "type": "rate_limit"}}
    refused = ledger_of(label_all([chat([HELLO], error=error, status=429)]))
    uncounted = ledger_of(label_all([chat([HELLO], said("hi"), usage=None)]))

    assert why_no_total(refused).startswith("no cost: the API answered none of the requests")
    assert why_no_total(uncounted).startswith("unpriced: the API counted no tokens")
