"""The order of roles that Bedrock Converse accepts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...values import Message


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The messages that the API rejects for their role, each with a sentence."""
    if messages[0].role == "assistant":
        yield messages[0], "the messages begin with the assistant's"
    for before, message in pairwise(messages):
        sides = {"assistant" if one.role == "assistant" else "user" for one in (before, message)}
        if len(sides) == 1:
            yield message, f"two messages of the {sides.pop()} are side by side; roles must alternate"
