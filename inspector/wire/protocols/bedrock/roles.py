"""The order of roles that Bedrock Converse accepts."""

from collections.abc import Iterator, Sequence

from ...per_message import PerMessage
from ...values import Message
from ..shared.neighbours import neighbours


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The messages that the API rejects for their role, each with a sentence."""
    if messages[0].role == "assistant":
        yield messages[0], "the messages begin with the assistant's"
    by_model = _by_model.of(messages)
    for place in neighbours(by_model, by_model, bool.__eq__):
        side = "assistant" if by_model[place] else "user"
        yield messages[place], f"two messages of the {side} are side by side; roles must alternate"


def _is_by_model(message: Message) -> bool:
    return message.role == "assistant"


_by_model = PerMessage(_is_by_model)
