"""How OpenAI Responses fails."""

import orjson

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers, common_error

from ...json_value import Object, as_object, objects_in
from ..shared.shorten import half, shortened

_DETAILS = frozenset({"max_output_tokens", "content_filter"})
"""Finish words that the Responses API puts into `incomplete_details.reason`."""


def event(before: int) -> bytes:
    error = as_object(common_error(500, None)["error"])
    data = {
        "type": "error",
        "code": error["type"],
        "message": error["message"],
        "param": None,
        "sequence_number": before,
    }
    return b"event: error\ndata: " + orjson.dumps(data) + b"\n\n"


def _outputs(documents: Documents) -> list[tuple[int, Object]]:
    """`(place, item of the output)`, wherever a document shows one whole."""
    return [
        (place, item)
        for place, document in enumerate(documents)
        if document is not None
        for item in (
            *objects_in(document.get("output")),
            *objects_in(as_object(document.get("response")).get("output")),
            *([as_object(document["item"])] if "item" in document else []),
        )
    ]


def truncate(documents: Documents) -> Edited:
    calls = [item for _, item in _outputs(documents) if item.get("type") == "function_call"]
    if not calls:
        return set(), set()
    call = calls[-1].get("id")
    whole = max((str(item.get("arguments") or "") for item in calls if item.get("id") == call), key=len)
    short = half(whole)
    changed: set[int] = set()
    for place, item in _outputs(documents):
        if item.get("id") == call and item.get("arguments"):
            item["arguments"] = short
            changed.add(place)
    deltas: list[tuple[int, Object, str]] = []
    for place, document in enumerate(documents):
        if document is None or document.get("item_id") != call:
            continue
        if document.get("type") == "response.function_call_arguments.delta":
            deltas.append((place, document, "delta"))
        elif document.get("type") == "response.function_call_arguments.done":
            document["arguments"] = short
            changed.add(place)
    return changed | shortened(deltas)[0], set()


def relabel(documents: Documents, finish: str) -> Edited:
    status = "incomplete" if finish in _DETAILS else finish
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        final = document.get("type") in ("response.completed", "response.incomplete", "response.failed")
        answer = as_object(document.get("response")) if final else document
        if final or document.get("object") == "response":
            answer["status"] = status
            answer["incomplete_details"] = {"reason": finish} if finish in _DETAILS else None
            if final:
                document["type"] = f"response.{status}"
            changed.add(place)
    return changed, set()


def empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    dropped: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        answer = as_object(document.get("response")) if "response" in document else document
        if "output" in answer:
            answer["output"] = []
            changed.add(place)
        elif str(document.get("type")).startswith("response.") and "response" not in document:
            dropped.add(place)
    return changed | relabel(documents, "completed")[0], dropped


FAULTS = FaultAnswers(common_error, event, truncate, relabel, empty)
