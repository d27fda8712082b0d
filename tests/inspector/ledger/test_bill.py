"""Prices by position, by figures worked out by hand and for any counts."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.ledger.bill import Zone, shares


def zones(*counts: int) -> list[Zone]:
    made: list[Zone] = []
    for kind, count in zip(("read", "write_1h", "write", "fresh"), counts, strict=True):
        start = made[-1].end if made else 0
        if count:
            made.append(Zone(kind, start, start + count, Decimal(1)))
    return made


def test_a_piece_across_two_zones_is_divided() -> None:
    first, second = shares(zones(15, 0, 0, 15), [0, 10, 20, 30], 3)

    assert (first.first, first.last, first.parts) == (0, 1, ((1, 5),))
    assert (second.first, second.last, second.parts) == (2, 3, ((1, 5),))


def test_a_piece_may_have_several_zones_in_it() -> None:
    found = list(shares(zones(2, 3, 4, 1), [0, 10], 1))

    assert [one.parts for one in found] == [((0, 2),), ((0, 3),), ((0, 4),), ((0, 1),)]


def test_pieces_behind_the_prompt_are_in_no_zone() -> None:
    (found,) = shares(zones(0, 0, 0, 20), [0, 10, 20, 20], 2)

    assert (found.first, found.last, found.parts) == (0, 2, ())


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.lists(st.integers(0, 10**6), min_size=3, max_size=3))
def test_every_token_is_in_one_zone(sizes: list[int], cuts: list[int]) -> None:
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    a, b, c = sorted(cut % (ends[-1] + 1) for cut in cuts)
    counts = [0] * len(sizes)

    for share in shares(zones(a, b - a, c - b, ends[-1] - c), ends, len(sizes)):
        inside = 0
        for at in range(share.first, share.last):
            counts[at] += sizes[at]
            inside += sizes[at]
        for at, tokens in share.parts:
            assert 0 < tokens <= sizes[at]
            counts[at] += tokens
            inside += tokens
        assert inside == share.zone.end - share.zone.start

    assert counts == sizes
