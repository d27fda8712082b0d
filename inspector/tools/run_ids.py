"""Tool runs whose id made it impossible to match their answer."""

import math
from collections.abc import Iterator

from turntape.cassettes.frozen import copied_with
from turntape.cassettes.tape.model import RoundTrip

from .session_state import Sent, Session, WireNote, is_new, key_of_id
from .tool_messages import ToolMessage
from .tool_run import ToolRun

_MOST_IDS = 2_000
"""So many of the newest ids of a session are known."""
_EXACT = 2**53
"""A larger number is not the same in every JSON parser."""


def of_ids(session: Session, trip: RoundTrip, sent: list[ToolMessage], notes: list[WireNote]) -> Iterator[ToolRun]:
    """The runs without an answer whose id made it impossible to match their answer.

    Two requests of a session had the id while both were open, or it is a number that JSON parsers round.
    """
    ended = trip.started_at + (trip.ended_at or 0) / 1e6
    for message in sent:
        if trip.tool_wire is not None and message.sequence in session.asked:
            ended = math.inf
        here = Sent(message.at, ended, message.index, message.sequence)
        number = key_of_id(message.id)
        earlier = session.ids.get(number)
        session.ids[number] = here
        if len(session.ids) > _MOST_IDS:
            del session.ids[next(iter(session.ids))]
        places: list[int] = []
        if earlier is not None and session.starts < 2 and earlier.begun < here.ended and here.begun < earlier.ended:
            places = [earlier.sequence, here.sequence]
            if is_new(session, "id_reused"):
                notes.append(WireNote("id_reused", session.server, here.index, number, before=earlier.index))
        elif isinstance(message.id, int) and abs(message.id) > _EXACT and message.sequence in session.asked:
            places = [here.sequence]
            if is_new(session, "id_too_large"):
                notes.append(WireNote("id_too_large", session.server, here.index, number))
        for place in places:
            run = session.runs.get(place)
            if run is not None and run.outcome in ("unanswered", "cancelled"):
                session.runs[place] = done = copied_with(run, unclear_id=True)
                yield done
