"""How each wire shape fails: a literal table by path, as the volatile parts are.

An edit takes the documents of an answer in order (one for an answer that is no stream; None for what is no object,
such as `[DONE]`) and changes them in place; it gives the places of those that it changed and of those to drop.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import orjson

type Json = dict[str, object]
type Documents = Sequence[Json | None]
type Edited = tuple[set[int], set[int]]
"""The places of changed documents, and of those to drop."""
type Error = Callable[[int, float | None], Json]


@dataclass(frozen=True, slots=True)
class Shape:
    """One row."""

    path: re.Pattern[str]
    """Fits the whole endpoint, without base, version and query."""
    error: Error
    """The body of an error: `(status, retry_after)`."""
    error_event: Callable[[int], bytes] | None = None
    """The event that ends a stream with an error; it is told how many came before."""
    truncate: Callable[[Documents], Edited] | None = None
    relabel: Callable[[Documents, str], Edited] | None = None
    empty: Callable[[Documents], Edited] | None = None


def _fields(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[Json]:
    items = cast(list[object], value) if isinstance(value, list) else []
    return [cast(Json, item) for item in items if isinstance(item, dict)]


def _half(text: str) -> str:
    return text[: len(text) // 2]


def _without_last(fields: Json) -> Json:
    return dict(list(fields.items())[:-1])


def _shortened(documents: Documents, at: Sequence[tuple[int, Json, str]]) -> Edited:
    """Text that is spread over documents, cut in its middle: `(place, object, key)` in order."""
    texts = [cast(str, fields[key]) for _, fields, key in at]
    left = sum(map(len, texts)) // 2
    changed: set[int] = set()
    for (place, fields, key), text in zip(at, texts, strict=True):
        kept = text[:left]
        left -= len(kept)
        if kept != text:
            fields[key] = kept
            changed.add(place)
    return changed, set()


# Anthropic Messages.

_ANTHROPIC = MappingProxyType(
    {
        429: ("rate_limit_error", "This request would exceed the rate limit for your organization."),
        500: ("api_error", "Internal server error"),
        503: ("api_error", "Service unavailable"),
        529: ("overloaded_error", "Overloaded"),
    }
)


def _anthropic_error(status: int, _: float | None) -> Json:
    kind, message = _ANTHROPIC[status]
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_turntape_fault"}


def _anthropic_event(_: int) -> bytes:
    kind, message = _ANTHROPIC[529]
    data = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return b"event: error\ndata: " + data + b"\n\n"


def _anthropic_truncate(documents: Documents) -> Edited:
    block: object = None
    for place, document in enumerate(documents):
        if document is None:
            continue
        calls = [b for b in _objects(document.get("content")) if b.get("type") == "tool_use"]
        if calls:
            calls[-1]["input"] = _without_last(_fields(calls[-1].get("input")))
            return {place}, set()
        if _fields(document.get("content_block")).get("type") == "tool_use":
            block = document.get("index")
    parts = [
        (place, _fields(document["delta"]), "partial_json")
        for place, document in enumerate(documents)
        if document is not None
        and document.get("type") == "content_block_delta"
        and document.get("index") == block is not None
        and "partial_json" in _fields(document.get("delta"))
    ]
    return _shortened(documents, parts)


def _anthropic_relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        holder = _fields(document.get("delta")) if document.get("type") == "message_delta" else document
        if holder.get("stop_reason") is not None:
            holder["stop_reason"] = finish
            changed.add(place)
    return changed, set()


def _anthropic_empty(documents: Documents) -> Edited:
    dropped: set[int] = set()
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        if str(document.get("type")).startswith("content_block_"):
            dropped.add(place)
        elif document.get("type") == "message":
            document["content"] = []
            changed.add(place)
    return changed | _anthropic_relabel(documents, "end_turn")[0], dropped


# OpenAI Chat Completions and what speaks like it.

_OPENAI = MappingProxyType(
    {
        429: ("Rate limit reached for requests", "requests", "rate_limit_exceeded"),
        500: ("The server had an error while processing your request. Sorry about that!", "server_error", None),
        503: ("The engine is currently overloaded, please try again later", "server_error", None),
        529: ("The engine is currently overloaded, please try again later", "server_error", None),
    }
)


def _openai_error(status: int, _: float | None) -> Json:
    message, kind, code = _OPENAI[status]
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _chat_event(_: int) -> bytes:
    return b"data: " + orjson.dumps(_openai_error(500, None)) + b"\n\n"


def _choices(documents: Documents) -> list[tuple[int, Json, Json]]:
    """`(place, choice, its message or delta)`."""
    return [
        (place, choice, _fields(choice.get("delta") or choice.get("message")))
        for place, document in enumerate(documents)
        if document is not None
        for choice in _objects(document.get("choices"))
    ]


def _chat_truncate(documents: Documents) -> Edited:
    parts: dict[object, list[tuple[int, Json, str]]] = {}
    for place, choice, said in _choices(documents):
        for number, call in enumerate(_objects(said.get("tool_calls"))):
            function = _fields(call.get("function"))
            if isinstance(function.get("arguments"), str):
                key = (choice.get("index"), call.get("index", number))
                parts.setdefault(key, []).append((place, function, "arguments"))
    return _shortened(documents, list(parts.values())[-1] if parts else ())


def _chat_relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, choice, _ in _choices(documents):
        if choice.get("finish_reason") is not None:
            choice["finish_reason"] = finish
            changed.add(place)
    return changed, set()


_SAID = ("tool_calls", "function_call", "refusal", "reasoning", "reasoning_content", "reasoning_details")


def _chat_empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    for place, _, said in _choices(documents):
        if said.get("content"):
            said["content"] = ""
            changed.add(place)
        for name in _SAID:
            if said.get(name) is not None:
                del said[name]
                changed.add(place)
    return changed | _chat_relabel(documents, "stop")[0], set()


# OpenAI Responses.

_DETAILS = frozenset({"max_output_tokens", "content_filter"})
"""Finish words that the Responses API puts into `incomplete_details.reason`."""


def _responses_event(before: int) -> bytes:
    message, kind, _ = _OPENAI[500]
    data = {"type": "error", "code": kind, "message": message, "param": None, "sequence_number": before}
    return b"event: error\ndata: " + orjson.dumps(data) + b"\n\n"


def _outputs(documents: Documents) -> list[tuple[int, Json]]:
    """`(place, item of the output)`, wherever a document shows one whole."""
    return [
        (place, item)
        for place, document in enumerate(documents)
        if document is not None
        for item in (
            *_objects(document.get("output")),
            *_objects(_fields(document.get("response")).get("output")),
            *([_fields(document["item"])] if "item" in document else []),
        )
    ]


def _responses_truncate(documents: Documents) -> Edited:
    calls = [item for _, item in _outputs(documents) if item.get("type") == "function_call"]
    if not calls:
        return set(), set()
    call = calls[-1].get("id")
    whole = max((str(item.get("arguments") or "") for item in calls if item.get("id") == call), key=len)
    short = _half(whole)
    changed: set[int] = set()
    for place, item in _outputs(documents):
        if item.get("id") == call and item.get("arguments"):
            item["arguments"] = short
            changed.add(place)
    deltas: list[tuple[int, Json, str]] = []
    for place, document in enumerate(documents):
        if document is None or document.get("item_id") != call:
            continue
        if document.get("type") == "response.function_call_arguments.delta":
            deltas.append((place, document, "delta"))
        elif document.get("type") == "response.function_call_arguments.done":
            document["arguments"] = short
            changed.add(place)
    return changed | _shortened(documents, deltas)[0], set()


def _responses_relabel(documents: Documents, finish: str) -> Edited:
    status = "incomplete" if finish in _DETAILS else finish
    changed: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        final = document.get("type") in ("response.completed", "response.incomplete", "response.failed")
        answer = _fields(document.get("response")) if final else document
        if final or document.get("object") == "response":
            answer["status"] = status
            answer["incomplete_details"] = {"reason": finish} if finish in _DETAILS else None
            if final:
                document["type"] = f"response.{status}"
            changed.add(place)
    return changed, set()


def _responses_empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    dropped: set[int] = set()
    for place, document in enumerate(documents):
        if document is None:
            continue
        answer = _fields(document.get("response")) if "response" in document else document
        if "output" in answer:
            answer["output"] = []
            changed.add(place)
        elif str(document.get("type")).startswith("response.") and "response" not in document:
            dropped.add(place)
    return changed | _responses_relabel(documents, "completed")[0], dropped


# Gemini.

_GOOGLE = MappingProxyType(
    {
        429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        500: ("INTERNAL", "An internal error has occurred."),
        503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    }
)


def _gemini_error(status: int, retry_after: float | None) -> Json:
    word, message = _GOOGLE[status]
    error: Json = {"code": status, "message": message, "status": word}
    if retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{retry_after:g}s"}]
    return {"error": error}


def _gemini_event(_: int) -> bytes:
    return b"data: " + orjson.dumps(_gemini_error(503, None)) + b"\r\n\r\n"


def _candidates(documents: Documents) -> list[tuple[int, Json]]:
    return [
        (place, candidate)
        for place, document in enumerate(documents)
        if document is not None
        for candidate in _objects(document.get("candidates"))
    ]


def _gemini_truncate(documents: Documents) -> Edited:
    calls = [
        (place, _fields(part["functionCall"]))
        for place, candidate in _candidates(documents)
        for part in _objects(_fields(candidate.get("content")).get("parts"))
        if "functionCall" in part
    ]
    if not calls:
        return set(), set()
    place, call = calls[-1]
    call["args"] = _without_last(_fields(call.get("args")))
    return {place}, set()


def _gemini_relabel(documents: Documents, finish: str) -> Edited:
    changed: set[int] = set()
    for place, candidate in _candidates(documents):
        if candidate.get("finishReason") is not None:
            candidate["finishReason"] = finish
            changed.add(place)
    return changed, set()


def _gemini_empty(documents: Documents) -> Edited:
    changed: set[int] = set()
    for place, candidate in _candidates(documents):
        content = _fields(candidate.get("content"))
        if content.pop("parts", None) is not None:
            changed.add(place)
    return changed | _gemini_relabel(documents, "STOP")[0], set()


TABLE: tuple[Shape, ...] = (
    Shape(
        re.compile(r"(?:.*/)?messages|.*:(?:rawPredict|streamRawPredict)"),
        _anthropic_error,
        _anthropic_event,
        _anthropic_truncate,
        _anthropic_relabel,
        _anthropic_empty,
    ),
    Shape(
        re.compile(r"(?:.*/)?responses"),
        _openai_error,
        _responses_event,
        _responses_truncate,
        _responses_relabel,
        _responses_empty,
    ),
    Shape(
        re.compile(r"(?:.*/)?chat/completions"),
        _openai_error,
        _chat_event,
        _chat_truncate,
        _chat_relabel,
        _chat_empty,
    ),
    Shape(
        re.compile(r".*models/[^/]+(?::|%3A)\w+"),
        _gemini_error,
        _gemini_event,
        _gemini_truncate,
        _gemini_relabel,
        _gemini_empty,
    ),
)
"""Most specific first; the first row that fits holds."""

OTHER = Shape(re.compile(""), _openai_error)
"""An API without a row fails by status, by silence and by cuts; its answers are not edited."""


def shape_of(path: str) -> Shape:
    """The row of an endpoint, as `request_key.path_key` spells it."""
    bare = path.partition("?")[0]
    return next((row for row in TABLE if row.path.fullmatch(bare)), OTHER)
