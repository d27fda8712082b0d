"""A known sum divided among pieces."""

from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.ledger.allocate import Expected, divided, narrowed

PIECES = st.lists(
    st.tuples(st.floats(0, 5_000), st.integers(0, 50), st.integers(0, 5_000), st.floats(0.5, 100)),
    min_size=1,
    max_size=8,
).map(lambda rows: [Expected(prior, low, low + more, give) for prior, low, more, give in rows])


def test_what_is_missing_is_shared_by_how_far_each_may_move() -> None:
    assert divided(130, [Expected(50, 0, 500, 1), Expected(50, 0, 500, 2)]) == [60, 70]


def test_a_piece_stays_within_its_bounds_and_the_others_have_the_rest() -> None:
    assert divided(100, [Expected(50, 0, 20, 5), Expected(10, 0, 500, 1)]) == [20, 80]


def test_a_sum_that_the_bounds_forbid_is_kept() -> None:
    assert sum(divided(100, [Expected(5, 0, 10, 1), Expected(5, 0, 10, 1)])) == 100


@given(st.integers(0, 20_000), PIECES)
def test_the_parts_add_up_and_none_is_negative(total: int, pieces: list[Expected]) -> None:
    values = divided(total, pieces)

    assert sum(values) == total
    assert min(values) >= 0
    if sum(one.low for one in pieces) <= total <= sum(one.high for one in pieces):
        assert all(one.low - 1 <= value <= one.high + 1 for one, value in zip(pieces, values, strict=True))


@given(st.data())
def test_narrowed_bounds_have_every_possible_value(data: st.DataObject) -> None:
    truth = data.draw(st.lists(st.integers(0, 300), min_size=1, max_size=6))
    pieces = [
        Expected(0, max(0, one - data.draw(st.integers(0, 50))), one + data.draw(st.integers(0, 50)), 1)
        for one in truth
    ]
    slack = data.draw(st.integers(0, 30))

    bounds = narrowed(sum(truth) - slack, sum(truth) + slack, pieces)

    assert all(low <= one <= high for one, (low, high) in zip(truth, bounds, strict=True))
    assert all(
        high - low <= piece.high - piece.low for piece, (low, high) in zip(pieces, bounds, strict=True) if piece.low
    )


def test_nothing_of_which_something_is_expected_gets_nothing_while_the_sum_leaves_a_choice() -> None:
    """A definition that was thought much larger must not take all tokens of a message beside it."""
    pieces = [Expected(120.0, 0, 400, 30.0), Expected(113.0, 97, 129, 30.0), Expected(36.0, 0, 140, 30.0)]

    assert divided(170, pieces)[2] >= 12
    assert divided(1, pieces)[2] <= 1
