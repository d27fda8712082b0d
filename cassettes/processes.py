"""Processes of this machine: whether one runs, when it ends, and how much of the machine it takes.

On Windows `os.kill(pid, 0)` sends a Ctrl-C, which has the number 0 there, and a process keeps the number of its parent
when that has ended. So a handle of the process is used instead.
"""

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

_SYNCHRONIZE = 0x00100000
"""The right to wait for a process. This and what follows: Windows API, `processthreadsapi.h`, `synchapi.h` and
`winerror.h` (https://learn.microsoft.com/windows/win32/api/, read 2026-11-30)."""
_ENDED = 0
_FOREVER = 0xFFFFFFFF
_ACCESS_DENIED = 5


def lower_priority() -> None:
    """Let other processes run first. Does nothing where the system refuses it, and on Windows."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(10)


def is_running(pid: int) -> bool:
    """Whether a process with this number runs, also one of another user."""
    if sys.platform == "win32":
        return windows_runs(pid, _kernel())
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def windows_runs(pid: int, kernel: Any, *, patience: int = 0) -> bool:
    """The same on Windows, by functions of `kernel32`. `patience`: milliseconds to wait for the end of the process."""
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
    if not handle:
        return kernel.last_error() == _ACCESS_DENIED
    try:
        return kernel.WaitForSingleObject(handle, patience) != _ENDED
    finally:
        kernel.CloseHandle(handle)


def wait_on_windows(pid: int) -> None:
    """Return when a process has ended, or at once when there is none."""
    windows_runs(pid, _kernel(), patience=_FOREVER)


@cache
def _kernel() -> Any:
    library: Any = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009 - only Windows has it
    # A handle is as long as a pointer; without this, half of it would be lost.
    library.OpenProcess.restype = ctypes.c_void_p
    library.WaitForSingleObject.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
    library.CloseHandle.argtypes = (ctypes.c_void_p,)
    library.last_error = getattr(ctypes, "get_last_error")  # noqa: B009
    return library
