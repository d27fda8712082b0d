"""What a worker hands over: without secrets, in order, with every chunk."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import Pipe

import pytest
from factories import round_trip
from waiting import eventually

from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import Chunk, Response
from turntape.proxy.workers.messages import Ended, Failed, Line, SessionOver, unpacked
from turntape.proxy.workers.sender import Sender

WRITTEN = 1000
"""More than any test hands in."""
KEY = b"sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"


@pytest.mark.parametrize(
    "response",
    [None, Response(200), Response(200, content=b"abc", chunks=(Chunk(1, 7), Chunk(2, -1)))],
    ids=["none", "whole", "chunks"],
)
def test_a_round_trip_arrives_as_it_was_but_for_its_secrets(response: Response | None) -> None:
    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(salt="00" * 16), lambda: WRITTEN)
    trip = replace(round_trip(b'{"key":"%s"}' % KEY), response=response)
    assert [sender.write(trip), sender.write(trip)] == [0, 1]
    sender.close()

    first, second = ours.recv(), ours.recv()

    assert isinstance(first, Ended) and isinstance(second, Ended)
    assert unpacked(first) == unpacked(second) == Redactor(salt="00" * 16).round_trip(trip)
    assert KEY not in unpacked(first).request.body
    ours.close()
    theirs.close()


def test_the_lines_of_a_session_come_with_its_name_and_then_its_end() -> None:
    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(), lambda: WRITTEN)
    sender.line(lambda _: b'{"running":"abc","opened":{}}\n', 10)
    sender.session("abc", list)
    sender.session("abc", None)
    sender.close()

    assert [ours.recv(), ours.recv()] == [Line("abc", b'{"running":"abc","opened":{}}\n'), SessionOver("abc")]
    ours.close()
    theirs.close()


def test_when_nobody_reads_any_more_nothing_waits() -> None:
    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(), lambda: 0, most=10)
    ours.close()
    for _ in range(3):
        sender.write(round_trip(b"{}"))
    missing = sender.close()
    theirs.close()

    assert sender.given == 3 == len(missing) and sender.is_alone


def test_a_round_trip_is_kept_until_it_is_in_the_file() -> None:
    ours, theirs = Pipe()
    written = 0
    sender = Sender(theirs, Redactor(), lambda: written)
    trips = [round_trip(b'{"number":%d}' % number) for number in range(3)]
    for trip in trips:
        sender.write(trip)
        ours.recv()
    written = 1
    eventually(lambda: sender.waiting < 2500)
    sender.leave_alone()

    assert [trip.request.body for trip in sender.close()] == [trip.request.body for trip in trips[1:]]
    ours.close()
    theirs.close()


def test_the_end_waits_for_the_process_that_writes() -> None:
    ours, theirs = Pipe()
    written = 0
    sender = Sender(theirs, Redactor(), lambda: written)
    sender.write(round_trip(b"{}"))
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(sender.close)
        with pytest.raises(TimeoutError):
            closing.result(0.2)
        written = 1

        assert closing.result(60) == [] and not sender.is_alone
    ours.close()
    theirs.close()


def test_a_fault_of_ours_costs_one_round_trip_and_not_those_behind_it() -> None:
    def fails(text: str) -> str:
        raise ValueError("no such text")

    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(), lambda: WRITTEN)
    sender.send(lambda: SessionOver(fails("a")), round_trips=1)
    sender.session("b", None)
    sender.close()

    assert [ours.recv(), ours.recv()] == [Failed("no such text", 1), SessionOver("b")]
    ours.close()
    theirs.close()
