"""What is not a file is refused at once, by all that read recordings."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from turntape.cassettes import Cassette, CassetteError, Recorder
from turntape.cassettes.redaction.scrub import scrub
from turntape.cassettes.replay.session import Session
from turntape.cassettes.tape.reader import Tail
from turntape.inspector.fleet.shipping.recording import Recording
from turntape.inspector.tools.spans import spans_in

READERS: dict[str, Callable[[Path], object]] = {
    "load": Cassette.load,
    "load with a limit": lambda path: Cassette.load(path, longest=1000),
    "follow": lambda path: Tail(path).poll(),
    "append": lambda path: Recorder(path, append=True),
    "scrub": lambda path: scrub(path, path),
    "replay": lambda path: Session(path, "none"),
    "record": lambda path: Session(path, "new"),
    "ship": Recording.read,
    "spans": lambda path: spans_in(path) or Cassette.load(path),
}


def said_by(read: Callable[[Path], object], path: Path) -> str:
    """The error of a reader. One that waits for the pipe is left waiting, and fails the test."""
    said: list[str] = []

    def reading() -> None:
        try:
            read(path)
        except CassetteError as exc:
            said.append(str(exc))

    thread = Thread(target=reading, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "it waits"
    return said[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused_by_its_name_without_waiting(reader: str, tmp_path: Path) -> None:
    pipe = tmp_path / "a.cassette.jsonl"
    os.mkfifo(pipe)

    assert said_by(READERS[reader], pipe).startswith(f"{str(pipe)!r} is a pipe")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no such device")
def test_a_device_and_a_socket_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a")
        for path in (Path("/dev/zero"), Path("a")):
            assert said_by(Cassette.load, path) == f"{str(path)!r} is a pipe or a device; save it in a file first"


def test_a_folder_and_the_null_device_have_their_own_sentences(tmp_path: Path) -> None:
    assert "Is a directory" in said_by(Cassette.load, tmp_path) or os.name == "nt"
    assert said_by(Cassette.load, Path(os.devnull)).endswith("is empty: it holds no recording; record again")
