"""A block of a rejected request that the API itself had returned: then the API contradicts itself."""

from ..analysis.conversation import MARKERS
from ..wire.json_value import is_object, value_at
from .rejections import Rejection
from .rule_context import RuleContext


def own_block(context: RuleContext) -> tuple[str, int] | None:
    """The pointer of the rejected block and the number of the round trip whose answer held it; None for any other."""
    said = context.rejection
    if said is None or any(marker in said.text for marker in MARKERS):
        return None  # what the API returned has no markers: the client adds them
    if "client-reasoning-dropped" in said.ids and _moved_thoughts(context):
        return None
    named = _named_by(context, said.pointer) if said.pointer is not None else None
    return (
        named
        or _empty(context, said)
        or _unsigned(context, said)
        or _own_id(context, said)
        or _given_twice(context, said)
    )


def _moved_thoughts(context: RuleContext) -> bool:
    """True when a message begins with something else than its reasoning: the API puts reasoning first."""
    return any(
        message.role == "assistant"
        and any(part.kind == "reasoning" for part in message.parts[1:])
        and message.parts[0].kind != "reasoning"
        for message in context.request.messages
    )


def _named_by(context: RuleContext, pointer: str) -> tuple[str, int] | None:
    """The block at the pointer, or the one around it: an error may name a field inside."""
    while pointer.count("/") > 1:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        block = value_at(context.exchange.body, steps)
        returned = context.returned_by(block) if is_object(block) else None
        if returned is not None:
            return pointer, returned
        pointer = pointer.rpartition("/")[0]
    return None


def _own_id(context: RuleContext, said: Rejection) -> tuple[str, int] | None:
    """A call whose id the error does not accept, although the API itself gave it."""
    if "client-call-id-rewritten" not in said.ids:
        return None
    for name in said.named:
        part, known = context.calls.get(name), context.thread.emitted_calls.get(name)
        if part is not None and known is not None:
            return part.pointer, known[0]
    return None


_DOUBLED = frozenset({"client-duplicated-call", "client-duplicate-tool-result"})
"""Rejections for an id that is there twice."""


def _given_twice(context: RuleContext, said: Rejection) -> tuple[str, int] | None:
    """A call whose id is there twice, because the API gave it to two calls."""
    if _DOUBLED.isdisjoint(said.ids):
        return None
    held = [call_id for call_id in context.calls if call_id in said.text] or list(context.calls)
    for call_id in held:
        known = context.thread.emitted_calls.get(call_id)
        if known is not None and call_id in context.run.ids_given_twice:
            return context.calls[call_id].pointer, known[0]
    return None


def _unsigned(context: RuleContext, said: Rejection) -> tuple[str, int] | None:
    """A call without the signature that the error misses, if the API gave none to any of the calls that have none."""
    if "client-reasoning-dropped" not in said.ids or not context.protocol.reasoning.only_with_calls:
        return None
    parts = (part for message in context.request.messages for part in message.parts)
    bare = [part for part in parts if part.call is not None and not part.signature]
    returned = [context.returned_by(part.raw) for part in bare]
    known = [number for number in returned if number is not None]
    return (bare[-1].pointer, known[-1]) if known and len(known) == len(returned) else None


def _empty(context: RuleContext, said: Rejection) -> tuple[str, int] | None:
    """An empty text block, if the error is about one or says nothing that is known."""
    if (said.ids or said.pointer is not None) and "client-empty-content" not in said.ids:
        return None
    for part in (part for message in context.request.messages for part in message.parts):
        if said.pointer is not None and not part.pointer.startswith(f"{said.pointer}/"):
            continue
        if part.kind == "text" and not part.text.strip():
            returned = context.returned_by(part.raw)
            if returned is not None:
                return part.pointer, returned
    return None
