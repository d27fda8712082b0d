"""Answers as text for a terminal, JSON lines, CSV and Parquet."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, BinaryIO, TextIO, cast

from ...views.text.terminal_text import clip, width_of
from ...wire.printable import safe
from ..libraries import pyarrow

NULL = "–"
"""How text shows a value that is not known."""
_NARROW = 8
"""Cells that a column keeps when the terminal is too narrow for all of them."""
WHOLE = frozenset({"address", "recording", "cassette"})
"""Columns that are never shortened, because people copy their values."""
_BATCH = 10_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a formula of a text in a spreadsheet."""


def rows(answer: Any) -> Iterator[dict[str, object]]:
    """The rows of a `pyarrow.Table`. Columns of one name get numbers."""
    named = answer.rename_columns(_unique(answer.column_names))
    for batch in named.to_batches(max_chunksize=_BATCH):
        yield from batch.to_pylist(maps_as_pydicts="lossy")


def _unique(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        free = next(one for k in range(len(names) + 1) if (one := f"{name}_{k}" if k else name) not in found)
        found.append(free)
    return found


def json_lines(answer: Any, out: TextIO) -> None:
    """One object for each row. Amounts are strings, unknown is null, times are in UTC."""
    for row in rows(answer):
        out.write(json.dumps(plain(row), ensure_ascii=False) + "\n")


def comma_separated(answer: Any, out: TextIO) -> None:
    """A line of names, then one for each row. Unknown is empty; lists and maps are JSON.

    A text that a spreadsheet would run as a formula begins with an apostrophe, and control characters are spelled out.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_harmless(name) for name in _unique(answer.column_names)])
    writer.writerows(
        [_harmless(value) if isinstance(value, str) else _cell(value) for value in row.values()] for row in rows(answer)
    )


def _harmless(text: str) -> str:
    return ("'" if text.startswith(_FORMULA) else "") + safe(text)


def parquet(answer: Any, out: BinaryIO) -> None:
    """A Parquet file with the types of the answer."""
    pyarrow().parquet.write_table(answer.rename_columns(_unique(answer.column_names)), out, compression="zstd")


def plain(value: object) -> object:
    """A value as JSON has it."""
    match value:
        case Decimal():
            return amount(value)
        case datetime():
            moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return moment.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo else "")
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
        case dict():
            return {str(name): plain(one) for name, one in cast(Mapping[object, object], value).items()}
        case list() | tuple():
            return [plain(one) for one in cast(Sequence[object], value)]
        case bytes():
            return value.hex()
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def amount(value: Decimal) -> str:
    """A decimal number without needless zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _cell(value: object) -> str:
    found = plain(value)
    if found is None:
        return ""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _shown(value: object) -> str:
    """A value in a cell of text."""
    if value is None:
        return NULL
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if value.tzinfo else value.isoformat(" ", "seconds")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(one, str) for one in cast(list[object], value)):
        return ", ".join(cast(list[str], value))
    return _cell(cast(object, value)) or (NULL if plain(cast(object, value)) is None else "")


def text(answer: Any, width: int, limit: int = 1_000) -> Iterator[str]:
    """The answer as a table of at most `width` cells, or with one line for each value where it is too wide."""
    if answer.num_columns == 0:
        return
    names = _unique(answer.column_names)
    found = [list(row.values()) for row in rows(answer.slice(0, limit))]
    cells = [[_shown(value) for value in row] for row in found]
    right = [pyarrow().types.is_floating(one) or _is_exact(one) for one in answer.schema.types]
    wanted = [max(width_of(name), *(width_of(row[k]) for row in cells), 1) for k, name in enumerate(names)]
    fixed = [number or name in WHOLE for name, number in zip(names, right, strict=True)]
    fitted = _fitted(wanted, fixed, width)
    if fitted is None:
        yield from _one_by_one(names, cells, width)
    else:
        yield _line(names, fitted, right)
        yield "  ".join("─" * one for one in fitted)
        yield from (_line(row, fitted, right) for row in cells)
    if answer.num_rows > limit:
        yield f"… {answer.num_rows - limit:,} more rows; --csv, --json or -o FILE writes all of them"
    elif answer.num_rows != 1:
        yield f"({answer.num_rows} rows)" if answer.num_rows else "(no rows)"


def _is_exact(kind: Any) -> bool:
    types = pyarrow().types
    return types.is_integer(kind) or types.is_decimal(kind)


def _fitted(wanted: list[int], fixed: list[bool], width: int) -> list[int] | None:
    """The widths of the columns; those that are not fixed are shortened. None when they do not fit."""
    fitted = list(wanted)
    while (over := sum(fitted) + 2 * (len(fitted) - 1) - width) > 0:
        text_columns = [k for k, is_fixed in enumerate(fixed) if not is_fixed and fitted[k] > _NARROW]
        if not text_columns:
            return None
        widest = max(text_columns, key=lambda k: fitted[k])
        fitted[widest] -= max(1, min(over, (fitted[widest] - _NARROW) // 2))
    return fitted


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts: list[str] = []
    for value, width, to_the_right in zip(row, widths, right, strict=True):
        short = clip(value, width)
        space = " " * (width - width_of(short))
        parts.append(space + short if to_the_right else short + space)
    return "  ".join(parts).rstrip()


def _one_by_one(names: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    name_width = max(width_of(name) for name in names)
    for number, row in enumerate(cells, 1):
        yield f"── row {number} "
        for name, value in zip(names, row, strict=True):
            yield f"{name:{name_width}}  {clip(value, max(10, width - name_width - 2))}"
