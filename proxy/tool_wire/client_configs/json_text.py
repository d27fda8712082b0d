"""JSON with places, comments and trailing commas, as VS Code, opencode and Gemini CLI accept it."""

import json
import re
from typing import Any

from .nodes import Entry, Node, NotParsed

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_CONTAINERS = frozenset({"mcpServers", "mcp_servers", "servers", "mcp", "context_servers", "amp.mcpServers"})
"""The keys below which clients list their servers."""


def parse(text: str) -> Node:
    """Raises `NotParsed`."""
    try:
        node = _value(text, _space(text, 0))
    except RecursionError as exc:
        raise NotParsed("it is nested too deeply") from exc
    end = _space(text, node.end)
    if end != len(text):
        raise _wrong(text, end)
    return node


def loads(text: str) -> Any:
    """The value of a JSON text with comments. Raises `NotParsed`."""
    return parse(text).plain()


def entries(text: str) -> list[Entry]:
    """The servers of a configuration file that are commands. Raises `NotParsed`."""
    found: list[Entry] = []
    _search(parse(text), (), found)
    return found


def _search(node: Node, path: tuple[str, ...], found: list[Entry]) -> None:
    if not isinstance(node.value, dict):
        return
    command = node.value.get("command")
    if len(path) > 1 and path[-2] in _CONTAINERS and command is not None:
        args = node.value.get("args")
        single = isinstance(command.value, str) and (args is None or args.words() is not None)
        if single or (args is None and command.words()):
            found.append(Entry(path[-1], command, args, lambda written: f',"args":{written}'))
        return
    for key, child in node.value.items():
        _search(child, (*path, key), found)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _wrong(text: str, at: int) -> NotParsed:
    line = text.count("\n", 0, at) + 1
    what = repr(text[at]) if at < len(text) else "the end of the file"
    return NotParsed(f"line {line}: {what} is not expected here")


def _value(text: str, at: int) -> Node:
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at)
    if first == "[":
        return _array(text, at)
    match = _STRING.match(text, at) or _OTHER.match(text, at)
    if match is None:
        raise _wrong(text, at)
    try:
        return Node(at, match.end(), json.loads(match[0]))
    except ValueError as exc:
        raise _wrong(text, at) from exc


def _object(text: str, start: int) -> Node:
    members: dict[str, Node] = {}
    at = _space(text, start + 1)
    while text[at : at + 1] != "}":
        if (key := _STRING.match(text, at)) is None:
            raise _wrong(text, at)
        at = _space(text, key.end())
        if text[at : at + 1] != ":":
            raise _wrong(text, at)
        node = _value(text, _space(text, at + 1))
        members[json.loads(key[0])] = node
        at = _after(text, node.end, "}")
    return Node(start, at + 1, members)


def _array(text: str, start: int) -> Node:
    items: list[Node] = []
    at = _space(text, start + 1)
    while text[at : at + 1] != "]":
        items.append(_value(text, at))
        at = _after(text, items[-1].end, "]")
    return Node(start, at + 1, items)


def _after(text: str, at: int, closing: str) -> int:
    """Where the next item begins, or the closing bracket is."""
    at = _space(text, at)
    if text[at : at + 1] == ",":
        return _space(text, at + 1)
    if text[at : at + 1] != closing:
        raise _wrong(text, at)
    return at
