"""The wrapper's end of the link: what does not fit is counted, and nothing waits."""

import json
import socket
from collections.abc import Iterator

import pytest

from turntape.proxy.tool_wire import frames
from turntape.proxy.tool_wire.link import Link, to_stderr


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    for one in (ours, theirs):
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with ours, theirs:
        yield ours, theirs


def drained(theirs: socket.socket, link: Link) -> list[frames.Frame]:
    """All that the recorder gets when it reads again."""
    decoder = frames.Decoder()
    found: list[frames.Frame] = []
    while True:
        try:
            found += decoder.feed(theirs.recv(1 << 16))
        except BlockingIOError:
            if not link.waiting:
                return found
        link.flush()


def test_frames_arrive_in_order(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    link = Link(ours)
    for number in range(200):
        link.put(frames.CLIENT, float(number), b"x" * 100)

    assert [frame.at for frame in drained(theirs, link)] == list(map(float, range(200)))


def test_what_finds_no_room_is_counted_and_reported_in_its_place(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    link = Link(ours, waiting_bytes=20_000)
    for number in range(100):
        link.put(frames.CLIENT if number % 2 else frames.SERVER, float(number), b"x" * 1000)
    kept = drained(theirs, link)
    assert link.lost == 100_000 - 1000 * len(kept) > 0

    link.put(frames.CLIENT, 100.0, b"again")
    later = drained(theirs, link)

    missing = [json.loads(frame.data) for frame in later if frame.kind == frames.LOST]
    assert sum(one["bytes"] for one in missing) == link.lost
    assert {one["of"] for one in missing} == {frames.CLIENT, frames.SERVER}
    assert later[-1] == frames.Frame(frames.CLIENT, 100.0, b"again")


def test_the_last_frame_is_never_left_out(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    link = Link(ours, waiting_bytes=5000)
    for _ in range(50):
        link.put(frames.STDERR, 1.0, b"x" * 1000)
    link.put(frames.END, 2.0, b"{}")

    *_, lost, end = drained(theirs, link)
    assert (lost.kind, end.kind) == (frames.LOST, frames.END)


def test_a_piece_that_is_larger_than_the_room_goes_when_nothing_else_waits(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = sockets
    link = Link(ours, waiting_bytes=10)
    link.put(frames.CLIENT, 1.0, b"x" * 100)

    assert [len(frame.data) for frame in drained(theirs, link)] == [100]
    assert link.lost == 0


def test_a_recorder_that_is_gone_takes_nothing_and_raises_nothing(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    link = Link(ours)
    theirs.close()
    for _ in range(3):
        link.put(frames.CLIENT, 1.0, b"x")
    link.half_close()

    assert (link.ended, link.descriptor, link.waiting) == (True, None, 0)


def test_the_end_of_the_recorder_is_noticed_while_reading(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = sockets
    link = Link(ours)
    link.receive()
    assert not link.ended
    theirs.send(frames.encode(frames.SAY, 1.0, b"the disk is full"))
    theirs.close()

    link.receive()
    link.receive()

    assert (link.said, link.ended) == (["the disk is full"], True)


def test_a_fault_of_ours_ends_the_recording_and_not_the_traffic(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("turntape.proxy.tool_wire.link.encode", broken)
    link = Link(sockets[0])
    link.put(frames.CLIENT, 1.0, b"x")
    link.put(frames.CLIENT, 1.0, b"x")

    assert link.ended
    assert link.said == ["internal error, ZeroDivisionError: oh; nothing more of this server is recorded"]


def test_the_recorder_sees_the_end_of_the_frames_and_may_still_say_something(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = sockets
    link = Link(ours)
    link.half_close()

    assert theirs.recv(1) == b""
    theirs.send(frames.encode(frames.END, 1.0, b"no sentence") + frames.encode(frames.SAY, 1.0, b"done"))
    link.receive()
    assert link.said == ["done"]
    link.close()
    with pytest.raises(BrokenPipeError):
        theirs.send(b"x")


def test_frames_wait_up_to_the_limit_and_not_beyond(sockets: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = sockets
    while True:  # fill the socket, so that frames wait
        try:
            ours.send(b"x" * 1000)
        except BlockingIOError:
            break
    link = Link(ours, waiting_bytes=1000 + frames.HEAD.size)
    link.put(frames.CLIENT, 1.0, b"x" * 500)
    link.put(frames.CLIENT, 1.0, b"x" * (500 - frames.HEAD.size))
    assert link.lost == 0
    link.put(frames.CLIENT, 1.0, b"x")
    link.put(frames.CLIENT, 1.0, b"x" * 100)
    assert link.lost == 101


def test_our_sentence_is_one_line_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    to_stderr("the recorder has ended")

    assert capfd.readouterr().err == "turntape: the recorder has ended\n"


def test_without_a_socket_nothing_happens() -> None:
    link = Link(None)
    link.put(frames.CLIENT, 1.0, b"x")
    link.flush()
    link.receive()

    assert (link.descriptor, link.waiting, link.lost) == (None, 0, 0)
