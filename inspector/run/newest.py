"""The largest new piece of a request, for the label of what a turn added: `+48k cat build.log`."""

from collections.abc import Iterator, Sequence

from turntape.cassettes.frozen import frozen

from ..analysis.call_words import piece_words
from ..wire.values import Message, Part, RequestReading, ToolCall


@frozen
class NewPiece:
    """The largest of the pieces that a request has and the previous one of its thread had not."""

    name: str
    """What it is, in a few words."""
    share: float
    """Its share of the characters of all new pieces, from 0 to 1."""
    count: int
    """How many new pieces there are."""


def newest_piece(request: RequestReading, messages_before: int) -> NewPiece | None:
    """The largest new piece; of a first request also the system prompt and the tools. None when nothing is new."""
    new = request.messages[messages_before:]
    if messages_before and new and new[0].role == "assistant":
        # The last answer, sent back: it is not from the client.
        new = new[next((at for at, message in enumerate(new) if message.role != "assistant"), len(new)) :]
    sizes = list(_sizes(new, _calls_of(request.messages, new)))
    if not messages_before:
        sizes.append(("system prompt", sum(len(part.text) for part in request.system)))
        sizes.append(("tools", sum(len(tool.name) + len(str(tool.schema or "")) for tool in request.tools)))
    sizes = [one for one in sizes if one[1]]
    if not sizes:
        return None
    name, size = max(sizes, key=lambda one: one[1])
    return NewPiece(name, size / sum(size for _, size in sizes), len(sizes))


def _calls_of(messages: Sequence[Message], new: Sequence[Message]) -> dict[str | None, ToolCall]:
    """The calls of the results in `new`, by their ids. They are near the end: the search stops when it has all."""
    wanted = {part.result.call_id for message in new for part in message.parts if part.result}
    found: dict[str | None, ToolCall] = {}
    for message in reversed(messages) if wanted else ():
        for part in reversed(message.parts):
            if part.call is not None and part.call.id in wanted:
                found.setdefault(part.call.id, part.call)
        if len(found) == len(wanted):
            break
    return found


def _sizes(messages: Sequence[Message], calls: dict[str | None, ToolCall]) -> Iterator[tuple[str, int]]:
    for message in messages:
        for part in message.parts:
            yield piece_words(message, part, calls), _size(part)


def _size(part: Part) -> int:
    if part.result is not None:
        return len(part.result.text)
    return len(part.call.arguments_raw) if part.call is not None else len(part.text)
