"""The order of roles that Gemini accepts."""

from collections.abc import Iterator, Sequence

from ...per_message import PerMessage
from ...values import Message
from ..shared.neighbours import neighbours


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The contents that the API rejects for their role, each with a sentence."""
    if messages[0].role == "assistant":
        yield messages[0], "the contents begin with the model's turn"
    by_model = _by_model.of(messages)
    for place in neighbours(by_model, by_model, bool.__and__):
        message = messages[place]
        if _has_calls(message):
            yield message, "a function call turn follows another turn of the model"
    if messages[-1].role == "assistant":
        yield messages[-1], "the contents end with the model's turn"


def _is_by_model(message: Message) -> bool:
    return message.role == "assistant"


_by_model = PerMessage(_is_by_model)


def _has_calls(message: Message) -> bool:
    return any(part.call is not None and not part.call.server for part in message.parts)
