"""A recording that lacks round trips: what two requests show of the client is then no proof."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import Labeller, label_all
from turntape.inspector.run.recorded_numbers import RecordedNumbers

OTHER = ("call_2", "look_up", '{"word":"reel"}')
FIRST, SECOND = [HELLO, said(None, CALL), result("call_1", "a strip")], [said(None, OTHER), result("call_2", "a wheel")]
RUN = [
    chat([HELLO], said(None, CALL)),
    chat(FIRST, said(None, OTHER), index=1),
    chat([*FIRST, *SECOND], said("done"), index=2),
]
FORGED = "client-forged-answer"


def found(run: list[RoundTrip], name: str = FORGED) -> list[tuple[str, str, str]]:
    labels: list[Any] = [done.label for done in label_all(run)]
    mine = [one for label in labels for one in label["findings"] if one["id"] == name]
    return [(one["severity"], one["tier"], one["message"]) for one in mine]


def test_a_call_of_a_turn_that_is_not_in_the_recording_is_an_info() -> None:
    said_so = "the history contains a call of 'look_up' (call_2) as the model's own, but no answer contains it"

    assert found(RUN) == []
    assert found([RUN[0], RUN[2]]) == [("info", "S", f"{said_so}; the recording lacks #1")]
    # Numbered without a gap by the recorder, nothing is missing: then the client wrote the call.
    whole = [RUN[0], replace(RUN[2], index=1)]
    assert found(whole) == [("warning", "S", said_so)]
    assert found([replace(trip, route="import") for trip in whole]) == [("info", "S", said_so)]


def test_a_gap_before_or_after_the_two_turns_changes_nothing() -> None:
    later = [replace(trip, index=trip.index + 5) for trip in (RUN[0], replace(RUN[2], index=1))]
    far = chat([{"role": "user", "content": "something else"}], said("yes"), index=9)

    assert [severity for severity, *_ in found([*later, far])] == ["warning"]


def test_another_order_than_that_of_the_numbers_proves_nothing_either() -> None:
    assert {severity for severity, *_ in found([RUN[0], RUN[2], RUN[1]])} <= {"info"}


def test_a_call_without_a_result_that_the_api_rejects_stays_an_error() -> None:
    """The API says so, whatever the recording lacks."""
    body = {"error": {"message": "No tool output found for function call call_1.", "type": "invalid_request_error"}}
    refused = chat(
        [HELLO, said(None, CALL), {"role": "user", "content": "?"}], said(""), index=2, status=400, error=body
    )

    missing = found([RUN[0], refused], "client-missing-tool-result")
    assert [severity for severity, *_ in missing] == ["error"]


@pytest.mark.parametrize("run", [RUN, [RUN[0], RUN[2]], RUN[1:]], ids=["whole", "middle", "start"])
def test_live_labels_are_those_of_the_file(run: list[RoundTrip]) -> None:
    labeller, live = Labeller(), dict[int, Any]()
    for trip in run:
        live |= dict(labeller.add(trip))
    live |= dict(labeller.close())

    assert live == {done.round_trip.index: done.label for done in label_all(run)}


def test_numbers_that_were_not_seen_break_what_they_lie_between() -> None:
    numbers = RecordedNumbers()
    for number in (3, 4, 7, 8, 10):
        numbers.add(number)

    assert numbers.broken(3, 4) is None
    assert numbers.broken(4, 7) == numbers.broken(3, 8) == "the recording lacks #5"
    assert numbers.broken(7, 8) is None
    assert numbers.broken(8, 10) == numbers.broken(7, 10) == "the recording lacks #9"
    assert numbers.broken(8, 7) == "#8 is recorded before #7"


def test_numbers_without_a_gap_break_nothing_in_whatever_order_they_came() -> None:
    def seen(*given: int) -> RecordedNumbers:
        numbers = RecordedNumbers()
        for number in given:
            numbers.add(number)
        return numbers

    assert seen(0, 1, 2, 3).broken(0, 3) is None
    assert seen(5).broken(5, 5) is None, "two turns of one session"
    assert seen(0, 2, 1).broken(0, 1) is None
    assert seen(0, 2, 1, 3).broken(1, 3) is None
    assert seen(0, 4, 2).broken(2, 4) == "the recording lacks #3"
