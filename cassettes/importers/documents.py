"""The documents that recordings are written as: YAML, JSON and TOML, read into plain values.

YAML is read by the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema, read 2026-11-21), where
`12:30` and `2026-01-01` are text: what one tool writes plain and another quotes is then the same. Tags of Python
objects, which vcrpy has written, are read as the data in them; nothing is ever called.
"""

import base64
import re
import reprlib
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ..regex import regex
from .format import ImportFault, Origin

type Fields = dict[str, object]
_MOST_VALUES = 10_000_000
"""How many values a document may have when each alias is replaced by its value; a long text counts as several."""
_LONG_TEXT = 32
_DEEPEST = 500
"""How deeply the values of a YAML file may be nested."""
_LONG_INDENT = regex(rb"^[ ?:-]{500}", re.MULTILINE)
"""How a line begins in which block values may be nested so deeply."""
_TOO_LARGE = 1 << 63
"""A cassette holds whole numbers below this."""

_CORE = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
        r"|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("merge", r"<<", "<"),
)
"""Plain scalars that are not text: tag, pattern, and the characters that they begin with."""


def yaml_document(data: bytes, path: Path) -> object:
    """The value of a YAML file. Raises ImportFault when PyYAML is missing or the file is not valid YAML."""
    try:
        library: Any = import_module("yaml")
    except ImportError as exc:
        raise ImportFault(
            f"{str(path)!r} is YAML, and PyYAML is not installed; install it with: pip install 'turntape[import]'"
        ) from exc
    top = Origin("yaml", path, "its top")
    try:
        _check_depth(library, data, top)
        document = cast(object, library.load(data, Loader=_loader(library)))
    except library.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        what = getattr(exc, "problem", None) or getattr(exc, "reason", None) or str(exc).partition("\n")[0]
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else f"byte {getattr(exc, 'position', 0)}"
        raise Origin("yaml", path, place).fault(f"this is not valid YAML: {what}", "fix the file") from exc
    except RecursionError as exc:
        raise top.fault("its values are nested too deep", "fix the file") from exc
    except ValueError as exc:  # of a number with thousands of digits
        raise top.fault(f"a value of it cannot be read: {_short(exc)}", "fix the file") from exc
    except (AttributeError, LookupError, TypeError) as exc:  # PyYAML's, of `!!timestamp x` and `!!bool x`
        raise top.fault("a value of it is not of the type that its tag names", "fix the file") from exc
    if b"&" in data and b"*" in data:
        _check_aliases(document, top)
    return document


def _short(error: ValueError) -> str:
    return str(error).partition("\n")[0].partition(";")[0]


def _check_depth(library: Any, data: bytes, origin: Origin) -> None:
    """Raises ImportFault for values that are nested so deeply that libyaml, which does not count, ends the process."""
    if data.count(b"[") + data.count(b"{") < _DEEPEST and _LONG_INDENT.search(data) is None:
        return
    depth = 0
    for event in library.parse(data, Loader=getattr(library, "CSafeLoader", None) or library.SafeLoader):
        if isinstance(event, library.CollectionStartEvent):
            depth += 1
        elif isinstance(event, library.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise origin.fault("its values are nested too deep", "fix the file")


def _check_aliases(document: object, origin: Origin) -> None:
    """Raises ImportFault when an alias is within its own value, or aliases of aliases make a huge document."""
    counts: dict[int, int] = {}
    within: set[int] = set()
    waiting: list[tuple[object, bool]] = [(document, False)]
    while waiting:
        value, is_counted = waiting.pop()
        inner = _inner(value)
        if is_counted:
            within.remove(id(value))
            counts[id(value)] = 1 + sum(counts.get(id(one)) or _weight(one) for one in inner)
            if counts[id(value)] > _MOST_VALUES:
                raise origin.fault(f"its aliases give more than {_MOST_VALUES:,} values", "do not trust the file")
        elif inner and id(value) in within:
            raise origin.fault("an alias is within its own value", "fix the file")
        elif inner and id(value) not in counts:
            within.add(id(value))
            waiting.append((value, True))
            waiting += [(one, False) for one in inner]


def _weight(value: object) -> int:
    return 1 + len(value) // _LONG_TEXT if isinstance(value, str | bytes) else 1


def _inner(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast(Fields, value).values())
    return cast(list[object], value) if isinstance(value, list) else []


@cache
def _loader(library: Any) -> Any:
    base = getattr(library, "CSafeLoader", None) or library.SafeLoader

    class Loader(base):
        yaml_implicit_resolvers: dict[str, list[object]] = {}

    for tag, pattern, first in _CORE:
        characters = [character if character != "\0" else "" for character in first]
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), characters)
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", _python_object)
    Loader.add_constructor("!binary", base.construct_yaml_binary)  # Ruby
    return Loader


def _python_object(loader: Any, suffix: str, node: Any) -> object:
    """The data in a tagged Python object: the text of a `str` subclass, the content of a `BytesIO`."""
    if node.id == "scalar":
        text = cast(str, loader.construct_scalar(node))
        return base64.b64decode(text) if suffix == "bytes" else text
    if node.id == "sequence":
        items = cast(list[object], loader.construct_sequence(node, deep=True))
        return items[0] if suffix.startswith("object/") and len(items) == 1 else items
    fields = cast(Fields, loader.construct_mapping(node, deep=True))
    for key in ("state", "args"):
        held = fields.get(key)
        if isinstance(held, list) and held:
            return cast(list[object], held)[0]
    return fields


def json_document(data: bytes, path: Path) -> object:
    """The value of a JSON file, with or without a byte order mark. Raises ImportFault when it is not one."""
    import json

    try:
        return cast(object, json.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError as exc:
        raise Origin("json", path, f"byte {exc.start}").fault("this is not valid UTF-8", "save it as UTF-8") from exc
    except json.JSONDecodeError as exc:
        place = f"line {exc.lineno}, column {exc.colno}"
        raise Origin("json", path, place).fault(f"this is not valid JSON: {exc.msg}", "fix the file") from exc
    except ValueError as exc:  # of a number with thousands of digits
        raise Origin("json", path, "its text").fault(f"this cannot be read: {_short(exc)}", "fix the file") from exc
    except RecursionError as exc:
        raise Origin("json", path, "its depth").fault("it is nested too deeply", "fix the file") from exc


def toml_document(data: bytes, path: Path) -> object:
    """The value of a TOML file. Raises ImportFault when it is not one."""
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as exc:
        raise Origin("toml", path, f"byte {exc.start}").fault("this is not valid UTF-8", "save it as UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise Origin("toml", path, "its text").fault(f"this is not valid TOML: {exc}", "fix the file") from exc
    except ValueError as exc:  # of a number with thousands of digits
        raise Origin("toml", path, "its text").fault(f"this cannot be read: {_short(exc)}", "fix the file") from exc
    except RecursionError as exc:
        raise Origin("toml", path, "its depth").fault("it is nested too deeply", "fix the file") from exc


def mapping(value: object, origin: Origin, what: str) -> Fields:
    """`value` as a mapping. Raises ImportFault when it is not one."""
    if not isinstance(value, dict):
        raise origin.fault(f"{what} is {kind(value)} and not a mapping", "fix the file or record again")
    return cast(Fields, value)


def items(value: object, origin: Origin, what: str) -> list[object]:
    """`value` as a list. Raises ImportFault when it is not one."""
    if not isinstance(value, list):
        raise origin.fault(f"{what} is {kind(value)} and not a list", "fix the file or record again")
    return cast(list[object], value)


def text(fields: Fields, key: str, origin: Origin) -> str:
    """A field that must be text. Raises ImportFault when it is missing or something else."""
    value = fields.get(key)
    if not isinstance(value, str):
        problem = f"{key!r} is missing" if key not in fields else f"{key!r} is {kind(value)} and not text"
        raise origin.fault(problem, "fix the file or record again")
    return value


def number(value: object, origin: Origin, what: str) -> int:
    """A whole number below 2**63, written as a number or as text. Raises ImportFault when it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise origin.fault(f"{what} is {kind(value)} and not a number", "fix the file or record again")
    try:
        whole = int(value)
    except (ValueError, OverflowError) as exc:
        said = reprlib.repr(value)
        raise origin.fault(f"{what} is {said} and not a number", "fix the file or record again") from exc
    if abs(whole) >= _TOO_LARGE:
        raise origin.fault(f"{what} is a number above 2**63", "fix the file or record again")
    return whole


def status_code(value: object, origin: Origin) -> int:
    """The status of an answer. Raises ImportFault when it does not have the three digits of HTTP.

    https://www.rfc-editor.org/rfc/rfc9110#section-15 (read 2026-11-24); servers send numbers above 599 too.
    """
    status = number(value, origin, "the status")
    if not 100 <= status <= 999:
        raise origin.fault(f"the status is {status} and not from 100 to 999", "fix the file or record again")
    return status


_KINDS: dict[type, str] = {
    type(None): "nothing",
    bool: "a truth value",
    int: "a number",
    float: "a number",
    str: "text",
    bytes: "bytes",
    list: "a list",
    dict: "a mapping",
}


def kind(value: object) -> str:
    """The type of a value, in plain words."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")
