"""How DashScope fails."""

from turntape.cassettes.apis.interface import Documents, Edited, FaultAnswers, Json

from ...json_value import Object, as_object, compact, objects_in
from ..shared.shorten import last_call_shortened

_ERRORS = {
    429: ("Throttling.RateQuota", "Requests rate limit exceeded, please try again later."),
    500: ("InternalError", "An internal error has occurred."),
    503: ("InternalError", "The service is unavailable."),
    529: ("Throttling", "Requests throttling triggered."),
}
"""Code and message by status. https://www.alibabacloud.com/help/en/model-studio/error-code, read 2026-11-22"""


def error(status: int, retry_after: float | None) -> Json:
    """The body of an error."""
    code, message = _ERRORS[status]
    return {"code": code, "message": message, "request_id": "00000000-0000-0000-0000-000000000000"}


def error_event(number: int) -> bytes:
    """The event that ends a stream with an error."""
    return f"id:{number + 1}\nevent:error\n:HTTP_STATUS/500\ndata:{compact(error(500, None))}\n\n".encode()


def _choices(documents: Documents) -> list[tuple[int, Object, Object]]:
    """`(place, choice, its message)`. An answer in the older form counts as a choice without a message."""
    found: list[tuple[int, Object, Object]] = []
    for place, document in enumerate(documents):
        output = as_object((document or {}).get("output"))
        choices = objects_in(output.get("choices")) or ([output] if "text" in output else [])
        found += [(place, choice, as_object(choice.get("message"))) for choice in choices]
    return found


def truncate(documents: Documents) -> Edited:
    """Cut the arguments of the last call."""
    return last_call_shortened(_choices(documents))


def relabel(documents: Documents, finish: str) -> Edited:
    """Replace the finish word, but not the word of an answer that is still being generated."""
    changed: set[int] = set()
    for place, choice, _ in _choices(documents):
        if choice.get("finish_reason") not in (None, "", "null"):
            choice["finish_reason"] = finish
            changed.add(place)
    return changed, set()


def empty(documents: Documents) -> Edited:
    """Remove what the model said."""
    changed: set[int] = set()
    for place, choice, message in _choices(documents):
        if choice.get("text"):
            choice["text"] = ""
            changed.add(place)
        if message.get("content"):
            message["content"] = ""
            changed.add(place)
        for name in ("tool_calls", "reasoning_content"):
            if message.pop(name, None) is not None:
                changed.add(place)
    return changed | relabel(documents, "stop")[0], set()


FAULTS = FaultAnswers(error, error_event, truncate, relabel, empty)
