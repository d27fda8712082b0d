"""The project's settings: `turntape.toml`, or `[tool.turntape]` of `pyproject.toml`, in the working directory.

redact = ["ACME-[0-9]+"]
allow_headers = ["x-team"]

[replay]
profile = "ordered"
ignore = ["/metadata/run"]
ignore_text = ["build-[0-9]+"]
rules = {system = "warn", tools = "fail", temperature = "ignore"}
"""

import os
import tomllib
from pathlib import Path
from typing import cast

from .errors import CassetteError

type Table = dict[str, object]


def read_settings(path: str | os.PathLike[str] | None = None) -> Table:
    """The settings in `path`, or in the first of the usual files that has any; empty where there are none.

    Raises CassetteError when the file is no TOML.
    """
    for place in [Path(path)] if path else [Path("turntape.toml"), Path("pyproject.toml")]:
        try:
            document = cast(Table, tomllib.loads(place.read_text()))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
            raise CassetteError(f"cannot read the settings in {str(place)!r}: {exc}; mend or remove it") from exc
        if place.name == "pyproject.toml":
            document = table(table(document, "tool"), "turntape", f"[tool.turntape] in {str(place)!r}")
        if document:
            return document
    return {}


def table(settings: Table, key: str, name: str = "") -> Table:
    """A table of the settings; empty where it is missing. Raises CassetteError for what is none."""
    value = settings.get(key, {})
    if not isinstance(value, dict):
        raise CassetteError(f"{name or f'the setting {key!r}'} is {value!r}; write a table")
    return cast(Table, value)


def texts(settings: Table, key: str) -> tuple[str, ...]:
    """A list of strings; empty where it is missing. Raises CassetteError for what is none."""
    value = settings.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast(list[object], value)):
        raise CassetteError(f"the setting {key!r} is {value!r}; write a list of strings")
    return tuple(cast(list[str], value))
