"""Every member of the unions of OpenAI's Realtime is read, or listed with what happens to it."""

import json

from sdk_types import Json, not_covered, samples, since

from turntape.cassettes.tape.model import Frame
from turntape.inspector.wire.protocols.openai_realtime.not_read import NOT_READ
from turntape.inspector.wire.protocols.openai_responses.items import item_parts
from turntape.inspector.wire.protocols.openai_responses.stream import ResponseDraft
from turntape.inspector.wire.realtime_session import realtime_turns

USER = {"id": "a item_id", "type": "message", "role": "user", "content": [{"type": "input_audio"}] * 9}
BEGUN: list[tuple[str, Json]] = [
    ("server", {"type": "session.created", "session": {"model": "m"}}),
    ("server", {"type": "conversation.item.added", "item": USER}),
]
CREATED = {"type": "response.created", "response": {"id": "resp_1"}}

pytestmark = since("openai", 3, 54)


def turns(*frames: tuple[str, Json]) -> list[object]:
    """The turns of a session whose frames come together, but for those about sound, which are before them; with what
    failed outside of the turns."""
    read, _, notes = realtime_turns(tuple(framed(who, message) for who, message in frames))
    return [*((turn.body, turn.at, len(turn.events), turn.ended) for turn in read), *notes]


def framed(who: str, message: Json) -> Frame:
    at = 1 if message["type"].startswith("input_audio_buffer.") else 9
    return Frame("client" if who == "client" else "server", at, json.dumps(message).encode(), True)


def changes_the_session(who: str, event: Json) -> bool:
    end = ("server", CREATED)
    asked = ("client", {"type": "response.create"})
    return turns(*BEGUN, (who, event), end) != turns(*BEGUN, end) or turns(*BEGUN, asked, (who, event)) != turns(
        *BEGUN, asked
    )


def test_every_event_of_a_session_is_read_or_listed() -> None:
    from openai.types import realtime

    events = {"client": samples(realtime.RealtimeClientEvent), "server": samples(realtime.RealtimeServerEvent)}
    for who, found in events.items():
        session = {word: values for word, values in found.items() if who == "client" or "response." not in word}
        listed = {word: what for word, what in NOT_READ["session event"].items() if word in session}
        assert len(session) > 5
        assert not_covered(session, lambda event, who=who: changes_the_session(who, event), listed) == []


def test_every_event_of_a_response_is_read_or_listed() -> None:
    from openai.types import realtime

    def is_read(event: Json) -> bool:
        before, after = ResponseDraft(), ResponseDraft()
        for draft in (before, after):
            draft.add("", {"type": "response.output_item.added", "output_index": 7, "item": {"type": "message"}})
        after.add("", event)
        return before != after

    found = {w: v for w, v in samples(realtime.RealtimeServerEvent).items() if w.startswith("response.")}
    assert not_covered(found, is_read, NOT_READ["response event"]) == []


def test_every_item_is_read_or_listed() -> None:
    from openai.types import realtime

    def is_read(item: Json) -> bool:
        parts = item_parts(item, "")
        return bool(parts) and all(not part.text.startswith("[") or part.kind == "media" for part in parts)

    assert not_covered(samples(realtime.ConversationItem), is_read, NOT_READ.get("item", {})) == []
