"""How Gemini fails."""

from types import MappingProxyType

import orjson

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers

from ...json_value import Object, as_object, objects_in
from ..shared.shorten import without_last

_ERRORS = MappingProxyType(
    {
        429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        500: ("INTERNAL", "An internal error has occurred."),
        503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    }
)


def error(status: int, retry_after: float | None) -> Object:
    word, message = _ERRORS[status]
    error: Object = {"code": status, "message": message, "status": word}
    if retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{retry_after:g}s"}]
    return {"error": error}


def event(_: int) -> bytes:
    return b"data: " + orjson.dumps(error(503, None)) + b"\r\n\r\n"


def _candidates(documents: Documents) -> list[tuple[int, Object]]:
    return [
        (place, candidate)
        for place, document in enumerate(documents)
        if document is not None
        for candidate in objects_in(document.get("candidates"))
    ]


def truncate(documents: Documents) -> Edited:
    calls = [
        (place, as_object(part["functionCall"]))
        for place, candidate in _candidates(documents)
        for part in objects_in(as_object(candidate.get("content")).get("parts"))
        if "functionCall" in part
    ]
    if not calls:
        return set(), set()
    place, call = calls[-1]
    call["args"] = without_last(as_object(call.get("args")))
    return {place}, set()


def relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, candidate in _candidates(documents):
        if candidate.get("finishReason") is not None:
            candidate["finishReason"] = finish
            changed.add(place)
    return changed, set()


def empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    for place, candidate in _candidates(documents):
        content = as_object(candidate.get("content"))
        if content.pop("parts", None) is not None:
            changed.add(place)
    return changed | relabel(documents, "STOP")[0], set()


FAULTS = FaultAnswers(error, event, truncate, relabel, empty)
