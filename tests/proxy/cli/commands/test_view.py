"""`turntape view` and `turntape run --view` in a real pseudo-terminal: they open, they leave, nothing stays broken."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conversations import HELLO, chat, said
from viewing import EXAMPLE

from turntape.cassettes import Recorder
from turntape.inspector.views.tui.theme import PALETTES
from turntape.proxy.cli import main
from turntape.proxy.cli.commands.view import THEMES

LEFT = b"\x1b[?1049l"
"""What gives the terminal its old screen back."""
PATIENCE = 60


class Terminal:
    """A program in a terminal of 100 by 30."""

    def __init__(self, arguments: list[str], folder: Path, environ: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._slave = slave
        self.before = termios.tcgetattr(slave)
        self.shown = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.cli", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "TURNTAPE_HOME": str(folder / "home"), **environ},
            start_new_session=True,
        )

    def until(self, done: Callable[[bytes], bool]) -> bytes:
        """Read until `done` with what was shown."""
        end = time.monotonic() + PATIENCE
        while not done(self.shown):
            if time.monotonic() > end:
                raise AssertionError(f"nothing came: {self.shown[-600:]!r}")
            self._read(0.01)
        return self.shown

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def left(self) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.1)
        self._read(0.2)
        return self.process.wait(1)

    @property
    def is_raw(self) -> bool:
        """Whether the program has begun to read single keys."""
        return not termios.tcgetattr(self._slave)[3] & termios.ICANON

    @property
    def restored(self) -> bool:
        """Whether the terminal has its old settings and its old screen."""
        return termios.tcgetattr(self._slave) == self.before and LEFT in self.shown

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            self.shown += os.read(self._master, 65536)
            seconds = 0.0

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)


@contextmanager
def terminal(arguments: list[str], folder: Path, **environ: str) -> Iterator[Terminal]:
    opened = Terminal(arguments, folder, environ)
    try:
        yield opened
    finally:
        opened.close()


def test_q_leaves_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with terminal(["view", str(EXAMPLE)], tmp_path) as shown:
        shown.until(lambda seen: b"new in this request" in seen)
        shown.press("q")

        assert shown.left() == 0
        assert shown.restored


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_gives_the_terminal_back(number: signal.Signals, tmp_path: Path) -> None:
    with terminal(["view", str(EXAMPLE)], tmp_path) as shown:
        shown.until(lambda seen: b"new in this request" in seen)
        shown.process.send_signal(number)

        assert shown.left() == 128 + number
        assert shown.restored


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_while_it_opens_gives_the_terminal_back(number: signal.Signals, tmp_path: Path) -> None:
    with terminal(["view", str(EXAMPLE)], tmp_path) as shown:
        shown.until(lambda _: shown.is_raw)
        shown.process.send_signal(number)

        assert shown.left() == 128 + number
        assert shown.restored


def test_it_ends_with_its_terminal_though_no_signal_comes(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    # In our own session, so that the kernel sends it nothing.
    process = subprocess.Popen(
        [sys.executable, "-m", "turntape.proxy.cli", "view", str(EXAMPLE)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm-256color", "TURNTAPE_HOME": str(tmp_path / "home")},
    )
    try:
        os.close(slave)
        seen = b""
        while b"new in this request" not in seen:
            assert select.select([master], [], [], PATIENCE)[0], seen[-300:]
            seen += os.read(master, 65536)
        os.close(master)

        assert process.wait(PATIENCE) == 128 + signal.SIGHUP
    finally:
        process.kill()


def test_a_run_is_shown_while_it_runs_and_its_output_and_exit_code_are_kept(tmp_path: Path) -> None:
    code = "import sys; print('the agent speaks'); sys.exit(7)"
    command = ["run", "--view", "--out", "run.cassette.jsonl", "--", sys.executable, "-c", code]

    with terminal(command, tmp_path) as shown:
        shown.until(lambda seen: b"has ended" in seen)
        assert b"the agent speaks" not in shown.shown
        shown.press("q")

        assert shown.left() == 7
        assert shown.restored
        assert b"the agent speaks" in shown.shown.rpartition(LEFT)[2]


def test_who_quits_early_sees_what_the_command_still_writes(tmp_path: Path) -> None:
    go = tmp_path / "go"
    wait = f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.05)"
    code = f"import pathlib, time; print('one', flush=True)\n{wait}\nprint('two')"
    command = ["run", "--view", "--out", "run.cassette.jsonl", "--", sys.executable, "-c", code]

    with terminal(command, tmp_path) as shown:
        shown.until(lambda seen: b"nothing recorded yet" in seen)
        shown.press("q")
        shown.until(lambda seen: b"one\r\n" in seen.rpartition(LEFT)[2])
        assert b"still running" in shown.shown
        go.touch()

        assert shown.left() == 0
        assert b"two\r\n" in shown.shown


def test_who_follows_sees_that_the_recording_has_ended_and_what_it_settles(tmp_path: Path) -> None:
    path = tmp_path / "live.cassette.jsonl"
    with Recorder(path) as recorder:
        busy = {"error": {"message": "Rate limit reached, try again in 1s", "type": "rate_limit_error"}}
        recorder.write(chat([HELLO], error=busy, status=429))
        with terminal(["view", "--follow", str(path)], tmp_path) as shown:
            shown.until(lambda seen: b"\xe2\x97\x8f live" in seen and b"Rate limit" in seen)
            shown.press("5")
            assert b"has ended" not in shown.shown and b"client-" not in shown.shown
            recorder.close()
            shown.until(lambda seen: b"the recording has ended" in seen)
            shown.until(lambda seen: b"client-no-retry" in seen)
            shown.press("q")

            assert shown.left() == 0


def test_who_follows_a_file_that_is_removed_sees_that_nothing_more_comes(tmp_path: Path) -> None:
    path = tmp_path / "live.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(chat([HELLO], said("hello there")))
        with terminal(["view", "--follow", str(path)], tmp_path) as shown:
            shown.until(lambda seen: b"\xe2\x97\x8f live" in seen and b"hello there" in seen)
            path.unlink()
            shown.until(lambda seen: b"the recording has ended" in seen)
            shown.press("q")

            assert shown.left() == 0


def test_two_that_need_the_terminal_are_refused_together(tmp_path: Path) -> None:
    with terminal(["run", "--view", "--break-on", "turn=1", "--", sys.executable, "-c", "pass"], tmp_path) as shown:
        assert shown.left() == 2
        assert b"--view and --break-on both need the terminal" in shown.shown
        assert shown.shown.count(b"\n") == 1


def test_a_terminal_that_cannot_be_drawn_on_is_left_alone(tmp_path: Path) -> None:
    with terminal(["view", str(EXAMPLE)], tmp_path, TERM="dumb") as shown:
        assert shown.left() == 2
        assert (
            b"and TERM=dumb says that this one has no cursor; `turntape show" in shown.shown
            and b"\x1b" not in shown.shown
        )


def test_without_a_terminal_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(EXAMPLE)]) == 2
    assert "and the standard input is not a terminal; `turntape show" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot read the cassette"), (b"", "is empty"), (b"hello\n", "turntape cassette")],
)
def test_what_is_not_a_cassette_is_one_line(
    content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)

    assert main(["view", str(path)]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_a_turn_that_is_not_there_names_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(EXAMPLE), "--turn", "99"]) == 2
    assert capsys.readouterr().err == f"turntape: {str(EXAMPLE)!r} has no turn 99; --turn takes 1 to 7\n"


def test_the_command_line_names_the_themes_that_there_are() -> None:
    assert tuple(PALETTES) == THEMES
