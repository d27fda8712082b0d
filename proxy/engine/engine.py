"""The proxy: mitmproxy embedded, with only the addons that are needed.

Connections to upstreams are opened when the first request is there (`lazy`). So an upstream that refuses the
connection leaves a record, and with an override the real host is never called.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import contextlib
import errno
import logging
import socket
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mitmproxy import options
from mitmproxy.addons import proxyserver, tlsconfig
from mitmproxy.proxy import mode_servers
from mitmproxy.proxy.mode_servers import AsyncioServerInstance, ServerInstance

from turntape.cassettes.recording.running_session import LineSink
from turntape.cassettes.routes.admission import OPEN, Admission, is_local
from turntape.cassettes.routes.own_addresses import is_loopback, machine_addresses
from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.model import RoundTrip

from ..capture.certificates import home
from ..capture.hops import Sign
from ..capture.named_places import NamedPlaces
from ..capture.own_connections import OwnConnections
from ..capture.recorder_addon import RecorderAddon
from ..capture.routing import Played, Router
from ..capture.span_receiver import SpanReceiver
from ..capture.spool import Spool
from ..capture.unrecorded import UnrecordedTraffic
from ..capture.upstream_proxy import UpstreamProxy
from ..capture.visitors import note_direct_requests
from ..layers.install import install
from ..limits.limit_checker import LimitChecker
from ..limits.limits import LimitReached
from ..limits.limits_addon import LimitsAddon
from .direct_handler import DirectHandler
from .late_encryption import install as encrypt_late
from .lean_objects import install as install_lean_objects
from .master import LeanMaster, RoutedLayers

if TYPE_CHECKING:
    from ..breakpoints.breakpoints_addon import Breakpoints, BreakpointsAddon
    from ..prove.detour import Detour
    from ..prove.report import Proof
    from ..prove.witness import Witnesses

log = logging.getLogger(__name__)

_NEVER = 10 * 365 * 24 * 3600
"""Seconds of silence after which turntape closes a connection. It is long, because client and API decide how long to
wait for an answer and how long an idle connection stays open."""

_LOOK = 0.05
"""Seconds between two looks at what still runs."""
_TURN = 0.0001
"""Seconds that the thread which writes the recording may hold the interpreter while traffic waits for it."""
_STOP = 60.0
"""Seconds that the proxy may take to stop; a busy machine needs some of them."""


class Sink(Protocol):
    """Where finished round trips go: a `Recorder`, or an object like it.

    One that is also a `LineSink` gets the lines of WebSocket sessions that still run.
    """

    def write(self, round_trip: RoundTrip) -> int:
        """Keep a round trip; returns its number."""
        ...


@runtime_checkable
class Queue(Protocol):
    """A sink that says how many bytes wait in it."""

    @property
    def waiting(self) -> int: ...


type AddonFactory = Callable[[RecorderAddon, Callable[[RoundTrip], object]], object]
"""Makes an addon that runs after the recorder addon. It gets that addon, and a function that writes a round trip."""


class Engine:
    """The proxy. After `await start()` both routes are open on `port`; `await stop()` closes it.

    - `recorder`: gets each round trip when it ends; `on_round_trip` is called after it, with the number.
    - `host`, `port`: where to listen; port 0 is any free port.
    - `upstreams`: URLs by the name of an upstream, `*` for all others.
    - `intercept`: more hosts to decrypt and record, as patterns.
    - `confdir`: the folder of our certificate authority; `TURNTAPE_HOME`, or `~/.turntape`, if there is none.
    - `upstream_proxy`: the proxy between turntape and the APIs.
    - `trusted_ca`: a PEM file of roots to trust upstream, in place of the bundled ones.
    - `client_cert`: a PEM file with key, or a folder of `HOST.pem`, for upstreams that ask for a certificate.
    - `limits`: ends the run at its limits; `on_limit` is then called once.
    - `breakpoints`: which answers are held, and who decides about them.
    - `prove`: put a witness in front of the proxy and one behind it; `proof` compares them after `stop`.
    - `addon`: makes an addon that may answer in place of the API.
    - `pages`: gives status, content type and body for a path below `/-/`.
    - `runs_by_trace`: a request without a run's name is of the run that its `traceparent` names.
    - `admission`: who may use the port; without a token it is open to every program of this machine.
    - `listening`: sockets that listen on `port` already, instead of one on `host`; they are closed by `stop`.
    - `places`, `own`: the URLs that streams have named, and our own connections, where several processes share a port.
    - `on_count`: called when a round trip has begun or ended.
    - `spool`: a folder for files without a name, to which long answers go when they take much memory together.

    `start` raises OSError when the port is taken.
    """

    def __init__(
        self,
        recorder: Sink,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        upstreams: Mapping[str, str] | None = None,
        intercept: tuple[str, ...] = (),
        confdir: Path | None = None,
        upstream_proxy: UpstreamProxy | None = None,
        trusted_ca: Path | None = None,
        client_cert: Path | None = None,
        on_round_trip: Callable[[RoundTrip, int], None] | None = None,
        limits: LimitChecker | None = None,
        on_limit: Callable[[LimitReached], None] = lambda reached: None,
        breakpoints: "Breakpoints | None" = None,
        prove: bool = False,
        addon: AddonFactory | None = None,
        pages: Callable[[str], tuple[int, str, bytes]] | None = None,
        runs_by_trace: bool = False,
        admission: Admission = OPEN,
        played: Played | None = None,
        listening: Sequence[socket.socket] = (),
        places: NamedPlaces | None = None,
        own: OwnConnections | None = None,
        on_count: Callable[[], object] = lambda: None,
        spool: Path | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._listening = listening
        self._is_one_of_several = own is not None
        self._on_round_trip = on_round_trip
        self._recorder = recorder
        self._confdir = confdir or home()
        self._trusted_ca = trusted_ca
        self._client_cert = client_cert
        self._limits = limits
        self._on_limit = on_limit
        self._limits_addon: LimitsAddon | None = None
        self._addon = addon
        memory = Memory()
        waiting = (lambda: recorder.waiting) if isinstance(recorder, Queue) else (lambda: 0)
        self._recorder_addon = RecorderAddon(
            self._write,
            recorder if isinstance(recorder, LineSink) else None,
            on_count,
            memory,
            Spool(spool, memory, waiting) if spool else None,
            needs_whole=limits is not None or addon is not None,
        )
        self._router = Router(
            self._recorder_addon,
            upstreams=upstreams or {},
            intercept=intercept,
            upstream_proxy=upstream_proxy,
            played=played,
            pages=pages,
            runs_by_trace=runs_by_trace,
            admission=admission,
            addresses=() if is_local(host) else machine_addresses(),
            places=places,
            own=own,
        )
        self._breakpoints = self._breakpoints_addon(breakpoints) if breakpoints is not None else None
        self._prove = prove
        self._witnesses: Witnesses | None = None
        self._detour: Detour | None = None
        self._sign: Sign | None = None
        self._master: LeanMaster | None = None
        self._running: asyncio.Task[None] | None = None
        self._server: proxyserver.Proxyserver | None = None

    @property
    def unrecorded(self) -> UnrecordedTraffic:
        """Traffic that was not for an LLM API."""
        return self._router.unrecorded

    def _breakpoints_addon(self, breakpoints: "Breakpoints") -> "BreakpointsAddon":
        from ..breakpoints.breakpoints_addon import (
            BreakpointsAddon,  # imported here because it parses answers; a proxy without breakpoints never does
        )

        return BreakpointsAddon(breakpoints, self._recorder_addon)

    def _write(self, round_trip: RoundTrip) -> None:
        number = self._recorder.write(round_trip)
        if self._limits_addon is not None:
            self._limits_addon.written(round_trip, number)
        if self._breakpoints is not None:
            self._breakpoints.written(round_trip, number)
        if self._on_round_trip is not None:
            self._on_round_trip(round_trip, number)

    async def start(self) -> None:
        self._confdir.mkdir(parents=True, exist_ok=True, mode=0o700)
        sys.setswitchinterval(min(sys.getswitchinterval(), _TURN))
        install((mode_servers, "ProxyConnectionHandler", DirectHandler))
        install_lean_objects()
        encrypt_late()
        note_direct_requests()
        settings = options.Options(
            confdir=str(self._confdir),
            listen_host="127.0.0.1" if self._listening else self.host,
            listen_port=0 if self._prove or self._listening else self.port,
            mode=["regular"],
        )
        self._master = LeanMaster(settings, self._recorder_addon.end_for)
        self._server = proxyserver.Proxyserver()
        self._add_addons(self._master, self._server)
        # The addons declare these options.
        settings.update(connection_strategy="lazy", upstream_cert=False, rawtcp=True, tcp_timeout=_NEVER)
        if self._trusted_ca is not None:
            settings.update(ssl_verify_upstream_trusted_ca=str(self._trusted_ca))
        if self._client_cert is not None:
            settings.update(client_certs=str(self._client_cert))
        # Everything important in mitmproxy's log is also in the round trips.
        logging.getLogger("mitmproxy").setLevel(logging.CRITICAL)
        self.port = self._router.port = await self._listen(self._server)
        self._sign = None if self._is_one_of_several else Sign(self.port)
        self._running = asyncio.create_task(self._master.run())
        await asyncio.sleep(0)

    def _add_addons(self, master: LeanMaster, server: proxyserver.Proxyserver) -> None:
        """The order matters: a hook is called on each addon in turn."""
        master.addons.add(
            server,
            RoutedLayers(self._router, can_hold=self._breakpoints is not None),
            tlsconfig.TlsConfig(),
            self._router,
            *([self._detoured()] if self._prove else []),
            *([self._breakpoints] if self._breakpoints is not None else []),
            self._recorder_addon,
            SpanReceiver(),
        )
        if self._addon is not None:
            master.addons.add(self._addon(self._recorder_addon, self._write))
        if self._limits is not None:
            self._limits_addon = LimitsAddon(self._limits, self._recorder_addon, server, self._on_limit)
            master.addons.add(self._limits_addon)

    async def _listen(self, server: proxyserver.Proxyserver) -> int:
        """Open the port, and the witnesses' port in front of it; the one for clients."""
        is_set_up = await server.setup_servers()
        instance = next(iter(server.servers), None)
        if not is_set_up or instance is None or not instance.listen_addrs:
            error = instance.last_exception if instance is not None else None
            number = getattr(error, "errno", None) or errno.EADDRINUSE
            raise OSError(number, f"cannot listen on {self.host}:{self.port}: {error}")
        if self._listening and self._witnesses is None:
            await _listen_on(instance, self._listening)
        port = instance.listen_addrs[0][1]
        if self._witnesses is None:
            return port
        try:
            return await self._witnesses.start(port, self.port, self._listening)
        except OSError:
            await instance.stop()
            raise

    @property
    def pending(self) -> int:
        """How many round trips run, all included."""
        return len(self._recorder_addon.pending)

    @property
    def running(self) -> tuple[int, int]:
        """How many round trips run, and how many of them are streams; those that only the client ends do not count."""
        pending = [one for one in list(self._recorder_addon.pending.values()) if not one.endless]
        return len(pending), sum(bool(one.stream or one.frames) for one in pending)

    async def idle(self) -> None:
        """Wait until nothing runs."""
        while self.running[0]:  # noqa: ASYNC110 - there is no event for the last one's end
            await asyncio.sleep(_LOOK)

    async def stop(self) -> None:
        """Close the port, record what still runs as it is now, and close all connections."""
        if self._master is None or self._server is None or self._running is None:
            return
        for instance in self._server.servers:
            if instance.is_running:
                await instance.stop()
        if self._sign is not None:
            self._sign.close()
        await asyncio.sleep(0)
        self._recorder_addon.abandon()
        for handler in list(self._server.connections.values()):
            assert isinstance(handler, DirectHandler)
            handler.stop()
        if self._breakpoints is not None:
            self._breakpoints.close()
        if self._limits_addon is not None:
            self._limits_addon.close()
        self._master.shutdown()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):  # what was recorded is safe by now
            await asyncio.wait_for(self._running, timeout=_STOP / 2)
        if self._witnesses is not None:
            await self._witnesses.stop()
        self._master = None

    def _detoured(self) -> "Detour":
        from ..prove.detour import Detour
        from ..prove.witness import Witnesses

        self._witnesses = Witnesses(
            opens=lambda host: self._router.is_wanted(host) and not is_loopback(host),
            authority=self._confdir,
            trusted=self._trusted_ca,
            client_cert=self._client_cert,
        )
        self._detour = Detour(self._witnesses)
        return self._detour

    def proof(self) -> "Proof":
        """What the witnesses saw. Only for an engine made with `prove`, after `stop`."""
        from ..prove.comparison import compare
        from ..prove.report import Proof

        assert self._witnesses is not None and self._detour is not None
        compared = compare(self._witnesses.before.exchanges(), self._witnesses.behind_us.exchanges())
        return Proof(tuple(compared), self._detour.missed)


async def _listen_on(instance: ServerInstance[Any], sockets: Sequence[socket.socket]) -> None:
    """Let mitmproxy use these sockets in the place of the one that it has opened."""
    assert isinstance(instance, AsyncioServerInstance)
    servers = [await asyncio.start_server(instance.handle_stream, sock=one) for one in sockets]
    for first in instance._servers:  # pyright: ignore[reportPrivateUsage]
        first.close()
    instance._servers = [*servers]  # pyright: ignore[reportPrivateUsage]


async def _settled() -> None:
    """Let closed transports end: each needs another turn of the loop."""
    for _ in range(10):
        await asyncio.sleep(0)


@contextlib.contextmanager
def running(engine: Engine) -> Generator[Engine]:
    """Run the engine in its own thread and event loop, for tests and for callers without a loop."""
    loop = asyncio.new_event_loop()
    started: list[BaseException | None] = []
    ready = threading.Event()

    async def start() -> None:
        try:
            await engine.start()
        except BaseException as exc:  # noqa: BLE001 - handed over to the caller below
            started.append(exc)
        else:
            started.append(None)
        ready.set()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(start())
        loop.run_forever()
        loop.run_until_complete(_settled())

    thread = threading.Thread(target=serve, name="turntape proxy", daemon=True)
    thread.start()
    ready.wait()
    try:
        if started[0] is not None:
            raise started[0]
        yield engine
    finally:
        if started[0] is None:
            asyncio.run_coroutine_threadsafe(engine.stop(), loop).result(timeout=_STOP)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=_STOP)
        loop.close()
