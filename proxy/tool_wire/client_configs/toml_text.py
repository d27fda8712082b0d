"""The servers in a TOML file, with their places; `tomllib` reads the values."""

import re
import tomllib
from typing import Any

from .nodes import Entry, Node, NotParsed

CONTAINER = "mcp_servers"
_SPACE = re.compile(r"[ \t]*")
_BREAKS = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = re.compile(r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?=\S))?""")
_STRING = re.compile(r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")

type Path = tuple[str, ...]


def loads(text: str) -> dict[str, Any]:
    """Raises `NotParsed`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise NotParsed(str(exc)) from exc


def entries(text: str) -> list[Entry]:
    """The servers of a configuration file that are commands. Raises `NotParsed`."""
    loads(text)  # what follows may rely on the syntax
    values: dict[Path, Node] = {}
    written: dict[Path, str] = {}
    """How the key of a value is written; empty in an inline table."""
    prefix: Path = ()
    at = _breaks(text, 0)
    while at < len(text):
        if text[at] == "[":
            at += 2 if text.startswith("[[", at) else 1
            prefix, at = _key(text, _space(text, at))
            at = text.index("]", at) + 1
            at += text.startswith("]", at)
        else:
            start = at
            key, at = _key(text, at)
            raw = text[start:at].strip()
            node = _value(text, _space(text, text.index("=", at) + 1))
            path = (*prefix, *key)
            _collect(path, node, values)
            written[path] = raw
            at = node.end
        at = _breaks(text, at)
    return [_entry(path, values, written) for path in values if _is_command(path, values)]


def _is_command(path: Path, values: dict[Path, Node]) -> bool:
    args = values.get((*path[:-1], "args"))
    return (
        len(path) == 3
        and (path[0], path[2]) == (CONTAINER, "command")
        and isinstance(values[path].value, str)
        and (args is None or args.words() is not None)
    )


def _entry(path: Path, values: dict[Path, Node], written: dict[Path, str]) -> Entry:
    raw = written.get(path)
    key = "args" if raw is None else raw[: -len(_last(raw))] + "args"
    start = ", " if raw is None else "\n"
    return Entry(path[1], values[path], values.get((*path[:-1], "args")), lambda text: f"{start}{key}={text}")


def _last(raw: str) -> str:
    """The last part of a dotted key, as it is written."""
    at = 0
    while (match := _KEY.match(raw, at)) is not None and match.end() < len(raw):
        at = match.end()
    return raw[at:]


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


def _key(text: str, at: int) -> tuple[Path, int]:
    """A dotted key, and where it ends."""
    parts: list[str] = []
    while (match := _KEY.match(text, at)) is not None:
        at = match.end()
        raw = match[0].rstrip(" \t.") if match[0][0] not in "\"'" else match[0].rstrip(" \t").removesuffix(".").rstrip()
        parts.append(str(tomllib.loads(f"x = {raw}")["x"]) if raw[0] in "\"'" else raw)
        if not match[0].rstrip(" \t").endswith(".") or match[0] == raw:
            break
    return tuple(parts), at


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
        key, at = _key(text, at)
        node = _value(text, _breaks(text, text.index("=", at) + 1))
        members["\0".join(key)] = node
        at = _breaks(text, node.end)
        if text[at] == ",":
            at = _breaks(text, at + 1)
    return Node(start, at + 1, members)
