"""The Arrow schema of the rows, made from the pydantic models, and Parquet files of them.

Landing objects are small and many, so they are written without dictionaries, statistics and the Arrow schema, which
halves them. Compacted ones have all of these.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel

from ..libraries import pyarrow
from .schema import Row
from .texts import TextRow

ROW_GROUP = 100_000
"""The rows of one group in a compacted file."""


@cache
def arrow_schema(model: type[BaseModel] = Row) -> Any:
    """The columns of a model, in their order. Everything may be null."""
    pa = pyarrow()
    return pa.schema([pa.field(name, _type(field.annotation)) for name, field in model.model_fields.items()])


def _type(annotation: object) -> Any:
    """The Arrow type of a field. Raises TypeError for a type that no row may have."""
    pa = pyarrow()
    plain: dict[object, Any] = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("us", tz="UTC"),
        Decimal: pa.decimal128(18, 9),
    }
    if annotation in plain:
        return plain[annotation]
    origin, inside = get_origin(annotation), [one for one in get_args(annotation) if one is not NoneType]
    if origin is UnionType and len(inside) == 1:
        return _type(inside[0])
    if origin is list:
        return pa.list_(pa.field("element", _type(inside[0])))
    if origin is dict:
        return pa.map_(_type(inside[0]), _type(inside[1]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return pa.struct([pa.field(name, _type(field.annotation)) for name, field in annotation.model_fields.items()])
    raise TypeError(f"a row cannot have a field of the type {annotation!r}")


def table_of(rows: Iterable[Row]) -> Any:
    """The rows as an Arrow table with the columns of `arrow_schema`."""
    return pyarrow().Table.from_pylist([_plain(row) for row in rows], schema=arrow_schema())


def _plain(row: Row) -> dict[str, object]:
    """A row as pyarrow takes it: a map as a list of pairs."""
    fields = row.model_dump()
    labels = cast(dict[str, str], fields["labels"])
    return {**fields, "labels": sorted(labels.items())}


def landing_bytes(rows: Iterable[Row], metadata: Mapping[str, str]) -> bytes:
    """A landing object: the rows as a small Parquet file, with `metadata` in its footer."""
    return _parquet(table_of(rows), metadata, use_dictionary=False, write_statistics=False, store_schema=False)


def text_bytes(rows: Iterable[TextRow], metadata: Mapping[str, str]) -> bytes:
    """The object with the texts of a recording."""
    table = pyarrow().Table.from_pylist([row.model_dump() for row in rows], schema=arrow_schema(TextRow))
    return _parquet(table, metadata, write_statistics=False)


class TableWriter:
    """A compacted file: `add` the rows of each recording in the order of their names, then `close`."""

    def __init__(self) -> None:
        pa = pyarrow()
        self._buffer = pa.BufferOutputStream()
        self._writer = pa.parquet.ParquetWriter(self._buffer, arrow_schema(), compression="zstd")
        self._waiting: list[Any] = []
        self._held = 0
        self.rows = 0

    def add(self, table: Any) -> None:
        """Add rows with the columns of `arrow_schema`."""
        self._waiting.append(table)
        self._held += len(table)
        self.rows += len(table)
        if self._held >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pyarrow().concat_tables(self._waiting), row_group_size=ROW_GROUP)
        self._waiting, self._held = [], 0

    def close(self, metadata: Mapping[str, str]) -> bytes:
        """The file, with `metadata` in its footer."""
        self._flush()
        self._writer.add_key_value_metadata(dict(metadata))
        self._writer.close()
        return self._buffer.getvalue().to_pybytes()


def _parquet(table: Any, metadata: Mapping[str, str], **options: object) -> bytes:
    pa = pyarrow()
    buffer = pa.BufferOutputStream()
    with pa.parquet.ParquetWriter(buffer, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)
        writer.add_key_value_metadata(dict(metadata))
    return buffer.getvalue().to_pybytes()


def footer_size(data: bytes) -> int:
    """The bytes of the footer of a file, of which `data` is the end; at least 8."""
    return int.from_bytes(data[-8:-4], "little") + 8


def metadata_in(data: bytes) -> dict[str, str]:
    """The metadata in the footer of a file, of which `data` is the end. Raises ValueError when the footer is cut."""
    pa = pyarrow()
    size = footer_size(data)
    if len(data) < size or data[-4:] != b"PAR1":
        raise ValueError("the footer is cut")
    whole = b"PAR1" + data[-size:]
    found: dict[bytes, bytes] = pa.parquet.read_metadata(pa.BufferReader(whole)).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items()}


def rows_in(data: bytes) -> Any:
    """The rows of a file of any version of this schema, with the columns of this one; unknown columns are left out."""
    pa = pyarrow()
    found = pa.parquet.read_table(pa.BufferReader(data))
    schema = arrow_schema()
    columns = [
        found.column(field.name).cast(field.type)
        if field.name in found.column_names
        else pa.nulls(len(found), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
