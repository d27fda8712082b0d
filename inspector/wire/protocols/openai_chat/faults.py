"""How Chat Completions and the APIs of its shape fail."""

import orjson

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers, common_error

from ...json_value import Object, as_object, objects_in
from ..shared.shorten import last_call_shortened


def event(_: int) -> bytes:
    return b"data: " + orjson.dumps(common_error(500, None)) + b"\n\n"


def _choices(documents: Documents) -> list[tuple[int, Object, Object]]:
    """`(place, choice, its message or delta)`."""
    return [
        (place, choice, as_object(choice.get("delta") or choice.get("message")))
        for place, document in enumerate(documents)
        if document is not None
        for choice in objects_in(document.get("choices"))
    ]


def truncate(documents: Documents) -> Edited:
    return last_call_shortened(_choices(documents))


def relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, choice, _ in _choices(documents):
        if choice.get("finish_reason") is not None:
            choice["finish_reason"] = finish
            changed.add(place)
    return changed, set()


_SAID = ("tool_calls", "function_call", "refusal", "reasoning", "reasoning_content", "reasoning_details")


def empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    for place, _, said in _choices(documents):
        if said.get("content"):
            said["content"] = ""
            changed.add(place)
        for name in _SAID:
            if said.get(name) is not None:
                del said[name]
                changed.add(place)
    return changed | relabel(documents, "stop")[0], set()


FAULTS = FaultAnswers(common_error, event, truncate, relabel, empty)
