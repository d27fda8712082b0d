"""DuckDB over one store. It reads the rows of that store through pyarrow and can reach nothing else.

After the views are made, DuckDB has no files, no network, no extensions and no Python variables, and its settings are
locked. The store is listed again when an object was replaced before it was fetched.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Self, cast

from ..errors import StoreError
from ..libraries import duckdb, pyarrow
from ..rows.arrow import arrow_schema
from ..store.names import TABLE
from ..store.place import is_remote
from ..store.store import Store
from .local_copies import Copy, Progress, Replaced
from .partial_copies import PartialCopy, partial_dataset
from .snapshot import Snapshot, day_of_object, snapshot
from .sql_errors import QuestionError, readable, without_value
from .views import COMPACTED, LANDING, NAMES, PLAIN_ROUND_TRIPS, ROUND_TRIPS, STORE, SUPERSEDED, VIEWS

ATTEMPTS = 6
"""How often a store is listed while objects are replaced."""


class NothingShipped(StoreError):
    """The store has no rows, or none of the days in question."""


class Database:
    """The views over a store; a context manager.

    `since` leaves out recordings that began before that day (UTC).
    """

    def __init__(self, store: Store, since: date | None = None, progress: Progress | None = None) -> None:
        self._store = store
        self._since = since
        self._progress = progress
        self._folder = tempfile.TemporaryDirectory(prefix="turntape-query-")
        self._connection: Any = None
        self._copies: tuple[Copy, ...] = ()
        self._problem: Callable[[], Exception | None] = lambda: None
        """Why the last columns could not be fetched."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
        self._folder.cleanup()

    def ask(self, sql: str, parameters: Mapping[str, object] | None = None) -> Any:
        """The answer of the last statement as a `pyarrow.Table`.

        The store is read once, by the first question. Raises QuestionError for SQL that is wrong, NothingShipped for
        an empty store, and StoreError.
        """
        engine = duckdb()
        for _ in range(ATTEMPTS):
            if self._connection is None:
                self._open(self._snapshot())
            try:
                return self._asked(sql, parameters or {})
            except (engine.Error, RuntimeError, Replaced, StoreError, pyarrow().ArrowException) as exc:
                problem = self._problem()
                if isinstance(problem, Replaced):
                    self._close()
                elif problem is not None:
                    raise problem from exc
                elif damaged := next((copy.name for copy in self._copies if str(copy.path) in str(exc)), None):
                    raise self._damaged(damaged) from exc
                else:
                    raise readable(exc, sql, self.columns()) from exc
        raise self._replaced_again()

    def _damaged(self, name: str) -> StoreError:
        again = "compact again" if name.startswith(TABLE) else "ship its recording again"
        return StoreError(f"{name} in {self._store.address!r} is damaged; delete it and {again}")

    def _close(self) -> None:
        self._connection.close()
        self._connection = None

    def columns(self) -> dict[str, list[str]]:
        """The columns of each view."""
        found: dict[str, list[str]] = {}
        for view in NAMES:
            with suppress(duckdb().Error):
                found[view] = [name for (name, *_) in self._connection.execute(f"describe {view}").fetchall()]
        return found

    def _snapshot(self) -> Snapshot:
        for _ in range(ATTEMPTS):
            folder = Path(tempfile.mkdtemp(dir=self._folder.name))
            try:
                found = snapshot(self._store, folder, self._since, self._progress)
            except Replaced:
                shutil.rmtree(folder)
                continue
            if found.empty:
                raise NothingShipped(
                    f"{self._store.address!r} has no rows"
                    + (f" of {self._since} or later" if self._since else "")
                    + f"; `turntape ship FILES --to {self._store.address}` puts recordings there"
                )
            return found
        raise self._replaced_again()

    def _replaced_again(self) -> StoreError:
        return StoreError(
            f"objects in {self._store.address!r} were replaced in each of {ATTEMPTS} attempts to read them; "
            "ask again when less is compacted, or for fewer days"
        )

    def _open(self, found: Snapshot) -> None:
        self._connection = duckdb().connect(":memory:")
        self._copies = (*found.compacted, *found.landing)
        do = self._connection.execute
        do("set timezone = 'UTC'")
        do("set python_enable_replacements = false")
        do(f"set temp_directory = '{self._folder.name.replace("'", "''")}'")
        do("set autoinstall_known_extensions = false")
        do("set autoload_known_extensions = false")
        do(f"create table {STORE} as select $address as address", {"address": opened_from_anywhere(self._store)})
        do(f"create table {SUPERSEDED} (recording varchar)")
        if found.superseded:
            do(f"insert into {SUPERSEDED} select unnest($gone)", {"gone": sorted(found.superseded)})
        compacted, self._problem = dataset(found.compacted, found.parts)
        self._connection.register(COMPACTED, compacted)
        self._connection.register(LANDING, dataset(found.landing, {})[0])
        every = ROUND_TRIPS if found.compacted and found.superseded else PLAIN_ROUND_TRIPS
        for name, query in {"round_trips": every, **VIEWS}.items():
            do(f"create view {name} as {query}")
        do("set enable_external_access = false")
        do("set lock_configuration = true")

    def _asked(self, sql: str, parameters: Mapping[str, object]) -> Any:
        last = None
        statements = self._connection.extract_statements(sql)
        if not statements:
            raise QuestionError("there is no statement in the SQL; `turntape query --list` shows questions with names")
        for statement in statements:
            missing = sorted(set(statement.named_parameters) - parameters.keys())
            if missing:
                raise without_value(missing)
            wanted = {name: parameters[name] for name in statement.named_parameters}
            last = self._connection.sql(statement, params=wanted or None)
        return pyarrow().table({}) if last is None else last.to_arrow_table()


def opened_from_anywhere(store: Store) -> str:
    """The store's address; a folder's is absolute."""
    if is_remote(store.address):
        return store.address
    return str(Path(store.address.removeprefix("file://")).absolute())


def dataset(files: Sequence[Copy], parts: Mapping[str, PartialCopy]) -> tuple[Any, Callable[[], Exception | None]]:
    """Files with rows as a pyarrow data set with the columns of this version and `day`, as `partial_dataset` has it.

    A column that an older file does not have is null.
    """
    from pyarrow import dataset as untyped  # pyright: ignore[reportMissingTypeStubs]
    from pyarrow import fs  # pyright: ignore[reportMissingTypeStubs]

    arrow, local = cast(Any, untyped), cast(Any, fs).LocalFileSystem()
    schema = arrow_schema().append(pyarrow().field("day", pyarrow().date32()))
    if not files:
        return arrow.dataset(schema.empty_table()), lambda: None
    form = arrow.ParquetFileFormat()

    def is_day(file: Copy) -> Any:
        return arrow.field("day") == pyarrow().scalar(date.fromisoformat(day_of_object(file.name)))

    fragments = [
        form.make_fragment(str(file.path), filesystem=local, partition_expression=is_day(file)) for file in files
    ]
    return partial_dataset(fragments, schema, form, local, parts)
