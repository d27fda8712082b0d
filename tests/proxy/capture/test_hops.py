"""Which ports are those of recorders, and what a header says."""

import socket
import sys

import pytest

from turntape.proxy.capture.hops import Recorders, Sign, header, hops_in, is_recorder


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no such sockets")
def test_a_port_is_a_recorders_for_as_long_as_it_holds_its_sign() -> None:
    port = 1  # which no recorder can have
    first, second = Sign(port), Sign(port)
    assert is_recorder(port) and not is_recorder(2)

    second.close()
    assert is_recorder(port)
    first.close()
    first.close()
    assert not is_recorder(port)


def test_a_port_is_looked_at_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked, recording = [0.0], list[int](), {7}

    def is_recorder(port: int) -> bool:
        asked.append(port)
        return port in recording

    monkeypatch.setattr("turntape.proxy.capture.hops.is_recorder", is_recorder)
    recorders = Recorders(lambda: now[0])
    assert [recorders.have(port) for port in (7, 8, 7, 8)] == [True, False, True, False]
    assert asked == [7, 8]

    now[0], recording = 0.05, {8}
    assert [recorders.have(port) for port in (7, 8)] == [False, True]


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no such sockets")
def test_where_signs_are_files_that_of_a_killed_recorder_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    killed = Sign(1)
    assert is_recorder(1)
    monkeypatch.setattr("turntape.proxy.capture.hops.os.unlink", lambda path: None)
    killed.close()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not is_recorder(1)

    again = Sign(1)
    assert is_recorder(1)
    again.close()
    assert not is_recorder(1)


@pytest.mark.parametrize(
    ("value", "hops"),
    [("", ()), ("8484", (8484,)), ("1, 2 ,x, -3,²,4", (1, 2, 4)), ("7," * 300, (7,) * 100), ("9" * 5000 + ",5", (5,))],
)
def test_only_numbers_count(value: str, hops: tuple[int, ...]) -> None:
    assert hops_in(value) == hops


def test_a_header_grows_by_the_recorder_that_sends_it() -> None:
    assert hops_in(header((1, 2), 3)) == (1, 2, 3)
