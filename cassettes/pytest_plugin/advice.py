"""What to do about a failed replay, as commands to copy, the likeliest first."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from ..counted import several
from ..errors import TurntapeError
from ..replay.miss import Miss
from ..replay.player import Player
from ..replay.restamp import refusal
from ..replay.session import Session
from ..tape.model import RoundTrip

type Cost = Callable[[Sequence[RoundTrip]], Decimal | None]
"""What round trips cost when they were recorded, in US dollars; None if no price is known."""

_ENDINGS = (".cassette.jsonl", ".cassette.jsonl.zst")
_BESIDE = 60
"""At most this many neighbours of a missing cassette are searched."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Knows how to run one test again."""

    test: str
    """The test, as pytest takes it on the command line."""
    mark: Mapping[str, Any]
    """The arguments of its mark."""
    cost: Cost
    names_a_test: Callable[[str], bool]
    """True when the test file still has a test of this name."""
    has_mark: bool = True
    """False for a fixture."""

    def of(self, session: Session, misses: Sequence[Miss], *, moved: bool, left: bool) -> list[str]:
        """What to do when the run is not the recorded one."""
        found = [miss.ignorable for miss in misses]
        if found and all(found):
            given = {name: [*self._listed(name)] for name in ("ignore", "ignore_text")}
            for one in found:
                for name, values in one.items():
                    given[name] += [value for value in values if value not in given[name]]
            line = self._marked(**{name: values for name, values in given.items() if values})
            return ["everything that differs looks new in each run; ignore it:", f"  {line}"]
        trips = list(session.player.cassette)
        again = (f"--turntape-mode=all{self._price(trips)}", "record again")
        stays = [("--turntape-mode=restamp", "keep the recorded answers, call no API")]
        can_stay = bool(misses) and all(map(_can_stay, misses))
        commands = [*(stays if can_stay else ()), again]
        marks = {
            name: True
            for name, counts in (("any_order", moved), ("partial", left))
            if counts and not misses and self.has_mark
        }
        return [
            "if the change is intended:",
            *self._commands(commands),
            *([f"  {self._marked(**marks)}  # or do not expect it"] if marks else ()),
        ]

    def without_cassette(self, session: Session) -> list[str]:
        """What to do when the cassette is missing: it may belong to the test under its earlier name."""
        twin = self._twin(session)
        if twin is not None:
            here = Path.cwd()
            one, other = (
                path.relative_to(here) if path.is_relative_to(here) else path for path in (twin, session.path)
            )
            return [
                f"{twin.name} beside it holds this very request; if the test was renamed:",
                f"  git mv {shlex.quote(str(one))} {shlex.quote(str(other))}",
            ]
        return ["with a key in the environment:", *self._commands([("--turntape-mode=once", "record it")])]

    def _commands(self, options: Sequence[tuple[str, str]]) -> list[str]:
        lines = [
            (f"  pytest {shlex.quote(self.test)} {option.partition('  ')[0]}", option.partition("  ")[2], why)
            for option, why in options
        ]
        width = max(len(line) for line, _, _ in lines)
        return [f"{line:<{width}}  # {why}{f' ({more})' if more else ''}" for line, more, why in lines]

    def _price(self, trips: Sequence[RoundTrip]) -> str:
        cost = self.cost(trips)
        about = f", about ${cost:.2f}" if cost is not None and cost >= Decimal("0.01") else ", less than $0.01"
        return f"  {several(len(trips), 'call')}{about if cost is not None else ''}"

    def _listed(self, name: str) -> list[str]:
        value: Any = self.mark.get(name, ())
        return [value] if isinstance(value, str) else list(value)

    def _marked(self, **more: Any) -> str:
        given = ", ".join(f"{name}={_written(value)}" for name, value in {**self.mark, **more}.items())
        return f"@pytest.mark.turntape({given})"

    def _twin(self, session: Session) -> Path | None:
        """A cassette of no test in the same folder that answers the request that has no cassette."""
        asked = session.unanswered
        if asked is None or not session.path.parent.is_dir():
            return None
        beside = sorted(path for path in session.path.parent.iterdir() if path.name.endswith(_ENDINGS))
        for path in beside[:_BESIDE]:
            name = path.name.partition(".cassette.")[0].rpartition(".")[2].partition("-")[0]
            if self.names_a_test(name):
                continue
            try:
                Player(path, matching=session.player.matching).answer(
                    asked.method, asked.url, asked.headers, asked.body
                )
            except TurntapeError:
                continue
            return path
        return None


def _can_stay(miss: Miss) -> bool:
    """True when the recorded answer may answer this request too."""
    nearest = miss.nearest
    return miss.is_same_turn and (nearest is None or refusal(tuple(miss.differences), nearest) is None)


def _written(value: object) -> str:
    """A value as Python with double quotes."""
    if isinstance(value, str):
        return f'"{value}"' if '"' not in value and "\\" not in value else repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, cast('Sequence[object]', value)))}]"
    return repr(value)
