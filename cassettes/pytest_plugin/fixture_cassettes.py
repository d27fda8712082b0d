"""The cassettes of fixtures that live longer than a test: what they send is not part of the test that comes first.

A fixture of the scope `class`, `module`, `package` or `session` has two cassettes: `<fixture>.setup.cassette.jsonl` for
what it sends before its value is there, and `<fixture>.teardown.cassette.jsonl` for the rest. So its recording is
complete before the first test begins, and the workers of pytest-xdist share it: one records, the others wait and play.
"""

import inspect
import os
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from ..errors import TurntapeError
from ..regex import regex
from ..replay.record_modes import Mode
from ..replay.session import Session
from ..user_frames import is_users
from .active_test import ActiveTest, Failed, failure
from .marker import Marker, mode_for
from .naming import SUFFIX, folder_beside, safe_name
from .spending import Spending
from .usage_log import UsageLog
from .vcr_names import mode_by_vcrpy
from .workers import Recorded

type Phase = Literal["setup", "teardown"]
type Definition = pytest.FixtureDef[Any]

PHASES: tuple[Phase, ...] = ("setup", "teardown")

_XUNIT = regex(r"_(?:xunit|unittest)_(set\w+?)_fixture_")
"""How pytest names the fixture that it makes of `setup_module`, `setup_class` or `setUpClass`."""


def is_longer_lived(definition: Definition) -> bool:
    """True for a fixture of the user that lives longer than a test."""
    if definition.scope == "function":
        return False
    code = getattr(inspect.unwrap(definition.func), "__code__", None)
    return bool(_XUNIT.match(definition.argname)) or (code is not None and is_users(code.co_filename))


def _has_line(info: pytest.ExceptionInfo[BaseException]) -> bool:
    """True when the traceback has other lines than ours."""
    return getattr(info.value, "pytrace", True)


def name_of(definition: Definition) -> str:
    """A fixture's name, or that of the function that pytest made it of."""
    xunit = _XUNIT.match(definition.argname)
    return xunit[1] if xunit else definition.argname


def base_of(definition: Definition, item: pytest.Item) -> Path:
    """The path of a fixture's cassettes, without parameter and ending, when this test uses it."""
    name = name_of(definition)
    if definition.scope in ("class", "module"):
        classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
        name = ".".join([*(classes if definition.scope == "class" else ()), name])
        return folder_beside(item.path, item.config) / name
    file = Path(inspect.unwrap(definition.func).__code__.co_filename)
    return folder_beside(file, item.config) / name


def _parameter(value: object, index: int) -> str:
    """The parameter of an instance of a fixture, as part of a name."""
    if isinstance(value, str | int | float | bool | None):
        return f"[{value}]"
    return f"[{getattr(value, '__name__', None) or f'{type(value).__name__}{index}'}]"


def _parameter_in(item: pytest.Item, definition: Definition) -> str:
    """The parameter of the instance that a test will use; empty for a fixture without."""
    call: Any = getattr(item, "callspec", None)
    name = definition.argname
    if call is None or name not in call.params or name not in call.indices:
        return ""
    return _parameter(call.params[name], call.indices[name])


def _node_of(definition: Definition, item: pytest.Item) -> pytest.Collector:
    """The class, module, package or session that a fixture lives as long as."""
    kinds: dict[str, type[pytest.Collector]] = {"class": pytest.Class, "module": pytest.Module}
    if definition.scope == "package":  # the one that defines it, also for the tests of packages in it
        packages = (node for node in item.listchain() if isinstance(node, pytest.Package))
        return next((node for node in packages if node.nodeid == definition.baseid), item.session)
    kind = kinds.get(definition.scope)
    found = item.getparent(kind) if kind is not None else item.session
    return found or item.getparent(pytest.Module) or item.session


def _path_of(definition: Definition, item: pytest.Item, parameter: str, phase: Phase) -> Path:
    base = base_of(definition, item)
    return base.with_name(f"{safe_name(base.name + parameter)}.{phase}{SUFFIX}")


class ActiveFixture(ActiveTest):
    """One phase of a fixture, from before its code until after it."""

    subject = "fixture"

    def __init__(
        self, item: pytest.Item, spending: Spending, settings: Marker, path: Path, name: str, *, mode: str
    ) -> None:
        self._mode = mode
        self.name = name
        super().__init__(item, spending, settings=settings, path=path)

    def _session(self) -> Session:
        return self._opened(self._mode, None, None)

    def problems(self, *, ended: bool = True, passed: bool | None = None) -> list[str]:
        said = super().problems(ended=ended, passed=passed)
        return [f"in the fixture {self.name}:", *said] if said else []


class FixtureCassettes:
    """Notes which fixtures the marked tests use, and gives each its cassettes while it runs.

    `active` holds what records and replays now: the marked test, and on top of it the fixtures that run within it.
    """

    def __init__(self, config: pytest.Config, spending: Callable[[], Spending], log: UsageLog) -> None:
        self._config = config
        self._spending = spending
        self._log = log
        self._users: defaultdict[int, list[pytest.Item]] = defaultdict(list)
        self._definitions: dict[int, Definition] = {}
        self._recorded = Recorded(config)
        self._torn_down: dict[int, tuple[ActiveFixture, Any]] = {}
        self._without_value: set[int] = set()
        """The fixtures that failed: what they send at their end is not expected to be what was recorded."""
        self.active: list[ActiveTest] = []

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Note the fixtures of marked tests."""
        for item in items:
            known: dict[str, Sequence[Definition]] = getattr(
                getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
            )
            for definition in (one for several in known.values() for one in several if is_longer_lived(one)):
                self._users[id(definition)].append(item)
                self._definitions[id(definition)] = definition
                self._log.fixtures.add(str(base_of(definition, item)))

    def replaced_by(self, items: Sequence[pytest.Item]) -> Sequence[Path]:
        """The cassettes of the fixtures of these tests that this session records again."""
        chosen, found = set(items), dict[Path, None]()
        for key, definition in self._definitions.items():
            users = [item for item in self._users[key] if item in chosen]
            for item in users:
                try:
                    _, mode = self._settings(_node_of(definition, item), users)
                except TurntapeError:  # the test itself says it
                    continue
                given = _parameter_in(item, definition)
                paths = (_path_of(definition, item, given, phase) for phase in PHASES)
                found.update(dict.fromkeys(path for path in paths if mode == "all" and path.exists()))
        return list(found)

    def setup(self, definition: Definition, request: Any) -> Generator[None, Any, Any]:
        """Run the fixture until its value is there, with its cassette."""
        __tracebackhide__ = True
        item: pytest.Item = request._pyfuncitem
        if not is_longer_lived(definition) or not (self._users.get(id(definition)) or self.active):
            return (yield)
        path = self._path(definition, request, item, "setup")
        try:
            with self._recorded.alone(path):
                part = self._opened(definition, request, item, path)
                if part is None:
                    return (yield from self._beside(definition))
                return (yield from self._run(part, definition, request))
        finally:
            definition.addfinalizer(lambda: self._begin_teardown(definition, request, item))

    def _beside(self, definition: Definition) -> Generator[None, Any, Any]:
        """Nothing is recorded for the fixture: its requests count as those of the test, which says whose they are."""
        __tracebackhide__ = True
        test = self.active[-1] if self.active else None
        if test is None:
            return (yield)
        test.within.append(name_of(definition))
        try:
            return (yield)
        except BaseException:
            self._without_value.add(id(definition))
            raise
        finally:
            test.within.pop()

    def _run(self, part: ActiveFixture, definition: Definition, request: Any) -> Generator[None, Any, Any]:
        __tracebackhide__ = _has_line
        self._push(part)
        try:
            result = yield
        except BaseException as exc:
            part.outcome = "failed" if isinstance(exc, Exception) else None
            explained = part.explained(exc)
            self._pop(part)
            self._without_value.add(id(definition))
            if explained is None:
                raise
            self._failed(definition, request, explained)
            raise explained from None
        part.outcome = "passed"
        said = self._pop(part)
        if said is not None:
            self._failed(definition, request, said)
            raise said
        return result

    def _begin_teardown(self, definition: Definition, request: Any, item: pytest.Item) -> None:
        path = self._path(definition, request, item, "teardown")
        turn = self._recorded.alone(path)
        turn.__enter__()
        part = self._opened(definition, request, item, path)
        if part is None:
            turn.__exit__(None, None, None)
            return
        self._torn_down[id(definition)] = (part, turn)
        self._push(part)

    def end_teardown(self, definition: Definition) -> None:
        """The fixture has ended. Raises its failure when what it sent at its end was not recorded."""
        __tracebackhide__ = True
        if id(definition) not in self._torn_down:
            return
        part, turn = self._torn_down.pop(id(definition))
        part.outcome = "failed" if id(definition) in self._without_value else "passed"
        self._without_value.discard(id(definition))
        said = self._pop(part)
        turn.__exit__(None, None, None)
        if said is not None:
            raise said

    def _path(self, definition: Definition, request: Any, item: pytest.Item, phase: Phase) -> Path:
        given = _parameter(request.param, request.param_index) if hasattr(request, "param") else ""
        return _path_of(definition, item, given, phase)

    def _opened(self, definition: Definition, request: Any, item: pytest.Item, path: Path) -> ActiveFixture | None:
        """The fixture with its cassette; None when it has none and nothing is recorded."""
        users = [*self._users.get(id(definition), ()), *([item] if self.active else ())]
        try:
            settings, mode = self._settings(request.node, users)
        except TurntapeError:  # the test itself says it
            return None
        if path in self._recorded and mode in ("once", "all", "restamp"):
            mode = "none"
        if not path.exists() and mode in ("none", "verify", "restamp"):
            return None
        name = f"{name_of(definition)} ({os.path.relpath(path, self._config.rootpath)})"
        return ActiveFixture(item, self._spending(), settings, path, name, mode=mode)

    def _settings(self, node: Any, users: Sequence[pytest.Item]) -> tuple[Marker, Mode]:
        """What holds for a fixture of this node that these tests use. Raises TurntapeError for an invalid mark."""
        marks = [Marker.of(user) for user in users]
        settings = Marker.of(node)
        settings = replace(
            settings,
            mode=settings.mode or next((mark.mode for mark in marks if mark.mode is not None), None),
            allow=tuple(dict.fromkeys(host for mark in (settings, *marks) for host in mark.allow)),
        )
        # Turns before which a test is replayed do not say anything about its fixtures.
        given = self._config.getoption("turntape_mode") or mode_by_vcrpy(self._config)
        return settings, mode_for(settings, self._config, given)

    def _push(self, part: ActiveFixture) -> None:
        if self.active:
            self.active[-1].pause()
        self.active.append(part)
        part.start()

    def _pop(self, part: ActiveFixture) -> Failed | None:
        """End a fixture's phase; its failure when its requests are not the recorded ones."""
        line = part.first_line
        problems = part.stop()
        self.active.remove(part)
        if self.active:
            self.active[-1].start()
        if part.recorded or part.session.mode == "restamp":
            self._recorded.add(part.path)
        self._log.used(f"the fixture {part.name.partition(' ')[0]}", part)
        if not problems or part.outcome != "passed":
            return None
        failed = failure(problems, line is not None, part.cause())
        return failed.with_traceback(line)

    def _failed(self, definition: Definition, request: Any, error: BaseException) -> None:
        """Every test that uses the fixture gets the same error."""
        self._without_value.add(id(definition))
        definition.cached_result = (None, definition.cache_key(request), (error, error.__traceback__))
