"""The order of roles that Mistral accepts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...json_value import as_object
from ...values import Message


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The messages that the API rejects for their role, each with a sentence."""
    for before, message in pairwise(messages):
        if before.role == "tool" and message.role == "user":
            yield message, "a user message follows a tool message; an answer must come between"
    last = messages[-1]
    if last.role == "assistant" and as_object(last.raw).get("prefix") is not True:
        yield last, "the last message is the assistant's, without `prefix`"
