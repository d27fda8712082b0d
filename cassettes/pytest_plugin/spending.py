"""What recording costs: before it begins, and against the limit `--turntape-max-cost`, which holds for the session."""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import cast

import pytest

from ..counted import several
from ..errors import TurntapeError
from ..tape.model import RoundTrip
from ..tape.provenance import ForkSource
from ..tape.reader import Cassette
from .marker import Marker, cassette_of, mode_for
from .vcr_names import mode_by_vcrpy
from .workers import folder_of_workers


def cost_of(config: pytest.Config) -> Callable[[Sequence[RoundTrip]], Decimal | None]:
    """A function for the cost of round trips in US dollars; it gives None if no price is known."""

    def cost(trips: Sequence[RoundTrip]) -> Decimal | None:
        labels: list[tuple[int, dict[str, object]]] = config.hook.pytest_turntape_labels(round_trips=list(trips)) or []
        known = [Decimal(str(label["cost_usd"])) for _, label in labels if label.get("cost_usd") is not None]
        return sum(known, Decimal(0)) if known else None

    return cost


def limit_of(config: pytest.Config) -> Decimal | None:
    """The limit in US dollars; None without one. Raises TurntapeError for an invalid amount."""
    given: str | None = config.getoption("turntape_max_cost")
    if given is None:
        return None
    try:
        limit = Decimal(given.strip().removeprefix("$"))
    except InvalidOperation:
        limit = Decimal(-1)
    if not limit.is_finite() or limit < 0:
        raise TurntapeError(f"--turntape-max-cost is {given!r}; give an amount in US dollars, such as 0.50")
    return limit


class Spending:
    """The cost of the live calls of this session. The processes of pytest-xdist share it through a file."""

    def __init__(self, config: pytest.Config) -> None:
        self.limit = limit_of(config)
        self._cost = cost_of(config)
        folder = folder_of_workers(config)
        self._file = folder / "spent" if folder is not None else None
        self._own = Decimal(0)

    @property
    def spent(self) -> Decimal:
        """US dollars so far, in all processes."""
        if self._file is None:
            return self._own
        try:
            return sum(map(Decimal, self._file.read_text(encoding="ascii").split()), Decimal(0))
        except FileNotFoundError:
            return self._own

    def add(self, trips: Sequence[RoundTrip]) -> None:
        """Count live calls."""
        cost = self._cost(trips) if trips and self.limit is not None else None
        if not cost:
            return
        self._own += cost
        if self._file is not None:
            with self._file.open("a", encoding="ascii") as file:
                file.write(f"{cost}\n")

    def refusal(self) -> str | None:
        """Why no further live call may be made; None below the limit."""
        if self.limit is None or (spent := self.spent) < self.limit:
            return None
        return (
            f"the live calls of this session have cost ${spent:.4f}, and --turntape-max-cost is ${self.limit}; no "
            "further call is made: give a higher limit to record the rest"
        )


def announced(config: pytest.Config, items: Sequence[pytest.Item], fixtures: Sequence[Path]) -> str | None:
    """What recording the cassettes of these tests and fixtures again will cost, by what is in them; None if nothing is
    replaced. `fixtures` are the cassettes of fixtures, which are replaced whole.

    Raises TurntapeError when that is more than the limit.
    """
    first: int | None = config.getoption("turntape_rerecord_from")
    kept = dict.fromkeys(fixtures, 0)
    for item in items:
        try:
            settings = Marker.of(item)
            path = cassette_of(item, settings)
            if mode_for(settings, config, mode_of(config)) == "all" and path.exists():
                kept[path] = (first or 1) - 1
        except TurntapeError:  # the test itself says it
            continue
    calls, total, unknown, paths = 0, Decimal(0), 0, set[Path]()
    cost = cost_of(config)
    for path, before in kept.items():
        try:
            trips = list(Cassette.load(path).without_tool_wire())[before:]
        except TurntapeError:  # the test itself says it
            continue
        paths.add(path)
        calls += len(trips)
        found = cost(trips)
        total += found or 0
        unknown += found is None and bool(trips)
    if not paths:
        return None
    limit = limit_of(config)
    if limit is not None and total > limit:
        raise TurntapeError(
            f"recording again would cost about ${total:.4f}, and --turntape-max-cost is ${limit}; nothing was called"
        )
    said = f"about ${total:.4f} by what is recorded" if total else "of unknown cost"
    more = f", {several(unknown, 'cassette')} without a price" if unknown and total else ""
    return f"turntape: recording {several(len(paths), 'cassette')} again: {several(calls, 'call')}, {said}{more}"


def mode_of(config: pytest.Config) -> str | None:
    """The mode on the command line; `--turntape-rerecord-from` records."""
    given: str | None = config.getoption("turntape_mode") or mode_by_vcrpy(config)
    return given or ("all" if config.getoption("turntape_rerecord_from") is not None else None)


def fork_of(config: pytest.Config, path: Path) -> Callable[[], ForkSource] | None:
    """The turns of a test's own cassette that `--turntape-rerecord-from` keeps; None to record everything."""
    first: int | None = config.getoption("turntape_rerecord_from")
    if first is None or first < 2 or not path.exists():
        return None
    return lambda: cast(ForkSource, config.hook.pytest_turntape_fork(path=str(path), at=first, edits=()))
