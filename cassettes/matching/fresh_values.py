"""Values that are new in each run, and how they are found in a text: UUIDs and the paths of folders.

A text is taken apart into its skeleton, with a mark in place of each value, and its values. Two texts with an equal
skeleton may be the same text of two runs; `bindings.Bindings` decides whether their values go together.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from ..frozen import frozen
from ..regex import regex
from .ignored_fields import UUID
from .working_folders import LEAD, Spelling, WorkingFolders, written

type Kind = Literal["uuid", "path", "folder"]
"""`folder`: a path that the text calls the working directory, the workspace, or the root of the project."""

_ESCAPED = r"(?<=\\n)|(?<=\\r)|(?<=\\t)"
"""In arguments, which are JSON inside JSON, the letter of an escape does not belong to the value after it."""
_BEFORE = rf"(?:(?<![\w.~/<-])|(?<=file://)|{_ESCAPED})"
_NAMES = r"(?:/[\w.@+%~#=,-]*[\w@+~#=-])"
_PATH = rf"{_BEFORE}~?{_NAMES}+"
_UUID_ALONE = rf"(?:(?<![0-9A-Za-z-])|{_ESCAPED}){UUID}(?![0-9A-Za-z-])"
_VALUE = regex(rf"(?P<path>(?P<known>(?!))|{_PATH})|(?P<uuid>{_UUID_ALONE})")
_UUIDS = regex(UUID)

_FOLDER = regex(rf"{LEAD}\Z", re.IGNORECASE)
_URL = "file://"
_LEAD = 64
"""How many characters before a path may say that it is the working directory."""

_TEMPORARY = r"(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/]+/[^/]+/T)(?:/pytest-of-[^/]+/pytest-\d+)?"
TEMPORARY = regex(rf"{_TEMPORARY}(?=/|\Z)")
"""A folder for temporary files, at the start of a path."""
HOME = regex(r"(?:/home/[^/]+|/Users/[^/]+|/root)(?=/|\Z)")
"""A home directory, at the start of a path."""
STATE = regex(r"[~/].*?/(?P<name>\.[a-z][\w.-]*)(?=/)")
"""The first hidden folder in a path, in which programs keep their own files."""
_RUN = regex(r"[A-Za-z0-9]+")
_SHORT = regex(r"[a-z0-9]{6,12}")
_PYTHON_TEMPORARY = regex(r"tmp[a-z0-9_]{8}")


@frozen
class Value:
    """One value in a text."""

    kind: Kind
    text: str
    start: int
    end: int
    spelling: Spelling = "plain"
    """How the text spells a path."""


@frozen
class Split:
    """A text without its values, and the values in their order."""

    skeleton: str
    values: tuple[Value, ...]


def split(text: str, folders: WorkingFolders | None = None) -> Split:
    """Take a text apart. `folders` are known folders with paths that are not plain."""
    if "/" not in text and "-" not in text:
        return Split(text, ())
    values: list[Value] = []
    skeleton: list[str] = []
    done = 0
    pattern = _VALUE if folders is None or folders.pattern is None else _with_known(folders.pattern)
    for match in pattern.finditer(text):
        start, end = match.span()
        if match["path"] is None:
            values.append(Value("uuid", match.group(), start, end))
        else:
            path, spelling = _meant(match, folders)
            if pattern is not _VALUE and _is_quoted(text, max(start - 1, done), start, end):
                # A program that writes shell commands quotes a path only where it must.
                start, end, spelling = start - 1, end + 1, "quoted"
            kind: Kind = "folder" if _FOLDER.search(text, max(0, start - _LEAD), start) else "path"
            values.append(Value(kind, path, start, end, spelling))
        skeleton += (text[done:start], "⟨uuid⟩" if match["path"] is None else "⟨path⟩")
        done = end
    return Split("".join((*skeleton, text[done:])), tuple(values)) if values else Split(text, ())


@lru_cache(64)
def _with_known(folders: str) -> re.Pattern[str]:
    """Finds values, and known folders with the names below them."""
    known = rf"{_BEFORE}(?P<known>{folders}){_NAMES}*"
    return regex(rf"(?P<path>{known}|{_PATH})|(?P<uuid>{_UUID_ALONE})")


def _meant(match: re.Match[str], folders: WorkingFolders | None) -> tuple[str, Spelling]:
    """The path of a match, and how it is spelled."""
    path = match.group()
    if folders is not None and match["known"]:
        folder, spelling = folders.meant(match["known"])
        return folder + path[len(match["known"]) :], spelling
    if match.string.startswith(_URL, match.start() - len(_URL)):
        return unquote(path), "url"
    return path, "plain"


def _is_quoted(text: str, before: int, start: int, end: int) -> bool:
    return text[before:start] == "'" == text[end : end + 1] and not text[before - 1 : before].isalnum()


def replaced(text: str, new: Callable[[str], str], folders: WorkingFolders | None = None) -> list[tuple[int, int, str]]:
    """The values of a text that `new` changes: where each begins and ends, and its new text."""
    found: list[tuple[int, int, str]] = []
    for value in split(text, folders).values:
        other = new(value.text)
        if other != value.text:
            found.append((value.start, value.end, written(other, value.spelling)))
    return found


def uuids(text: str) -> list[str]:
    """The UUIDs in a text, wherever they are."""
    return _UUIDS.findall(text)


def without_uuids(text: str) -> str:
    """The text with one mark in place of each UUID."""
    return _UUIDS.sub("⟨uuid⟩", text)


def is_private(path: str) -> bool:
    """True for a path to a temporary file or into a hidden folder, where programs choose random names."""
    return TEMPORARY.match(path) is not None or STATE.match(path) is not None


def random_parts(name: str) -> str | None:
    """A file name with a mark in place of each part that looks random; None when it has none."""
    found = False

    def marked(match: re.Match[str]) -> str:
        nonlocal found
        word = match.group()
        # After a time there is often a short random part, of any letters.
        is_last = name[match.end() : match.end() + 1] in ("", ".")
        if not _looks_random(word) and not (found and is_last and _SHORT.fullmatch(word)):
            return word
        found = True
        return f"⟨random {len(word)}⟩"

    text = _RUN.sub(marked, name)
    if found:
        return text
    return "⟨random⟩" if _PYTHON_TEMPORARY.fullmatch(name) else None


def _looks_random(word: str) -> bool:
    """True for `1795337291649`, `27396b48f2e4424a`, `aB3xQz`; False for `report12`, and for a date as `20261122`."""
    if word.isdigit():
        return len(word) >= 10
    kinds = ["digit" if c.isdigit() else "upper" if c.isupper() else "lower" for c in word]
    changes = sum(one != other for one, other in zip(kinds, kinds[1:], strict=False))
    return len(word) >= 6 and "digit" in kinds and changes >= 3
