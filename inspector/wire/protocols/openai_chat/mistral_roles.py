"""The order of roles that Mistral accepts."""

from collections.abc import Iterator, Sequence

from ...json_value import as_object
from ...per_message import PerMessage
from ...values import Message
from ..shared.neighbours import neighbours


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The messages that the API rejects for their role, each with a sentence."""
    for place in neighbours(_of_tool.of(messages), _of_user.of(messages), bool.__and__):
        yield messages[place], "a user message follows a tool message; an answer must come between"
    last = messages[-1]
    if last.role == "assistant" and as_object(last.raw).get("prefix") is not True:
        yield last, "the last message is the assistant's, without `prefix`"


def _is_of_tool(message: Message) -> bool:
    return message.role == "tool"


def _is_of_user(message: Message) -> bool:
    return message.role == "user"


_of_tool, _of_user = PerMessage(_is_of_tool), PerMessage(_is_of_user)
