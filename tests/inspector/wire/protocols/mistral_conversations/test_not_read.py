"""Every member of the unions of Mistral's conversations is read, or listed with what happens to it."""

from sdk_types import Json, not_covered, samples, since

from turntape.inspector.wire.protocols.mistral_conversations.entries import entry_parts
from turntape.inspector.wire.protocols.mistral_conversations.not_read import NOT_READ
from turntape.inspector.wire.protocols.mistral_conversations.stream import assemble

pytestmark = since("mistralai", 3, 7)


def is_entry_read(entry: Json) -> bool:
    parts = entry_parts(entry, "")
    return bool(parts) and all(part.kind != "other" or not part.text.startswith("[") for part in parts)


def test_every_entry_is_read_or_listed() -> None:
    from mistralai.client import models

    found = samples(models.InputEntries, models.ConversationResponseOutput)
    assert len(found) == 6 and not_covered(found, is_entry_read, NOT_READ.get("entry", {})) == []


def test_every_chunk_of_a_message_is_read_or_listed() -> None:
    from mistralai.client import models

    chunks = samples(models.OutputContentChunks, models.MessageInputContentChunks, models.MessageOutputContentChunks)
    entries = {
        word: [{"type": "message.output", "content": [one]} for one in values] for word, values in chunks.items()
    }
    assert len(entries) > 5 and not_covered(entries, is_entry_read, NOT_READ.get("chunk", {})) == []


def test_every_stream_event_is_read_or_listed() -> None:
    from mistralai.client import models

    def is_read(event: Json) -> bool:
        return assemble([("", event)]) != assemble([])

    assert not_covered(samples(models.ConversationEventsData), is_read, NOT_READ.get("stream event", {})) == []
