"""Answers that turntape gives in place of the API, in the form of the API's own errors.

With HTTP 400 and `x-should-retry: false` no SDK retries the request.
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
    """One document for most SDKs.

    OpenAI and similar APIs read `error.message`, `.type` and `.code`, Anthropic `type: error` around it, Google
    `error.status`, and AWS, Cohere and Mistral the `message` beside it.
    """
    error = {"type": kind, "code": STATUS, "status": "FAILED_PRECONDITION", "message": message, "param": None}
    return {"type": "error", "object": "error", "error": error, "message": message}


def _plain(kind: str, message: str) -> Document:
    return {"error": message}


_SHAPES: tuple[tuple[tuple[str, ...], Callable[[str, str], Document]], ...] = (
    (("/api/chat", "/api/generate"), _plain),  # Ollama shows `error` as it is
    (("",), _shared),
)
"""Ends of paths, and the document for them; the first match counts."""


def refusal(path: str, kind: str, message: str) -> bytes:
    """The body of an error answer for this path. `kind` is the reason for programs, such as `turntape_max_turns`."""
    shape = next(shape for endings, shape in _SHAPES if path.partition("?")[0].endswith(endings))
    return json.dumps(shape(kind, message)).encode()


def event(kind: str, message: str) -> bytes:
    """The same error as a message of the Responses API over WebSocket."""
    error = {"type": "invalid_request_error", "code": kind, "message": message, "param": None}
    flat = {"code": kind, "message": message, "param": None, "sequence_number": 0}
    return json.dumps({"type": "error", "status": STATUS, "error": error, **flat}).encode()
