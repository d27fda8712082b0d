"""The contents of a request's prompt, in the order in which an API puts them: tools, system prompt, messages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b

from turntape.cassettes.frozen import frozen

from ..analysis.call_words import begins, call_words
from ..analysis.pictures import pictures_in
from ..wire.json_value import as_array, as_object, compact, compact_size, is_object
from ..wire.values import Message, Part, Tool, ToolCall
from .model import PieceKind
from .shape import NO_TEXT, Shape, begins_message, of_call, shape_of

CALL_FRAMING = 96
"""The same for a call and a definition, which are written out in a form of the model's own."""
_WRITTEN_OUT = 3
"""So many times its bytes a call or a definition may have in that form: with indents, or as XML."""
MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""The fields of a block that mark it for the cache."""
FRAMING = 32
"""At most this many tokens are around one content: the role, the name, the marks of a block or a definition."""
_OPEN_KINDS = frozenset({"other", "reasoning"})
"""Parts beside pictures whose bytes on the wire do not limit their tokens: encrypted reasoning, references."""


@frozen
class Content:
    """One content of a prompt, without its text."""

    digest: bytes
    """Equal for equal contents, whatever their ids and cache marks."""
    kind: PieceKind
    name: str
    pointer: str
    size: int
    """Its bytes as compact JSON."""
    weight: int
    """The bytes of what the model reads of it: its text, or the name and the arguments of a call."""
    tool: str | None = None
    call_id: str | None = None
    limited: bool = True
    """True when it cannot have more tokens than bytes. Every tokenizer of today works on bytes."""
    shape: Shape = NO_TEXT
    pixels: tuple[int, int, str | None] | None = None
    """Of a picture, its width, its height and how closely the model is asked to look; None where they are not known."""
    marked: bool = False
    """True when it ends a part of the prompt that the client marks for the cache."""
    echo: bool = False
    """True for a part of the assistant: the client sends back what the model emitted."""

    @property
    def ceiling(self) -> int | None:
        """The most tokens that it can have, with what is around it; None when its bytes do not limit them."""
        if not self.limited:
            return None
        return _WRITTEN_OUT * self.weight + CALL_FRAMING if self.kind in ("call", "tool") else self.weight + FRAMING

    @property
    def may_think(self) -> bool:
        """Whether reasoning can come back with it: in words, in a signature, or because the API keeps it."""
        return not self.limited or not self.pointer


def tool_contents(tools: Iterable[Tool]) -> Iterator[Content]:
    """The definitions of tools; those that the model must look for first (`deferred`) are not in the prompt."""
    for tool in tools:
        if not tool.deferred:
            fields = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
            text = _bytes(compact(fields))
            digest = _digest("tool", text)
            yield Content(
                digest,
                "tool",
                f"{begins(tool.name)} (definition)",
                tool.pointer,
                len(text),
                len(text),
                tool.name,
                limited=not tool.server,
                shape=_shape(digest, text),
            )


def system_contents(parts: Iterable[Part]) -> Iterator[Content]:
    """The system prompt that an API has apart from the messages."""
    for part in parts:
        yield _content("system", part, {})


def message_contents(message: Message, calls: Mapping[str, ToolCall]) -> Iterator[Content]:
    """The parts of a message; `calls` are those of the request by their ids."""
    ends = frozenset(_marked_ends(message))
    for at, part in enumerate(message.parts):
        made = _content(message.role, part, calls)
        shape = made.shape if at else begins_message(made.shape)
        yield replace(made, shape=shape, marked=made.marked or part.pointer in ends)


def calls_by_id(messages: Iterable[Message]) -> Iterator[tuple[str, ToolCall]]:
    """The calls in these messages that have an id."""
    for message in messages:
        for part in message.parts:
            if part.call is not None and part.call.id:
                yield part.call.id, part.call


def kept_by_api(name: str) -> Content:
    """A history of which nothing is on the tape but the name by which the API keeps it."""
    digest = _digest("kept", name)
    return Content(digest, "other", "history that the API keeps", "", 0, 0, limited=False)


def hidden(number: int) -> Content:
    """Tokens that the API counts and no byte of the request explains; each time others."""
    return Content(_digest("hidden", str(number)), "other", "text that the API adds", "", 0, 0, limited=False)


def read_again(number: int) -> Content:
    """What the API's own tools found, and the prompt that was read again for each of them; each time another."""
    return Content(_digest("again", str(number)), "other", "read again by the API's own tools", "", 0, 0, limited=False)


def _content(role: str, part: Part, calls: Mapping[str, ToolCall]) -> Content:
    size = _size(part)
    echo = role == "assistant"
    if part.call is not None:
        text = _bytes(f"{part.call.name} {part.call.arguments_raw}")
        named = f"call of {call_words(part.call)}"
        made = ("call", named, text, part.call.name, part.call.id)
    elif part.result is not None:
        call = calls.get(part.result.call_id or "")
        tool = part.result.name or (call.name if call else None)
        named = f"result of {call_words(call) if call else tool or part.result.call_id or 'a call'}"
        # A result that names its tool is written with that name.
        words = f"{part.result.name} {part.result.text}" if part.result.name else part.result.text
        made = ("result", named, _bytes(words), tool, part.result.call_id)
    else:
        made = (_kind(role, part), _named(role, part), _bytes(part.text), None, None)
    kind, name, text, tool, call_id = made
    weight = len(text)
    # A result may have pictures beside its text; their bytes are not text.
    media = part.kind == "media" or (kind == "result" and size > 4 * weight + 4096)
    limited = part.kind not in _OPEN_KINDS and not media and not part.signature
    by_text = kind in ("call", "result", "assistant", "user", "system") and not media
    seen = text if by_text or part.raw is None else _bytes(compact(_unmarked(part.raw)))
    digest = _digest(kind, role, tool, seen)
    marked = not MARKS.isdisjoint(as_object(part.raw))
    shape = _shape(digest, text) if part.call is None else of_call(_shape(digest, text))
    return Content(
        digest,
        kind,
        name,
        part.pointer,
        size,
        weight,
        tool,
        call_id,
        limited,
        shape,
        pixels=_pixels(part) if part.kind == "media" else None,
        marked=marked,
        echo=echo,
    )


def _unmarked(raw: object) -> object:
    """A part without its marks for the cache, which a client moves from turn to turn."""
    if not is_object(raw) or MARKS.isdisjoint(raw):
        return raw
    return {name: value for name, value in raw.items() if name not in MARKS}


def _pixels(part: Part) -> tuple[int, int, str | None] | None:
    found = next(pictures_in(part.raw), None)
    return None if found is None or not found.width or not found.height else (found.width, found.height, found.detail)


def _marked_ends(message: Message) -> Iterator[str]:
    """The pointers of the parts before a block that is only a mark for the cache."""
    for at, block in enumerate(as_array(as_object(message.raw).get("content"))):
        if at and "cachePoint" in as_object(block):
            yield f"{message.pointer}/content/{at - 1}"


def _shape(digest: bytes, text: bytes) -> Shape:
    """The shape of a content, which is made once."""
    shape = _shapes.get(digest)
    if shape is None:
        if len(_shapes) >= _MOST_SHAPES:
            _shapes.clear()
        shape = _shapes[digest] = shape_of(text)
    return shape


_shapes: dict[bytes, Shape] = {}
_MOST_SHAPES = 50_000


def _kind(role: str, part: Part) -> PieceKind:
    if part.kind in ("media", "reasoning"):
        return "media" if part.kind == "media" else "reasoning"
    if role == "system":
        return "system"
    if part.kind == "other":
        return "other"
    return "assistant" if role == "assistant" else "user"


def _named(role: str, part: Part) -> str:
    if part.kind == "reasoning":
        return f"reasoning: {begins(part.text)}" if part.text.strip() else "reasoning"
    if role == "system":
        return f"system prompt: {begins(part.text)}" if part.text.strip() else "system prompt"
    return begins(part.text) or part.kind


def _size(part: Part) -> int:
    return compact_size(part.raw if part.raw is not None else part.text)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(*words: str | bytes | None) -> bytes:
    made = blake2b(digest_size=16)
    for word in words:
        made.update(word if isinstance(word, bytes) else _bytes(word or ""))
        made.update(b"\0")
    return made.digest()
