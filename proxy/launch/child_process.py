"""A command as a child process that keeps its terminal, its signals and its exit code.

The child stays in our process group, so it is in the terminal's foreground whenever we are, also inside a shell
pipeline, and job control works. What the terminal sends (Ctrl-C, Ctrl-\\, Ctrl-Z, a resize) then reaches the whole
group; what somebody sends to our process alone (`kill`, a supervisor, `timeout`) must be passed on. `signals` separates
the two cases. `posix_spawn` gives the child its old signal mask and the default handlers back.
"""

import os
import shutil
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..exit_codes import NOT_EXECUTABLE, NOT_FOUND, SIGNALLED
from ..signals import RESTORED


class SpawnError(Exception):
    """The command cannot be started; `code` is what a shell would exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def not_found(name: str) -> SpawnError | None:
    """Why the command `name` cannot be started, from a look at PATH, before a proxy is started for it.

    `spawn` reports errors that only the kernel can detect.
    """
    if shutil.which(name) is not None:
        return None
    if Path(name).exists():
        what = "is a folder" if Path(name).is_dir() else "is not executable; chmod +x, or name its interpreter"
        return SpawnError(f"the command {name!r} {what}", NOT_EXECUTABLE)
    return SpawnError(f"the command {name!r} was not found; check its name and PATH", NOT_FOUND)


class Child:
    """A running command. `pass_on` gives it a signal; `wait` blocks until its end."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._reaped = False
        self._lock = threading.Lock()

    @property
    def ended(self) -> bool:
        return self._reaped

    def pass_on(self, number: signal.Signals, whole_group: bool) -> None:
        """Send `number` unless the child has it already or is gone."""
        with self._lock:
            if self._reaped or whole_group:
                return
            try:
                os.kill(self.pid, number)
            except (ProcessLookupError, PermissionError):
                return  # it has ended, or now belongs to another user

    def wait(self) -> int:
        """The exit code, 128 + n for a death by signal n."""
        # WNOWAIT keeps the pid reserved until the lock is held, so that no signal can reach another process.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            _, status = os.waitpid(self.pid, 0)
            self._reaped = True
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else SIGNALLED - code


def spawn(command: Sequence[str], environ: Mapping[str, str], *, output: int | None = None) -> Child:
    """Start `command`, found on the PATH of `environ`, with our terminal and files. Raises `SpawnError`.

    With `output` it writes to that file and gets no stdin, because another process uses the terminal.
    """
    files: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = []
    if output is not None:
        files.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        files += [(os.POSIX_SPAWN_DUP2, output, stream) for stream in (1, 2)]
    try:
        pid = os.posix_spawnp(
            command[0], list(command), dict(environ), file_actions=files, setsigmask=(), setsigdef=RESTORED
        )
    except FileNotFoundError as exc:
        raise SpawnError(f"the command {command[0]!r} was not found; check its name and PATH", NOT_FOUND) from exc
    except OSError as exc:
        raise SpawnError(f"the command {command[0]!r} cannot be run: {exc.strerror or exc}", NOT_EXECUTABLE) from exc
    return Child(pid)
