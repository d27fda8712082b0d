"""One marked test, from before its fixtures until after them."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from ..apis.lookup import is_recorded_path
from ..errors import TurntapeError
from ..faults.fault import overlay_of
from ..replay.record_modes import effective_mode
from ..replay.session import Session
from ..replay.tool_recording import Asked
from ..routes.upstreams import by_host
from ..tape.model import RoundTrip
from ..tape.provenance import ForkSource
from ..transports.cassette import AsyncCassetteTransport, CassetteTransport
from ..transports.patching import Way, default_transports
from .failures import expects_all, problems, remarks
from .marker import Faulty, Marker, cassette_of
from .network import Network, is_loopback
from .server import TestServer, live_upstreams, placeholders
from .subprocesses import close_network
from .telemetry_hosts import is_side_traffic
from .tool_servers import ToolServers


class ActiveTest:
    """Opens the test's cassette, patches the default transports, and reports at the end what was wrong."""

    def __init__(self, item: pytest.Item) -> None:
        config = item.config
        self.item = item
        self.settings = settings = Marker.of(item)
        self.path: Path = cassette_of(item, settings)
        self.session = self._session()
        live = (*settings.live_tools, *cast(list[str], config.getini("turntape_live_tools")))
        hosts = (
            *settings.allow,
            *(name for name in live if name != "*"),
            *cast(list[str], config.getoption("turntape_allow_host")),
            *cast(list[str], config.getini("turntape_allow_hosts")),
        )
        self._allowed = [name.partition(":")[0] for name in hosts]
        self.network = Network(hosts, blocks=self.session.plan.calls == "never")
        self._pace = pace = settings.paced()
        self.tools = ToolServers(self.session, live, pace)
        self.transport = CassetteTransport(self.session, pace=pace)
        self.async_transport = AsyncCassetteTransport(self.session, pace=pace)
        self.server = TestServer(self.session, pace, live_upstreams(os.environ, settings.upstreams or {}))
        self.recorded = 0
        self.outcome: str | None = None
        """Whether the test's code passed; None while it runs, and if it was interrupted."""
        self._undo = ExitStack()

    def _session(self) -> Session:
        config, settings, faulty = self.item.config, self.settings, Faulty.of(self.item)
        mode = effective_mode(
            settings.mode or cast(str, config.getini("turntape_mode")) or None,
            os.environ,
            config.getoption("turntape_mode"),
        )
        # A parameter (even None) or the marker decides; otherwise the file next to the cassette.
        faults = overlay_of(self.path, None) if settings.faults is None and faulty is None else settings.faults
        if faulty is not None and faulty.faults:
            faults = faulty.faults
            # Faults need a recording. If there is none yet, this run records it without faults.
            mode = "once" if mode in ("new", "all") else mode
        return Session(
            self.path,
            override=mode,
            matching=settings.matching(config.getini),
            faults=faults,
            fork=self._forked if settings.fork is not None else None,
            labels=lambda round_trips: config.hook.pytest_turntape_labels(round_trips=round_trips) or (),
        )

    def _forked(self) -> ForkSource:
        """The turns to replay before the fork. Raises TurntapeError when there is no such file, turn or answer."""
        path = self.item.path.parent / str(self.settings.fork)
        fork = self.item.config.hook.pytest_turntape_fork(
            path=str(path), at=self.settings.fork_at, edits=self.settings.edit
        )
        return cast(ForkSource, fork)

    def start(self) -> None:
        seen = self.tools.start(self._undo)
        self._undo.enter_context(
            default_transports(
                self.transport, self.async_transport, self._way, seen, others=self._other_way, pace=self._pace
            )
        )
        self._undo.enter_context(self.network)
        if self.session.plan.calls == "never":
            if not self.network.allows("*"):
                close_network(self._allowed, self._wanted_by_process, self._undo)
            patch = self._undo.enter_context(pytest.MonkeyPatch.context())
            for name, value in placeholders(os.environ).items():
                patch.setenv(name, value)

    def _wanted_by_process(self, where: str) -> None:
        self.network.reached.append(where)
        self.network.blocked.append(f"{where} (a process of the test)")

    def _way(self, host: str, port: int | None, path: str) -> Way:
        if (port is not None and port == self.server.port) or self.network.allows(host, port):
            return "network"
        if is_side_traffic(host, path) and (host, path) not in self._recorded_places:
            return "offline" if self.session.plan.calls == "never" else "network"
        return "session"

    def _other_way(self, host: str, port: int | None, path: str) -> Way:
        """As `_way`, for libraries with which tests also talk to other servers: on this machine, only what is
        recorded, or goes to an LLM, belongs to the cassette."""
        way = self._way(host, port, path)
        if way == "session" and is_loopback(host):
            known = (host, path) in self._recorded_places or is_recorded_path(path.rstrip("/"))
            return "session" if known else "network"
        return way

    @cached_property
    def _recorded_places(self) -> frozenset[tuple[str, str]]:
        """The hosts and paths in the cassette."""
        parts = [urlsplit(trip.request.url) for trip in self.session.player.cassette]
        return frozenset((one.hostname or "", one.path) for one in parts)

    def stop(self) -> list[str]:
        """End everything; the problems that fail the test, one sentence each."""
        found: list[str] = []
        try:
            self.server.stop()
        finally:
            self._undo.close()
        try:
            self.recorded = self.session.finish(whole=self.outcome is not None)
        except TurntapeError as exc:
            found.append(str(exc))
        self.session.notes += remarks(self.session)
        return [*found, *self.problems()]

    @property
    def asked(self) -> bool:
        return bool(self.session.passed or self.session.misses or self.tools.missed)

    @property
    def left_over(self) -> Sequence[RoundTrip | Asked]:
        """The recorded turns and tool calls that this test should have requested and did not."""
        return [*self.session.unplayed, *self.tools.left_over] if expects_all(self.session, self.settings) else []

    def problems(self) -> list[str]:
        """Requests that were not recorded, recorded turns that were not requested, and different live answers."""
        found = problems(self.session, self.settings, self.tools, self._actions, passed=self.outcome == "passed")
        if not self.asked and (unseen := self._unseen()):
            found.append(unseen)
        elif found and self.network.blocked:
            found.append(f"the network was blocked for {', '.join(dict.fromkeys(self.network.blocked))}")
        return found

    def _unseen(self) -> str | None:
        """What to say when the test reached an LLM API and nothing of that passed through us."""
        apis = [(one.hostname, one.port) for one in map(urlsplit, live_upstreams(os.environ, {}).values())]
        for where in self.network.reached:
            host, _, port = where.rpartition(":") if ":" in where else (where, "", "")
            if by_host(host) is not None or (port.isdigit() and (host, int(port)) in apis):
                return (
                    f"the test reached the LLM API at {where}, and nothing of that was recorded or replayed: its "
                    "client uses a library that turntape cannot answer in process, or runs in another process; give "
                    "the client the base URL turntape_server, or the process env=turntape_environment"
                )
        return None

    def _actions(self) -> Sequence[str] | None:
        hook, recorded = self.item.config.hook, list(self.session.player.cassette)
        # Our own plugin implements the new name, so a plugin that knows only the old one must come first.
        actions: list[str] | None = hook.pytest_turntape_deeds(round_trips=recorded)  # plain-words: quoted
        return actions if actions is not None else hook.pytest_turntape_actions(round_trips=recorded)
