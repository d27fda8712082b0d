"""The command does not notice that it has a parent: exit code, signals, terminal."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = """
import os, sys
from turntape.proxy.launch.child_process import SpawnError, spawn
from turntape.proxy.signals import block, listen
block()
children = []
listen(lambda number, group: [child.pass_on(number, group) for child in children])
try:
    children.append(spawn(sys.argv[1:], os.environ))
except SpawnError as exc:
    print(exc)
    sys.exit(exc.code)
sys.exit(children[0].wait())
"""
COUNTER = """
import signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGUSR1):
    signal.signal(number, lambda n, _: print("caught", int(n), flush=True))
signal.signal(signal.SIGQUIT, lambda *_: (print("quit", flush=True), sys.exit(5)))
print("ready", flush=True)
while True:
    signal.pause()
"""


def driven(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DRIVER, *command], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137), ("kill -TERM $$", 143)],
)
def test_the_exit_code_is_the_commands(script: str, code: int) -> None:
    assert driven("sh", "-c", script).returncode == code


def test_a_command_that_is_not_there_is_127_in_one_sentence() -> None:
    done = driven("no-such-command-anywhere")

    assert done.returncode == 127
    assert done.stdout.count("\n") == 1
    assert "'no-such-command-anywhere' was not found" in done.stdout


def test_a_file_that_is_not_a_program_is_126(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no program")

    assert driven(str(file)).returncode == 126


def test_stdin_is_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, "cat"], input="hello", capture_output=True, text=True, check=False
    )

    assert done.stdout == "hello"


def test_the_command_starts_with_nothing_blocked_or_ignored() -> None:
    """A child that inherited our mask could not be stopped by Ctrl-C."""
    done = driven("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")

    # Signals 32 and 33 are the C library's own, which posix_spawn leaves ignored.
    numbers = [int(line.split()[1], 16) & ~(0b11 << 31) for line in done.stdout.splitlines()]
    assert numbers == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGWINCH])
def test_a_signal_to_us_alone_is_passed_on(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, sys.executable, "-c", COUNTER], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"

        process.send_signal(number)
        first = process.stdout.readline()
        process.send_signal(signal.SIGQUIT)
        rest = process.stdout.read()

    assert first == f"caught {int(number)}\n"
    assert rest == "quit\n"
    assert process.returncode == 5


def test_ctrl_c_in_the_terminal_reaches_the_command_once() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", DRIVER, sys.executable, "-c", COUNTER])
    shown = b""

    def until(word: bytes) -> None:
        nonlocal shown
        while word not in shown:
            shown += os.read(terminal, 1024)

    until(b"ready")
    os.write(terminal, b"\x03")
    until(b"caught 2\r\n")
    os.kill(pid, signal.SIGUSR1)
    until(b"caught 10\r\n")
    os.write(terminal, b"\x1c")
    until(b"quit\r\n")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)

    assert shown.count(b"caught 2\r\n") == 1
    assert os.waitstatus_to_exitcode(status) == 5


def test_the_exit_code_is_kept_where_our_parent_ignores_the_ends_of_children() -> None:
    """As some supervisors do: the kernel then keeps no exit code, unless we ask for it."""
    driver = [sys.executable, "-c", DRIVER, "sh", "-c", "exit 7"]
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", ignoring, *driver], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (7, "")
