"""One server under the wrapper on POSIX, from its start to its end: streams, signals, and who must end whom."""

import os
import signal
import threading
from collections.abc import Callable
from time import monotonic

from ..exit_codes import SIGNALLED
from ..signals import ENDING, block, listen
from .link import Link, to_stderr
from .posix_relay import Relay
from .posix_server import Inherited, PosixServer, StartError, descendants, kill, start
from .wrapped import Wrapped, finish

GRACE = 2.0
"""Seconds that a server has after its client is gone, before SIGTERM and again before SIGKILL, as in the MCP SDKs."""
TICK = 0.25
"""Seconds between two looks at whether the client is still there, once it has closed its end."""
LINGER = 1.0
"""Seconds without a byte after which streams are given up that some process of an ended server still holds."""
LINGER_MOST = 5.0
"""The same, whatever comes."""
PATIENCE = 1.0
"""Seconds without progress after which the recorder of a run is given up at the end."""
OWN_PATIENCE = 10.0
"""The same for a recorder of our own, which says at its end what it could not write: nobody else would say it. A client
that does not wait so long sends a signal, which ends this."""


def run(wrapped: Wrapped) -> int:
    """The exit code of the server, which has ended. When a signal ended it, this call ends our process the same way."""
    inherited = Inherited(signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGCHLD))
    block()
    try:
        server = start(wrapped.words, inherited)
    except StartError as exc:
        to_stderr(str(exc))
        link = wrapped.connect(None)
        finish(link, exc.code, None, "server")
        _settle(link, lambda: False)
        return exc.code
    session = _Session(server, wrapped.connect(server.pid))
    code = session.run()
    if code < 0:
        _end_by(-code)
        return SIGNALLED - code
    return code


class _Session:
    def __init__(self, server: PosixServer, link: Link) -> None:
        self._server = server
        self._link = link
        self._linked = not link.ended and link.descriptor is not None
        woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._relay = Relay(server.stdin, server.stdout, server.stderr, link, woken)
        self._parent = os.getppid()
        self._over = threading.Event()
        """Set when the server has ended."""
        self._hurry = False
        self._asked_to_end = False
        """True when a signal asked for the end while both streams were open."""
        self._gone_since: float | None = None
        self._said = False
        self._tree: dict[int, bytes] = {}
        """Processes below the server, when it had to be ended."""

    def run(self) -> int:
        """Until the server has ended. Its exit code, or minus the number of a signal."""
        listen(self._signalled)
        threading.Thread(target=self._wait, name="turntape-server", daemon=True).start()
        while not self._over.is_set():
            self._relay.step(self._timeout())
            self._speak()
            self._end_stubborn_server()
        self._pass_on_the_rest()
        kill(self._tree)
        _, status = os.waitpid(self._server.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        ended_by = signal.Signals(-code).name if code < 0 else None
        finish(self._link, None if code < 0 else code, ended_by, self._closed_first())
        _settle(self._link, lambda: self._hurry)
        self._speak()
        return code

    def _wait(self) -> None:
        # WNOWAIT keeps the pid, so that a signal that is passed on cannot reach another process.
        os.waitid(os.P_PID, self._server.pid, os.WEXITED | os.WNOWAIT)
        self._over.set()
        self._look()

    def _look(self) -> None:
        try:
            os.write(self._wake, b"x")
        except BlockingIOError:
            return  # there is a sign already

    def _signalled(self, number: signal.Signals, whole_group: bool) -> None:
        if number in ENDING:
            self._asked_to_end = self._asked_to_end or self._relay.first_end is None
            self._hurry = self._over.is_set()
        if not whole_group and not self._over.is_set():
            os.kill(self._server.pid, number)
        self._look()

    def _closed_first(self) -> str | None:
        if self._asked_to_end:
            return "client"
        return self._relay.first_end

    def _timeout(self) -> float | None:
        return TICK if self._relay.requests.at_end else None

    def _client_gone(self) -> bool:
        """True when the client has closed its end, and cannot read answers or has ended."""
        relay = self._relay
        if not relay.requests.at_end:
            return False
        orphaned = os.getppid() != self._parent and (relay.has_reader or relay.answers.at_end)
        return relay.answers.broken or orphaned

    def _end_stubborn_server(self) -> None:
        """A client that is gone cannot end its server any more: do what it would have done."""
        if not self._client_gone():
            return
        now = monotonic()
        if self._gone_since is None:
            self._gone_since = now
        late = now - self._gone_since
        if late > GRACE and not self._tree:
            self._tree = {self._server.pid: b"", **descendants(self._server.pid)}
            os.kill(self._server.pid, signal.SIGTERM)
        elif late > 2 * GRACE:
            self._tree.update(descendants(self._server.pid))
            os.kill(self._server.pid, signal.SIGKILL)

    def _pass_on_the_rest(self) -> None:
        """What the server has written before its end, and what the client has not read yet."""
        relay = self._relay
        until = monotonic() + LINGER_MOST
        while not self._hurry and not (relay.answers.at_end and relay.messages.at_end):
            moved = relay.step(LINGER)
            if not relay.answers.pending and (not moved or monotonic() > until):
                break
        for stream in (relay.answers, relay.messages, relay.requests):
            stream.end()

    def _speak(self) -> None:
        """Print what the recorder says, and once that it is gone."""
        for sentence in self._link.said:
            to_stderr(sentence)
            self._said = True
        self._link.said.clear()
        if self._linked and self._link.ended and not self._over.is_set() and not self._said:
            self._said = True
            to_stderr("the recorder has ended; the tool calls of this server are not recorded any more")


def _settle(link: Link, hurry: Callable[[], bool]) -> None:
    """Give the recorder what waits, as long as it takes something. One of our own has the time to report a problem."""
    import select

    half_closed = False
    patience = OWN_PATIENCE if link.own else PATIENCE
    until = monotonic() + patience
    while (descriptor := link.descriptor) is not None and monotonic() < until and not hurry():
        if not link.waiting and not half_closed:
            if not link.own:
                break
            link.half_close()
            half_closed = True
            continue
        poll = select.poll()
        poll.register(descriptor, select.POLLIN | (select.POLLOUT if link.waiting else 0))
        before = link.waiting
        for _, events in poll.poll(TICK * 1000):
            if events & select.POLLOUT:
                link.flush()
            if events & ~select.POLLOUT:
                link.receive()
        if link.waiting < before:
            until = monotonic() + patience
    link.close()


def _end_by(number: int) -> None:
    """End our process by a signal, without a core dump of ours."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with_default = number not in (signal.SIGKILL, signal.SIGSTOP)
    if with_default:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    signal.pthread_kill(threading.main_thread().ident or 0, number)
