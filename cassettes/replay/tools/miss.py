"""What no recorded message of a tool server answers, with what differs from the nearest one."""

from collections.abc import Sequence

from ...errors import ReplayMiss
from ...matching.json_diff import Difference
from .recording import Asked


class ToolMiss(ReplayMiss):
    """No recorded call of a tool server answers a call, or no recorded request another request that was recorded.

    `name` is the tool, or the method of the request. `played` is how often it was recorded as it is, and was played.
    """

    def __init__(
        self, server: str, name: str, nearest: Asked | None, found: Sequence[Difference] = (), played: int = 0
    ) -> None:
        self.server = server
        self.name = name
        self.nearest = nearest
        self.differences = tuple(found)
        super().__init__(_sentence(server, name, nearest, found, played))


def _sentence(server: str, name: str, nearest: Asked | None, found: Sequence[Difference], played: int) -> str:
    is_call = nearest is None or nearest.is_call
    answers = f"call answers the tool {name}" if is_call else f"request answers {name}"
    what = f"no recorded {answers} of the server {server}"
    if played:
        times = "once" if played == 1 else f"{played} times"
        return f"{what}: it was recorded {times} with these arguments, and is called again"
    if nearest is None or not found:
        return f"{what}: it was not called in the recording"
    first, *others = found
    more = f" (and {len(others)} more: {', '.join(one.pointer or '/' for one in others)})" if others else ""
    return f"{what}: the nearest is #{nearest.index}, where {first}{more}; record again if the change is intended"
