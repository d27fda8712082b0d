"""The strings of a JSON text with their places, and a string letter by letter as it is spelled."""

import json
import re
from collections.abc import Iterator, Sequence

from ..frozen import frozen
from ..regex import regex

_TOKEN = regex(r'"((?:[^"\\]|\\.)*+)(?:"|\Z)|[{}\[\]:,]|(?:-?\d[\d.eE+-]*|true|false|null)(?![^\s,\]}])|\S', re.DOTALL)
_LETTER = regex(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.|\\\Z", re.DOTALL)
_ESCAPE, _UNICODE, _PAIR = len("\\n"), len("\\u0000"), len("\\u0000\\u0000")

type Path = tuple[str | int, ...]


@frozen
class JsonString:
    """Where a string is, without its quotes, and whose it is."""

    start: int
    end: int
    path: Path
    """Keys and places in lists, from the root."""
    is_key: bool


def json_strings(text: str) -> Iterator[JsonString]:
    """All strings of a JSON text, keys too. A text that ends within a string is one that was cut.

    Raises ValueError when something else than JSON is in it.
    """
    stack: list[str | int] = []
    is_key = False
    for match in _TOKEN.finditer(text):
        match match[0][0]:
            case "{":
                stack.append("")
                is_key = True
            case "[":
                stack.append(0)
                is_key = False
            case "}" | "]":
                stack = stack[:-1]
                is_key = False
            case ",":
                last = stack[-1] if stack else ""
                is_key = isinstance(last, str)
                if isinstance(last, int):
                    stack[-1] = last + 1
            case ":":
                is_key = False
            case '"':
                if is_key and stack:
                    stack[-1] = match[1]
                yield JsonString(match.start(1), match.end(1), tuple(stack), is_key)
            case _:
                if len(match[0]) == 1 and not match[0].isdigit():
                    raise ValueError("it is not JSON")


def spelled(text: str) -> Sequence[str]:
    """The letters of a string as JSON spells them: `a`, `\\n`, `\\u00e9`; the string itself without escapes."""
    return _LETTER.findall(text) if "\\" in text else text


def meant(letter: str) -> str:
    """What a spelled letter means; the letter itself when it means nothing."""
    if len(letter) == 1:
        return letter
    try:
        return json.loads(f'"{letter}"')
    except ValueError:
        return letter[-1]


def spelled_like(letter: str, new: str) -> str:
    """`new` spelled in the way of `letter`, in as many bytes; an escape that was cut stays."""
    if len(letter) == _ESCAPE:
        return letter
    if len(letter) == _UNICODE:
        return f"\\u{ord(new):04x}"
    return json.dumps(new)[1:-1] if len(letter) == _PAIR else new
