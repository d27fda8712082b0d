"""The cassettes that an argument names, and the error for any other argument.

An argument is a file, a pattern, a folder, or the address of a shipped tape.
"""

import errno
import glob
import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from turntape.cassettes.frozen import frozen

from .shipped_tapes import fetched

SUFFIXES = (".cassette.jsonl", ".cassette.jsonl.zst")
_HEAD = 1 << 16
"""Bytes of a file that are read to recognise it."""
_HEADER = b'{"turntape":'
_ZSTD = b"\x28\xb5\x2f\xfd"


@frozen
class Named:
    """A file that an argument names, or an argument that names no file."""

    name: str
    problem: str | None = None
    """Why it cannot be read as a cassette, in one sentence; None when it can."""


def named(arguments: Iterable[str]) -> Iterator[Named]:
    """Each file once, in order. A folder gives its cassettes, a pattern every file that it matches."""
    seen: set[str] = set()
    for argument in arguments:
        for one in _expanded(argument):
            if one.name not in seen:
                seen.add(one.name)
                yield one


def cassettes(arguments: Iterable[str]) -> list[str]:
    """The files that the arguments name. Raises TurntapeError for the first that is not a readable cassette."""
    return [_checked(one) for one in named(arguments)]


def one_cassette(argument: str) -> str:
    """The only file that the argument names. Raises TurntapeError when there are none or several."""
    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.excerpts import listed

    files = list(_expanded(argument))
    if len(files) > 1:
        names = listed([repr(one.name) for one in files], 3)
        raise TurntapeError(f"{argument!r} names {len(files)} cassettes ({names}); give one of them")
    return _checked(files[0])


def _checked(one: Named) -> str:
    from turntape.cassettes.errors import TurntapeError

    if one.problem is not None:
        raise TurntapeError(one.problem)
    return one.name


def _expanded(argument: str) -> list[Named]:
    if (tape := fetched(argument)) is not None:
        return [Named(tape)]
    path = Path(argument)
    if path.is_dir():
        try:
            found = [str(file) for file in _below(path)]
        except OSError as exc:
            return [Named(argument, _unreadable(str(exc.filename or argument), exc))]
        nothing = f"the folder {argument!r} has no *.cassette.jsonl file; give a file, or the folder of the recordings"
    elif not path.exists() and glob.has_magic(argument):
        # The shell leaves a pattern as it is when nothing matches, or when it does not know `**`.
        found = sorted(name for name in glob.glob(argument, recursive=True) if not Path(name).is_dir())  # noqa: PTH207 - a pattern may be absolute
        nothing = f"no file matches {argument!r}; check the pattern"
    else:
        return [Named(argument, problem_of(argument))]
    return [Named(name, problem_of(name)) for name in found] or [Named(argument, nothing)]


def _below(folder: Path) -> list[Path]:
    """The cassettes of a folder and of the folders in it. Raises OSError where a folder cannot be read."""

    def fail(exc: OSError) -> None:
        raise exc

    found: list[Path] = []
    for root, _, names in os.walk(folder, onerror=fail):
        found += [Path(root) / name for name in names if name.endswith(SUFFIXES)]
    return sorted(found)


def problem_of(name: str) -> str | None:
    """Why this file cannot be read as a cassette; None when it looks like one.

    Only the beginning is read. A recording of another tool gets the line that converts it.
    """
    from turntape.cassettes.errors import CassetteError
    from turntape.cassettes.tape.named_file import opened

    try:
        with opened(Path(name)) as file:
            head = file.read(_HEAD)
    except CassetteError as exc:
        return str(exc)
    except OSError as exc:
        return _unreadable(name, exc)
    if not head or head.startswith((_HEADER, _ZSTD)):
        return None  # the reader says more about an empty or damaged one
    return _foreign(name, head)


def _unreadable(name: str, exc: OSError) -> str:
    what = f"cannot read the cassette {name!r}: {exc.strerror or exc}"
    if exc.errno == errno.ENOENT:
        near = _similar(Path(name))
        return f"{what}; " + (f"did you mean {near!r}?" if near else "check the name")
    return f"{what}; check the permissions" if exc.errno in (errno.EACCES, errno.EPERM) else f"{what}; check the name"


def _similar(path: Path) -> str | None:
    """A cassette in the same folder with a similar name."""
    try:
        names = [name for name in os.listdir(path.parent) if name.endswith(SUFFIXES)]  # noqa: PTH208 - names only
    except OSError:
        return None
    near = get_close_matches(path.name, names, 1)
    return str(path.parent / near[0]) if near else None


def _foreign(name: str, head: bytes) -> str | None:
    """The pointer to `turntape import` when another tool wrote this file."""
    from shlex import quote

    from turntape.cassettes.importers.registry import FORMATS

    from ..capture.mitmproxy_flows import MITMPROXY

    for kind in (*FORMATS, MITMPROXY):
        if kind.sniff(head):
            return f"{name!r} is a recording in the format of {kind.title}; convert it: turntape import {quote(name)}"
    return None
