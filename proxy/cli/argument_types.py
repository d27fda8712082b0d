"""Types of option values: each takes the text and raises `ArgumentTypeError` with what is expected instead."""

import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from turntape.cassettes.whole_number import whole_number

if TYPE_CHECKING:
    from decimal import Decimal

    from ..breakpoints.condition import Condition


def upstream(text: str) -> tuple[str, str]:
    """`NAME=URL`, with an http or https URL that names a host, and a valid port if any.

    The name is one part of the path of a base URL, so it has no slash.
    """
    name, equals, url = text.partition("=")
    example = "such as openai=http://localhost:8000/v1"
    if not name or "/" in name or not equals or not url.lower().startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text!r} is not NAME=URL, {example}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ArgumentTypeError(f"{text!r} has no valid port (1 to 65535) after the host, {example}") from None
    if parts.netloc.endswith(":") or port == 0:
        raise ArgumentTypeError(f"{text!r} has no valid port (1 to 65535) after the host, {example}")
    if not parts.hostname:
        raise ArgumentTypeError(f"{text!r} is not NAME=URL: the URL has no host, {example}")
    return name, url


_MOST_WORKERS = 255
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_TIMES = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")


def duration(text: str) -> float:
    """A time with its unit, in seconds: `30s`, `1h`. A number alone is seconds."""
    found = _AMOUNT.fullmatch(text.strip())
    unit = _TIMES.get(found[2].lower()) if found else None
    if found is None or unit is None:
        if _is_digits(text.strip()):
            return float(text)
        raise ArgumentTypeError(f"{text!r} is not a time such as 30s, 15m, 1h or 1d")
    return float(found[1]) * unit


def rotate_at(text: str) -> "tuple[int | None, float | None]":
    """`SIZE`, `TIME` or `SIZE,TIME`: bytes and seconds, None for what is not given."""
    size, seconds = None, None
    for part in re.split(r"[,|]", text):
        found = _AMOUNT.fullmatch(part.strip())
        unit = _SIZES.get(found[2].upper()) if found else None
        if found is not None and unit is not None:
            size = int(float(found[1]) * unit)
        elif found is not None and found[2].lower() in _TIMES:
            seconds = float(found[1]) * _TIMES[found[2].lower()]
        else:
            raise ArgumentTypeError(f"{part!r} is not a size or a time, such as 100MB, 1h or 100MB,1h")
    if not (size or seconds) or 0 in (size, seconds):
        raise ArgumentTypeError(f"{text!r} is less than anything that can be recorded; use 100MB, 1h or 100MB,1h")
    return size, seconds


def ship_label(text: str) -> str:
    """`NAME=VALUE`."""
    name, equals, _ = text.partition("=")
    if not equals or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as branch=main")
    return text


def turn_number(text: str) -> int:
    """The number of a turn, from 1."""
    if not (_is_digits(text) and int(text)):
        raise ArgumentTypeError(f"{text!r} is not a turn number; turns are numbered from 1")
    return int(text)


def turn_count(text: str) -> int:
    """A number of turns, from 1."""
    if not (_is_digits(text) and int(text)):
        raise ArgumentTypeError(f"{text!r} is not a number of turns (1 or more)")
    return int(text)


def worker_count(text: str) -> int:
    """A number of processes, from 1 to 255."""
    if not _is_digits(text) or not 1 <= int(text) <= _MOST_WORKERS:
        raise ArgumentTypeError(f"{text!r} is not a number of processes (1 to {_MOST_WORKERS})")
    return int(text)


def turn_budget(text: str) -> int:
    """A number of turns, 0 included."""
    if not _is_digits(text):
        raise ArgumentTypeError(f"{text!r} is not a number of turns (0 or more)")
    return int(text)


def token_count(text: str) -> int:
    """A number of tokens, 0 included."""
    if not _is_digits(text):
        raise ArgumentTypeError(f"{text!r} is not a number of tokens (0 or more)")
    return int(text)


def day_count(text: str) -> int:
    """A number of days, from 1."""
    if not (_is_digits(text) and 0 < int(text) < 100_000):
        raise ArgumentTypeError(f"{text!r} is not a number of days (1 or more)")
    return int(text)


def parameter(text: str) -> tuple[str, str]:
    """`NAME=VALUE`, the value of a parameter of a question."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as limit=10")
    return name, value


def file_name(text: str) -> str:
    """The name of a file or folder; `-` is standard output elsewhere."""
    if text == "-":
        raise ArgumentTypeError("this cannot be written to standard output (-); name a file")
    return text


def port(text: str) -> int:
    """A TCP port; 0 means any free one."""
    if not _is_digits(text) or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def width(text: str) -> int:
    """A number of columns, from 1."""
    if not (_is_digits(text) and int(text)):
        raise ArgumentTypeError(f"{text!r} is not a number of columns (1 or more)")
    return int(text)


def dollars(text: str) -> "Decimal":
    """An amount above 0, with or without `$`."""
    amount = _amount(text)
    if amount is None or amount <= 0:
        raise ArgumentTypeError(f"{text!r} is not a dollar amount above 0, such as 0.50")
    return amount


def dollar_budget(text: str) -> "Decimal":
    """An amount of 0 or more, with or without `$`."""
    amount = _amount(text)
    if amount is None or amount < 0:
        raise ArgumentTypeError(f"{text!r} is not a dollar amount, such as 0.50")
    return amount


def growth(text: str) -> "Decimal":
    """`3x` or `200%`: a factor of growth."""
    from turntape.inspector.check.budgets import growth_of

    try:
        return growth_of(text)
    except ValueError as exc:
        raise ArgumentTypeError(str(exc)) from None


def names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def break_condition(text: str) -> "Condition":
    """`tool=NAME`, `finding=ID` or `turn=N`."""
    from ..breakpoints.condition import parse

    try:
        return parse(text)
    except ValueError as exc:
        raise ArgumentTypeError(str(exc)) from None


def pace(text: str) -> str:
    """`instant`, `recorded`, a factor, `max=SECONDS`, or both."""
    from turntape.cassettes.replay.pace import Pace

    try:
        Pace.of(text)
    except ValueError as exc:
        raise ArgumentTypeError(str(exc)) from None
    return text


def matching_rule(text: str) -> tuple[str, str]:
    """`FIELD=fail`, `FIELD=warn` or `FIELD=ignore`."""
    name, _, rule = text.rpartition("=")
    if not name or rule not in ("fail", "warn", "ignore"):
        raise ArgumentTypeError(f"{text!r} is not FIELD=fail, FIELD=warn or FIELD=ignore, such as system=warn")
    return name, rule


def _is_digits(text: str) -> bool:
    return whole_number(text) is not None


def _amount(text: str) -> "Decimal | None":
    from decimal import Decimal, InvalidOperation

    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def label(text: str) -> tuple[str, str]:
    """`NAME=VALUE`, with a name that can be a column."""
    name, equals, value = text.partition("=")
    if not equals or not name.replace("_", "a").replace("-", "a").isalnum():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as branch=main")
    return name, value


_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def byte_count(text: str) -> int:
    """A size above 0, such as `100MB`."""
    digits = text.rstrip("BKMGTbkmgt")
    factor = _UNITS.get(text[len(digits) :].lower() or "b")
    if not _is_digits(digits) or factor is None or not int(digits):
        raise ArgumentTypeError(f"{text!r} is not a size, such as 100MB or 1GB")
    return int(digits) * factor


def age(text: str) -> int:
    """A number of days: `30d` or `12w`."""
    days = {"d": 1, "w": 7}.get(text[-1:].lower())
    if days is None or not _is_digits(text[:-1]) or not int(text[:-1]) or len(text) > 6:
        raise ArgumentTypeError(f"{text!r} is not an age, such as 30d or 12w")
    return int(text[:-1]) * days
