"""The lines of a WebSocket session that is still open: its beginning, and its messages as they come.

When it ends, its round trip is written as any other, with the field `running` that names these lines, and they are
dropped by readers. When the recording was killed before, a reader makes the round trip from them.
"""

from collections.abc import Sequence
from typing import cast

import orjson

from .format import frame_fields, round_trip_line
from .json_fields import Json
from .model import Frame, RoundTrip

FIELD = "running"
"""The field of these lines, and of the round trip that replaces them."""
CONTINUES = "continues"
"""The field of a line that says that the session is in the next file."""
_KILLED = {"kind": "internal", "message": "the recording was read, or had stopped, before the session ended"}


def opened_line(session: str, trip: RoundTrip) -> bytes:
    """The beginning of a session, as far as it is known."""
    return b'{"running":%s,"opened":%s}\n' % (
        orjson.dumps(session),
        round_trip_line(0, trip, trip.request.body, None).rstrip(),
    )


def messages_line(session: str, frames: Sequence[Frame]) -> bytes:
    """Messages of a session, after those that are already written."""
    return orjson.dumps({FIELD: session, "frames": [frame_fields(frame) for frame in frames]}) + b"\n"


def continues_line(session: str) -> bytes:
    """The session continues in the next file, which has it from its beginning."""
    return orjson.dumps({FIELD: session, CONTINUES: True}) + b"\n"


def unfinished(number: int, lines: Sequence[Json]) -> Json | None:
    """The line of a round trip that was never written, from the lines of its session; None without its beginning."""
    opened = next((cast(Json, line["opened"]) for line in lines if isinstance(line.get("opened"), dict)), None)
    if opened is None:
        return None
    frames: list[object] = []
    for line in lines:
        said = line.get("frames")
        if isinstance(said, list):
            frames += cast(list[object], said)
    made: Json = {**opened, "n": number, "frames": frames, "failure": _KILLED}
    if frames and isinstance(frames[-1], dict):
        made["ended_at"] = cast(Json, frames[-1]).get("at", 0)
    return made
