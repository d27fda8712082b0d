"""A WebSocket session that is written to the tape while it runs, so that a killed recording has it so far."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Protocol, runtime_checkable

from ..redaction.open_word import OpenWord
from ..redaction.redactor import Redactor
from ..tape.model import Frame, RoundTrip
from ..tape.running_session import messages_line, opened_line

PAUSE = 0.2
"""Seconds for which messages are collected. Messages whose word continues wait for its end: it may become a secret."""
_CONTEXT = 64
"""How many earlier messages are looked at again for a secret that began in them."""
_MOST_NAMED = 100
"""How many secrets that were found by their name are searched for in later messages."""


@runtime_checkable
class LineSink(Protocol):
    """Takes lines that are made, and redacted, by the thread that writes."""

    def line(self, make: Callable[[Redactor], bytes], size: int) -> None: ...

    def session(self, name: str, again: "Again | None") -> None:
        """A session runs, and `again` gives the lines with which another file must begin; None when it has ended."""
        ...


type Again = Callable[[], Sequence[tuple[Callable[[Redactor], bytes], int]]]
"""Gives all lines of a session so far, each with about its size."""


class RunningSession:
    """Writes the beginning of a session at once, and its messages shortly after each came."""

    def __init__(self, sink: LineSink, trip: RoundTrip) -> None:
        self.name = secrets.token_hex(6)
        """What the round trip names in its field `running` when it is written."""
        self._sink = sink
        self._trip = trip
        self._written: list[Frame] = []
        self._new: list[Frame] = []
        self._before: deque[Frame] = deque(maxlen=_CONTEXT)
        self._named: tuple[bytes, ...] = ()
        """The secrets that were found by their name so far. Only the thread that writes uses it."""
        self._word = OpenWord()
        self._timer: asyncio.TimerHandle | None = None
        sink.line(*self._opened())
        sink.session(self.name, self._again)

    def add(self, frame: Frame) -> None:
        """A message has passed. To be called in the loop of the proxy."""
        self._new.append(frame)
        self._word.add(frame)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._write)

    def end(self) -> None:
        """The round trip is written instead."""
        if self._timer is not None:
            self._timer.cancel()
        self._new = []
        self._sink.session(self.name, None)

    def _opened(self) -> tuple[Callable[[Redactor], bytes], int]:
        trip = self._trip
        return lambda redactor: opened_line(self.name, redactor.round_trip(trip)), len(trip.request.body)

    def _again(self) -> Sequence[tuple[Callable[[Redactor], bytes], int]]:
        frames = tuple(self._written)
        if not frames:
            return [self._opened()]
        size = sum(len(frame.data) for frame in frames)
        return [self._opened(), (lambda redactor: self._messages((), frames, redactor), size)]

    def _write(self) -> None:
        self._timer = None
        ready = max(len(self._new) - self._word.waiting, 0)
        frames, context = self._new[:ready], tuple(self._before)
        self._new = self._new[ready:]
        if frames:
            self._before.extend(frames)
            self._written.extend(frames)
            size = sum(len(frame.data) for frame in frames)
            self._sink.line(lambda redactor: self._messages(context, frames, redactor), size)

    def _messages(self, context: Sequence[Frame], frames: Sequence[Frame], redactor: Redactor) -> bytes:
        knowing = redactor.knowing(self._trip.request.headers).after(self._named)
        clean, named = knowing.messages((*context, *frames))
        self._named = tuple(dict.fromkeys((*named, *self._named)))[:_MOST_NAMED]
        return messages_line(self.name, tuple(islice(clean, len(context), None)))
