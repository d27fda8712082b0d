"""Every member of the unions of the chat SDKs is read, or listed with what happens to it."""

from typing import Any

from sdk_types import Json, fields, literals, not_covered, sample, samples, since

from turntape.inspector.wire.protocols.openai_chat.answer import FINISH, read_chat_body
from turntape.inspector.wire.protocols.openai_chat.mistral import FINISH as MISTRAL_FINISH
from turntape.inspector.wire.protocols.openai_chat.not_read import NOT_READ
from turntape.inspector.wire.protocols.openai_chat.request import ROLES, content_parts, read_call, read_tools

pytestmark = [since("openai", 3, 54), since("mistralai", 3, 7)]


def is_part_read(part: Json) -> bool:
    return all(found.kind != "other" for found in content_parts([part], ""))


def test_every_content_part_of_openai_is_read_or_listed() -> None:
    from openai.types import chat
    from openai.types.chat.chat_completion_assistant_message_param import ContentArrayOfContentPart

    found = samples(chat.ChatCompletionContentPartParam, ContentArrayOfContentPart)
    assert not_covered(found, is_part_read, NOT_READ.get("part", {})) == []


def test_every_content_chunk_of_mistral_is_read_or_listed() -> None:
    from mistralai.client import models

    assert not_covered(samples(models.ContentChunk), is_part_read, NOT_READ.get("part", {})) == []


def test_every_role_is_known() -> None:
    from mistralai.client import models
    from openai.types import chat

    words = samples(chat.ChatCompletionMessageParam, models.ChatCompletionRequestMessage, key="role")
    assert words and not words.keys() - ROLES.keys()


def test_every_kind_of_call_and_tool_is_read_or_listed() -> None:
    from openai.types import chat

    calls = samples(chat.ChatCompletionMessageToolCallUnion)
    assert not_covered(calls, lambda call: read_call(call).name == "a name", {}) == []

    tools = samples(chat.ChatCompletionToolUnionParam)
    assert not_covered(tools, lambda tool: read_tools([tool], "")[0].name == "a name", {}) == []


def test_every_field_of_an_answer_is_read_or_listed() -> None:
    from openai.types import chat

    def is_read(message: Json) -> bool:
        reading = read_chat_body({"choices": [{"index": 0, "message": message}]})
        return bool(reading.text or reading.calls or reading.refusal or reading.other_content)

    found: Any = {
        name: [{"role": "assistant", name: sample(annotation, name, 1)}]
        for name, annotation in fields(chat.ChatCompletionMessage).items()
        if name != "role"
    }
    assert not_covered(found, is_read, NOT_READ["field of an answer"]) == []


def test_every_finish_word_has_a_label() -> None:
    from mistralai.client import models
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_chunk import Choice as ChoiceOfChunk

    openai = [word for choice in (Choice, ChoiceOfChunk) for word in literals(fields(choice)["finish_reason"])]
    choices = (models.ChatCompletionChoice, models.CompletionResponseStreamChoice)
    mistral = [word for choice in choices for word in literals(fields(choice)["finish_reason"])]

    assert openai and not [word for word in openai if word not in FINISH]
    assert mistral and not [word for word in mistral if word not in FINISH | MISTRAL_FINISH]
