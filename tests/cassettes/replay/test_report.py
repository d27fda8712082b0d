"""The end of a replay: what was played, what differed, and which turns were requested in the wrong order."""

from dataclasses import replace

import httpx
import orjson
import pytest

from turntape.cassettes import Matching, Player, ReplayTransport, Request, Response, RoundTrip
from turntape.cassettes.matching.bindings import Mapped
from turntape.cassettes.replay.report import Report, reordered
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


URL = "https://api.openai.com/v1/chat/completions"


def body(word: str) -> bytes:
    return orjson.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": word}]})


def played(*words: str, recorded: tuple[str, ...] = ("one", "two"), matching: Matching | None = None) -> Report:
    """The report of a replay that requests these words, of a recording that has others."""
    trips = [RoundTrip(Request("POST", URL, (), body(word)), Response(200, content=b"{}"), 0.0) for word in recorded]
    player = Player(trips, matching=matching)
    with httpx.Client(transport=ReplayTransport(player)) as client:
        for word in words:
            client.post(URL, content=body(word))
    return player.report()


@pytest.mark.parametrize(("words", "answers"), [(("one",), "1 answer"), (("one", "two"), "2 answers")])
def test_a_replay_as_recorded_is_one_sentence(words: tuple[str, ...], answers: str) -> None:
    report = played(*words, recorded=words)

    assert report.clean is True
    assert report.tolerated == ()
    assert str(report) == f"{answers} played, all as recorded"


def test_a_request_that_differs_and_one_that_is_missing_are_a_line_each() -> None:
    report = played("another", matching=Matching("ordered"))

    assert report.clean is False
    assert [match.grade for match in report.tolerated] == ["same turn, other prompt"]
    head, *lines = str(report).splitlines()
    assert head == "1 answer played"
    assert [line for line in lines if line.startswith(("tolerated: ", "not requested: "))] == [
        f"tolerated: {report.tolerated[0]}",
        "not requested: turn 2, #1",
    ]


def test_a_recording_that_is_not_wholly_requested_is_not_clean() -> None:
    report = played("one")

    assert report.clean is False
    assert (report.tolerated, report.extra, report.changed) == ((), (), ())


@pytest.mark.parametrize(("count", "last"), [(8, None), (9, "mapped: 1 more value"), (10, "mapped: 2 more values")])
def test_eight_values_of_this_run_are_listed_and_the_rest_is_counted(count: int, last: str | None) -> None:
    values = tuple(Mapped("UUID", f"recorded-{n}", f"given-{n}") for n in range(count))
    report = Report((), (), (), (), (), None, values)

    lines = [f"mapped: the UUID recorded-{n} is given-{n} in this run" for n in range(8)]
    assert report.mapped_lines() == [*lines, *([last] if last else [])]
    assert str(report).splitlines() == ["0 answers played, all as recorded", *report.mapped_lines()]


def test_an_imported_turn_that_does_not_say_when_it_ended_has_no_order() -> None:
    first, second = (RoundTrip(Request("POST", URL), None, start, ended_at=1, route="import") for start in (1.0, 2.0))
    names = [TurnName(1, 0), TurnName(2, 1)]

    assert len(reordered((1, 0), (first, second), names)) == 1
    for trips in ((replace(first, ended_at=None), second), (first, replace(second, ended_at=None))):
        assert reordered((1, 0), trips, names) == ()
