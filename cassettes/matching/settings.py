"""How near a request must be to its recording, put together from the project's settings and what is said besides."""

import os
from collections.abc import Iterable, Mapping
from typing import cast

from ..errors import CassetteError, TurntapeError
from ..settings import Table, read_settings, table, texts
from .grades import Matching, Profile, Rule

_KEYS = ("profile", "ignore", "ignore_text", "rules")


def matching_of(
    profile: str | None = None,
    rules: Mapping[str, str] | None = None,
    ignore: Iterable[str] = (),
    ignore_text: Iterable[str] = (),
    *,
    settings: str | os.PathLike[str] | None = None,
) -> Matching:
    """What is said here, on top of `[replay]` of the project's settings (docs/testing.md).

    Pointers and patterns add up; a rule said here comes before one of the settings. Raises TurntapeError for what
    makes no sense, wherever it stands.
    """
    replay = table(read_settings(settings), "replay")
    for key in replay:
        if key not in _KEYS:
            raise CassetteError(f"[replay] of the settings has {key!r}; it may have {', '.join(_KEYS)}")
    try:
        return Matching(
            cast(Profile, profile or replay.get("profile", "strict")),
            cast("Mapping[str, Rule]", {**_rules(replay), **(rules or {})}),
            ignore=(*texts(replay, "ignore"), *ignore),
            ignore_text=(*texts(replay, "ignore_text"), *ignore_text),
        )
    except ValueError as exc:
        raise TurntapeError(str(exc)) from exc


def _rules(replay: Table) -> Table:
    return table(replay, "rules")
