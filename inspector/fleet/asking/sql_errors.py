"""The errors of DuckDB as one sentence for the person who wrote the SQL."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex


class QuestionError(TurntapeError):
    """The SQL, the name of a question or one of its parameters is wrong."""


_TABLE = regex(r'Table with name "?([^"\s!]+)"? does not exist|Catalog "([^"]+)" does not exist')
_COLUMN = regex(
    r'Referenced column "([^"]+)" (?:was )?not found|column named "([^"]+)"|does not have a column named "([^"]+)"'
)
_KEY = regex(r'Could not find key "([^"]+)" in struct')
_ENTRIES = regex(r"Candidate Entries: (.*)")
_FUNCTION = regex(r"(\w+) Function with name \"?([^\"\s!]+)\"? does not exist")
_MEANT = regex(r'Did you mean "([^"]+)"')
_PLACE = regex(r"\n\s*LINE (\d+): (.*)\n(\s*)\^")


def readable(exc: Exception, sql: str, columns: Mapping[str, Sequence[str]]) -> QuestionError:
    """What is wrong with `sql`, and where it can be seen: the nearest name. `columns` are those of each view."""
    text = str(exc)
    kind, _, said = text.partition(": ")
    said = (said if kind.endswith(("Error", "Exception")) else text).strip()
    if "disabled by configuration" in text or "has been locked" in text:
        return QuestionError(
            "a question reads the recordings of its store and nothing else: no files, network, extensions or settings; "
            "-o FILE writes the answer"
        )
    if found := _TABLE.search(text):
        wrong = found[1] or found[2]
        return QuestionError(f"there is no view {wrong!r}; {_did_you_mean(wrong, columns)}{_listed(columns)}")
    if found := _KEY.search(text):
        entries = _ENTRIES.search(text)
        known = re.findall(r'"([^"]+)"', entries[1]) if entries else []
        return QuestionError(f"there is no field {found[1]!r}; {_did_you_mean(found[1], known)}{_listed(known)}")
    if found := _COLUMN.search(text):
        return _unknown_column(next(name for name in found.groups() if name), sql, columns)
    if found := _FUNCTION.search(text):
        near = _MEANT.search(text)
        hint = f"did you mean {near[1]!r}?" if near else "see https://duckdb.org/docs/sql/functions/overview"
        return QuestionError(f"there is no function {found[2]!r}; {hint}")
    return QuestionError(f"the SQL cannot be run: {_first_line(said)}{_place(text)}")


def without_value(names: Sequence[str]) -> QuestionError:
    """That parameters of the SQL have no value."""
    return QuestionError(f"the SQL has a parameter without a value: {', '.join(names)}; give it with -p NAME=VALUE")


def _unknown_column(wrong: str, sql: str, columns: Mapping[str, Sequence[str]]) -> QuestionError:
    """The nearest column of the views that the SQL names, else of any view."""
    named = [view for view in columns if re.search(rf"\b{view}\b", sql, re.IGNORECASE)] or list(columns)
    known = list(dict.fromkeys(name for view in named for name in columns[view]))
    bare = wrong.rpartition(".")[2]
    elsewhere = [view for view in columns if bare in columns[view] and view not in named]
    if elsewhere:
        return QuestionError(f"there is no column {wrong!r} in {' or '.join(named)}; see {' and '.join(elsewhere)}")
    if near := _nearest(bare, known):
        return QuestionError(f"there is no column {wrong!r}; did you mean {near!r}?")
    return QuestionError(f"there is no column {wrong!r}; `describe {named[0]}` lists the columns of {named[0]!r}")


def _nearest(wrong: str, known: Sequence[str]) -> str | None:
    flat = {name.replace("_", "").lower(): name for name in known}
    found = get_close_matches(wrong.replace("_", "").lower(), flat, 1, 0.6)
    return flat[found[0]] if found else None


def _did_you_mean(wrong: str, known: Mapping[str, object] | Sequence[str]) -> str:
    near = _nearest(wrong, list(known))
    return f"did you mean {near!r}? " if near else ""


def _listed(known: Mapping[str, object] | Sequence[str]) -> str:
    return f"there are {', '.join(known)}"


def _first_line(text: str) -> str:
    return " ".join(text.partition("\n")[0].split())


def _place(text: str) -> str:
    """Where in the SQL: its line, from the place that the caret points to."""
    found = _PLACE.search(text)
    if found is None:
        return ""
    column = len(found[3]) - len(f"LINE {found[1]}: ")
    return f", at line {found[1]}: {cut(found[2][max(0, column) :], 40)!r}"
