"""One marked test, from before its fixtures until after them."""

import inspect
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from ..apis.lookup import api_at, is_recorded_path
from ..counted import several
from ..errors import TurntapeError
from ..faults.fault import Faults, overlay_of
from ..replay.empty_addresses import is_empty
from ..replay.miss import KIND, Miss
from ..replay.recorded_places import RecordedPlaces
from ..replay.session import Session
from ..replay.telemetry_hosts import is_side_traffic
from ..replay.tools.recording import Asked
from ..routes.upstreams import by_host
from ..tape.model import RoundTrip
from ..tape.provenance import ForkSource
from ..transports.cassette import AsyncCassetteTransport, CassetteTransport
from ..transports.patching import Way, default_transports
from ..user_frames import folded, here, is_users
from ..whole_number import whole_number
from .advice import Advice
from .collected_tests import cassettes_of, folders_left
from .commands import again, target
from .failures import Cause, Found, damage, expects_all, remarks, replaced_values
from .late_threads import LateThreads
from .marker import Faulty, Marker, cassette_of, mode_for
from .naming import PHASES, without_repetition
from .network import Network, is_loopback
from .raised import is_a_failure, says, texts, what_followed
from .server import TestServer, live_upstreams, placeholders
from .spending import Spending, cost_of, fork_of, mode_of
from .subprocesses import report_from_fork, watch_processes
from .tool_servers import ToolServers
from .workers import Recorded, folder_of_workers

_FAILED: pytest.StashKey[set[Path]] = pytest.StashKey()
"""The cassettes that this session has recorded while the test failed: it may be run again (pytest-rerunfailures)."""
_LATE: pytest.StashKey[LateThreads] = pytest.StashKey()


class ActiveTest:
    """Opens the test's cassette, patches the default transports, and reports at the end what was wrong."""

    subject = "test"

    def __init__(
        self, item: pytest.Item, spending: Spending, *, settings: Marker | None = None, path: Path | None = None
    ) -> None:
        config = item.config
        self.item = item
        self._spending = spending
        self._lines: dict[int, TracebackType] = {}
        """The user's lines that sent the requests without an answer, by the miss."""
        self._settled = 0
        """How many live calls of this test have been counted."""
        self.settings = settings = settings or Marker.of(item)
        self.path: Path = path or cassette_of(item, settings)
        self._process = os.getpid()
        self.session = self._session()
        live = (*settings.live_tools, *cast(list[str], config.getini("turntape_live_tools")))
        hosts = (
            *settings.allow,
            *(name for name in live if name != "*"),
            *cast(list[str], config.getoption("turntape_allow_host")),
            *cast(list[str], config.getini("turntape_allow_hosts")),
        )
        self._allowed = hosts
        self.network = Network(hosts, blocks=self.session.plan.calls == "never")
        self._pace = pace = settings.paced()
        self.tools = ToolServers(self.session, live, pace)
        self.transport = CassetteTransport(self.session, pace=pace)
        self.async_transport = AsyncCassetteTransport(self.session, pace=pace)
        self.server = TestServer(self.session, pace, live_upstreams(os.environ, settings.upstreams or {}))
        self.within: list[str] = []
        """The fixtures that run now, live longer than this test, and have no cassette."""
        self._senders: list[str] = []
        """Those of them that sent a request without an answer."""
        self.late = config.stash.setdefault(_LATE, LateThreads())
        self._late_senders: list[str] = []
        """Threads of earlier tests that sent a request without an answer."""
        self._late_callers: list[str] = []
        """Those that called the live API."""
        self.recorded = 0
        self.outcome: str | None = None
        """Whether the test's code passed; None while it runs, and if it was interrupted."""
        self.runs = False
        """True while the test's code runs: a report that is made then is of a subtest."""
        self.subtest_failed = False
        self.said_in_subtest = False
        """Whether a subtest has failed with what was not recorded, so that the test need not say it again."""
        self._undo = ExitStack()
        self._turn = ExitStack()
        """What lets the next repetition of the test go on, where several workers record it."""

    @classmethod
    def in_turn(cls, item: pytest.Item, spending: Spending) -> "ActiveTest":
        """The test. Repetitions (`pytest --count`) that record the same cassette in several workers wait for each
        other, and with the mode `once` those that waited play it."""
        test = cls(item, spending)
        is_repetition = without_repetition(item, item.name) != item.name
        if test.session.plan.writes == "nothing" or not is_repetition or folder_of_workers(item.config) is None:
            return test
        with ExitStack() as turn:
            turn.enter_context(Recorded(item.config).alone(test.path))
            test = cls(item, spending)
            test._turn = turn.pop_all()
        return test

    def _session(self) -> Session:
        config, settings, faulty = self.item.config, self.settings, Faulty.of(self.item)
        mode = mode_for(settings, config, mode_of(config))
        if mode in ("once", "new") and self.path in self.item.stash.get(_FAILED, ()):
            mode = "all"  # a rerun asks the model again, instead of playing what has just failed
        # A parameter (even None) or the marker decides; otherwise the file next to the cassette.
        faults = overlay_of(self.path, None) if settings.faults is None and faulty is None else settings.faults
        if faulty is not None and faulty.faults:
            faults = faulty.faults
            # Faults need a recording. If there is none yet, this run records it without faults.
            mode = "once" if mode in ("new", "all") else mode
        fork = self._forked if settings.fork is not None else fork_of(config, self.path)
        return self._opened(mode, faults, fork)

    def _opened(self, mode: str, faults: Faults | None, fork: Callable[[], ForkSource] | None) -> Session:
        config = self.item.config
        return Session(
            self.path,
            override=mode,
            matching=self.settings.matching(config.getini),
            keep=self.settings.redact_keep,
            faults=faults,
            fork=fork,
            may_call=self._may_call,
            on_miss=self._missed,
            labels=lambda round_trips: config.hook.pytest_turntape_labels(round_trips=round_trips) or (),
        )

    def _forked(self) -> ForkSource:
        """The turns to replay before the fork. Raises TurntapeError when there is no such file, turn or answer."""
        path = self.item.path.parent / str(self.settings.fork)
        fork = self.item.config.hook.pytest_turntape_fork(
            path=str(path), at=self.settings.fork_at, edits=self.settings.edit
        )
        return cast(ForkSource, fork)

    def _may_call(self) -> str | None:
        """Why the live API must not be called, or None."""
        if late := self.late.here(self.item.nodeid):
            self._late_callers.append(late)
        self._settle()
        return self._spending.refusal()

    def _settle(self) -> None:
        live = self.session.live[self._settled :]
        self._settled += len(live)
        self._spending.add(live)

    def _missed(self, miss: Miss) -> None:
        asked = self.session.unanswered
        if os.getpid() != self._process and asked is not None:
            at = urlsplit(asked.url)
            report_from_fork(f"{at.hostname}:{at.port or (443 if at.scheme == 'https' else 80)}")
        self._senders += self.within[-1:]
        if late := self.late.here(self.item.nodeid):
            self._late_senders.append(late)
        line = here()
        if line is not None:
            self._lines[id(miss)] = line

    def start(self) -> None:
        api_at("")  # reads the entry points now: a test may forbid files in its event loop
        seen = self.tools.start(self._undo)
        self._undo.enter_context(
            default_transports(
                self.transport,
                self.async_transport,
                self._way,
                seen,
                others=self._other_way,
                pace=self._pace,
                recorded=self._is_recorded,
            )
        )
        self._undo.enter_context(self.network)
        closed = self.session.plan.calls == "never"
        watch_processes(
            self._wanted_by_process,
            self._undo,
            closed=closed and not self.network.allows("*"),
            allowed=self._allowed,
            apis=self._apis_here(),
        )
        if closed:
            for name, value in placeholders(os.environ).items():
                self._undo.callback(_reset, name, value, os.environ.get(name))
                os.environ[name] = value

    def pause(self) -> None:
        """Change nothing until `start` is called again: a fixture with a cassette of its own runs."""
        self._undo.close()

    def _wanted_by_process(self, where: str) -> None:
        self.network.reached.append(where)
        if self.network.blocks:
            self.network.blocked.append(f"{where} (a process of the test)")

    def _apis_here(self) -> list[str]:
        """The LLM APIs on this machine, by the variables of the environment, as `host:port`."""
        found = [urlsplit(value) for value in live_upstreams(os.environ, {}).values()]
        ports = [one.port for one in found if is_loopback(one.hostname) and one.port]
        return [f"{name}:{port}" for port in ports for name in ("127.0.0.1", "localhost", "::1")]

    def _way(self, host: str, port: int | None, path: str) -> Way:
        if (port is not None and port == self.server.port) or self.network.allows(host, port):
            return "network"
        if is_side_traffic(host, path) and not self._is_recorded(host, path):
            return "offline" if self.session.plan.calls == "never" else "network"
        if self.session.plan.calls == "never" and is_empty(self._recorded_places, host, port, path):
            self.session.empty_addresses.append(f"{host}:{port}" if port else host)
            return "network"
        return "session"

    def _other_way(self, host: str, port: int | None, path: str) -> Way:
        """As `_way`, for libraries with which tests also talk to other servers: on this machine, only what is
        recorded, or goes to an LLM, belongs to the cassette. So does all that goes to a server that a variable such as
        `OPENAI_BASE_URL` names."""
        way = self._way(host, port, path)
        if way == "session" and is_loopback(host):
            known = f"{host}:{port}" in self._apis_here() or self._is_recorded(host, path)
            known = known or is_recorded_path(path.rstrip("/"))
            return "session" if known else "network"
        return way

    def _is_recorded(self, host: str, path: str) -> bool:
        return self._recorded_places.has(host, path)

    @cached_property
    def _recorded_places(self) -> RecordedPlaces:
        return RecordedPlaces(self.session.player.cassette)

    def stop(self) -> list[str]:
        """End everything; the problems that fail the test, line by line."""
        said: list[str] = []
        try:
            self.server.stop()
        finally:
            self._undo.close()
        whole = self.outcome is not None
        if self.session.restamp is not None:
            whole = self.outcome == "passed" and not self.problems()
        try:
            self.recorded = self.session.finish(whole=whole, failed=self.outcome == "failed")
        except TurntapeError as exc:
            said.append(str(exc))
        finally:
            self._turn.close()
        if self.recorded and self.outcome == "failed" and self.session.plan.writes == "replaced":
            self.item.stash.setdefault(_FAILED, set()).add(self.path)
        self._settle()
        if self.recorded:
            self.session.notes += [
                f"{late} called the API, and its turns are in this cassette: let that test wait for it, and record "
                "again"
                for late in dict.fromkeys(self._late_callers)
            ]
        if self.outcome != "skipped":
            self.session.notes += remarks(self.session)
        if damaged := damage(self.session):
            self.session.notes.append(damaged)
        if self.outcome == "failed" and (replaced := replaced_values(self.session)):
            self.session.notes.append(replaced)
        if self.session.is_of_failed_test:
            self.session.notes.append(f"its {self.subject} failed when this cassette was recorded; record again")
        return [*said, *self.problems()]

    def left_by_interruption(self) -> str | None:
        """What an interruption leaves of a recording, in one sentence; None where nothing was recorded."""
        count = len(self.session.live)
        if not count or self.session.plan.writes == "nothing":
            return None
        stays = "; the earlier cassette stays as it was" if self.session.exists else ""
        again = self._again(f"--turntape-mode={'all' if self.session.exists else 'once'}")
        return (
            f"its recording was interrupted after {several(count, 'live call')} and is not used{stays}; record it "
            f"again: {again}"
        )

    @property
    def asked(self) -> bool:
        return bool(self.session.passed or self.session.misses or self.tools.missed)

    @property
    def left_over(self) -> Sequence[RoundTrip | Asked]:
        """The recorded turns and tool calls that this test should have requested and did not."""
        return [*self.session.unplayed, *self.tools.left_over] if expects_all(self.session, self.settings) else []

    def problems(self, *, ended: bool = True, passed: bool | None = None) -> list[str]:
        """Requests that were not recorded, recorded turns that were not requested, and different live answers, line by
        line. `ended` is False while fixtures of the test may still send requests."""
        found = self._found(ended=ended, passed=passed)
        lines = [*dict.fromkeys(self.session.refused), *found.lines()]
        for name in dict.fromkeys(self._senders) if lines else ():
            lines.append(
                f"the fixture {name}, which lives longer than a test, sent a request that was not recorded; record it "
                f"in a separate cassette: {self._again('--turntape-mode=once')}"
            )
        for late in dict.fromkeys(self._late_senders) if lines else ():
            lines.append(f"{late} sent a request that was not recorded: let that test wait for its thread")
        if lines and self.session.is_of_failed_test:
            lines.append(f"the {self.subject} failed when this cassette was recorded")
        if ended and not self.asked and (unseen := self._unseen()):
            return [unseen]  # why nothing was requested
        if lines and self.network.blocked:
            lines.append(f"the network was blocked for {', '.join(dict.fromkeys(self.network.blocked))}")
        return lines

    @property
    def _advice(self) -> Advice:
        item = self.item
        return Advice(
            self._again,
            self._mark,
            cost_of(item.config),
            item.path,
            self._is_of_a_test,
            self.subject == "test",
            item.name,
            lambda: folders_left(item.config),
        )

    def _found(self, *, ended: bool = True, passed: bool | None = None) -> Found:
        passed = self.outcome == "passed" if passed is None else passed
        return Found(self.session, self.settings, self.tools, self._actions, self._advice, passed, ended)

    def cause(self) -> Cause | None:
        """Why this test fails, as far as others may fail for the same reason."""
        return self._found().cause() if self.session.misses and self.session.exists else None

    def moves(self) -> list[str]:
        """The commands that give this test the cassette of its earlier name, when it has none."""
        return self._advice.moves(self.session) if self.session.misses and not self.session.exists else []

    def at_the_end_of_the_test(self) -> None:
        """Fail the test itself for what it swallowed, when nothing that follows can still change that."""
        # Without a line of the user only the text is shown, and pytest remarks on a traceback without any frame.
        __tracebackhide__ = self.first_line is not None
        if self.session.plan.calls == "never":
            lines = self.problems(ended=not _may_follow(self.item), passed=True)
        else:
            unseen = None if self.asked or self.session.exchanges.count else self._unseen()
            lines = [unseen] if unseen else []
        if lines:
            raise failure(lines, self.first_line is not None, self.cause()).with_traceback(self.first_line)

    @property
    def first_line(self) -> TracebackType | None:
        """Where the user's code sent the first request without an answer; None if no line of it did."""
        return next((self._lines[id(miss)] for miss in self.session.misses if id(miss) in self._lines), None)

    def explained(self, error: BaseException) -> BaseException | None:
        """In place of an error that comes from a request without an answer: what was wrong with the request, at the
        user's line. None for another error."""
        if isinstance(error, Failed):
            return error.with_traceback(folded(error.__traceback__))
        if is_a_failure(error) and not self.session.player.faulty:
            self.session.failed_for([miss for miss in self.session.strays if says(error, miss)])
        misses = self.session.misses
        # Many clients show the error as the text of a dict, where quotes are written in another way.
        is_said = any(KIND in text or str(miss) in text for text in texts(error) for miss in misses)
        # Without the text of the answer: an own error of a client, or what code and test make of an answer that they
        # did not check (`KeyError: 'choices'`, `assert '' == 'Paris'`). The missing answer fails the test in any case.
        if not is_said and (not misses or not is_a_failure(error)):
            return None
        lines = self.problems(ended=False, passed=False)
        if lines and not is_said:
            lines += what_followed(error)
        line = self.first_line or folded(error.__traceback__)
        return failure(lines, line is not None, self.cause()).with_traceback(line) if lines else None

    def _again(self, option: str) -> str:
        """The command that runs this test again with an option."""
        item = self.item
        name = without_repetition(item, item.nodeid.partition("::")[2])
        return again(item.config, [target(item.config, item.path, name)], option)

    @property
    def _mark(self) -> dict[str, Any]:
        mark = self.item.get_closest_marker("turntape")
        return dict(mark.kwargs) if mark is not None else {}

    def _is_of_a_test(self, path: Path) -> bool:
        """True when a cassette may belong to a test of the file, or to a fixture."""
        name = path.name.partition(".cassette.")[0].rpartition(".")[2].partition("-")[0]
        try:
            source = self.item.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return True
        if path.name.endswith(PHASES):
            return True
        if re.search(rf"\bdef {re.escape(name)}\b", source) is None:
            return False
        known = cassettes_of(self.item.config, self.item.path)
        return known is None or path in known

    def _unseen(self) -> str | None:
        """What to say when the test reached an LLM API and nothing of that passed through us."""
        apis = [(one.hostname, one.port) for one in map(urlsplit, live_upstreams(os.environ, {}).values())]
        for where in self.network.reached:
            host, _, port = where.rpartition(":") if ":" in where else (where, "", "")
            if where in self.session.empty_addresses:
                continue
            if by_host(host) is not None or (host, whole_number(port) or 0) in apis:
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


class Failed(pytest.fail.Exception):
    """A test whose run is not the recorded one; shown as `turntape: …`."""

    cause: Cause | None = None
    """Why, as far as other tests may fail for the same reason."""

    def __str__(self) -> str:
        return str(self.msg) if self.pytrace else f"turntape: {self.msg}"


Failed.__module__ = "builtins"
Failed.__qualname__ = Failed.__name__ = "turntape"


def _reset(name: str, ours: str, before: str | None) -> None:
    """Undo a variable of ours; one that the test has set since stays."""
    if os.environ.get(name) == ours:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def failure(lines: Sequence[str], has_line: bool, cause: Cause | None) -> Failed:
    """The failure with this text. Without a line of the user, only the text is shown."""
    failed = Failed("\n".join(lines), pytrace=has_line)
    failed.cause = cause
    return failed


def _may_follow(item: pytest.Item) -> bool:
    """True when a fixture of the user has something to do after the test: it may send requests."""
    info: Any = getattr(item, "_fixtureinfo", None)
    definitions: dict[str, Sequence[Any]] = getattr(info, "name2fixturedefs", {})
    functions = [one.func for several in definitions.values() for one in several]
    return any(
        (inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one)) and is_users(one.__code__.co_filename)
        for one in map(inspect.unwrap, functions)
        if hasattr(one, "__code__")
    )
