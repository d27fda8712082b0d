"""Fields of a parsed JSON line, each with its type checked. A field of another type is an error, never a guess.

Every function raises ValueError with a clause that can follow "round trip 3 cannot be read:".
"""

import base64
from collections.abc import Callable
from reprlib import repr as clipped
from typing import cast

type Json = dict[str, object]


def restored(stored: Json) -> bytes:
    """The bytes of a stored `text` or `b64`."""
    text = stored.get("text")
    if isinstance(text, str):
        return text.encode()
    encoded = stored.get("b64")
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except ValueError as exc:
            raise ValueError(f"the base64 {clipped(encoded)} is damaged: {exc}") from exc
    raise ValueError(f"what is stored has neither text nor b64 but {clipped(sorted(stored))}")


def given(of: Json, name: str) -> object:
    """A field that must be there."""
    if name not in of:
        raise ValueError(f"it has no {name}")
    return of[name]


def a_text(value: object, name: str) -> str:
    """A string; text that was not UTF-8 is stored as bytes."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        stored = cast(Json, value)
        if "text" in stored or "b64" in stored:
            return restored(stored).decode("utf-8", "surrogateescape")
    raise ValueError(f"its {name} is {clipped(cast(object, value))} and not text")


def an_integer(value: object, name: str) -> int:
    """An integer; `true` does not count as one."""
    if type(value) is not int:
        raise ValueError(f"its {name} is {clipped(value)} and not an integer")
    return value


def a_count(value: object, name: str) -> int:
    """An integer of at least 0."""
    if an_integer(value, name) < 0:
        raise ValueError(f"its {name} is {value!r} and below 0")
    return cast(int, value)


def an_object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise ValueError(f"its {name} is {clipped(value)} and not an object")
    return cast(Json, value)


def a_list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"its {name} is {clipped(value)} and not a list")
    return cast(list[object], value)


def a_pair(value: object, name: str) -> tuple[object, object]:
    pair = a_list(value, name)
    if len(pair) != 2:
        raise ValueError(f"its {name} has {clipped(value)}, which is not a pair")
    return pair[0], pair[1]


def a_body(value: object, name: str) -> Json:
    """A stored body: text or base64, either whole or between the two ends of an earlier body."""
    stored = an_object(value, name)
    if not isinstance(stored.get("text"), str) and not isinstance(stored.get("b64"), str):
        raise ValueError(f"its {name} has neither text nor b64 but {clipped(sorted(stored))}")
    if "base" in stored:
        for part in ("base", "prefix", "suffix"):
            a_count(given(stored, part), f"{name}.{part}")
    return stored


def optional[T](of: Json, name: str, read: Callable[[object, str], T], default: T, inside: str = "") -> T:
    """A field that may be missing or null: `default` then. Errors name it as `inside` + `name`."""
    value = of.get(name)
    return default if value is None else read(value, inside + name)
