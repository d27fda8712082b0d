"""Passes bytes between a client, a server and a recorder, in one loop on one thread.

One loop, so that what is recorded is in the order in which it was passed on, and so that no thread of ours can hold up
the traffic. Each piece is written to its reader first; then a copy goes to the link.
"""

import os
import select
import stat
from time import time

from .frames import CLIENT, SERVER, STDERR
from .link import Link

PIECE = 1 << 16
"""Bytes that are read at once: what a pipe holds."""


class Stream:
    """One stream: what can be read from `source` is written to `target`.

    When one end closes, the other is closed too, so that each side sees what it would see without us.
    """

    def __init__(self, kind: int, source: int, target: int, *, waits: bool) -> None:
        self.kind = kind
        self.source = source
        self.target = target
        self.at_end = False
        """True when nothing more is read, because the source ended or nobody reads the target."""
        self.broken = False
        """True when nobody reads the target."""
        self._most = select.PIPE_BUF if waits else PIECE
        """How much can be written without waiting when the target is writable; `waits`: its writes may block."""
        self._waits = waits
        self._piece = b""
        self._read_at = 0.0
        self._written = 0

    @property
    def pending(self) -> bool:
        """True when something was read and is not written yet; nothing more is read meanwhile."""
        return bool(self._piece)

    def read(self, link: Link) -> None:
        """Read one piece and write what can be written."""
        try:
            data = os.read(self.source, PIECE)
        except BlockingIOError:
            return
        except OSError:  # a terminal that is gone, a connection that was reset
            data = b""
        if not data:
            self.end()
            return
        self._piece, self._written, self._read_at = data, 0, time()
        self.write(link)

    def write(self, link: Link) -> None:
        """Write what can be written now. When the piece is out, its copy goes to the link."""
        while self._written < len(self._piece):
            if self._waits and not _writable(self.target):
                return
            try:
                self._written += os.write(self.target, self._piece[self._written :][: self._most])
            except BlockingIOError:
                return
            except OSError:
                self.broke(link)
                return
        self._copy(link)

    def _copy(self, link: Link) -> None:
        piece = self._piece[: self._written]
        self._piece = b""
        if piece:
            link.put(self.kind, self._read_at, piece)

    def broke(self, link: Link) -> None:
        """Nobody reads the target any more: the source is closed too. What did arrive is recorded."""
        self._copy(link)
        self.broken = True
        self.end()

    def end(self) -> None:
        """Close both ends. Standard streams are replaced, so that no other file gets their numbers."""
        if self.at_end:
            return
        self.at_end = True
        for descriptor in (self.source, self.target):
            if descriptor > 2:
                os.close(descriptor)
            elif descriptor < 2:  # our own sentences still go to stderr
                nothing = os.open(os.devnull, os.O_RDWR)
                os.dup2(nothing, descriptor)
                os.close(nothing)


def _writable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


class Relay:
    """The three streams between a client and a server, and the link. `step` does what can be done now."""

    def __init__(self, stdin: int, stdout: int, stderr: int, link: Link, wake: int) -> None:
        self.requests = Stream(CLIENT, 0, stdin, waits=False)
        self.answers = Stream(SERVER, stdout, 1, waits=True)
        self.messages = Stream(STDERR, stderr, 2, waits=True)
        self.first_end: str | None = None
        """Who closed its end first: `client` or `server`."""
        self._streams = (self.requests, self.answers, self.messages)
        self._link = link
        self._wake = wake
        self._has_reader = _is_pipe(1)

    @property
    def has_reader(self) -> bool:
        """True when stdout leads to another process, and not to a file or a terminal."""
        return self._has_reader

    def step(self, timeout: float | None) -> bool:
        """Wait for something to do, at most `timeout` seconds, and do it. False when nothing happened."""
        poll = select.poll()
        by_source = {one.source: one for one in self._streams if not one.at_end and not one.pending}
        by_target = {one.target: one for one in self._streams if not one.at_end}
        for descriptor in by_source:
            poll.register(descriptor, select.POLLIN)
        for descriptor, one in by_target.items():
            poll.register(descriptor, select.POLLOUT if one.pending else 0)
        poll.register(self._wake, select.POLLIN)
        link = self._link.descriptor
        if link is not None:
            poll.register(link, select.POLLIN | (select.POLLOUT if self._link.waiting else 0))
        ready = poll.poll(None if timeout is None else timeout * 1000)
        for descriptor, events in ready:
            if descriptor == link:
                self._serve_link(events)
            elif descriptor == self._wake:
                os.read(self._wake, 64)
            elif one := by_target.get(descriptor):
                self._serve_target(one, events)
            elif (one := by_source.get(descriptor)) and not one.at_end:
                one.read(self._link)
        self._note_first_end()
        return bool(ready)

    def _serve_link(self, events: int) -> None:
        if events & select.POLLOUT:
            self._link.flush()
        if events & ~select.POLLOUT:
            self._link.receive()

    def _serve_target(self, one: Stream, events: int) -> None:
        if one.at_end:
            return
        if events & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            one.broke(self._link)
        else:
            one.write(self._link)

    def _note_first_end(self) -> None:
        if self.first_end is None:
            for one in (self.requests, self.answers):
                if one.at_end:
                    # A stream whose reader has gone was ended by the other side.
                    client = (one.kind == CLIENT) != one.broken
                    self.first_end = "client" if client else "server"
                    return


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
