"""Which turns a report names as requested in the wrong order."""

import pytest

from turntape.cassettes import Request, RoundTrip
from turntape.cassettes.replay.report import reordered
from turntape.cassettes.tape.turn_names import TurnName

ONE_BY_ONE = ((0, 1), (2, 3), (4, 5), (6, 7))
BESIDE = ((0, 1), (0.5, 3), (4, 5), (6, 7))


@pytest.mark.parametrize(
    ("times", "threads", "asked", "at_once", "moved"),
    [
        (ONE_BY_ONE, "tttt", (0, 1, 2, 3), False, []),
        (ONE_BY_ONE, "tttt", (1, 0, 2, 3), False, [(1, 0)]),
        (ONE_BY_ONE, "abcd", (1, 0, 2, 3), False, [(1, 0)]),
        (ONE_BY_ONE, "abcd", (1, 0, 2, 3), True, []),  # the replay sends several at once
        (BESIDE, "abcd", (0, 1, 3, 2), False, []),  # the recording has two requests at once
        (BESIDE, "abaa", (0, 1, 3, 2), False, [(3, 2)]),  # but the turns of one conversation have an order
        (ONE_BY_ONE, "abba", (0, 2, 1, 3), True, [(2, 1)]),
        (BESIDE, "aaaa", (1, 0, 2, 3), False, []),
    ],
)
def test_turns_have_an_order_where_one_is_sent_at_a_time(
    times: tuple[tuple[float, float], ...],
    threads: str,
    asked: tuple[int, ...],
    at_once: bool,
    moved: list[tuple[int, int]],
) -> None:
    trips = [
        RoundTrip(
            Request("POST", "https://api.openai.com/v1/responses"), None, 9 + start, ended_at=int(1e6 * (end - start))
        )
        for start, end in times
    ]
    names = [TurnName(1, place, thread) for place, thread in enumerate(threads)]

    found = reordered(asked, trips, names, at_once=at_once)

    assert [(one.turn.index, one.before.index) for one in found] == moved
