"""The proxy: mitmproxy embedded, with only the addons that are needed.

Connections to upstreams are made when the first request is there (`lazy`), so that a refused upstream leaves a
record and an override never dials the real host.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import collections
import contextlib
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mitmproxy import options
from mitmproxy.addons import next_layer, proxyserver, tlsconfig
from mitmproxy.connection import Client
from mitmproxy.master import Master
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import Layer
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy

from turntape.cassettes.tape.model import RoundTrip

from ..limits.limits import Guard, Stop
from ..limits.limits_addon import GuardRails
from .cached_addons import CachedAddons
from .recorder_addon import Tap
from .routing import Router, Seen
from .trailers import pass_trailers_on
from .upstream_proxy import NextProxy, is_loopback

if TYPE_CHECKING:
    from ..breakpoints.addon import Breakpoints, Holder
    from ..prove.detour import Detour
    from ..prove.report import Proof
    from ..prove.witness import Witnesses

log = logging.getLogger(__name__)

_NEVER = 10 * 365 * 24 * 3600
"""Seconds of silence after which a connection is closed by us. How long to wait for an answer, and how long a socket
may rest, is between client and API; without us nobody would hang up in their place."""


class Sink(Protocol):
    """Where finished round trips go: a `Recorder`, or anything like it."""

    def write(self, round_trip: RoundTrip) -> int: ...


type Addon = Callable[[Tap, Callable[[RoundTrip], object]], object]
"""Makes an addon that stands behind the tap; it is given the tap and what writes a round trip down."""


class Layers(next_layer.NextLayer):
    """mitmproxy's choice of protocol layers, with our answer to what is tunnelled."""

    def __init__(self, router: Router, holds: bool) -> None:
        super().__init__()
        self._router = router
        self._holds = holds

    def _ignore_connection(self, context: Context, data_client: bytes, data_server: bytes) -> bool | None:
        if not data_client and not data_server and context.server.address is not None:
            raise next_layer.NeedsMoreData
        return self._router.is_tunnelled(context, data_client)

    def _next_layer(self, context: Context, data_client: bytes, data_server: bytes) -> Layer | None:
        layer = super()._next_layer(context, data_client, data_server)
        address = context.server.address
        if isinstance(layer, TCPLayer) and address and (via := self._router.via(*address[:2])):
            context.server.via = via.spec
            stack = HttpUpstreamProxy.make(context, send_connect=True)
            stack /= layer
            return stack[0]
        if self._holds:
            from ..breakpoints.stream import holding

            return holding(layer)
        return layer


class Connections:
    """Lifts mitmproxy's limit of five upstream connections a client.

    With lazy connections an HTTP/2 client before an HTTP/1.1 upstream needs one for each request under way.
    """

    def __init__(self, server: proxyserver.Proxyserver) -> None:
        self._server = server

    def client_connected(self, client: Client) -> None:
        handler = self._server.connections.get(client.id)
        if handler is not None:
            handler.max_conns = collections.defaultdict(lambda: asyncio.Semaphore(10_000))


class LeanMaster(Master):
    """A master whose hooks are dispatched from a cache."""

    def __init__(self, opts: options.Options) -> None:
        super().__init__(opts)
        self.addons = CachedAddons(self)


class Engine:
    """`await start()`, then `port` is open for both routes; `await stop()` records what still runs and closes.

    `upstreams` says where named upstreams go (`*` for all others), `intercept` adds host patterns to open,
    `next_proxy` is a proxy to go through, `trusted_ca` a file of roots to trust upstream instead of the
    bundled ones, `client_cert` a PEM file with key (or a folder of `HOST.pem`) for upstreams that ask for one,
    `confdir` the folder of our certificate authority, `guard` what ends a run at its limits (`on_stop` is told once).
    `breakpoints` say which answers are held and who is asked, `addon` makes what may answer in the API's place. With
    `prove` there are witnesses before and behind the proxy, and `proof` is what they saw, once it has stopped. `start`
    raises OSError when the port is taken.
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
        next_proxy: NextProxy | None = None,
        trusted_ca: Path | None = None,
        client_cert: Path | None = None,
        on_round_trip: Callable[[RoundTrip, int], None] | None = None,
        guard: Guard | None = None,
        on_stop: Callable[[Stop], None] = lambda stop: None,
        breakpoints: "Breakpoints | None" = None,
        prove: bool = False,
        addon: Addon | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._on_round_trip = on_round_trip
        self._recorder = recorder
        self._confdir = confdir or Path("~/.turntape").expanduser()
        self._trusted_ca = trusted_ca
        self._client_cert = client_cert
        self._guard = guard
        self._on_stop = on_stop
        self._rails: GuardRails | None = None
        self._addon = addon
        self._tap = Tap(self._write)
        self._router = Router(self._tap, upstreams=upstreams or {}, intercept=intercept, next_proxy=next_proxy)
        self._holder = self._held_by(breakpoints) if breakpoints is not None else None
        self._prove = prove
        self._witnesses: Witnesses | None = None
        self._detour: Detour | None = None
        self._master: LeanMaster | None = None
        self._running: asyncio.Task[None] | None = None
        self._server: proxyserver.Proxyserver | None = None

    @property
    def seen(self) -> Seen:
        """What passed that was no LLM API."""
        return self._router.seen

    def _held_by(self, breakpoints: "Breakpoints") -> "Holder":
        from ..breakpoints.addon import Holder  # it reads answers: a proxy without breakpoints does not

        return Holder(breakpoints, self._tap)

    def _write(self, round_trip: RoundTrip) -> None:
        number = self._recorder.write(round_trip)
        if self._rails is not None:
            self._rails.written(round_trip, number)
        if self._holder is not None:
            self._holder.written(round_trip, number)
        if self._on_round_trip is not None:
            self._on_round_trip(round_trip, number)

    async def start(self) -> None:
        self._confdir.mkdir(parents=True, exist_ok=True, mode=0o700)
        pass_trailers_on()
        settings = options.Options(
            confdir=str(self._confdir),
            listen_host=self.host,
            listen_port=0 if self._prove else self.port,
            mode=["regular"],
        )
        master = self._master = LeanMaster(settings)
        server = self._server = proxyserver.Proxyserver()
        master.addons.add(
            server,
            Layers(self._router, holds=self._holder is not None),
            tlsconfig.TlsConfig(),
            Connections(server),
            self._router,
            *([self._detoured()] if self._prove else []),
            *([self._holder] if self._holder is not None else []),
            self._tap,
        )
        if self._addon is not None:
            master.addons.add(self._addon(self._tap, self._write))
        if self._guard is not None:
            self._rails = GuardRails(self._guard, self._tap, server, self._on_stop)
            master.addons.add(self._rails)
        settings.update(connection_strategy="lazy", upstream_cert=False, rawtcp=True, tcp_timeout=_NEVER)
        if self._trusted_ca is not None:
            settings.update(ssl_verify_upstream_trusted_ca=str(self._trusted_ca))
        if self._client_cert is not None:
            settings.update(client_certs=str(self._client_cert))
        # mitmproxy logs to the root logger's liking; what matters of it is in the records.
        logging.getLogger("mitmproxy").setLevel(logging.CRITICAL)
        setup = await server.setup_servers()
        instance = next(iter(server.servers), None)
        if not setup or instance is None or not instance.listen_addrs:
            error = instance.last_exception if instance is not None else None
            raise OSError(getattr(error, "errno", None) or 98, f"cannot listen on {self.host}:{self.port}: {error}")
        port = instance.listen_addrs[0][1]
        if self._witnesses is not None:
            try:
                port = await self._witnesses.start(port, self.port)
            except OSError:
                await instance.stop()
                raise
        self.port = self._router.port = port
        self._running = asyncio.create_task(master.run())
        await asyncio.sleep(0)

    async def stop(self) -> None:
        """Close the port, record what still runs as it stands, and close all connections."""
        if self._master is None or self._server is None or self._running is None:
            return
        server, master = self._server, self._master
        for instance in server.servers:
            if instance.is_running:
                await instance.stop()
        await asyncio.sleep(0)
        self._tap.abandon()
        for handler in list(server.connections.values()):
            for transport in list(handler.transports.values()):
                if transport.handler is not None:
                    transport.handler.cancel("turntape stops")
        if self._holder is not None:
            self._holder.close()
        master.shutdown()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(self._running, timeout=5)
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
        """What the witnesses saw; for an engine that was made with `prove`, after `stop`."""
        from ..prove.comparison import compare
        from ..prove.report import Proof

        assert self._witnesses is not None and self._detour is not None
        compared = compare(self._witnesses.before.exchanges(), self._witnesses.behind_us.exchanges())
        return Proof(tuple(compared), self._detour.missed)


async def _settled() -> None:
    """Let what was closed hear of it: a transport ends in a later turn of its loop."""
    for _ in range(10):
        await asyncio.sleep(0)


@contextlib.contextmanager
def running(engine: Engine) -> Generator[Engine]:
    """The engine in a thread and loop of its own, for tests and for callers without a loop."""
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
            asyncio.run_coroutine_threadsafe(engine.stop(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        loop.close()
