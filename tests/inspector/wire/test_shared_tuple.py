"""Tuples that share what they begin with."""

import random
from copy import deepcopy

from turntape.inspector.wire.per_message import PerMessage
from turntape.inspector.wire.shared_tuple import SharedTuple, in_both, shared, sharing


def test_a_history_that_continues_shares_what_it_has_in_common() -> None:
    first = sharing(range(10))
    second = first.continued(9, [90, 10, 11])  # clients write the last message of a request differently in the next one
    third = second.continued(12, [12, 13])

    assert list(third) == [*range(9), 90, 10, 11, 12, 13]
    assert third.stem is second.stem is first.stem and len(third.stem.items) == 10
    assert (list(first), list(second)) == ([*range(10)], [*range(9), 90, 10, 11])
    assert (shared(first, second), shared(second, third), shared(third, third)) == (9, 12, 14)


def test_another_branch_does_not_change_what_was_there() -> None:
    base = sharing(range(20))
    one = base.continued(20, range(100, 110))
    other = base.continued(20, range(200, 210))
    shorter = one.continued(5, range(300, 310))

    assert list(one) == [*range(20), *range(100, 110)]
    assert list(other) == [*range(20), *range(200, 210)]
    assert list(shorter) == [*range(5), *range(300, 310)]
    assert list(base) == [*range(20)]
    assert shared(one, other) == 20 and shared(one, shorter) == 5


def test_what_both_have_behind_other_fronts_is_found() -> None:
    base = sharing([object() for _ in range(30)])
    one = base.resumed(["a", "b"], 2, 30, ["c"])
    other = one.resumed(["A"], 1, 29, ["d"])

    assert in_both(base, one) == (2, 2, 28)
    assert in_both(one, other) == (2, 2, 27)
    assert in_both(one.since(5), other) == (0, 5, 24)
    assert in_both(base, sharing(["a"])) == (0, 0, 0)
    assert shared(one, other) == 0 and shared(base, one) == 0


def test_a_copy_of_it_is_itself() -> None:
    """The preview of a breakpoint copies all that a labeller holds."""
    history = sharing(["a"] * 9)
    PerMessage[str, int](len).of(history)

    assert deepcopy(history) is history


def test_it_is_a_tuple_in_all_that_is_asked_of_it() -> None:
    rng = random.Random(7)
    made: list[tuple[SharedTuple[int], tuple[int, ...]]] = [(sharing(()), ())]
    for _ in range(300):
        one, plain = rng.choice(made)
        kept = rng.randint(max(0, len(plain) - 7), len(plain))
        new = [rng.randrange(9) for _ in range(rng.randrange(8))]
        made.append((one.continued(kept, new), (*plain[:kept], *new)))
        start = rng.randint(0, len(plain))
        made.append((one.since(start), plain[start:]))
        place = rng.randint(0, kept)
        front = [rng.randrange(9) for _ in range(place)]
        made.append((one.resumed(front, place, kept, new), (*front, *plain[place:kept], *new)))
    for one, plain in made:
        a, b = rng.randint(-12, 90), rng.randint(-12, 90)
        assert one == plain and plain == one and one == list(plain) and not one != plain  # noqa: SIM202 - both signs
        assert (len(one), [*reversed(one)], one[a:b], one[::2]) == (
            len(plain),
            [*reversed(plain)],
            plain[a:b],
            plain[::2],
        )
        assert [one[at] for at in range(-len(plain), len(plain))] == [*plain, *plain]
        assert one != (*plain, 1) and (plain == () or one != plain[:-1])
