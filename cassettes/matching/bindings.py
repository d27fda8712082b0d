"""Which value of this run replaces which recorded value.

A binding is made when a request equals a recorded one except for values that are new in each run. From
then on it holds: one recorded value has one value in this run, and no two recorded values have the same. A value that
the recorded answers brought in is not made by the client, so it never gets another one.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from ..frozen import frozen
from ..regex import regex
from .fresh_values import (
    HOME,
    STATE,
    TEMPORARY,
    Split,
    Value,
    is_private,
    random_parts,
    replaced,
    split,
    uuids,
    without_uuids,
)
from .working_folders import WorkingFolders, slug

type What = Literal["UUID", "working directory", "folder", "file name"]


@frozen
class Mapped:
    """A value of this run in place of a recorded one."""

    what: What
    recorded: str
    given: str

    def __str__(self) -> str:
        return f"the {self.what} {self.recorded} is {self.given} in this run"


_SYSTEM = regex(r"/(?:bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr)/")
"""Folders that are in the same place on every machine."""
_SLUG = regex(r"[^A-Za-z0-9]")


class Bindings:
    """Recorded values and their values in this run. Not thread-safe; `copy()` is for a trial."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[What, str]] = {}
        """UUIDs and file names: recorded → in this run."""
        self._values_back: dict[str, str] = {}
        self._folders: dict[str, tuple[What, str]] = {}
        self._folders_back: dict[str, str] = {}
        self.literal = WorkingFolders()
        """Folders of both runs that must be known to be found. Copies share them."""

    def copy(self) -> "Bindings":
        other = Bindings()
        other.literal = self.literal
        other._values, other._values_back = dict(self._values), dict(self._values_back)
        other._folders, other._folders_back = dict(self._folders), dict(self._folders_back)
        return other

    def __bool__(self) -> bool:
        """True when some value of this run differs from the recorded one."""
        return bool(self._folders or self._values) and any(True for _ in self.mapped())

    def mapped(self) -> Iterator[Mapped]:
        """The values that differ, in the order in which they were found."""
        for table in (self._folders, self._values):
            for recorded, (what, given) in table.items():
                if recorded != given:
                    yield Mapped(what, recorded, given)

    def unify(self, recorded: Sequence[Value], given: Sequence[Value], models: Collection[str] = ()) -> bool:
        """Bind the values of two requests with equal skeletons; False when they do not go together.

        `models` are the values that recorded answers brought in. After False, some bindings may have been made: use
        it on a copy.
        """
        pairs = list(zip(recorded, given, strict=True))
        # What the text calls the working directory explains the other paths.
        waiting = sorted(pairs, key=lambda pair: "folder" not in (pair[0].kind, pair[1].kind))
        while waiting:
            left = [pair for pair in waiting if not self._fits(*pair, models)]
            if len(left) == len(waiting):
                return False
            waiting = left
        return True

    def learn_folder(self, recorded: str, given: str) -> None:
        """Bind a working directory that no text names. The root and what is known already stay as they are."""
        if recorded.count("/") > 1 and given.count("/") > 1:
            self.literal.learn((recorded, given))
            self._bind_folder("working directory", recorded, given)

    def split(self, text: str) -> Split:
        """Take a text apart."""
        return split(text, self.literal)

    def learn(self, recorded: Split, given: Split, models: Collection[str] = ()) -> None:
        """Bind what goes together in two texts that differ in other ways too."""
        if recorded.skeleton == given.skeleton:
            pairs = list(zip(recorded.values, given.values, strict=True))
        else:
            folders = [[value for value in one.values if value.kind == "folder"] for one in (recorded, given)]
            pairs = list(zip(*folders, strict=True)) if len(folders[0]) == len(folders[1]) else []
        for one, other in sorted(pairs, key=lambda pair: "folder" not in (pair[0].kind, pair[1].kind)):
            self._fits(one, other, models)

    def _fits(self, recorded: Value, given: Value, models: Collection[str]) -> bool:
        if recorded.kind == "uuid":
            return self._bind("UUID", recorded.text, given.text, models)
        return self._path_fits(recorded, given, models)

    def _bind(self, what: What, recorded: str, given: str, models: Collection[str] = ()) -> bool:
        """Bind two values; False when one of them is bound to another."""
        known = self._values.get(recorded)
        if known is not None:
            return known[1] == given
        if given in self._values_back or (recorded != given and recorded in models):
            return False
        self._values[recorded] = (what, given)
        self._values_back[given] = recorded
        return True

    def _path_fits(self, recorded: Value, given: Value, models: Collection[str]) -> bool:
        old, new = recorded.text, given.text
        if old == new:
            for one in uuids(old):
                self._bind("UUID", one, one)
            return True
        fixed = old in models
        rooted = False
        for root in sorted((root for root in self._folders if _is_in(old, root)), key=len, reverse=True):
            rooted = True
            if self._rest_fits(self._folders[root][1] + old[len(root) :], new, is_private(old) and not fixed, models):
                return True
        if recorded.kind == given.kind == "folder" and not rooted:
            return self._bind_folder("working directory", old, new)
        private = is_private(old) and is_private(new) and not fixed
        if self._rest_fits(old, new, private, models):
            return True
        return not fixed and any(
            self._rest_fits(new_root + old[len(old_root) :], new, private, models)
            and self._bind_folder("folder", old_root, new_root)
            for old_root, new_root in (*_roots(old, new), *self._above(old, new), *_temporary_folders(old, new))
        )

    def _above(self, old: str, new: str) -> list[tuple[str, str]]:
        """The folders above known ones: when `/a/home` is `/b/home` in this run, then `/a` is `/b`."""
        found: list[tuple[str, str]] = []
        for recorded, (_, given) in self._folders.items():
            one, other = recorded, given
            while one and one.rpartition("/")[2] == other.rpartition("/")[2]:
                one, other = one.rpartition("/")[0], other.rpartition("/")[0]
            if one and other and one != recorded and _is_in(old, one) and _is_in(new, other):
                found.append((one, other))
        return found

    def _bind_folder(self, what: What, recorded: str, given: str) -> bool:
        known = self._folders.get(recorded)
        if known is not None:
            return known[1] == given
        if given in self._folders_back:
            return False
        self._folders[recorded] = (what, given)
        self._folders_back[given] = recorded
        return True

    def _rest_fits(self, old: str, new: str, private: bool, models: Collection[str]) -> bool:
        """Bind the names of two paths below the same folder."""
        names, others = old.split("/"), new.split("/")
        if len(names) != len(others):
            return False
        trial = self.copy()
        for name, other in zip(names, others, strict=True):
            if name != other and not trial._name_fits(name, other, private, models):
                return False
        self._values, self._values_back = trial._values, trial._values_back
        return True

    def _name_fits(self, old: str, new: str, private: bool, models: Collection[str]) -> bool:
        ids, others = uuids(old), uuids(new)
        if ids and without_uuids(old) == without_uuids(new):
            return all(self._bind("UUID", *pair, models) for pair in zip(ids, others, strict=True))
        if not private:
            return False
        if any(
            (old, new) in zip(_names_of(root), _names_of(given), strict=True)
            for root, (_, given) in self._folders.items()
        ):
            return self._bind("file name", old, new)
        shape = random_parts(without_uuids(old))
        return shape is not None and shape == random_parts(without_uuids(new)) and self._bind("file name", old, new)

    def in_this_run(self, text: str) -> list[tuple[int, int, str]]:
        """Where recorded values are in a text, and their values now: `(start, end, new)`."""
        return replaced(text, lambda value: self._translated(value, self._folders, self._values), self.literal)

    def as_recorded(self, text: str) -> str:
        """A text of this run with the recorded values in it."""
        folders: dict[str, tuple[What, str]] = {new: (what, old) for old, (what, new) in self._folders.items()}
        values: dict[str, tuple[What, str]] = {new: (what, old) for old, (what, new) in self._values.items()}
        return spliced(text, replaced(text, lambda value: self._translated(value, folders, values), self.literal))

    @staticmethod
    def _translated(value: str, folders: dict[str, tuple[What, str]], values: dict[str, tuple[What, str]]) -> str:
        if "/" not in value:
            return values[value][1] if value in values else value
        names = value.split("/")
        if is_private(value):
            names = [values[name][1] if name in values else name for name in names]
        names = [_with_uuids(name, values) for name in names]
        root = max((root for root in folders if _is_in(value, root)), key=len, default=None)
        if root is None:
            return "/".join(names)
        return "/".join((folders[root][1], *names[root.count("/") + 1 :]))


def spliced(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """A text with changes `(start, end, new)`, which are in order and do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in changes:
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


def _with_uuids(name: str, values: dict[str, tuple[What, str]]) -> str:
    for one in uuids(name):
        if one in values:
            name = name.replace(one, values[one][1])
    return name


def _is_in(path: str, root: str) -> bool:
    return path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/")


def _names_of(folder: str) -> tuple[str, ...]:
    """The names that programs give to their own folder for a project: its path as one word, its last name, hashes."""
    data = folder.encode()
    last = folder.rpartition("/")[2]
    return (
        slug(folder),
        last,
        _SLUG.sub("-", last).lower(),
        re.sub("-+", "-", _SLUG.sub("-", last.lower())).strip("-") or "project",
        hashlib.sha256(data).hexdigest(),
        hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        hashlib.md5(data, usedforsecurity=False).hexdigest(),
    )


def _roots(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Folders of two paths that two runs may have in different places: with programs' own files, home, temporary."""
    for shape in (STATE, TEMPORARY, HOME):
        one, other = shape.match(old), shape.match(new)
        if one is None or other is None or _SYSTEM.match(old) or _SYSTEM.match(new):
            continue
        if shape is STATE and one["name"] != other["name"]:
            continue
        yield one.group(), other.group()


def _temporary_folders(old: str, new: str) -> list[tuple[str, str]]:
    """The folders of two temporary files whose random names have the same form: two runs may have other TMPDIRs."""
    if not (TEMPORARY.match(old) and TEMPORARY.match(new)):
        return []
    (one, _, name), (other, _, name_now) = old.rpartition("/"), new.rpartition("/")
    form = random_parts(without_uuids(name))
    return [(one, other)] if form is not None and form == random_parts(without_uuids(name_now)) else []
