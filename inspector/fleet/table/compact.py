"""Makes the compacted table: for each day, all its rows in one object, sorted and with statistics.

A compacted object is made from the landing objects of its day alone, so anybody can make it again at any time. Rows
whose landing object a rule of the bucket has removed are taken over from the table before. Landing objects stay: they
are what shipping compares with.
"""

import json
from collections.abc import Callable, Iterable

from turntape.cassettes.frozen import frozen

from ..errors import StoreError
from ..rows.arrow import TableWriter
from ..rows.schema import VERSION
from ..store.forgotten import Forgotten
from ..store.names import table_name
from ..store.store import Store
from .landing import MADE_FROM, Day, day_of_store, days_of, each_recording

_ATTEMPTS = 5
"""How often the landing objects may change while they are compacted."""


@frozen
class CompactedDay:
    """What was done for one day."""

    day: str
    changed: bool
    """False when its table was up to date."""
    recordings: int = 0
    rows: int = 0
    bytes: int = 0


def compact(
    store: Store, days: Iterable[str] | None = None, *, progress: Callable[[CompactedDay], object] = lambda day: None
) -> list[CompactedDay]:
    """Compact all days whose landing objects have changed since; only these `days` when they are given."""
    done: list[CompactedDay] = []
    for day in days_of(store) if days is None else days:
        done.append(_compact_day(store, day))
        progress(done[-1])
    return done


def _compact_day(store: Store, name: str) -> CompactedDay:
    done = CompactedDay(name, changed=False)
    for _ in range(_ATTEMPTS):
        # After a write once more: a recording that was deleted meanwhile must not come back with this table.
        forgotten = Forgotten.read(store)
        day = day_of_store(store, name)
        if day.is_current(forgotten):
            return done
        done = _write(store, day, forgotten)
    raise StoreError(f"the rows of {name} in {store.address!r} keep changing; compact again later")


def _write(store: Store, day: Day, forgotten: Forgotten) -> CompactedDay:
    made_from: dict[str, str] = {}
    writer = TableWriter()
    for name, table in each_recording(store, day, forgotten):
        writer.add(table)
        made_from[name] = day.landing.get(name) or day.compacted[name]
    data = writer.close({"turntape.schema": str(VERSION), MADE_FROM: json.dumps(made_from, separators=(",", ":"))})
    if made_from:
        store.put(table_name(day.day), data)
    else:
        store.delete([table_name(day.day)])
    return CompactedDay(day.day, True, len(made_from), writer.rows, len(data) if made_from else 0)
