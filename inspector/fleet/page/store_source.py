"""The figures of a store for the screen of the fleet. Its days are read again with each `overview`."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from ...views.fleet_figures import By, FindingCount, Group, Order, Overview, SomeRuns
from ..asking.database import Database, NothingShipped, opened_from_anywhere
from ..asking.tapes import fetch
from ..errors import StoreError
from ..store.names import parse_address
from ..store.store import Store
from .overview import Figures

GROUPS = 1_000
"""Groups that are listed."""
RUNS = 10_000
"""Runs that are listed."""


class StoreSource:
    """A `FleetSource` over a store; a context manager, which deletes the recordings that were fetched."""

    def __init__(self, store: Store, days: int) -> None:
        self.address = opened_from_anywhere(store)
        self._store, self._days = store, days
        self._reading = ExitStack()
        """What the figures are read from."""
        self._tapes = TemporaryDirectory(prefix="turntape-tapes-")
        self._figures: Figures | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reading.close()
        self._tapes.cleanup()

    def period(self) -> tuple[date, date]:
        """The first and the last of the days, in UTC."""
        last = datetime.now(UTC).date()
        return last - timedelta(days=self._days - 1), last

    def overview(self) -> Overview:
        first, last = self.period()
        with ExitStack() as reading:
            database = reading.enter_context(Database(self._store, first))
            try:
                figures = Figures(database)
            except NothingShipped:
                figures = None
            else:
                kept = reading.pop_all()
                self._reading.close()
                self._reading = kept
        self._figures = figures
        if figures is None:
            days = [Group(str(first + timedelta(days=k)), 0, 0, None, 0, 0, 0) for k in range(self._days)]
            return Overview(self.address, first, last, Group("", 0, 0, None, 0, 0, 0), 0, 0, 0, days=days)
        return figures.overview(self.address, first, last)

    def groups(self, by: By) -> Sequence[Group]:
        return self._figures.groups(by, GROUPS) if self._figures else []

    def findings(self) -> Sequence[FindingCount]:
        return self._figures.findings(GROUPS) if self._figures else []

    def runs(self, by: By | None, name: str, order: Order) -> SomeRuns:
        return self._figures.runs(by, name, order, RUNS) if self._figures else SomeRuns(0, ())

    def tape(self, address: str) -> Path:
        found = parse_address(address)
        if found is None:
            raise StoreError(f"{address!r} is not the address of a recording")
        return fetch(self._store, found, Path(self._tapes.name))
