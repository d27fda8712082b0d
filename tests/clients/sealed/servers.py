"""The tool servers of the sealed run, as data: what to install, how to start them, and what the model calls."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from turntape.proxy.scripted.story import Call, Step, Story

from ..environments import HERE, Runtime, Unavailable, built
from ..tool_results.catalogue import Configured, Transport

PATIENCE = 30.0
"""Seconds that a server over HTTP may take to open its port."""
_NPM = ("@modelcontextprotocol/server-everything@latest", "@modelcontextprotocol/server-filesystem@latest")
_SHOP = "shop_mcp.py"


@dataclass(frozen=True, slots=True)
class SealedServer:
    """A tool server, and the story in which it is used."""

    name: str
    packages: tuple[str, ...]
    script: str
    """Only its suffix counts."""
    command: Callable[[Path, Path], tuple[str, ...]]
    """Its command over stdio, from the folder of its programs and the client's home."""
    over_http: Callable[[Path, Path, int], tuple[str, ...]]
    """Its command on a port of the loopback interface."""
    story: Callable[[Path], Story]
    """What the model says, from the client's home."""
    path: str = "/mcp"
    note: str = ""

    def prepare(self, home: Path) -> None:
        """The files that its tools work on."""
        files = home / "files"
        files.mkdir()
        (files / "notes.txt").write_text("buy apples\nbuy pears\n")
        (files / "long.txt").write_text("".join(f"line {number:05} of a long file\n" for number in range(4000)))

    def runtime(self) -> Runtime:
        """Its programs. Raises `Unavailable`."""
        return built(self.script, self.packages)


def _bin(name: str) -> Callable[[Path, Path], tuple[str, ...]]:
    return lambda programs, _home: (str(programs / "node_modules" / ".bin" / name),)


def _python(programs: Path, *words: str) -> tuple[str, ...]:
    return (str(programs / "bin" / "python"), str(programs / _SHOP), *words)


def _everything(_home: Path) -> Story:
    return (
        Step("I start.", (Call("echo", {"message": "h\u00e9llo"}), Call("get-sum", {"a": 1, "b": 2.0}))),
        Step(calls=(Call("get-structured-content", {"location": "New York"}),)),
        Step(calls=(Call("get-tiny-image", {}), Call("get-annotated-message", {"messageType": "error"}))),
        Step(calls=(Call("trigger-long-running-operation", {"duration": 1, "steps": 3}),)),
        Step(calls=(Call("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),)),
        Step(calls=(Call("echo", {"message": "again"}), Call("echo", {"message": "again"}))),
        Step("done"),
    )


def _filesystem(home: Path) -> Story:
    files = home / "files"
    return (
        Step("I look around.", (Call("list_directory", {"path": str(files)}),)),
        Step(calls=(Call("read_text_file", {"path": str(files / "notes.txt")}),)),
        Step(calls=(Call("write_file", {"path": str(files / "new.txt"), "content": "one\ntwo\n"}),)),
        Step(calls=(Call("read_text_file", {"path": str(files / "new.txt")}),)),
        Step(calls=(Call("read_text_file", {"path": str(files / "missing.txt")}),)),
        Step(calls=(Call("read_text_file", {"path": str(files / "long.txt")}),)),
        Step(calls=(Call("search_files", {"path": str(files), "pattern": "**/*.txt"}),)),
        Step("done"),
    )


def _shop(_home: Path) -> Story:
    return (
        Step(calls=(Call("stock_of", {"fruit": "apples"}), Call("stock_of", {"fruit": "pears"}))),
        Step(calls=(Call("order", {"fruit": "pears", "count": 2}),)),
        Step(calls=(Call("stock_of", {"fruit": "pears"}),)),
        Step(calls=(Call("stock_of", {"fruit": "plums"}),)),
        Step(calls=(Call("deliver", {"fruit": "pears"}),)),
        Step(calls=(Call("price_list", {}),)),
        Step("done"),
    )


SERVERS = (
    SealedServer(
        "everything",
        _NPM,
        "x.mjs",
        _bin("mcp-server-everything"),
        lambda programs, home, _port: (*_bin("mcp-server-everything")(programs, home), "streamableHttp"),
        _everything,
    ),
    SealedServer(
        "filesystem",
        _NPM,
        "x.mjs",
        lambda programs, home: (*_bin("mcp-server-filesystem")(programs, home), str(home / "files")),
        lambda programs, home, port: (
            *_python(programs.with_name("bridge"), "bridge", str(port)),
            *_bin("mcp-server-filesystem")(programs, home),
            str(home / "files"),
        ),
        _filesystem,
        note="The server speaks stdio only; over HTTP, a server made with fastmcp passes the calls on to it.",
    ),
    SealedServer(
        "shop",
        ("fastmcp",),
        "x.py",
        lambda programs, _home: _python(programs),
        lambda programs, _home, port: _python(programs, "http", str(port)),
        _shop,
        note="A server of ours, made with fastmcp (`tests/clients/python/shop_mcp.py`).",
    ),
)


class Programs:
    """The programs of a server in a separate folder, which `remove` takes away."""

    def __init__(self, server: SealedServer, folder: Path) -> None:
        self.folder = folder / "programs"
        self.folder.mkdir()
        self._server = server
        self.own = self._linked("own", server.runtime())
        if server.note and server.script.endswith(".mjs"):
            self._linked("bridge", built("x.py", ("fastmcp",)))

    def _linked(self, name: str, runtime: Runtime) -> Path:
        """A folder with what the environment has, and with the script."""
        assert runtime.folder is not None
        place = self.folder / name
        place.mkdir()
        for entry in runtime.folder.iterdir():
            (place / entry.name).symlink_to(entry)
        (place / _SHOP).write_bytes((HERE / "python" / _SHOP).read_bytes())
        return place

    def remove(self) -> None:
        """Take them away."""
        for place in self.folder.iterdir():
            for entry in place.iterdir():
                entry.unlink()
            place.rmdir()
        self.folder.rmdir()

    @contextlib.contextmanager
    def serving(self, home: Path, transport: Transport) -> Iterator[Configured]:
        """How a client is configured with the server, which runs meanwhile when it is reached over HTTP."""
        command = self._server.command(self.own, home)
        if transport == "stdio":
            yield Configured(self._server.name, command)
            return
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        words = self._server.over_http(self.own, home, port)
        log = (self.folder.parent / "server.log").open("wb")
        process = subprocess.Popen(
            words,
            cwd=home,
            env={**os.environ, "PORT": str(port)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _opened(process, port)
            yield Configured(self._server.name, command, f"http://127.0.0.1:{port}{self._server.path}")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.close()


def _opened(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise Unavailable(f"the server {process.args!r} did not open its port")
