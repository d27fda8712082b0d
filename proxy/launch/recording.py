"""One recording from start to end: the file, the proxy, and the process that labels it."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.own_addresses import is_loopback
from turntape.cassettes.tape.bounds import NOT_KEPT

from ..breakpoints.condition import Condition
from ..capture.authority import CERTIFICATE, PRIVATE, make_authority
from ..capture.certificates import checked, ensure_authority, home, permanent_folder, write_bundle
from ..capture.unrecorded import UnrecordedTraffic
from ..capture.upstream_proxy import chosen
from ..gateway.gateway import GatewaySettings
from ..limits.limit_checker import LimitChecker
from ..limits.limits import LimitReached, Limits
from ..sidecar.sidecar_client import SidecarClient
from ..sidecar.summary import missed_spans
from ..tool_wire.address import VARIABLE as TOOL_LINK
from ..workers.worker_settings import WorkerSettings
from .environment import Environment, Route, environment, node_preload
from .private_folder import private_folder
from .said_meanwhile import EndAwaited, say_nothing, say_problem, say_waiting
from .spans import collector, span_variables
from .terminal import coloured

if TYPE_CHECKING:
    from asyncio import Event

    from turntape.cassettes.recording.recorder import Recorder
    from turntape.cassettes.tape.model import RoundTrip

    from ..breakpoints.breakpoints_addon import Breakpoints
    from ..engine.engine import AddonFactory, Engine
    from ..gateway.gateway import Gateway
    from ..gateway.segments import Segments
    from ..prove.report import Proof
    from ..tool_wire.link_server import LinkServer
    from ..workers.workers import Workers


FLUSH = 5.0
"""Seconds that a command's last spans may take; nobody wants to wait long for a collector that is down."""


@frozen
class Settings:
    """The settings of a recording, from the command line."""

    path: Path
    made: bool = False
    """True when `path` is an empty file that `free_path` made."""
    port: int = 0
    host: str = "127.0.0.1"
    """Where to listen; beyond loopback `token` must be given."""
    token: str | None = None
    """What each request must have to be let in; None for no token."""
    private_authority: bool = False
    """True for a certificate authority that is made for this recording and removed with it."""
    upstreams: Mapping[str, str] = field(default_factory=dict[str, str])
    intercept: tuple[str, ...] = ()
    route: Route = "both"
    upstream_proxy: str | None = None
    """A URL, or `none`; None leaves it to the environment."""
    client_cert: Path | None = None
    break_on: tuple[Condition, ...] = ()
    break_answers: Path | None = None
    """A file of answers for what is held; None asks at the terminal."""
    wrap_tools: bool = True
    """True to record the tool servers of the command too (`tool_servers`)."""
    play_tools: str | None = None
    """The socket where recorded tool servers are played in place of the real ones."""
    play_url: str | None = None
    """Where those that are reached over HTTP are played."""
    play_apis: bool = True
    """With `play_url`: whether that is also where APIs are played."""
    play_places: frozenset[str] = frozenset()
    """With `play_url`: host and path of the recorded streams of tool servers."""
    live_tools: tuple[str, ...] = ()
    """The names of tool servers that are not played."""
    prove: bool = False
    """True to put a witness on each side of the proxy (docs/non-interference.md)."""
    console: bool = False
    """True to print a line on stderr for each round trip."""
    color: str = "auto"
    """`auto`, `always` or `never`."""
    spans: bool = False
    """True to receive the OpenTelemetry spans of the command too."""
    limits: Limits = Limits()
    otlp: str | None = None
    """The address of an OpenTelemetry collector that gets a span for each turn."""
    otlp_content: bool = False
    """True to send prompts, answers, arguments and results with the spans."""
    flush: float = FLUSH
    """Seconds that the spans which are left at the end may take."""
    gateway: GatewaySettings = GatewaySettings()
    workers: int = 1
    """How many processes have the proxy; with several there are no limits, breakpoints, witnesses and addon."""
    addon: "AddonFactory | None" = None
    """Makes the addon that may answer instead of the API."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


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
    """Starts with `start`, ends with `finish`. In between, `environment` has the variables for a child process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.confdir = home()
        self.authority = Path()
        """The certificate of our own authority."""
        self.environment = Environment()
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
        self._cut = 0
        """Bodies of which only a part was kept."""

    @property
    def port(self) -> int:
        return self._engine.port

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
        from turntape.cassettes.recording.recorder import Recorder
        from turntape.cassettes.redaction.redactor import patient_redactor
        from turntape.cassettes.routes.admission import Admission

        from ..gateway.gateway import Gateway
        from ..gateway.segments import Segments

        settings = self.settings
        try:
            known_findings(settings)
            known_collector(settings)
            proxy = chosen(settings.upstream_proxy, settings.environ, settings.port)
            client_cert = checked(settings.client_cert) if settings.client_cert else None
            held = breakpoints(settings) if settings.break_on else None
            folder = self._authority_folder()
            bundle = write_bundle(folder, self.authority, settings.environ)
            preload = node_preload(self.confdir, settings.environ)
        except TurntapeError:
            self.close()
            if settings.made:
                settings.path.unlink()
            raise
        # A name that we chose was reserved with an empty file, which is filled now.
        recorder = Recorder(settings.path, append=settings.made, redactor=patient_redactor())
        if self.limits is not None:
            recorder.on_lost = self.limits.lost
        segments = Segments(recorder)
        segments.on_problem(say_problem)
        gateway = self.gateway = Gateway(settings.gateway, segments)
        # Base URLs in the user's environment are upstreams too; their addresses do not depend on our port.
        named = environment(settings.environ, port=settings.port, route=settings.route, upstreams=settings.upstreams)
        spans_to = collector(settings.environ, settings.port) if settings.spans else {}
        reach = WorkerSettings(
            host=settings.host,
            port=settings.port,
            salt=str(recorder.header.get("salt")),
            upstreams={**named.upstreams, **spans_to, **settings.upstreams},
            intercept=settings.intercept,
            confdir=folder,
            upstream_proxy=proxy,
            trusted_ca=bundle,
            client_cert=client_cert,
            runs_by_trace=settings.gateway.serves,
            admission=Admission(settings.token),
        )
        self._engine = self._workers(segments, reach) if settings.workers > 1 else self._alone(segments, reach, held)
        try:
            await self._engine.start()
        except BaseException as exc:
            self.close()
            recorder.close()
            settings.path.unlink()  # it holds a header at most, and nobody else had the name
            if isinstance(exc, OSError):
                raise TurntapeError(
                    f"port {settings.port} on {settings.host} is in use or not permitted; choose another with --port"
                ) from exc
            raise
        gateway.running = lambda: self._engine.running
        gateway.sums = lambda: self._sidecar.counts if self._sidecar else {}
        gateway.start(self._label(recorder), self._label)
        await self._listen_to_wrappers(segments)
        self.environment = environment(
            settings.environ,
            port=self.port,
            host=settings.host,
            token=settings.token,
            route=settings.route,
            upstreams=settings.upstreams,
            hosts=llm_hosts(settings.intercept),
            bundle=bundle,
            authority=self.authority,
            preload=preload,
        )
        if settings.spans:
            self.environment.variables.update(span_variables(settings.environ, self.port, settings.token))
        if self.tool_link:
            self.environment.variables[TOOL_LINK] = self.tool_link

    def _alone(self, segments: "Segments", reach: WorkerSettings, held: "Breakpoints | None") -> "Engine":
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
            breakpoints=held,
            prove=settings.prove,
            addon=settings.addon,
            pages=self.gateway.pages.answer if settings.gateway.serves else None,
            runs_by_trace=reach.runs_by_trace,
            admission=reach.admission,
            played=played,
        )

    def _workers(self, segments: "Segments", reach: WorkerSettings) -> "Workers":
        """The proxy in several processes."""
        from ..workers.workers import Workers

        settings = self.settings
        self._processes = Workers(
            segments,
            reach,
            settings.workers,
            on_round_trip=self._recorded,
            pages=self.gateway.pages.answer if settings.gateway.serves else None,
            say=say_problem,
        )
        return self._processes

    def _authority_folder(self) -> Path:
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
        await asyncio.to_thread(self.gateway.stop)
        segments = self.gateway.segments
        recorder, count = segments.current, segments.count
        totals = await asyncio.to_thread(labelled, recorder, self._sidecar, awaited)
        await asyncio.to_thread(recorder.close)
        segments.closed(recorder)
        if not count and self.settings.made:
            self.settings.path.unlink(missing_ok=True)  # nobody asked for a file with nothing in it
        if segments.number > 1 and not segments.own:
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
    return sidecar.close(recorder.count, awaited.labels if awaited else say_nothing)


def known_findings(settings: Settings) -> None:
    """Raises TurntapeError for a `--stop-on` or `--break-on finding=` that matches no known finding."""
    asked = [("--stop-on ", name) for name in settings.limits.stop_on]
    asked += [("--break-on finding=", c.value) for c in settings.break_on if c.kind == "finding"]
    if not asked:
        return
    from difflib import get_close_matches

    from turntape.inspector.findings.catalogue import catalogue

    names = {rule.id for rule in catalogue().rules if rule.switch is None}
    for option, pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = get_close_matches(pattern, names, 1)
            raise TurntapeError(
                f"no finding is called {pattern!r} ({option}{pattern}); "
                + (f"did you mean {near[0]!r}?" if near else "`turntape explain` lists them")
            )


def known_collector(settings: Settings) -> None:
    """Raises TurntapeError for an `--otlp` that is not the address of a collector."""
    if settings.otlp is not None:
        from turntape.inspector.otlp.collector import collector_at

        collector_at(settings.otlp, settings.environ)


def _span_options(settings: Settings) -> list[str]:
    """The options of the labeller process that make it send spans."""
    if settings.otlp is None:
        return []
    content = ["--otlp-content"] if settings.otlp_content else []
    return [f"--otlp={settings.otlp}", f"--flush={settings.flush}", *content]


def breakpoints(settings: Settings) -> "Breakpoints":
    """Which answers are held, and who decides. Raises TurntapeError without a terminal and a file of answers."""
    from ..breakpoints.breakpoints_addon import Breakpoints
    from ..breakpoints.console import Console
    from ..breakpoints.script_file import ScriptFile

    if settings.break_answers is not None:
        return Breakpoints(settings.break_on, ScriptFile(settings.break_answers))
    try:
        return Breakpoints(settings.break_on, Console.open(colour=coloured(True, settings.environ, settings.color)))
    except OSError as exc:
        raise TurntapeError(
            "--break-on needs a terminal for its questions; without one, use --break-answers FILE, with one answer per "
            "line (pass, edit FILE, error MESSAGE)"
        ) from exc


def llm_hosts(intercept: Iterable[str]) -> list[str]:
    """Hosts, and patterns of hosts, that NO_PROXY must not exempt."""
    from turntape.cassettes.routes.upstreams import UPSTREAMS

    known = [host for upstream in UPSTREAMS for host in upstream.hosts]
    return [*known, *(host for host in intercept if host != "*")]
