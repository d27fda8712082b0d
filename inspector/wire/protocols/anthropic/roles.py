"""The order of roles that Anthropic Messages accepts."""

from collections.abc import Iterator, Sequence

from ...values import Message


def check_roles(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """The messages that the API rejects for their role or for the end of a prefilled answer, each with a sentence."""
    if messages[0].role == "assistant":
        yield messages[0], "the messages begin with the assistant's"
    last = messages[-1]
    if last.role != "assistant" or not last.parts:
        return
    end = last.parts[-1]
    if end.kind == "text" and end.text.endswith((" ", "\n")):
        yield last, "the final assistant content ends with white space"
