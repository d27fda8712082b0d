"""Tool servers in process: records what the clients of the MCP SDK say, whatever they are connected with.

Every client of the SDK is a `ClientSession`, over stdio, HTTP or memory; fastmcp's `Client` has one inside. So that
class is patched, also when the SDK is imported later. Each session is one tool session of the cassette. A session that
is open longer than its context is recorded in the next one, or in the one around it.
"""

import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from ..framing.json_text import parse_json
from ..recording.tool_session import Sink
from .mcp_wire import Dispatching, Reading, Wire, Writing

_MODULE = "mcp.client.session"
_contexts: "list[_Sessions]" = []
"""The contexts that are entered, the innermost last."""
_wires: WeakKeyDictionary[Any, Wire] = WeakKeyDictionary()
"""The sessions of clients that were opened within a context."""


def is_recording() -> bool:
    """True within a context in which tool sessions are recorded."""
    return bool(_contexts)


class Recorded(Protocol):
    """The tool sessions of one recording."""

    def goes_over_http(self, body: bytes) -> None:
        """A message is recorded as it goes over HTTP: its session is not recorded here as well."""
        ...


@contextmanager
def recorded_tools(sink: Sink, *, run: str | None = None) -> Generator[Recorded]:
    """Within this context, all sessions of the MCP SDK are recorded: `with recorded_tools(Recorder("a.jsonl")):`.

    `sink` is a `Recorder`, which the caller closes afterwards. `run` names the run. Sessions that are still open at
    the end of the context end there for the recording. Without the SDK nothing happens.
    """
    sessions = _Sessions(sink, run)
    with ExitStack() as undo:
        sessions.begin()
        undo.callback(sessions.end)
        if (module := sys.modules.get(_MODULE)) is not None:
            sessions.patch(undo, module)
        else:
            undo.enter_context(when_imported(_MODULE, partial(sessions.patch, undo)))
        yield sessions


class _Sessions:
    def __init__(self, sink: Sink, run: str | None) -> None:
        self._sink = sink
        self._run = run
        self._wires: list[Wire] = []

    def goes_over_http(self, body: bytes) -> None:
        if not any(wire.is_open for wire in self._wires):
            return
        message = parse_json(body)
        if isinstance(message, dict):
            for wire in self._wires:
                if wire.is_beginning(cast(dict[str, Any], message)):
                    wire.drop()

    def begin(self) -> None:
        """Record the sessions that are open already, from their next message on."""
        _contexts.append(self)
        self._adopt()

    def end(self) -> None:
        """Leave the sessions that are still open to the context around this one."""
        for wire in (*self._wires, *_wires.values()):
            wire.end()
        _contexts.remove(self)
        if _contexts:
            _contexts[-1]._adopt()

    def _adopt(self) -> None:
        for wire in _wires.values():
            wire.go_on(self._sink, self._run)

    def _wire(self) -> Wire:
        wire = Wire(self._sink, self._run)
        self._wires.append(wire)
        return wire

    def patch(self, undo: ExitStack, module: ModuleType) -> None:
        """Patch the class of all clients until `undo`."""
        session: Any = module.ClientSession
        begin, leave = session.__init__, session.__aexit__

        def __init__(this: Any, read_stream: Any = None, write_stream: Any = None, *rest: Any, **named: Any) -> None:
            wire = self._wire()
            if read_stream is not None and write_stream is not None:
                read_stream, write_stream = Reading(read_stream, wire), Writing(write_stream, wire)
            elif (dispatcher := named.get("dispatcher")) is not None:
                named["dispatcher"] = _copied(dispatcher, wire)
            begin(this, read_stream, write_stream, *rest, **named)
            _wires[this] = wire

        async def __aexit__(this: Any, *problem: Any) -> Any:
            try:
                return await leave(this, *problem)
            finally:
                if (wire := _wires.pop(this, None)) is not None:
                    wire.end()

        undo.callback(setattr, session, "__init__", begin)
        undo.callback(setattr, session, "__aexit__", leave)
        session.__init__, session.__aexit__ = __init__, __aexit__


def _copied(dispatcher: Any, wire: Wire) -> Any:
    """A dispatcher whose messages are copied: those of its streams, when it has some."""
    reading, writing = getattr(dispatcher, "_read_stream", None), getattr(dispatcher, "_write_stream", None)
    if reading is None or writing is None:
        return Dispatching(dispatcher, wire)
    dispatcher._read_stream, dispatcher._write_stream = Reading(reading, wire), Writing(writing, wire)
    return dispatcher


class _Finder(MetaPathFinder):
    """Calls a function with one module when that is imported."""

    def __init__(self, name: str, done: Any) -> None:
        self._name = name
        self._done = done
        self._searching = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name or self._searching:
            return None
        self._searching = True
        try:
            spec = find_spec(fullname)
        finally:
            self._searching = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Calling(spec.loader, self._done)
        return spec


class _Calling(Loader):
    """A loader that calls a function with the module that another one has loaded."""

    def __init__(self, loader: Any, done: Any) -> None:
        self._loader = loader
        self._done = done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._done(module)


@contextmanager
def when_imported(name: str, done: Any) -> Generator[None]:
    finder = _Finder(name, done)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
