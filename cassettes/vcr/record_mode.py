"""The record modes by the names of vcrpy."""

from enum import StrEnum

from ..replay.record_modes import Mode


class RecordMode(StrEnum):
    """When a request goes to the API. `turntape` and `pytest --turntape-mode` have the same modes."""

    ALL = "all"
    ANY = "any"
    NEW_EPISODES = "new_episodes"
    NONE = "none"
    ONCE = "once"


OURS: dict[str, Mode] = {"all": "all", "any": "new", "new_episodes": "new", "none": "none", "once": "once"}
"""Our mode for each of theirs."""

VCRPY: dict[str, RecordMode] = {
    "all": RecordMode.ALL,
    "new": RecordMode.NEW_EPISODES,
    "once": RecordMode.ONCE,
    "none": RecordMode.NONE,
    "verify": RecordMode.NONE,
    "restamp": RecordMode.NONE,
}
"""Their mode for each of ours."""
