"""One marked test, from before its fixtures until after them."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from ..deck import Deck
from ..errors import TurntapeError
from ..faults import Faults
from ..matching import Matching
from ..model import RoundTrip
from ..transports.cassette import AsyncCassetteTransport, CassetteTransport
from ..transports.patching import default_transports
from .naming import cassette_path
from .network import Network
from .server import TestServer, live_upstreams, placeholders

_SHOWN = 8
"""How many unplayed turns are named."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the marker says; docs/testing.md explains each."""

    path: str | os.PathLike[str] | None = None
    mode: str | None = None
    matching: Matching | None = None
    faults: Faults | None = None
    pace: str | float = "instant"
    allow: tuple[str, ...] = ()
    upstreams: Mapping[str, str] | None = None
    partial: bool = False

    @classmethod
    def of(cls, item: pytest.Item) -> "Settings":
        """The markers of a test, its module and its classes taken together, the nearest last.

        Raises TurntapeError for what is no setting.
        """
        given: dict[str, Any] = {}
        for marker in reversed(list(item.iter_markers("turntape"))):
            if marker.args:
                raise TurntapeError(
                    f"@pytest.mark.turntape was given {marker.args[0]!r} without a name; write path=… or mode=…"
                )
            given |= marker.kwargs
        for name in given:
            if name not in cls.__slots__:
                raise TurntapeError(
                    f"@pytest.mark.turntape has no setting {name!r}; it knows {', '.join(cls.__slots__)}"
                )
        allow = given.get("allow", ())
        given["allow"] = (allow,) if isinstance(allow, str) else tuple(allow)
        return cls(**given)


class MarkedTest:
    """Opens the test's cassette, patches what goes to the network, and says at the end what was wrong."""

    def __init__(self, item: pytest.Item) -> None:
        config = item.config
        self.item = item
        self.settings = settings = Settings.of(item)
        self.path: Path = cassette_path(item, settings.path)
        self.deck = Deck(
            self.path,
            settings.mode or cast(str, config.getini("turntape_mode")) or None,
            told=config.getoption("turntape_mode"),
            matching=settings.matching,
            faults=settings.faults,
        )
        hosts = (
            *settings.allow,
            *cast(list[str], config.getoption("turntape_allow_host")),
            *cast(list[str], config.getini("turntape_allow_hosts")),
        )
        self.network = Network(hosts)
        self.transport = CassetteTransport(self.deck, pace=settings.pace)
        self.async_transport = AsyncCassetteTransport(self.deck, pace=settings.pace)
        self.server = TestServer(self.deck, settings.pace, live_upstreams(os.environ, settings.upstreams or {}))
        self.recorded = 0
        self.outcome: str | None = None
        """What became of the test's own code; None while it runs, and for ever when it was interrupted."""
        self._undo = ExitStack()

    def start(self) -> None:
        self._undo.enter_context(default_transports(self.transport, self.async_transport, self._passes))
        if self.deck.plan.calls == "never":
            self._undo.enter_context(self.network)
            patch = self._undo.enter_context(pytest.MonkeyPatch.context())
            for name, value in placeholders(os.environ).items():
                patch.setenv(name, value)

    def _passes(self, host: str, port: int | None) -> bool:
        return (port is not None and port == self.server.port) or self.network.allows(host, port)

    def stop(self) -> list[str]:
        """End everything; the problems that fail the test, one sentence each."""
        problems: list[str] = []
        try:
            self.server.stop()
        finally:
            self._undo.close()
        try:
            self.recorded = self.deck.finish(whole=self.outcome is not None)
        except TurntapeError as exc:
            problems.append(str(exc))
        return [*problems, *self.problems()]

    @property
    def asked(self) -> bool:
        return bool(self.deck.passed or self.deck.misses)

    @property
    def left_over(self) -> list[RoundTrip]:
        """What of the cassette this test should have asked for and did not."""
        calls = self.deck.plan.calls
        expected = self.deck.plan.plays and calls != "missing" and not self.settings.partial
        return self.deck.unplayed if expected and self.settings.faults is None else []

    def problems(self) -> list[str]:
        """What was asked for and not recorded, what was recorded and not asked for, what the API answers otherwise."""
        problems = [f"a request was not recorded: {miss}" for miss in self.deck.misses]
        if self.outcome == "passed" and (left := self.left_over):
            problems.append(self._left(left))
        problems += [f"the live API no longer answers as recorded: {one}" for one in self.deck.drifts]
        if problems and self.network.blocked:
            problems.append(f"the network was blocked for {', '.join(dict.fromkeys(self.network.blocked))}")
        return problems

    def _left(self, left: list[RoundTrip]) -> str:
        recorded = len(self.deck.player.cassette)
        names = cast(
            "list[str] | None",
            self.item.config.hook.pytest_turntape_names(round_trips=list(self.deck.player.cassette)),
        )
        shown = [
            f"#{trip.index} {names[trip.index] if names else f'{trip.request.method} {trip.request.url}'}"
            for trip in left[:_SHOWN]
        ]
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        whose = "was" if len(left) == 1 else "were"
        return (
            f"{len(left)} of {recorded} recorded round trips {whose} not asked for: {'; '.join(shown)}{more}; "
            "the agent now stops earlier or takes another way: record again with --turntape-mode=all if that is "
            "meant, or mark the test with partial=True"
        )
