"""An answer of our own in place of the API's, in a shape that the client takes for the API's error.

HTTP 400 and `x-should-retry: false`: no SDK tries a request again that is wrong in itself.
"""

import json
from collections.abc import Callable

STATUS = 400
HEADERS = {
    "content-type": "application/json",
    "x-should-retry": "false",
    "x-amzn-errortype": "ValidationException",
}

type Document = dict[str, object]


def _shared(kind: str, message: str) -> Document:
    """`error.message`, `.type` and `.code` (OpenAI and kin), `type: error` around it (Anthropic), `error.status`
    (Google), and a `message` beside it (AWS, Cohere, Mistral)."""
    error = {"type": kind, "code": STATUS, "status": "FAILED_PRECONDITION", "message": message, "param": None}
    return {"type": "error", "object": "error", "error": error, "message": message}


def _plain(kind: str, message: str) -> Document:
    return {"error": message}


_SHAPES: tuple[tuple[tuple[str, ...], Callable[[str, str], Document]], ...] = (
    (("/api/chat", "/api/generate"), _plain),  # Ollama shows `error` as it is
    (("",), _shared),
)
"""Endings of paths, and the error that is understood there; the first that fits holds."""


def refusal(path: str, kind: str, message: str) -> bytes:
    """The body of a refusal on this path. `kind` names the reason for programs: `turntape_max_turns`."""
    shape = next(shape for endings, shape in _SHAPES if path.partition("?")[0].endswith(endings))
    return json.dumps(shape(kind, message)).encode()


def event(kind: str, message: str) -> bytes:
    """The same as a message of the Responses API over WebSocket."""
    error = {"type": "invalid_request_error", "code": kind, "message": message, "param": None}
    flat = {"code": kind, "message": message, "param": None, "sequence_number": 0}
    return json.dumps({"type": "error", "status": STATUS, "error": error, **flat}).encode()
