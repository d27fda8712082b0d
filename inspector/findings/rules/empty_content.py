"""Messages, blocks and system prompts of a request that hold nothing."""

from collections.abc import Iterator

from ...wire.json_value import Object, as_array, as_object, is_array
from ...wire.values import Message, Part
from ..rule import Note, rule
from ..rule_context import RuleContext
from .pairing import confirmed


@rule(
    "client-empty-content",
    "client",
    "error",
    "P",
    says="A message or a text block of the request is empty, or the request has no message at all.",
    fix="Leave empty blocks out before sending the history back; without a message there is nothing to answer.",
    not_when=(
        "The API itself returned the block; if it rejects it, `request-rejected` blames the API",
        "A tool result is empty, which is allowed",
        "The API takes a message of the user or a system prompt without a word: then it is an info",
        "The content is of a wrong type: then `client-args-wrong-type` says so",
        "The API holds the conversation or the prompt, or the request only loads the model, as Ollama's does",
        "A session over WebSocket holds the conversation",
    ),
)
def empty_content(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-empty-content", _empty(context))


def _empty(context: RuleContext) -> Iterator[Note]:
    if (field := _no_message(context)) is not None:
        yield Note("the request has no message", (f"{context.at} request /{field}",), key=field)
    if context.protocol.requests.rejects_nothing_said:
        yield from _nothing_said(context)
    yield from _blank(context)
    if not context.protocol.requests.rejects_empty_text:
        return
    last = context.request.messages[-1].pointer if context.request.messages else None
    for message in context.fresh:
        if not message.parts and not (message.role == "assistant" and message.pointer == last) and not is_odd(message):
            yield from _empty_note(context, message.pointer, message.raw, "a message without content")
        for part in message.parts:
            if part.kind == "text" and not part.text.strip():
                yield from _empty_note(context, part.pointer, part.raw, "an empty text block")
            elif _empty_error(part):
                yield from _empty_note(context, part.pointer, part.raw, "an error result without content")


_MESSAGES = ("messages", "input", "contents")
_HELD = frozenset({"conversation", "prompt", "thread", "previous_interaction_id"})
"""Fields that name a conversation or a prompt which the API holds."""


def _no_message(context: RuleContext) -> str | None:
    """The field for the messages, if it is an empty list and the API has no other source of them."""
    fields, request = context.fields, context.request
    if request.messages or request.previous_id or not _HELD.isdisjoint(fields) or context.over_socket:
        return None
    if context.succeeded and context.emission.emitted == "empty":
        return None
    return next((name for name in _MESSAGES if is_array(fields.get(name)) and not as_array(fields.get(name))), None)


def _nothing_said(context: RuleContext) -> Iterator[Note]:
    """Messages whose content is null where no call explains it, and those with an empty list of calls or of parts."""
    before = context.before.reading.emission if context.before is not None else None
    answered_nothing = before is not None and before.emitted in ("empty", "reasoning_only")
    for message in context.fresh:
        raw = as_object(message.raw)
        if is_array(raw.get("tool_calls")) and not as_array(raw.get("tool_calls")):
            yield from _empty_note(context, message.pointer, message.raw, "a message with an empty list of calls")
        elif answered_nothing and message.role == "assistant":
            continue
        elif _says_nothing(raw):
            yield from _empty_note(context, message.pointer, message.raw, "a message without content")


def _says_nothing(raw: Object) -> bool:
    """True for a message with an empty list of parts, or with null as its content and nothing else."""
    given = {name for name, value in raw.items() if value is not None}
    without = "content" in raw and "role" in raw and given <= {"role", "name", "id"}
    return without or (is_array(raw.get("parts")) and not as_array(raw.get("parts")))


def _blank(context: RuleContext) -> Iterator[Note]:
    """A system prompt and messages of the user without a word, which most APIs take."""
    if (pointer := _blank_prompt(context)) is not None:
        yield Note(
            "the request holds an empty system prompt",
            (f"{context.at} request {pointer}",),
            severity="info",
            key="prompt",
        )
    for message in () if context.protocol.requests.rejects_empty_text else context.fresh:
        said = message.role == "user" and (bool(message.parts) or as_object(message.raw).get("content") == "")
        if said and all(part.kind == "text" and not part.text.strip() for part in message.parts):
            yield Note(
                "the request holds a message of the user without a word",
                (f"{context.at} request {message.pointer}",),
                severity="info",
                key=message.pointer,
            )


def _blank_prompt(context: RuleContext) -> str | None:
    """The place of a system prompt without a word, where there is no other one."""
    prompt = context.request.instructions
    if any(part.text.strip() or part.kind != "text" for part in prompt):
        return None
    hollow = (one.pointer for one in context.fresh if one.role == "system" and not one.parts)
    return prompt[0].pointer if prompt else next(hollow, None)


def is_odd(message: Message) -> bool:
    """True when the content of a message is neither text nor a list: that is a wrong type, and not empty."""
    content = as_object(message.raw).get("content")
    return content is not None and not isinstance(content, str) and not is_array(content)


def _empty_error(part: Part) -> bool:
    block = as_object(part.raw)
    raw = as_object(block.get("toolResult")) or block
    failed = raw.get("status") == "error" or (raw.get("type") == "tool_result" and raw.get("is_error") is True)
    return failed and not raw.get("content")


def _empty_note(context: RuleContext, pointer: str, raw: object, what: str) -> Iterator[Note]:
    if context.returned_by(raw) is None:
        yield Note(f"the request holds {what}", (f"{context.at} request {pointer}",), key=pointer)


RULES = (empty_content,)
