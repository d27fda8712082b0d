"""A known sum divided among pieces."""

from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.ledger.allocate import Expected, divided, narrowed, shared_out

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


def test_nothing_is_divided_among_no_pieces() -> None:
    assert divided(0, []) == []


def test_what_was_expected_stays_where_it_adds_up() -> None:
    assert divided(100, [Expected(60, 0, 500, 1), Expected(40, 0, 500, 90)]) == [60, 40]


def test_the_largest_fraction_has_the_token_that_rounding_leaves() -> None:
    pieces = [Expected(10.2, 0, 50, 1), Expected(10.7, 0, 50, 1), Expected(10.1, 0, 50, 1)]

    assert divided(31, pieces) == [10, 11, 10]
    assert divided(31, pieces[::-1]) == [10, 11, 10]


def test_a_piece_that_is_full_leaves_the_fraction_to_the_others() -> None:
    assert divided(21, [Expected(10.4, 0, 10, 1), Expected(10.3, 0, 50, 1)]) == [10, 11]


def test_a_sum_beyond_all_bounds_goes_to_the_piece_that_is_known_least() -> None:
    assert divided(100, [Expected(5, 0, 10, 1), Expected(5, 0, 10, 50), Expected(5, 0, 10, 2)]) == [10, 80, 10]


def test_pieces_that_may_not_move_keep_what_is_expected_of_them() -> None:
    assert divided(30, [Expected(10, 0, 50, 0), Expected(10, 0, 50, 1)]) == [10, 20]


@given(st.lists(st.tuples(st.integers(0, 5_000), st.floats(0.5, 100)), min_size=1, max_size=8))
def test_what_adds_up_is_never_moved(rows: list[tuple[int, float]]) -> None:
    pieces = [Expected(prior, 0, 5_000, give) for prior, give in rows]

    assert divided(sum(prior for prior, _ in rows), pieces) == [prior for prior, _ in rows]


@given(st.integers(0, 400), st.floats(1, 100), st.floats(1, 100))
def test_of_equal_pieces_the_one_that_may_move_farther_moves_farther(missing: int, less: float, more: float) -> None:
    less, more = sorted((less, more))
    first, second = divided(400 + missing, [Expected(200, 0, 9_999, less), Expected(200, 0, 9_999, more)])

    assert first <= second + 1
    assert min(first, second) >= 200


def test_a_bound_follows_from_the_bounds_of_the_others() -> None:
    pieces = [Expected(0, 0, 100, 1), Expected(0, 20, 30, 1)]

    assert narrowed(90, 95, pieces) == [(60, 75), (20, 30)]
    assert narrowed(125, 125, pieces) == [(95, 100), (25, 30)]
    # Nothing can have less than no tokens, nor more than all.
    assert narrowed(0, 5, pieces) == [(0, 0), (5, 5)]


@given(st.integers(0, 300), st.lists(st.integers(0, 10_000), min_size=1, max_size=9))
def test_cells_are_shared_in_proportion(total: int, sizes: list[int]) -> None:
    shares, whole = shared_out(total, sizes), sum(sizes)

    assert len(shares) == len(sizes)
    assert sum(shares) == (total if whole else 0)
    assert all(abs(share * whole - total * size) < whole for share, size in zip(shares, sizes, strict=True) if whole)


def test_the_cell_that_is_left_goes_to_the_largest_remainder() -> None:
    assert shared_out(10, [1, 1, 4]) == [2, 2, 6]
    assert shared_out(10, [26, 25, 49]) == [3, 2, 5]
    assert shared_out(3, [0, 0]) == [0, 0]
