"""The hash of a beginning is the same whatever it shares with other rows."""

import random

import pytest

from turntape.inspector.analysis.prefix_hashes import NOTHING, PrefixHashes, Shifted, with_next


def plain(meanings: list[int]) -> list[int]:
    hashes = [NOTHING]
    for meaning in meanings:
        hashes.append(with_next(hashes[-1], meaning))
    return hashes


def test_a_shared_row_behind_another_front_has_the_hashes_of_the_whole() -> None:
    rng = random.Random(3)
    row = [rng.randrange(-(2**63), 2**63) for _ in range(60)]
    for _ in range(200):
        front = [rng.randrange(9) for _ in range(rng.randrange(5))]
        tail = [rng.randrange(9) for _ in range(rng.randrange(5))]
        start = rng.randrange(61)
        end = rng.randint(start, 60)
        made = PrefixHashes(front, plain(row), start, end, tail)

        assert made == plain([*front, *row[start:end], *tail])
        assert made[-1] == plain([*front, *row[start:end], *tail])[-1]


def test_rows_of_other_lengths_and_other_pieces_differ() -> None:
    assert len({plain(row)[-1] for row in ([], [0], [0, 0], [-1], [1], [0, 1], [1, 0])}) == 7


def test_the_ends_behind_another_front_are_those_of_the_whole() -> None:
    ends = Shifted([0, 2, 5], [0, 1, 1, 4, 6], 1, 3, [9])

    assert [*ends] == [0, 2, 5, 5, 8, 9] and ends[-1] == 9 and ends[1:3] == (2, 5)
    with pytest.raises(IndexError):
        ends[6]
