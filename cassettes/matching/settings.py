"""How similar a request must be to its recording: the project's settings, plus those of the caller."""

import os
from collections.abc import Iterable, Mapping
from typing import cast

from ..errors import TurntapeError
from ..settings import Profile, Rule, read_settings
from .grades import Matching


def matching_of(
    profile: str | None = None,
    rules: Mapping[str, str] | None = None,
    ignore: Iterable[str] = (),
    ignore_text: Iterable[str] = (),
    *,
    map_values: bool | None = None,
    repeats: bool = False,
    settings: str | os.PathLike[str] | None = None,
) -> Matching:
    """The matching from these arguments on top of `[replay]` of the project's settings (docs/testing.md).

    Pointers and patterns add up; a rule given here takes precedence over one of the settings. Raises TurntapeError
    for a value that cannot be used, wherever it is written.
    """
    replay = read_settings(settings).replay
    try:
        return Matching(
            cast(Profile, profile or replay.profile),
            cast("Mapping[str, Rule]", {**replay.rules, **(rules or {})}),
            ignore=(*replay.ignore, *ignore),
            ignore_text=(*replay.ignore_text, *ignore_text),
            map_values=replay.map_values if map_values is None else map_values,
            repeats=repeats,
        )
    except ValueError as exc:
        raise TurntapeError(str(exc)) from exc
