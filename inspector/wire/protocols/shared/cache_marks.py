"""Cache marks in requests, and the API's own word for a cache that was missed.

Marks: Anthropic's `cache_control` and OpenAI's `prompt_cache_breakpoint` are fields of the last piece that is kept;
Bedrock's `cachePoint` is a block of its own behind it (anthropic 2.12, openai 3.54, botocore 1.44.5, read 2026-11-22).
"""

from collections.abc import Iterator, Sequence

from ...json_value import Object, as_array, as_object, as_text
from ...per_message import Joined
from ...values import CacheMark, Message

_FIELDS = ("cache_control", "prompt_cache_breakpoint")
_BLOCK = "cachePoint"


def marks_in(pieces: object, pointer: str) -> Iterator[CacheMark]:
    """The marks in a list of pieces: content blocks, or tools."""
    last = 0
    for place, value in enumerate(as_array(pieces)):
        piece = as_object(value)
        if _BLOCK in piece:
            yield CacheMark(f"{pointer}/{last}", as_text(as_object(piece[_BLOCK]).get("ttl")))
            continue
        last = place
        for name in _FIELDS:
            if mark := as_object(piece.get(name)):
                yield CacheMark(f"{pointer}/{place}", as_text(mark.get("ttl")))


def _marks_of(message: Message) -> list[CacheMark]:
    return list(marks_in(as_object(message.raw).get("content"), f"{message.pointer}/content"))


marks_in_messages = Joined(_marks_of).of
"""The marks in the contents of messages."""


def mark_of_request(fields: Object) -> Iterator[CacheMark]:
    """The mark of a whole request, which moves along with its last piece."""
    if mark := as_object(fields.get("cache_control")):
        yield CacheMark("", as_text(mark.get("ttl")))


def anthropic_marks(fields: Object, messages: Sequence[Message]) -> tuple[CacheMark, ...]:
    """The marks of a request in the shape of Anthropic Messages."""
    return (
        *marks_in(fields.get("tools"), "/tools"),
        *marks_in(fields.get("system"), "/system"),
        *marks_in_messages(messages),
        *mark_of_request(fields),
    )


def converse_marks(fields: Object, messages: Sequence[Message]) -> tuple[CacheMark, ...]:
    """The marks of a Converse request."""
    return (
        *marks_in(as_object(fields.get("toolConfig")).get("tools"), "/toolConfig/tools"),
        *marks_in(fields.get("system"), "/system"),
        *marks_in_messages(messages),
    )


def chat_marks(fields: Object, messages: Sequence[Message]) -> tuple[CacheMark, ...]:
    """The marks of a Chat Completions request: OpenAI's, and Anthropic's behind gateways."""
    return (
        *marks_in(fields.get("tools"), "/tools"),
        *marks_in_messages(messages),
        *mark_of_request(fields),
    )


def responses_marks(fields: Object, messages: Sequence[Message]) -> tuple[CacheMark, ...]:
    """The marks of a Responses request."""
    return (*marks_in(fields.get("tools"), "/tools"), *marks_in_messages(messages))


def cache_diagnosis(answer: Object) -> str | None:
    """The reason that an answer gives for a missed cache: `tools_changed`; None where it gives none."""
    for name in ("diagnostics", "prompt_cache_diagnostics"):
        holder = as_object(answer.get(name))
        inner = as_object(holder.get("cache_miss_reason")) or as_object(holder.get("cache_miss"))
        if said := inner.get("type") or inner.get("reason") or holder.get("reason"):
            return as_text(said)
    return None
