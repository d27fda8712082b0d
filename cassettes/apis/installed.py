"""The entry points of a group, without `importlib.metadata` where only turntape itself declares some.

To import that library and to ask it takes about as long as to read a small cassette. So the files `entry_points.txt` of
the installed packages are looked through first (https://packaging.python.org/en/latest/specifications/entry-points/,
read 2026-11-22). Where another package names the group, or where packages come from somewhere else than folders,
the library is asked.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Protocol

from ..frozen import frozen

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OWN = "turntape"
_FILE = "entry_points.txt"


class Package(Protocol):
    """An installed package."""

    @property
    def name(self) -> str: ...


@frozen
class _Named:
    name: str


@frozen
class OwnPoint:
    """An entry point of turntape itself."""

    name: str
    value: str
    """`package.module:name`, or a module alone."""
    dist: Package = _Named(_OWN)

    def load(self) -> object:
        module, _, name = self.value.partition(":")
        found: object = import_module(module.strip())
        return getattr(found, name.strip()) if name else found


def entry_points(*, group: str) -> "Sequence[EntryPoint | OwnPoint]":
    """The entry points of a group; of a package that is installed twice, the first one on the path counts."""
    own = _own(group)
    if own is not None:
        return own
    from importlib.metadata import entry_points as ask

    return tuple(ask(group=group))


def _own(group: str) -> tuple[OwnPoint, ...] | None:
    """Those of turntape, when nothing else declares any; None when that is not sure."""
    if any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path):
        return None
    points: tuple[OwnPoint, ...] | None = None
    section = f"[{group}]"
    for package, file in _files(sys.path):
        try:
            text = file and _text(file)
        except OSError:
            continue
        if text is None:
            return None
        if section not in text:
            continue
        if package != _OWN:
            return None
        points = points if points is not None else tuple(_parsed(text, group))
    return points


def _text(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123 - a Path takes longer for hundreds
        return opened.read()


def _files(path: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Each installed package with its file of entry points, if there is one; None for what is not a folder."""
    for place in path:
        try:
            with os.scandir(place or ".") as entries:
                names = [entry.name for entry in entries]
        except FileNotFoundError:
            continue
        except OSError:
            yield "", None
            continue
        for name in names:
            stem, dot, kind = name.rpartition(".")
            if dot and kind in ("dist-info", "egg-info"):
                yield stem.partition("-")[0].lower(), os.path.join(place, name, _FILE)  # noqa: PTH118


def _parsed(text: str, group: str) -> Iterator[OwnPoint]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line
        elif section == f"[{group}]" and "=" in line:
            name, _, value = line.partition("=")
            yield OwnPoint(name.strip(), value.strip())
