"""The MCP server as a child process on POSIX: in our process group, ended by the kernel when we are killed."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import NamedTuple

from ..exit_codes import NOT_EXECUTABLE, NOT_FOUND
from ..signals import RESTORED

_PR_SET_PDEATHSIG = 1
"""prctl(2)."""


class StartError(Exception):
    """The server cannot be started; `code` is what a shell would exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Inherited(NamedTuple):
    """What our client has set for signals, before we changed it; the server gets the same."""

    mask: Iterable[int]
    children: Callable[[int, FrameType | None], object] | int | None
    """The handler of SIGCHLD. Where it is ignored, the kernel forgets how the server ended."""


class PosixServer(NamedTuple):
    """A running server and our ends of its three streams."""

    pid: int
    stdin: int
    stdout: int
    stderr: int


def start(command: Sequence[str], inherited: Inherited) -> PosixServer:
    """Start `command` with pipes for its streams, and with what was `inherited`. Raises `StartError`.

    SIGCHLD must not be ignored in this process. Call it from the main thread and before any other thread exists: the
    kernel ends the server when the thread that started it ends.
    """
    environ = _environ()
    bind = _bind_to_parent()
    pipes = [os.pipe() for _ in range(4)]
    (their_stdin, our_stdin), (our_stdout, their_stdout), (our_stderr, their_stderr), (problem, report) = pipes
    pid = os.fork()
    if not pid:
        try:
            for number, end in enumerate((their_stdin, their_stdout, their_stderr)):
                os.dup2(end, number)
            for number in RESTORED:
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, inherited.children)
            bind()
            signal.pthread_sigmask(signal.SIG_SETMASK, inherited.mask)
            os.execvpe(command[0], list(command), environ)
        except OSError as exc:
            os.write(report, str(exc.errno).encode())
        finally:
            os._exit(NOT_FOUND)
    for end in (their_stdin, their_stdout, their_stderr, report):
        os.close(end)
    refused = os.read(problem, 16)  # ends when the server is being executed
    os.close(problem)
    if refused:
        os.waitpid(pid, 0)
        for end in (our_stdin, our_stdout, our_stderr):
            os.close(end)
        raise _start_error(command[0], int(refused))
    os.set_blocking(our_stdin, False)
    return PosixServer(pid, our_stdin, our_stdout, our_stderr)


def _start_error(name: str, number: int) -> StartError:
    import errno

    if number in (errno.ENOENT, errno.ENOTDIR):
        return StartError(f"the server {name!r} was not found; check its name and PATH", NOT_FOUND)
    return StartError(f"the server {name!r} cannot be started: {os.strerror(number)}", NOT_EXECUTABLE)


def _bind_to_parent() -> Callable[[], None]:
    """What a child calls so that it is killed when we end; on Linux only.

    A server that ignores the end of its stdin would outlive its client when the client kills us.
    """
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def bind() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it was killed before the call
            os._exit(NOT_FOUND)

    return bind


def _environ() -> dict[str, str]:
    """Our environment as we got it: Python sets LC_CTYPE at its start when the locale is C (PEP 538)."""
    environ = dict(os.environ)
    if environ.get("LC_CTYPE") == "C.UTF-8":
        try:
            with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib takes time to import
                given = file.read().split(b"\0")
        except OSError:
            return environ
        if not any(one.startswith(b"LC_CTYPE=") for one in given):
            del environ["LC_CTYPE"]
    return environ


def descendants(pid: int) -> dict[int, bytes]:
    """The processes below `pid`, with the time at which each began (a pid may be used again). Linux only, else none."""
    began: dict[int, bytes] = {}
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return {}
    for name in names:
        if name.isdigit() and (fields := _stat(int(name))):
            parents[int(name)], began[int(name)] = int(fields[1]), fields[19]
    found: dict[int, bytes] = {}
    level = {pid}
    while level:
        level = {one for one, parent in parents.items() if parent in level and one not in found}
        found.update((one, began[one]) for one in level)
    return found


def kill(processes: dict[int, bytes]) -> None:
    """SIGKILL for those of `processes` that still run."""
    for pid, began in processes.items():
        fields = _stat(pid)
        if fields and fields[19] == began:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue  # it has just ended, or belongs to another user


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat after the name: state, parent, …, the twentieth is the start time."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return []
    return text[text.rindex(b")") + 2 :].split()
