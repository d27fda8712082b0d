"""The servers in a TOML file, with their places; `tomllib` reads the values."""

import re
import tomllib
from typing import Any

from .nodes import Entry, Node, NotParsed

CONTAINER = "mcp_servers"
_SPACE = re.compile(r"[ \t]*")
_BREAKS = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_STRING = re.compile(r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")

type Path = tuple[str, ...]


def loads(text: str) -> dict[str, Any]:
    """Raises `NotParsed`."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as exc:  # of numbers too, beside TOMLDecodeError
        raise NotParsed(str(exc)) from exc


def entries(text: str) -> list[Entry]:
    """The servers of a configuration file that are commands. Raises `NotParsed`."""
    loads(text)  # what follows may rely on the syntax
    values: dict[Path, Node] = {}
    before: dict[Path, str] = {}
    """What is written before the last part of a value's key; nothing for a value in an inline table."""
    prefix: Path = ()
    at = _breaks(text, 0)
    while at < len(text):
        if text[at] == "[":
            at += 2 if text.startswith("[[", at) else 1
            prefix, _, at = _key(text, _space(text, at))
            at = text.index("]", at) + 1
            at += text.startswith("]", at)
        else:
            start = at
            key, last, at = _key(text, at)
            node = _value(text, _space(text, text.index("=", at) + 1))
            path = (*prefix, *key)
            _collect(path, node, values)
            before[path] = text[start:last]
            at = node.end
        at = _breaks(text, at)
    return [_entry(path, values, before.get(path)) for path in values if _is_command(path, values)]


def _is_command(path: Path, values: dict[Path, Node]) -> bool:
    args = values.get((*path[:-1], "args"))
    return (
        len(path) == 3
        and (path[0], path[2]) == (CONTAINER, "command")
        and isinstance(values[path].value, str)
        and (args is None or args.words() is not None)
    )


def _entry(path: Path, values: dict[Path, Node], before: str | None) -> Entry:
    start = ", " if before is None else f"\n{before}"
    return Entry(path[1], values[path], values.get((*path[:-1], "args")), lambda text: f"{start}args={text}")


def _collect(path: Path, node: Node, values: dict[Path, Node]) -> None:
    values[path] = node
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            # A dotted key in an inline table is kept whole.
            _collect((*path, *key.split("\0")), child, values)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _breaks(text: str, at: int) -> int:
    match = _BREAKS.match(text, at)
    return match.end() if match else at


def _key(text: str, at: int) -> tuple[Path, int, int]:
    """A dotted key, where its last part begins, and where it ends."""
    parts: list[str] = []
    while True:
        part = _PART.match(text, at)
        if part is None:
            raise NotParsed(f"{text[at : at + 1]!r} is not expected here")
        parts.append(str(tomllib.loads(f"x = {part[0]}")["x"]) if part[0][0] in "\"'" else part[0])
        dot = _DOT.match(text, part.end())
        if dot is None:
            return tuple(parts), part.start(), part.end()
        at = dot.end()


def _value(text: str, at: int) -> Node:
    if text[at] == "[":
        return _array(text, at)
    if text[at] == "{":
        return _table(text, at)
    match = _STRING.match(text, at)
    if match is not None:
        return Node(at, match.end(), tomllib.loads(f"x = {match[0]}")["x"])
    match = _BARE.match(text, at)
    if match is None:
        raise NotParsed(f"{text[at]!r} is not expected here")
    return Node(at, match.end(), None)  # a number, a truth value or a date, which no server's command is


def _array(text: str, start: int) -> Node:
    items: list[Node] = []
    at = _breaks(text, start + 1)
    while text[at] != "]":
        items.append(_value(text, at))
        at = _breaks(text, items[-1].end)
        if text[at] == ",":
            at = _breaks(text, at + 1)
    return Node(start, at + 1, items)


def _table(text: str, start: int) -> Node:
    members: dict[str, Node] = {}
    at = _breaks(text, start + 1)
    while text[at] != "}":
        key, _, at = _key(text, at)
        node = _value(text, _breaks(text, text.index("=", at) + 1))
        members["\0".join(key)] = node
        at = _breaks(text, node.end)
        if text[at] == ",":
            at = _breaks(text, at + 1)
    return Node(start, at + 1, members)
