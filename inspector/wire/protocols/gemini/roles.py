"""The order of roles that Gemini accepts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...values import Message


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The contents that the API rejects for their role, each with a sentence."""
    if messages[0].role == "assistant":
        yield messages[0], "the contents begin with the model's turn"
    for before, message in pairwise(messages):
        if before.role == message.role == "assistant" and _has_calls(message):
            yield message, "a function call turn follows another turn of the model"
    if messages[-1].role == "assistant":
        yield messages[-1], "the contents end with the model's turn"


def _has_calls(message: Message) -> bool:
    return any(part.call is not None and not part.call.server for part in message.parts)
