"""Recorded tool servers behind a socket: one connection is one process of a server."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from turntape.cassettes import CassetteError, Request, Response, RoundTrip
from turntape.cassettes.replay.tools.player import ToolPlayer
from turntape.cassettes.server import tool_link as module
from turntape.cassettes.server.tool_link import talk, tool_link
from turntape.cassettes.tape.model import Failure, ToolServer, ToolWire

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs unix sockets")


def called(number: int, name: str, answer: str | None) -> RoundTrip:
    asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}
    said = Response(0, content=orjson.dumps({"jsonrpc": "2.0", "id": number, "result": answer})) if answer else None
    return RoundTrip(
        Request("STDIO", "stdio://files", content=orjson.dumps(asked)),
        said,
        100.0 + number,
        failure=None if answer else Failure("cut", "it ended"),
        tool_wire=ToolWire("s", "files", "client", 2 * number, 2 * number + 1 if answer else None),
    )


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    path = str(tmp_path / "tools")
    with tool_link(ToolPlayer([called(1, "a", "A"), called(2, "b", "B"), called(3, "c", None)]), path):
        yield path


def frames(link: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    """What comes back: the kind of each frame and its data, to the end."""
    with link.makefile("rb") as stream:
        while head := stream.read(5):
            yield head[:1], stream.read(int.from_bytes(head[1:]))


def answers(link: socket.socket) -> Iterator[Any]:
    """The results on stdout."""
    return (orjson.loads(data)["result"] for kind, data in frames(link) if kind == b"o")


def connected(address: str, hello: bytes = b'{"server": "files"}\n') -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(20)
    made.connect(address)
    made.sendall(hello)
    return made


def asked(name: str) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": name}}) + b"\r\n"


def test_a_line_is_answered_by_a_line(address: str) -> None:
    with connected(address) as link:
        link.sendall(asked("b") + asked("a"))
        link.shutdown(socket.SHUT_WR)
        assert list(answers(link)) == ["B", "A"]


def test_who_closes_its_end_still_gets_an_answer_that_takes_time(tmp_path: Path) -> None:
    asked = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    said = Response(0, content=orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": "late"}))
    wire = ToolWire("s", "files", "client", 0, 1)
    slow = RoundTrip(Request("STDIO", "stdio://files", content=asked), said, 100.0, ended_at=50_000, tool_wire=wire)
    path = str(tmp_path / "tools")
    with tool_link(ToolPlayer([slow]), path), connected(path) as link:
        link.sendall(asked + b"\n")
        link.shutdown(socket.SHUT_WR)

        assert list(answers(link)) == ["late"]


def test_the_working_directory_of_the_wrapper_is_that_of_the_recording(tmp_path: Path) -> None:
    path = str(tmp_path / "tools")
    player = ToolPlayer(
        [called(1, "a", "in /home/ana/proj/x")], servers=[ToolServer("-", "files", cwd="/home/ana/proj")]
    )
    with tool_link(player, path), connected(path, b'{"server": "files", "cwd": "/srv/ci/job"}\n') as link:
        link.sendall(asked("a"))

        assert next(answers(link)) == "in /srv/ci/job/x"


def test_the_connection_ends_where_the_recorded_server_ended(address: str) -> None:
    with connected(address) as link:
        link.sendall(asked("c"))
        assert link.recv(100) == b""


def test_the_end_of_a_server_is_that_of_the_recording(tmp_path: Path) -> None:
    path = str(tmp_path / "tools")
    early, late = (0, b"ready\n"), (60_000_000, b"bye\n")
    server = ToolServer("s", "files", started_at=100.0, ended_at=161.0, exit=3, stderr=(early, late))
    with tool_link(ToolPlayer([called(1, "a", "A")], servers=[server]), path), connected(path) as link:
        link.sendall(asked("a"))
        link.shutdown(socket.SHUT_WR)

        said = list(frames(link))

    assert [(kind, data) for kind, data in said if kind != b"o"] == [
        (b"e", b"ready\n"),
        (b"e", b"bye\n"),
        (b"x", b'{"exit":3,"signal":null}'),
    ]


@pytest.mark.parametrize("hello", [b"", b"nonsense\n", b"[]\n", b"{}\n"])
def test_who_does_not_name_a_server_is_hung_up(address: str, hello: bytes) -> None:
    with connected(address, hello) as link:
        if not hello:
            link.shutdown(socket.SHUT_WR)
        assert link.recv(100) == b""


def test_a_socket_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(CassetteError, match=r"cannot listen on '.*missing/tools': "),
        tool_link(ToolPlayer([]), str(tmp_path / "missing" / "tools")),
    ):
        pass


def test_the_socket_is_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "tools"

    with tool_link(ToolPlayer([called(1, "a", "A")]), str(path)):
        open_until_the_end = connected(str(path))
        open_until_the_end.sendall(asked("a"))
        assert b'"A"' in open_until_the_end.recv(100)

    assert not path.exists()
    assert open_until_the_end.recv(100) == b""
    open_until_the_end.close()


def test_a_line_may_be_long() -> None:
    async def lines() -> bytes:
        server, client = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=server, limit=module.LINE_BYTES)
        serving = asyncio.ensure_future(talk(ToolPlayer([called(1, "a", "A" * (1 << 20))]), reader, writer))
        our_reader, our_writer = await asyncio.open_unix_connection(sock=client, limit=module.LINE_BYTES)
        our_writer.write(b'{"server": "files"}\n' + asked("a"))
        head = await our_reader.readexactly(5)
        line = await our_reader.readexactly(int.from_bytes(head[1:]))
        our_writer.close()
        await serving
        return line

    assert len(asyncio.run(lines())) > 1 << 20
