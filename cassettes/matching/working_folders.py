"""Folders whose paths no pattern finds, because they hold a space or another character that ends a path in prose.

Which folders these are is said by a text ("Working directory: /srv/My Project"), or by a tool server's process. From
then on their paths are found literally, in each spelling: as they are, in JSON, and in a shell command.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal
from urllib.parse import quote

from ..regex import regex

type Spelling = Literal["plain", "json", "url", "shell", "json shell", "quoted"]

LEAD = (
    r"(?:\b(?:working|current|workspace|project|repository|root)[ _-]?(?:in the )?"
    r"(?:director(?:y|ies)|dir|folders?|roots?)|\bcwd|\bworkdir)"
    r"[\"'`*_\\]{0,9}\s?(?:is|are)?\s?[:=>]?[\"'`*_\\>]{0,9}\s{0,6}(?:[-*]\s)?(?:<\w+>)?[\"'`*_\\]{0,9}(?:file://)?"
)
"""What a text says before the path of the working directory."""
_NAMED = regex(rf"{LEAD}(?P<path>/(?:[^\s\"`<>|\\]|[ ]|\\u[0-9A-Fa-f]{{4}})+)(?P<end>.?)", re.IGNORECASE)
_ESCAPE = regex(r"\\u([0-9A-Fa-f]{4})")
_SENTENCE = regex(r"[.,;:!?](?=\s|\Z)|\s[/(~]")
"""Where a line has more than a path."""
_PLAIN = regex(r"(?:/[\w.@+%~#=,-]*[\w@+~#=-])+")
"""A path that is found without knowing it."""
_SHELL = regex(r"[^\w/.@%+=:,-]")
_SLUG = regex(r"[^A-Za-z0-9]")
_URL_SAFE = "!\"#$&'()*+,-./:;<=>?@[]^_`{|}~"
_BOUNDARY = r"(?![\w@+%~#=-])"


def is_plain(path: str) -> bool:
    """True for a path that is found without knowing it."""
    return _PLAIN.fullmatch(path) is not None


def written(path: str, spelling: Spelling) -> str:
    """A path in another spelling."""
    return _SPELLINGS[spelling](path)


def slug(path: str) -> str:
    """A path as one word, as programs name their folders: a dash for each UTF-16 unit other than a letter or digit."""
    return _SLUG.sub(lambda found: "-" * (len(found.group().encode("utf-16-le", "surrogatepass")) // 2), path)


def _in_json(path: str) -> str:
    return json.dumps(path)[1:-1]


def _in_shell(path: str) -> str:
    return _SHELL.sub(lambda found: f"\\{found.group()}", path)


_SPELLINGS: dict[Spelling, Callable[[str], str]] = {
    "plain": str,
    "json": _in_json,
    "url": lambda path: quote(path, safe=_URL_SAFE),
    "shell": _in_shell,
    "quoted": lambda path: "'" + path.replace("'", "'\"'\"'") + "'",
    "json shell": lambda path: _in_json(_in_shell(path)),
}
_LITERAL: tuple[Spelling, ...] = ("plain", "json", "shell", "json shell")
"""The spellings that are searched for. A URL has no spaces, so it is found as any path is."""


def named_in(text: str) -> Iterator[tuple[str, bool]]:
    """The folders that a text calls the working directory, if their paths are not plain; and whether it is sure where
    the path ends. A line that does not quote it may go on after it."""
    for found in _NAMED.finditer(text):
        path = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), found["path"])
        path = path.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        opening = found.string[found.start("path") - 1 : found.start("path")]
        if opening == "'":
            path, _, _ = path.partition("'")
        closing = {"'": ("'",), '"': ('"', "\\"), "`": ("`",), ">": ("<",)}.get(opening, ())
        is_ended = opening == "'" or found["end"] in closing
        path = path.rstrip(" /") if is_ended else path.rstrip(" /.*_")
        if not is_plain(path) and (is_ended or not _SENTENCE.search(path)):
            # A name after a space, and a path in it, do not look like words of a sentence.
            yield path, is_ended or " " not in path or "/" in path.partition(" ")[2]


def _up(folder: str) -> Iterator[str]:
    """A folder and those above it, without those at the top."""
    while folder.count("/") > 1:
        yield folder
        folder = folder.rpartition("/")[0]


class WorkingFolders:
    """The folders of one replay, recorded and of this run, that are found literally."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._unsure: dict[str, None] = {}
        self._spelled: dict[str, tuple[str, Spelling]] = {}
        self.pattern: str | None = None
        """Finds the folders in all spellings; None when there are none."""

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, folders: Iterable[str]) -> None:
        """From now on these and the folders above them are found, where their paths are not plain."""
        new = [one for folder in folders for one in _up(folder) if one not in self._known and not is_plain(one)]
        if not new:
            return
        self._known.update(dict.fromkeys(new))
        spelled: dict[str, tuple[str, Spelling]] = {
            written(one, how): (one, how) for one in self._known for how in reversed(_LITERAL)
        }
        words = "|".join(re.escape(one) for one in sorted(spelled, reverse=True))  # the longer of two comes first
        self._spelled = spelled
        self.pattern = f"(?:{words}){_BOUNDARY}"

    def learn_from(self, text: str) -> None:
        """Learn the folders that a text names as the working directory. Where it is not sure that the path ends there,
        this text or a later one must name a file in it, or a folder after it."""
        if "/" not in text:
            return
        for path, is_sure in named_in(text):
            if is_sure:
                self.learn((path,))
            elif path not in self._known:
                self._unsure[path] = None
        for path in [one for one in self._unsure if f"{one}/" in text or slug(one) in text]:
            del self._unsure[path]
            self.learn((path,))

    def meant(self, text: str) -> tuple[str, Spelling]:
        """The folder that a found text means, and how it is spelled."""
        return self._spelled.get(text, (text, "plain"))
