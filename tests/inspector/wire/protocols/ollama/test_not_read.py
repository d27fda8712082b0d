"""Every field of a message in Ollama's SDK is read, or listed with what happens to it."""

from sdk_types import Json, field_samples, not_covered, since

from turntape.inspector.wire.protocols.ollama.chat import read_message
from turntape.inspector.wire.protocols.ollama.not_read import NOT_READ
from turntape.inspector.wire.protocols.openai_chat.request import read_chat_request

pytestmark = since("ollama", 0, 6)


def is_read(fields: Json) -> bool:
    role = {"tool_name": "tool", "tool_calls": "assistant", "thinking": "assistant"}
    (key,) = fields
    (message,) = read_chat_request({"messages": [{"role": role.get(key, "user"), **fields}]}).messages
    parts = read_message(message).parts
    return bool(parts) and all(part.kind != "other" for part in parts)


def test_every_field_of_a_message_is_read_or_listed() -> None:
    from ollama import Message

    assert not_covered(field_samples(Message), is_read, NOT_READ["field of a message"]) == []
