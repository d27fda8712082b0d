"""What a worker hands over: without secrets, in order, with every chunk."""

from dataclasses import replace
from multiprocessing import Pipe

import pytest
from factories import round_trip

from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import Chunk, Response
from turntape.proxy.workers.messages import Ended, Failed, Line, SessionOver, unpacked
from turntape.proxy.workers.sender import Sender

KEY = b"sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"


@pytest.mark.parametrize(
    "response",
    [None, Response(200), Response(200, content=b"abc", chunks=(Chunk(1, 7), Chunk(2, -1)))],
    ids=["none", "whole", "chunks"],
)
def test_a_round_trip_arrives_as_it_was_but_for_its_secrets(response: Response | None) -> None:
    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(salt="00" * 16))
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
    sender = Sender(theirs, Redactor())
    sender.line(lambda _: b'{"running":"abc","opened":{}}\n', 10)
    sender.session("abc", list)
    sender.session("abc", None)
    sender.close()

    assert [ours.recv(), ours.recv()] == [Line("abc", b'{"running":"abc","opened":{}}\n'), SessionOver("abc")]
    ours.close()
    theirs.close()


def test_when_nobody_reads_any_more_nothing_waits() -> None:
    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor(), most=10)
    ours.close()
    for _ in range(3):
        sender.write(round_trip(b"{}"))
    sender.close()
    theirs.close()

    assert sender.given == 3


def test_a_fault_of_ours_costs_one_round_trip_and_not_those_behind_it() -> None:
    def fails(text: str) -> str:
        raise ValueError("no such text")

    ours, theirs = Pipe()
    sender = Sender(theirs, Redactor())
    sender.send(lambda: SessionOver(fails("a")), round_trips=1)
    sender.session("b", None)
    sender.close()

    assert [ours.recv(), ours.recv()] == [Failed("no such text", 1), SessionOver("b")]
    ours.close()
    theirs.close()
