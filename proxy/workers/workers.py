"""The worker processes of one recording: started, followed, and started again when one is killed.

One process, this one, writes what all of them record. So there is one file, its numbers are unique, and a thread whose
requests come to several workers is one thread.
"""

import asyncio
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.connection import Pipe as pipe
from pathlib import Path
from socket import socket

from turntape.cassettes.counted import several
from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.tape.model import RoundTrip

from ..capture.hops import Sign
from ..capture.unrecorded import UnrecordedTraffic
from ..gateway.segments import Segments
from .messages import Ended, Failed, Line, Message, Ready, SessionOver, Unrecorded, unpacked
from .shared import ENDLESS, GIVEN, PENDING, STREAMS, WRITTEN, Shared, make, make_places
from .worker_settings import Page, WorkerSettings

_COMMAND = (sys.executable, "-P", "-W", "ignore", "-m", "turntape.proxy.workers.worker_process")
_START = 60.0
"""Seconds that the workers may take to start."""
_STOP = 60.0
"""Seconds that a worker may take to end when nobody wants to wait."""
_LOOK_AT_THE_END = 1.0
_PAUSE = 1.0
"""Seconds before a worker that did not live for `_SOON` seconds is started again; each further time twice as long."""
_LONGEST_PAUSE = 60.0
_SOON = 2.0
_LOOK = 0.05
_MOST_SAID = 20
"""How many losses get a separate sentence; the metrics count all."""


@dataclass
class _Worker:
    """One of the processes, and those that come in its place."""

    number: int
    sockets: list[socket]
    process: "subprocess.Popen[bytes] | None" = None
    channel: "Connection[object, Message] | None" = None
    received: int = 0
    """Round trips that came from the process."""
    traffic: UnrecordedTraffic = field(default_factory=UnrecordedTraffic)
    past: UnrecordedTraffic = field(default_factory=UnrecordedTraffic)
    """What the earlier processes did not record."""
    sessions: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    """The lines of the WebSocket sessions that run in the process."""
    ready: threading.Event = field(default_factory=threading.Event)


class Workers:
    """The workers of a recording, used as an `Engine`. `say` gets a sentence when a worker has ended on its own."""

    def __init__(
        self,
        segments: Segments,
        settings: WorkerSettings,
        listening: list[list[socket]],
        *,
        on_round_trip: Callable[[RoundTrip, int], None],
        pages: Callable[[str], Page] | None,
        say: Callable[[str], object],
    ) -> None:
        self.port = settings.port
        self.problems: list[str] = []
        """What was lost with workers that were killed, one sentence each."""
        self._segments = segments
        self._settings = settings
        self._listening = listening
        self._on_round_trip = on_round_trip
        self._pages = pages
        self._say = say
        self._lock = threading.Lock()
        """Guards what several workers' threads use."""
        self._counts = threading.Lock()
        """Guards which process counts what is written; the thread that writes never waits for the other lock."""
        self._workers: list[_Worker] = []
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._until = math.inf
        """When workers that have not ended are killed, by `time.monotonic`."""
        self._starting = threading.Lock()
        """Held while a worker is started, and while all are asked to end."""
        self._sign: Sign | None = None
        self._shared_file, self._places = make(), make_places()
        self._shared = Shared(self._shared_file)
        self._shared.path = segments.current.path
        segments.on_switch = self._continues_in

    async def start(self) -> None:
        """Start a worker for each list of sockets."""
        self._sign = Sign(self.port)
        self._workers = [_Worker(number, sockets) for number, sockets in enumerate(self._listening, 1)]
        for worker in self._workers:
            self._spawn(worker)
            self._thread(self._follow, worker)
        until = time.monotonic() + _START
        while not all(worker.ready.is_set() for worker in self._workers):
            dead = any(w.process and w.process.poll() is not None and not w.ready.is_set() for w in self._workers)
            if dead or time.monotonic() > until:
                await self.stop()
                raise TurntapeError("the worker processes did not start; try without --workers")
            await asyncio.sleep(_LOOK)

    @property
    def unrecorded(self) -> UnrecordedTraffic:
        """As `Engine.unrecorded`, of all workers."""
        return _sum([one for worker in self._workers for one in (worker.past, worker.traffic)])

    @property
    def running(self) -> tuple[int, int]:
        """As `Engine.running`, of all workers."""
        shared = self._shared
        numbers = [worker.number for worker in self._workers]
        pending = sum(shared.get(number, PENDING) - shared.get(number, ENDLESS) for number in numbers)
        return max(pending, 0), sum(shared.get(number, STREAMS) for number in numbers)

    async def idle(self) -> None:
        """Wait until nothing runs."""
        while self.running[0]:  # noqa: ASYNC110 - there is no event for the last one's end
            await asyncio.sleep(_LOOK)

    def hurry(self) -> None:
        """Let the workers wait for no search of a long body any more. Any thread may call this."""
        self._until = time.monotonic() + _STOP
        self._send("hurry")

    def _send(self, word: str) -> None:
        for worker in self._workers:
            if worker.channel is not None:
                with suppress(OSError):
                    worker.channel.send(word)

    async def stop(self, waiting: Callable[[], object] = lambda: None) -> None:
        """Let all workers record what still runs, and end. `waiting` is called every second while that lasts."""
        if self._sign is not None:
            self._sign.close()
        with self._starting:
            self._stopping.set()
            for worker in self._workers:
                for one in worker.sockets:
                    one.close()
            self._send("stop")
        await asyncio.to_thread(self._join, waiting)
        for descriptor in (self._shared_file, self._places):
            os.close(descriptor)

    def _join(self, waiting: Callable[[], object]) -> None:
        for worker in self._workers:
            if worker.process is None:
                continue
            while worker.process.poll() is None:
                try:
                    worker.process.wait(_LOOK_AT_THE_END)
                except subprocess.TimeoutExpired:
                    waiting()
                    if time.monotonic() > self._until:
                        worker.process.kill()
        for thread in self._threads:
            thread.join(_STOP)

    def _thread(self, run: Callable[[_Worker], None], worker: _Worker) -> None:
        name = f"turntape worker {worker.number}"
        thread = threading.Thread(target=run, args=(worker,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _spawn(self, worker: _Worker) -> None:
        ours, theirs = pipe()
        asks, asked = pipe() if self._pages is not None else (None, None)
        sockets = tuple(one.fileno() for one in worker.sockets)
        settings = replace(
            self._settings,
            number=worker.number,
            sockets=sockets,
            shared=self._shared_file,
            places=self._places,
            channel=theirs.fileno(),
            pages=asks.fileno() if asks is not None else None,
        )
        given = [*sockets, settings.shared, settings.places, settings.channel]
        given += [asks.fileno()] if asks is not None else []
        # In its own session, since Ctrl-C is for this process.
        process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, pass_fds=given, start_new_session=True)
        assert process.stdin is not None
        with suppress(OSError), process.stdin:
            process.stdin.write(pickle.dumps(settings))
        theirs.close()
        with self._counts:
            worker.process, worker.channel, worker.received = process, ours, 0
            self._shared.put(worker.number, WRITTEN, 0)
        if asks is not None and asked is not None and self._pages is not None:
            asks.close()
            pages = self._pages
            self._thread(lambda _: _answer(asked, pages), worker)

    def _follow(self, worker: _Worker) -> None:
        """Take what a worker says, until it ends; when nobody wanted that, start another one."""
        pause = 0.0
        while True:
            assert worker.process is not None and worker.channel is not None
            begun = time.monotonic()
            with suppress(EOFError, OSError):
                while True:
                    self._take(worker, worker.channel.recv())
            code = worker.process.wait()
            worker.channel.close()
            lost = self._shared.get(worker.number, PENDING) + max(
                0, self._shared.get(worker.number, GIVEN) - worker.received
            )
            self._forget(worker)
            if self._stopping.is_set() and not code:
                return
            self._report(worker, code, lost)
            if not worker.ready.is_set():
                return
            pause = pause_after(time.monotonic() - begun, pause)
            self._stopping.wait(pause)
            with self._starting:
                if self._stopping.is_set():
                    return
                self._spawn(worker)

    def _take(self, worker: _Worker, message: Message) -> None:
        match message:
            case Ended():
                worker.received += 1
                trip = unpacked(message)
                number = self._segments.write(trip, clean=True, on_done=self._counting(worker))
                with self._lock:
                    self._on_round_trip(trip, number)
            case Failed(reason, round_trips):
                worker.received += round_trips
                self._lose(f"a round trip of worker {worker.number} could not be recorded: {reason}", round_trips)
            case Line(session, data):
                lines = worker.sessions.get(session)
                if lines is None:
                    lines = worker.sessions[session] = []
                lines.append(data)
                self._segments.line(lambda _: data, len(data))
                if len(lines) == 1:
                    self._segments.session(
                        session, lambda: [(lambda _, one=one: one, len(one)) for one in tuple(lines)]
                    )
            case SessionOver(session):
                worker.sessions.pop(session, None)
                self._segments.session(session, None)
            case Unrecorded(traffic):
                worker.traffic = traffic
            case Ready():
                worker.ready.set()

    def _counting(self, worker: _Worker) -> Callable[[], None]:
        """Lets the process know that all that came from it so far is in the file, so that it need not keep it."""
        process, count = worker.process, worker.received

        def written() -> None:
            with self._counts:
                if worker.process is process:
                    self._shared.put(worker.number, WRITTEN, count)

        return written

    def _continues_in(self, path: Path) -> None:
        self._shared.path = path

    def _forget(self, worker: _Worker) -> None:
        """The process has ended."""
        self._shared.forget(worker.number)
        for session in worker.sessions:
            self._segments.session(session, None)  # its lines stay: readers make a round trip of them
        worker.sessions = {}
        worker.past = _sum([worker.past, worker.traffic])
        worker.traffic = UnrecordedTraffic()

    def _report(self, worker: _Worker, code: int, lost: int) -> None:
        assert worker.process is not None
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"has ended with exit code {code}"
        again = "" if self._stopping.is_set() or not worker.ready.is_set() else "; another one is started in its place"
        sentence = f"worker {worker.number} (process {worker.process.pid}) {how}{again}"
        if lost:
            is_one = lost == 1
            sentence += f"; {several(lost, 'round trip')} that ran in it {'is' if is_one else 'are'} not recorded"
            self._lose(sentence, lost)
        else:
            self._say(sentence)

    def _lose(self, sentence: str, round_trips: int) -> None:
        """Say at once that so many round trips are lost, and again at the end."""
        self._segments.never_came(round_trips)
        with self._lock:
            is_news = sentence not in self.problems and len(self.problems) < _MOST_SAID
            if is_news:
                self.problems.append(sentence)
        if is_news:
            self._say(sentence)


def pause_after(lived: float, before: float) -> float:
    """Seconds to wait before a worker is started again that lived for `lived` seconds, `before` those last waited."""
    return min(max(2 * before, _PAUSE), _LONGEST_PAUSE) if lived < _SOON else 0.0


def _answer(connection: "Connection[Page, str]", pages: Callable[[str], Page]) -> None:
    """Make the pages that a worker asks for, until it ends."""
    with suppress(EOFError, OSError), connection:
        while True:
            connection.send(pages(connection.recv()))


def _sum(parts: list[UnrecordedTraffic]) -> UnrecordedTraffic:
    def total(of: Callable[[UnrecordedTraffic], Counter[str]]) -> Counter[str]:
        return sum(map(of, parts), Counter[str]())

    return UnrecordedTraffic(
        tunnelled=total(lambda one: one.tunnelled),
        passed=total(lambda one: one.passed),
        distrusted=total(lambda one: one.distrusted),
        bypassed=total(lambda one: one.bypassed),
        refused=total(lambda one: one.refused),
    )
