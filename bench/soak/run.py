"""The soak: the proxy in a process, the upstreams and the clients in threads of this one, and the count afterwards."""

import contextlib
import random
import re
import ssl
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from turntape.cassettes import RoundTrip
from turntape.cassettes.tape.reader import Tail
from turntape.proxy.capture.certificates import ensure_authority

from .behaviours import BEHAVIOURS, ID, Behaviour
from .certificate import certificate, server_context
from .http2 import STREAMED, Http2Client, Http2Upstream, StreamSeen, serving2
from .raw import PATIENCE, Connection, RawUpstream, Seen, ask, opened, request_of, serving

PATH = "/v1/chat/completions"
ROUTES = ("base URL", "forward")
_ASKED = re.compile(rb"id-[0-9a-f]{9}")
_SHOWN = 30
"""How many faults are shown."""
_PROXY = """
import sys
from pathlib import Path
from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running
tape, raw, second, socket, confdir, trusted = sys.argv[1:]
with Recorder(tape) as recorder:
    engine = Engine(recorder, upstreams={"raw": raw, "ws": socket, "openai": second}, intercept=("127.0.0.1",),
                    confdir=Path(confdir), trusted_ca=Path(trusted))
    with running(engine):
        print(engine.port, flush=True)
        sys.stdin.read()
"""


@dataclass(slots=True)
class Count:
    asked: int = 0
    lost: int = 0
    """Exchanges that are not on the tape once."""
    mixed_up: int = 0
    """Answers with the id of another exchange, or with a record that says what the client has not seen."""
    differ: int = 0
    """Answers whose bytes are not those without the proxy."""

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.asked + other.asked,
            self.lost + other.lost,
            self.mixed_up + other.mixed_up,
            self.differ + other.differ,
        )


@dataclass(slots=True)
class Exchange:
    """One exchange, as its client saw it."""

    kind: str
    name: str
    statuses: tuple[int, ...]
    """The final status, or none where no answer came; what the tape must say."""
    ended: str


@dataclass(slots=True)
class Result:
    counts: dict[str, Count] = field(default_factory=lambda: defaultdict[str, Count](Count))
    memory: tuple[int, int] = (0, 0)
    examples: list[str] = field(default_factory=list[str])

    @property
    def failed(self) -> bool:
        return any(count.lost or count.mixed_up or count.differ for count in self.counts.values())

    def note(self, kind: str, what: str, sentence: str) -> None:
        count = self.counts[kind]
        setattr(count, what, getattr(count, what) + 1)
        sentence = f"{what}: {kind}, {sentence}"
        if len(self.examples) < _SHOWN and sentence not in self.examples:
            self.examples.append(sentence)


@dataclass(slots=True)
class Clients:
    """What the clients need, and what they have seen."""

    proxy: int
    raw: int
    second: int
    socket: int
    confdir: Path
    direct: dict[str, Seen]
    direct2: dict[str, StreamSeen]
    result: Result = field(default_factory=Result)
    seen: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, chance: random.Random, more: Callable[[], bool]) -> None:
        kinds: list[Callable[[random.Random, str], None]] = [self.http1] * 6 + [self.http2] * 2
        kinds += [self.websocket, self.leaver]
        while more():
            name = f"id-{chance.getrandbits(36):09x}"
            chance.choice(kinds)(chance, name)

    def keep(self, name: str, exchange: Exchange) -> None:
        with self.lock:
            self.seen[name] = exchange
            self.result.counts[exchange.kind].asked += 1

    def fault(self, kind: str, what: str, sentence: str) -> None:
        with self.lock:
            self.result.note(kind, what, sentence)

    def http1(self, chance: random.Random, name: str) -> None:
        behaviour, route = chance.choice(BEHAVIOURS), chance.choice(ROUTES)
        kind = f"HTTP/1.1, {route}"
        with opened(self.proxy) as sock:
            seen = ask(Connection(sock), self._request(behaviour, route, name), behaviour.method)
        wanted = self.direct[behaviour.name]
        self.keep(name, Exchange(kind, behaviour.name, _statuses(seen.raw), seen.ended))
        if behaviour.differs is None and (seen.raw, seen.ended) != (_named(wanted.raw, name), wanted.ended):
            others = [other for other in _ASKED.findall(seen.raw) if other not in (name.encode(), ID)]
            self.fault(kind, "mixed_up" if others else "differ", f"{behaviour.name}: {seen.ended}, {seen.raw[-200:]!r}")

    def _request(self, behaviour: Behaviour, route: str, name: str) -> bytes:
        target = f"/raw{PATH}" if route == "base URL" else f"http://127.0.0.1:{self.raw}{PATH}"
        return request_of(behaviour, target, f"127.0.0.1:{self.proxy}", _body(name), name)

    def leaver(self, chance: random.Random, name: str) -> None:
        """A client that goes away at once, or in the middle of a stream."""
        behaviour, route = BEHAVIOURS[2], chance.choice(ROUTES)
        with opened(self.proxy) as sock:
            sock.sendall(self._request(behaviour, route, name))
            sock.recv(chance.choice((1, 200)))
        self.keep(name, Exchange(f"client leaves, {route}", behaviour.name, (200,), "left"))

    def http2(self, chance: random.Random, name: str) -> None:
        """Several streams of one connection, one after the other."""
        trust = ssl.create_default_context(cafile=str(self.confdir / "mitmproxy-ca-cert.pem"))
        client = Http2Client(443, "api.openai.com", trust, proxy=self.proxy)
        try:
            for number in range(chance.randint(1, 4)):
                each = f"{name[:-1]}{number:x}"
                place = chance.randrange(len(STREAMED))
                behaviour = STREAMED[place]
                seen = client.read(client.send(PATH, _body(each), place, each))
                head = seen.head or []
                statuses = tuple(int(value) for field_name, value in head if field_name == ":status")
                self.keep(each, Exchange("HTTP/2, forward", behaviour.name, statuses, seen.ended))
                wanted = self.direct2[behaviour.name]
                same = (seen.head, seen.body, seen.ended) == (wanted.head, _named(wanted.body, each), wanted.ended)
                if behaviour.differs is None and not same:
                    self.fault("HTTP/2, forward", "differ", f"{behaviour.name}: {seen}")
                if seen.ended == "closed":
                    return
        finally:
            client.close()

    def websocket(self, chance: random.Random, name: str) -> None:
        way, route = chance.choice(("1000", "4001", "abort")), chance.choice(ROUTES)
        kind = f"WebSocket, {route}"
        url, proxy = (
            (f"ws://127.0.0.1:{self.proxy}/ws/v1/realtime", None)
            if route == "base URL"
            else (f"ws://127.0.0.1:{self.socket}/v1/realtime", f"http://127.0.0.1:{self.proxy}")
        )
        said: list[str | bytes] = []
        with connect(url, proxy=proxy, compression=None, open_timeout=PATIENCE) as client:
            for number in range(5):
                client.send(f"{name} {number}")
                said.append(client.recv())
            with contextlib.suppress(ConnectionClosed):
                client.send(way)
                while True:
                    said.append(client.recv())
            got = client.protocol.close_rcvd
        ended = str(got.code) if got else "abort"
        self.keep(name, Exchange(kind, way, (101,), ended))
        if said != [f"{name} {number}" for number in range(5)] or ended != way:
            self.fault(kind, "differ", f"{way}: {ended}, {said}")


def _body(name: str) -> bytes:
    return b'{"model":"m","messages":[{"role":"user","content":"%s"}]}' % name.encode()


def _named(raw: bytes, name: str) -> bytes:
    """A reference answer, with the id that this exchange has."""
    return raw.replace(ID, name.encode())


def _statuses(raw: bytes) -> tuple[int, ...]:
    found = [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", raw)]
    return tuple(status for status in found if status >= 200)[:1]


def _talk(connection: ServerConnection) -> None:
    with contextlib.suppress(ConnectionClosed):
        for message in connection:
            if message == "abort":
                connection.socket.shutdown(2)
            elif isinstance(message, str) and message.isdigit():
                connection.close(int(message))
            else:
                connection.send(message)


@dataclass(slots=True)
class Proxy:
    """The proxy's process."""

    process: subprocess.Popen[str]
    port: int

    @classmethod
    @contextlib.contextmanager
    def started(cls, *arguments: str) -> Generator[Self]:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROXY, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdin is not None
        try:
            yield cls(process, int(process.stdout.readline()))
        finally:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    @property
    def memory(self) -> int:
        """Resident memory in kB; 0 where the system does not say it."""
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            if found := re.search(r"VmRSS:\s+(\d+)", status):
                return int(found[1])
        return 0


def soak(
    folder: Path, *, at_once: int, seconds: float | None = None, rounds: int | None = None, seed: int = 1
) -> Result:
    """Let `at_once` clients work for so many seconds, or for so many rounds each; returns what was found."""
    own, confdir, tape = certificate(folder), folder / "authority", folder / "soak.cassette.jsonl"
    ensure_authority(confdir)
    with contextlib.ExitStack() as open_things:
        raw = open_things.enter_context(serving(RawUpstream()))
        second = open_things.enter_context(serving2(Http2Upstream(server_context(own))))
        sockets = open_things.enter_context(serve(_talk, "127.0.0.1", 0, compression=None, open_timeout=PATIENCE))
        talking = threading.Thread(target=sockets.serve_forever)
        talking.start()
        open_things.callback(talking.join)
        open_things.callback(sockets.shutdown)
        port = sockets.socket.getsockname()[1]
        places = (f"http://127.0.0.1:{raw.port}", f"https://localhost:{second.port}", f"http://127.0.0.1:{port}")
        direct, direct2 = _references(raw.port, second.port, own)
        with Proxy.started(str(tape), *places, str(confdir), str(own)) as proxy:
            clients = Clients(proxy.port, raw.port, second.port, port, confdir, direct, direct2)
            memory = _work(clients, proxy, at_once, seconds, rounds, seed)
    clients.result.memory = memory
    _compare(clients, tape)
    return clients.result


def _references(raw: int, second: int, own: Path) -> tuple[dict[str, Seen], dict[str, StreamSeen]]:
    """What clients see without the proxy."""
    direct: dict[str, Seen] = {}
    name = ID.decode()
    for behaviour in BEHAVIOURS:
        with opened(raw) as sock:
            request = request_of(behaviour, PATH, f"127.0.0.1:{raw}", _body(name), name)
            direct[behaviour.name] = ask(Connection(sock), request, behaviour.method)
    direct2: dict[str, StreamSeen] = {}
    for number, streamed in enumerate(STREAMED):
        client = Http2Client(second, "localhost", ssl.create_default_context(cafile=str(own)))
        direct2[streamed.name] = client.read(client.send(PATH, _body(name), number, name))
        client.close()
    return direct, direct2


def _work(
    clients: Clients, proxy: Proxy, at_once: int, seconds: float | None, rounds: int | None, seed: int
) -> tuple[int, int]:
    start = time.monotonic()

    def more() -> Callable[[], bool]:
        left = iter(range(rounds or 0))
        if seconds is None:
            return lambda: next(left, None) is not None
        end = start + seconds
        return lambda: time.monotonic() < end

    def worker(number: int) -> None:
        try:
            clients.work(random.Random(f"{seed} {number}"), more())
        except Exception as exc:
            clients.fault("clients that failed", "lost", repr(exc))

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(at_once)]
    for thread in threads:
        thread.start()
    if seconds is not None:
        time.sleep(seconds / 10)
    first = proxy.memory
    for thread in threads:
        thread.join()
    return first, proxy.memory


def _compare(clients: Clients, tape: Path) -> None:
    """Hold the tape against what the clients saw."""
    found: dict[str, int] = defaultdict(int)
    for trip in Tail(tape).news():
        name = _id_of(trip)
        exchange = clients.seen.get(name)
        found[name] += 1
        if exchange is not None and (wrong := _wrong(exchange, name, trip)):
            clients.result.note(exchange.kind, "mixed_up", f"{exchange.name}: {wrong}")
    for name, exchange in clients.seen.items():
        if found[name] != 1:
            clients.result.note(exchange.kind, "lost", f"{exchange.name}: {found[name]} times on the tape")


def _id_of(trip: RoundTrip) -> str:
    asked = trip.frames[0].data if trip.frames else trip.request.body
    match = _ASKED.search(asked)
    return match[0].decode() if match else ""


def _wrong(exchange: Exchange, name: str, trip: RoundTrip) -> str | None:
    """What the record says that the client has not seen."""
    others = [
        other
        for other in _ASKED.findall(trip.response.body if trip.response else b"")
        if other not in (name.encode(), ID)
    ]
    if others:
        return f"the record has the id {others[0].decode()}"
    if any(name.encode() not in frame.data for frame in trip.frames[:10]):
        return "a message of another session"
    status = (trip.response.status,) if trip.response else ()
    if exchange.ended == "left":
        return None if trip.closed_first == "client" or trip.failure is None else f"the record says {trip.failure}"
    unread = trip.failure is not None and trip.failure.kind in ("cut", "protocol") and not status
    if status != exchange.statuses and not unread:
        return f"status {status}, the client saw {exchange.statuses}"
    return None
