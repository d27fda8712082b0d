"""One recording from start to end: the file, the proxy, and the process that labels it."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.own_addresses import is_loopback
from turntape.cassettes.tape.bounds import NOT_KEPT

from ..capture.authority import CERTIFICATE, PRIVATE, make_authority
from ..capture.certificates import checked, ensure_authority, home, permanent_folder, write_bundle
from ..capture.unrecorded import UnrecordedTraffic
from ..capture.upstream_proxy import chosen
from ..limits.limit_checker import LimitChecker
from ..limits.limits import LimitReached
from ..sidecar.sidecar_client import SidecarClient
from ..sidecar.summary import missed_spans
from ..stderr import say_problem
from ..tool_wire.address import VARIABLE as TOOL_LINK
from ..workers.listeners import listeners
from ..workers.worker_settings import WorkerSettings
from .environment import Environment, environment, node_preload
from .private_folder import private_folder
from .recording_settings import Settings, breakpoints, known_collector, known_findings
from .said_meanwhile import EndAwaited, say_nothing, say_waiting
from .spans import collector, span_variables
from .terminal import coloured

if TYPE_CHECKING:
    from asyncio import Event

    from turntape.cassettes.recording.recorder import Recorder
    from turntape.cassettes.tape.command_end import CommandEnd
    from turntape.cassettes.tape.model import RoundTrip

    from ..engine.engine import Engine
    from ..gateway.gateway import Gateway
    from ..gateway.segments import Segments
    from ..prove.report import Proof
    from ..tool_wire.link_server import LinkServer
    from ..workers.workers import Workers


@frozen
class Outcome:
    count: int
    """Round trips in the file, of this recording."""
    totals: Mapping[str, object] | None
    problems: tuple[str, ...]
    """Problems of turntape itself, and the limit that ended the run, one sentence each."""
    lost: bool = False
    """True when some traffic is missing from the cassette."""


class Recording:
    """Starts with `open` and `serve`, ends with `finish`. From `open` on, `environment` has what a child process needs.

    The port accepts connections from `open` on. What comes before `serve` waits in its queue, so that a command can
    start while the proxy is loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.confdir = home()
        self.authority = Path()
        """The certificate of our own authority."""
        self.environment = Environment()
        self.port = settings.port
        self.on_first: Callable[[], None] | None = None
        """Called once, when the first round trip has ended."""
        self.bypassed: Counter[str] = Counter()
        """Connections of the command that bypassed the proxy, by place."""
        self.limits = LimitChecker(settings.limits) if settings.limits else None
        self.tool_link: str | None = None
        """The address that wrappers of tool servers report to; None before the start, and where none can be had."""
        self.gateway: Gateway
        self._engine: Engine | Workers
        self._processes: Workers | None = None
        self._sidecar: SidecarClient | None = None
        self._private: Path | None = None
        self._links: LinkServer | None = None
        self.command_end: CommandEnd | None = None
        """How the recorded command ended; set before `finish`, which writes it behind all round trips."""
        self._cut = 0
        """Bodies of which only a part was kept."""

    @property
    def seen(self) -> UnrecordedTraffic:
        """Traffic that the proxy received and did not record."""
        engine = self._engine.unrecorded
        return UnrecordedTraffic(
            tunnelled=engine.tunnelled + engine.passed,
            distrusted=engine.distrusted,
            bypassed=self.bypassed,
            refused=engine.refused,
        )

    def proof(self) -> "Proof":
        """The result of the witnesses, after the end; for a recording with `prove`."""
        from ..engine.engine import Engine

        assert isinstance(self._engine, Engine)
        return self._engine.proof()

    async def start(self) -> None:
        """`open` and `serve`."""
        await self.open()
        await self.serve()

    async def open(self) -> None:
        """Listen on the port, and make the file and all that `environment` needs.

        Raises TurntapeError for settings that cannot be used, and when the port is taken.
        """
        from turntape.cassettes.recording.recorder import Recorder
        from turntape.cassettes.redaction.redactor import patient_redactor

        from ..gateway.gateway import Gateway
        from ..gateway.segments import Segments

        settings = self.settings
        try:
            known_findings(settings)
            known_collector(settings)
            self._upstream_proxy = chosen(settings.upstream_proxy, settings.environ, settings.port)
            self._client_cert = checked(settings.client_cert) if settings.client_cert else None
            self._held = breakpoints(settings) if settings.break_on else None
            self._authority_folder = self._made_authority()
            self._bundle = write_bundle(self._authority_folder, self.authority, settings.environ)
            preload = node_preload(self.confdir, settings.environ)
            self._listening = self._listen()
            # A name that we chose was reserved with an empty file, which is filled now.
            recorder = Recorder(settings.path, append=settings.made, redactor=patient_redactor(), say=say_problem)
        except TurntapeError:
            self.close()
            if settings.made:
                settings.path.unlink()
            raise
        if self.limits is not None:
            recorder.on_lost = self.limits.lost
        segments = Segments(recorder)
        segments.on_problem(say_problem)
        self.gateway = Gateway(settings.gateway, segments)
        await self._listen_to_wrappers(segments)
        self.environment = environment(
            settings.environ,
            port=self.port,
            host=settings.host,
            token=settings.token,
            route=settings.route,
            upstreams=settings.upstreams,
            hosts=llm_hosts(settings.intercept),
            bundle=self._bundle,
            authority=self.authority,
            preload=preload,
        )
        if settings.spans:
            self.environment.variables.update(span_variables(settings.environ, self.port, settings.token))
        if self.tool_link:
            self.environment.variables[TOOL_LINK] = self.tool_link

    def _listen(self) -> list[list[socket]]:
        """The sockets of the port, for each process that has the proxy."""
        settings = self.settings
        try:
            opened = listeners(settings.host, settings.port, settings.workers)
        except OSError as exc:
            raise TurntapeError(
                f"port {settings.port} on {settings.host} is in use or not permitted; choose another with --port"
            ) from exc
        self.port = opened[0][0].getsockname()[1]
        return opened

    async def serve(self) -> None:
        """Start the proxy and the process that labels."""
        from turntape.cassettes.routes.admission import Admission

        settings = self.settings
        segments = self.gateway.segments
        recorder = segments.current
        spans_to = collector(settings.environ, settings.port) if settings.spans else {}
        reach = WorkerSettings(
            host=settings.host,
            port=self.port,
            salt=str(recorder.header.get("salt")),
            # Base URLs in the user's environment are upstreams too.
            upstreams={**self.environment.upstreams, **spans_to, **settings.upstreams},
            intercept=settings.intercept,
            confdir=self._authority_folder,
            upstream_proxy=self._upstream_proxy,
            trusted_ca=self._bundle,
            client_cert=self._client_cert,
            spool=settings.path.absolute().parent,
            runs_by_trace=settings.gateway.serves,
            admission=Admission(settings.token),
        )
        self._engine = self._workers(segments, reach) if settings.workers > 1 else self._alone(segments, reach)
        try:
            await self._engine.start()
        except BaseException:
            self.close()
            recorder.close()
            settings.path.unlink()  # it holds a header at most, and nobody else had the name
            raise
        self.gateway.running = lambda: self._engine.running
        self.gateway.sums = lambda: self._sidecar.counts if self._sidecar else {}
        self.gateway.start(self._label(recorder), self._label)

    def _alone(self, segments: "Segments", reach: WorkerSettings) -> "Engine":
        """The proxy in this process."""
        from ..capture.routing import Played
        from ..engine.engine import Engine

        settings = self.settings
        url = settings.play_url
        played = Played(url, settings.live_tools, settings.play_apis, settings.play_places) if url else None
        return Engine(
            segments,
            host=reach.host,
            port=reach.port,
            upstreams=reach.upstreams,
            intercept=reach.intercept,
            confdir=reach.confdir,
            upstream_proxy=reach.upstream_proxy,
            trusted_ca=reach.trusted_ca,
            client_cert=reach.client_cert,
            on_round_trip=self._recorded,
            limits=self.limits,
            on_limit=self._say_limit,
            breakpoints=self._held,
            prove=settings.prove,
            addon=settings.addon,
            pages=self.gateway.pages.answer if settings.gateway.serves else None,
            runs_by_trace=reach.runs_by_trace,
            admission=reach.admission,
            played=played,
            listening=self._listening[0],
            spool=reach.spool,
        )

    def _workers(self, segments: "Segments", reach: WorkerSettings) -> "Workers":
        """The proxy in several processes."""
        from ..workers.workers import Workers

        settings = self.settings
        self._processes = Workers(
            segments,
            reach,
            self._listening,
            on_round_trip=self._recorded,
            pages=self.gateway.pages.answer if settings.gateway.serves else None,
            say=say_problem,
        )
        return self._processes

    def _made_authority(self) -> Path:
        """The folder of the certificate authority of this recording, which is made if there is none."""
        settings = self.settings
        if settings.private_authority:
            folder = self._private = private_folder(self.confdir)
            make_authority(folder, PRIVATE)
            self.authority = folder / CERTIFICATE
            return folder
        named = (urlsplit(url).hostname or "" for url in settings.upstreams.values())
        folder = permanent_folder(
            self.confdir, [*settings.intercept, *(host for host in named if not is_loopback(host))]
        )
        self.authority = ensure_authority(folder)
        return folder

    @property
    def advised_authority(self) -> str:
        """How a client that has its own list of trusted authorities can be given ours."""
        if not self.settings.private_authority:
            return str(self.authority)
        return f"{self.confdir / CERTIFICATE}, which `turntape ca show` makes, and --permanent-ca"

    def close(self) -> None:
        """Remove the private authority. The second call has no effect."""
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)

    def _label(self, recorder: "Recorder") -> SidecarClient:
        """Start the process that labels the file of this recorder."""
        settings = self.settings
        self._sidecar = SidecarClient(
            recorder.path,
            recorder.label_line,
            console=settings.console,
            colour=coloured(sys.stderr.isatty(), settings.environ, settings.color),
            checker=self.limits,
            options=_span_options(settings),
        )
        return self._sidecar

    async def _listen_to_wrappers(self, segments: "Segments") -> None:
        from ..tool_wire.link_server import LinkServer

        self._links = LinkServer(segments)
        try:
            self.tool_link = str(await self._links.start())
        except OSError as exc:
            self._links.problems.append(f"no socket for the wrappers of tool servers: {exc}")

    def _recorded(self, round_trip: "RoundTrip", number: int) -> None:
        for fault in round_trip.faults:
            if fault.endswith(NOT_KEPT):
                self._cut += 1
                say_problem(f"round trip {number} is not whole: {fault}")
        if self.on_first is not None:
            self.on_first()
            self.on_first = None

    def _say_limit(self, reached: LimitReached) -> None:
        if self.settings.console:
            sys.stderr.write(f"turntape: {reached.message.removeprefix('turntape ')}\n")

    def hurry(self) -> None:
        """Stop waiting for searches, labels and uploads. Any thread may call this."""
        if self._processes:
            self._processes.hurry()
        self.gateway.segments.give_up()
        if self._sidecar:
            self._sidecar.kill()
        if self._links:
            self._links.hurry()
        self.gateway.hurry()

    async def drain(self, hurry: "Event") -> None:
        """Say that no new client may come, and wait for what runs: as long as the grace lasts, or until `hurry`."""
        import asyncio

        self.gateway.pages.ready = False
        either = {asyncio.ensure_future(self._engine.idle()), asyncio.ensure_future(hurry.wait())}
        await asyncio.wait(either, timeout=self.settings.gateway.grace, return_when=asyncio.FIRST_COMPLETED)
        for task in either:
            task.cancel()

    async def finish(self, *, quiet: bool = False) -> Outcome:
        """Stop the proxy, let the reader finish, close the file. Unless `quiet`, stderr says what takes long."""
        import asyncio

        assert self._sidecar and self._links
        await self._links.close(waiting=say_nothing if quiet else say_waiting)
        awaited = None if quiet else EndAwaited()
        if self._processes:
            await self._processes.stop(awaited.workers if awaited else say_nothing)
        else:
            await self._engine.stop()
        self.close()
        await asyncio.to_thread(self.gateway.stop, awaited.labels if awaited else say_nothing)
        segments = self.gateway.segments
        recorder, count = segments.current, segments.count
        if self.command_end is not None and count:
            segments.command_ended(self.command_end)
        totals = await asyncio.to_thread(labelled, recorder, self._sidecar, awaited)
        in_place = recorder.is_in_place
        await asyncio.to_thread(recorder.close)
        segments.closed(recorder)
        if not count and self.settings.made and in_place:
            self.settings.path.unlink(missing_ok=True)  # nobody asked for a file with nothing in it
        if segments.number > 1 and not segments.own and in_place:
            recorder.path.unlink(missing_ok=True)  # it only repeats what the one before has
        left = await asyncio.to_thread(self.gateway.close, recorder.path if segments.own else None)
        missing = self._sidecar.problem if count else None
        remarks = self.limits.remarks(missing is not None) if self.limits else []
        killed = self._processes.problems if self._processes else []
        problems = (
            *segments.problems,
            *killed,
            self._not_whole(),
            *left,
            *self._links.problems,
            missing,
            missed_spans(totals),
            *remarks,
        )
        lost = bool(segments.problems) or bool(killed) or bool(self._links.problems) or self._cut > 0
        return Outcome(count, totals, tuple(p for p in problems if p), lost)

    def _not_whole(self) -> str | None:
        if not self._cut:
            return None
        return f"{self._cut:,} {'body is' if self._cut == 1 else 'bodies are'} in the cassette only in part"


def labelled(recorder: "Recorder", sidecar: SidecarClient, awaited: EndAwaited | None) -> "Mapping[str, object] | None":
    """Wait until all round trips are in the file and have their labels. Returns the totals."""
    # What is not in the file yet would get no label.
    recorder.flush(awaited.search if awaited else say_nothing)
    totals = sidecar.close(recorder.readable, awaited.labels if awaited else say_nothing)
    recorder.flush(awaited.search if awaited else say_nothing)  # labels are searched too
    return totals


def _span_options(settings: Settings) -> list[str]:
    """The options of the labeller process that make it send spans."""
    if settings.otlp is None:
        return []
    content = ["--otlp-content"] if settings.otlp_content else []
    return [f"--otlp={settings.otlp}", f"--flush={settings.flush}", *content]


def llm_hosts(intercept: Iterable[str]) -> list[str]:
    """Hosts, and patterns of hosts, that NO_PROXY must not exempt."""
    from turntape.cassettes.routes.upstreams import UPSTREAMS

    known = [host for upstream in UPSTREAMS for host in upstream.hosts]
    return [*known, *(host for host in intercept if host != "*")]
