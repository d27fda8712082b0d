"""`use_cassette` as a context manager and a decorator, for functions, coroutines and generators of both kinds."""

import functools
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import CassetteError
from ..frozen import frozen
from ..importers.targets import beside
from ..replay.empty_addresses import is_empty, refusal
from ..replay.miss import Miss
from ..replay.recorded_places import RecordedPlaces
from ..replay.telemetry_hosts import is_side_traffic
from ..transports.cassette import AsyncCassetteTransport, CassetteTransport
from ..transports.patching import Way, default_transports
from ..user_frames import here
from .cassette import Cassette
from .errors import CannotOverwriteExistingCassetteException
from .observer import observers
from .record_mode import OURS, RecordMode
from .session import VcrSession
from .settings import Settings


@frozen
class Use:
    """What one use of a cassette does."""

    settings: Settings
    mode: str | None
    """None where the code sets none."""
    placed: Callable[[str], Path]
    """The path of a recording by its name."""
    named: Callable[[Callable[..., Any]], str]
    """The name of a recording by the function that uses it."""
    inject: bool = False
    record_on_exception: bool = True


class CassetteContext:
    """Plays or records one cassette between entering and leaving. One object can be used again, but not within itself;
    a decorated function can."""

    def __init__(self, use: Callable[[], Use], name: str | None) -> None:
        self._use = use
        self._name = name
        self._open: _Open | None = None

    def __enter__(self) -> Cassette:
        if self._open is not None:
            raise CassetteError(
                f"the cassette {self._name!r} is open already; call use_cassette again for a second use"
            )
        if self._name is None:
            raise CassetteError("use_cassette was given no path; only a decorated function has a name")
        use = self._use()
        self._open = _Open(use, use.placed(self._name))
        return self._open.cassette

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        opened, self._open = self._open, None
        if opened is not None:
            opened.leave(error)

    async def __aenter__(self) -> Cassette:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        self.__exit__(kind, error, trace)

    def __call__(self, function: Any) -> Any:
        """The function within a new use of the cassette for each call."""

        def around() -> tuple["CassetteContext", bool]:
            use = self._use()
            return CassetteContext(lambda: use, self._name or use.named(function)), use.inject

        def given(cassette: Cassette, inject: bool, args: tuple[Any, ...]) -> tuple[Any, ...]:
            return (cassette, *args) if inject else args

        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def async_pieces(*args: Any, **named: Any) -> Any:
                __tracebackhide__ = True
                context, inject = around()
                with context as cassette:
                    async for piece in function(*given(cassette, inject, args), **named):
                        yield piece

            return async_pieces
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **named: Any) -> Any:
                __tracebackhide__ = True
                context, inject = around()
                with context as cassette:
                    return await function(*given(cassette, inject, args), **named)

            return awaited
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def pieces(*args: Any, **named: Any) -> Any:
                __tracebackhide__ = True
                context, inject = around()
                with context as cassette:
                    yield from function(*given(cassette, inject, args), **named)

            return pieces

        @functools.wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            context, inject = around()
            with context as cassette:
                return function(*given(cassette, inject, args), **named)

        if self._use().inject:
            _without_first_parameter(called, function)
        return called


def _without_first_parameter(called: Any, function: Callable[..., Any]) -> None:
    """Hide the parameter that gets the cassette: pytest would look for a fixture of its name."""
    parameters = list(inspect.signature(function).parameters.values())
    called.__signature__ = inspect.Signature(parameters[1:])


class _Open:
    """A cassette in use."""

    def __init__(self, use: Use, source: Path) -> None:
        self._use = use
        self._line: TracebackType | None = None
        """The user's lines that sent the first request without an answer."""
        path = beside(source)
        observer = observers[-1] if observers else None
        override = observer.mode if observer is not None else None
        usual = observer.usual_mode if observer is not None else None
        asked = use.mode or usual or RecordMode.ONCE
        mode = OURS.get(asked, asked)
        self._let_pass: Callable[[str], object] = len
        self._session = session = VcrSession(
            path, mode, use.settings, override=override, on_miss=self._missed, on_pass=lambda host: self._let_pass(host)
        )
        if session.mode != "all" and not session.exists and source.suffix and source.is_file():
            raise CassetteError(
                f"{str(source)!r} is a recording of vcrpy, and {str(path)!r} does not exist; convert it: "
                f"turntape import {source}"
            )
        self.cassette = Cassette(session)
        self._places = RecordedPlaces(session.player.cassette)
        self._undo = ExitStack()
        self._undo.enter_context(
            default_transports(
                CassetteTransport(session),
                AsyncCassetteTransport(session),
                self._way,
                others=self._way,
                recorded=self._places.has,
            )
        )
        if observer is not None and session.plan.calls == "never":
            self._let_pass = observer.close_network(self._undo, use.settings.ignored_hosts)

    def _way(self, host: str, port: int | None, path: str) -> Way:
        if host in self._use.settings.ignored_hosts:
            return "network"
        if is_side_traffic(host, path) and not self._places.has(host, path):
            return "offline" if self._session.plan.calls == "never" else "network"
        return "network" if self._session.plan.calls == "never" and self._is_empty(host, port, path) else "session"

    def _is_empty(self, host: str, port: int | None, path: str) -> bool:
        settings, player = self._use.settings, self._session.player
        if settings.on_request and player.cassette:  # they may give a request another address
            return False
        found = is_empty(self._places, host, port, path, of_any_host=not settings.compares_address)
        if found:
            self._session.empty_addresses.append(f"{host}:{port}" if port else host)
        return found

    def _missed(self, miss: Miss) -> None:
        self._line = self._line or here()

    def leave(self, error: BaseException | None) -> None:
        """End the use. Raises the error of requests without an answer, in place of what the client made of them."""
        __tracebackhide__ = True
        self._undo.close()
        session = self._session
        whole = error is None or (isinstance(error, Exception) and self._use.record_on_exception)
        recorded = session.finish(whole=whole)
        if observers:
            observers[-1].used(session.path, session, recorded)
        elif error is not None and session.empty_addresses:
            error.add_note(refusal(session.empty_addresses))
        if session.misses and (error is None or isinstance(error, Exception)):
            missed = CannotOverwriteExistingCassetteException(session.path, session.misses)
            raise missed.with_traceback(self._line) from None
