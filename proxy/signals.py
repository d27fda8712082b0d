"""The signals that turntape takes from the terminal and from other processes.

While a command runs, signals are blocked in every thread, and one thread waits for them. `block()` comes first, before
any other thread exists. The kernel notes the origin of a signal: so `listen` knows whether the terminal sent it to the
whole process group, or somebody sent it to our process alone.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable


def existing(*names: str) -> frozenset[signal.Signals]:
    """The signals that exist on this system."""
    return frozenset(signal.Signals[name] for name in names if name in signal.Signals.__members__)


PASSED = existing(
    "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH", "SIGTSTP", "SIGCONT", "SIGUSR1", "SIGUSR2", "SIGBREAK"
)
ENDING = existing("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK")
"""Signals that ask a program to end."""
FROM_TERMINAL = existing("SIGINT", "SIGQUIT", "SIGTSTP", "SIGWINCH")
"""Signals that the terminal driver sends to the whole foreground group."""
RESTORED = existing("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores; the command expects the default."""


def block() -> None:
    """Block the signals that `listen` takes. Call before any thread is started. Does nothing on Windows.

    Whoever started us may ignore SIGCHLD. The kernel then keeps no exit code of a child process for us.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, PASSED)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def unblock() -> None:
    """Undo `block` in one of our own child processes, which inherits it, so that signals can end it."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED)


def listen(handle: Callable[[signal.Signals, bool], None]) -> None:
    """Call `handle(signal, whole_group)` for each signal, on a separate thread.

    `whole_group` is true when the terminal sent it, so that a child in our group has it already. On Windows the
    handlers run in the main thread, which must call this.
    """
    if sys.platform == "win32":
        for number in ENDING:
            signal.signal(number, lambda received, _frame: handle(signal.Signals(received), True))
        return

    def wait() -> None:
        while True:
            number, whole_group = _next_signal()
            handle(number, whole_group)
            if number == signal.SIGTSTP:
                # We caught the signal that would have stopped us; now stop, as the shell expects.
                os.kill(os.getpid(), signal.SIGSTOP)

    threading.Thread(target=wait, name="turntape-signals", daemon=True).start()


def _next_signal() -> tuple[signal.Signals, bool]:
    if sys.platform == "linux":
        info = signal.sigwaitinfo(PASSED)
        # sigaction(2): si_code is above 0 for what the kernel sent, 0 or below for what a process sent.
        number, by_kernel = signal.Signals(info.si_signo), info.si_code > 0
    else:
        number = signal.Signals(signal.sigwait(PASSED))
        by_kernel = _in_foreground()
    return number, by_kernel and number in FROM_TERMINAL


def _in_foreground() -> bool:
    for stream in (0, 1, 2):
        try:
            return os.tcgetpgrp(stream) == os.getpgrp()
        except OSError:
            continue
    return False
