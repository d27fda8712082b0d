"""The pieces of a prompt as a cache sees them, in the order of the prompt: tools, system prompt, messages.

A block is the smallest piece that a mark can end: a tool, a content block, a whole message where that is not a list of
blocks. Cache marks are not part of it, and neither is a tool that the model must look for first (`defer_loading`).
"""

import string
from collections.abc import Iterator

from turntape.cassettes.frozen import frozen

from ...analysis.conversation import MARKERS, unmarked
from ...wire.cache_rules import Level
from ...wire.json_value import as_array, as_object, as_text, compact, is_array
from ...wire.values import Message, Part, RequestReading, Tool

_MARKERS = tuple(MARKERS)
_LISTS = ("content", "parts")
"""The fields of a message that hold its content blocks."""
_MESSAGE_FIELDS = frozenset({"role", "type", "id", "status", *_LISTS})
_PLAIN = frozenset({"role", "content", "type", "id", "status"})
"""The fields of a message that is only a text."""
_TEXT_TYPES = (None, "text", "input_text", "output_text")
_LETTERS = bytes(range(128, 256)) + string.ascii_letters.encode() + b" "
_MEDIA_WEIGHT = 6000
"""The bytes of text that a picture or a file is taken for: its own bytes say nothing about its tokens."""
_LARGE = 20_000
_AT_ONCE = 1 << 20
"""Characters of a text that are encoded at a time."""
_NOT_CACHED = "x-anthropic-billing-header"
"""How a piece of Claude Code's system prompt begins that is new in every request and not in the prompt."""


@frozen
class Block:
    """One piece."""

    level: Level
    pointer: str
    text: str
    """What the model reads of it, as JSON or as plain text; equal for equal pieces, wherever they are."""
    weight: int
    """Its size for a division of tokens: bytes, of which signs and digits count double."""
    echo: bool = False
    """True for a piece of an answer that the client sends back."""
    thought: bool = False
    """True for reasoning in it."""
    result: bool = False
    """True for the result of a tool."""
    role: str = ""
    """Whose words they are; the same text of another role is another piece. Empty for the definition of a tool."""


def head_blocks(request: RequestReading) -> Iterator[Block]:
    """The tools, and the system prompt where the API has it apart."""
    for tool in request.tools:
        if not tool.deferred:
            yield _tool(tool)
    for part in request.system:
        if not part.text.startswith(_NOT_CACHED):
            yield _block("system", part.pointer, _system_text(part))


def _tool(tool: Tool) -> Block:
    text = compact([tool.name, tool.description, tool.schema])
    return Block("tools", tool.pointer, text, _weight(text))


def _system_text(part: Part) -> str:
    """A text stays the same when a client writes it as a list of one block, which it must to mark it."""
    return part.text if part.kind == "text" else compact(unmarked(part.raw))


def message_blocks(message: Message, level: Level) -> Iterator[Block]:
    """The blocks of a message."""
    thoughts = {part.pointer for part in message.parts if part.kind == "reasoning"}
    results = {part.pointer for part in message.parts if part.result is not None}
    for pointer, text in _pieces(message):
        thought = any(one.startswith(pointer) for one in thoughts)
        result = any(pointer.startswith(one) or one.startswith(pointer) for one in results)
        yield _block(level, pointer, text, message.role, thought=thought, result=result)


def _pieces(message: Message) -> Iterator[tuple[str, str]]:
    """The pointer and the text of each block."""
    raw = as_object(message.raw)
    name = next((key for key in _LISTS if is_array(raw.get(key))), None)
    if name is None:
        text = raw.get("content") if set(raw) <= _PLAIN else None
        if isinstance(text, str):
            yield f"{message.pointer}/content", text
        else:
            yield message.pointer, _json(message.raw or _texts(message))
        return
    rest = {key: value for key, value in raw.items() if key not in _MESSAGE_FIELDS and value is not None}
    calls = message.role == "assistant"
    if rest and not calls:  # the id of the call that a result answers
        yield message.pointer, _json(rest)
    for place, value in enumerate(as_array(raw[name])):
        if "cachePoint" not in as_object(value):
            yield f"{message.pointer}/{name}/{place}", _content(value)
    if rest and calls:
        yield message.pointer, _json(rest)


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts]


def _content(value: object) -> str:
    """A block of plain text is its text: clients write it in several ways."""
    fields = as_object(value)
    text = as_text(fields.get("text"))
    if text is not None and fields.get("type") in _TEXT_TYPES and set(fields) <= {"type", "text", *MARKERS}:
        return text
    return _json(value)


def _json(value: object) -> str:
    text = compact(value)
    return compact(unmarked(value)) if any(marker in text for marker in _MARKERS) else text


def _block(
    level: Level, pointer: str, text: str, role: str = "system", *, thought: bool = False, result: bool = False
) -> Block:
    weight = _weight(text)
    if len(text) > _LARGE and " " not in text[1000:2000]:  # base64
        weight = _MEDIA_WEIGHT
    return Block(level, pointer, text, weight, role == "assistant", thought, result, role)


def _weight(text: str) -> int:
    """JSON and code have shorter tokens than prose, because signs and digits are separate tokens."""
    weight = 4
    for at in range(0, len(text), _AT_ONCE):
        held = text[at : at + _AT_ONCE].encode("utf-8", "surrogatepass")
        weight += len(held) + len(held.translate(None, _LETTERS))
    return weight
