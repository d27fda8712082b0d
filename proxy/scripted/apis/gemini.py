"""Gemini generateContent and streamGenerateContent, as SSE or as one JSON array (google-genai 3.4, read 2026-11-21)."""

from collections.abc import Mapping

import orjson

from turntape.cassettes.framing.encode import sse_event

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, words

FINISH = {"calls": "STOP", "stop": "STOP", "length": "MAX_TOKENS"}


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    name = path.partition("?")[0].rpartition("/")[2]
    model, _, method = name.partition(":")
    return Ask(
        path, headers, fields, model, method.startswith("stream"), by_role(fields.get("contents"), "model"), len(body)
    )


def _chunk(answer: Answer, parts: list[Json], finish: str | None) -> Json:
    sent, cached, said = answer.tokens
    candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": sent,
            "candidatesTokenCount": said,
            "totalTokenCount": sent + said,
            "cachedContentTokenCount": cached,
        },
        "modelVersion": answer.ask.model,
        "responseId": answer.identity,
    }


def _calls(answer: Answer) -> list[Json]:
    calls: list[Json] = []
    for identity, name, arguments in answer.calls:
        try:
            value = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            value = {"unparsed": arguments}
        calls.append({"functionCall": {"id": identity, "name": name, "args": value}})
    return calls


def whole(answer: Answer) -> object:
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    return _chunk(answer, parts + _calls(answer), FINISH[answer.finish])


def _chunks(answer: Answer) -> list[Json]:
    chunks = [_chunk(answer, [{"text": word}], None) for word in words(answer.text)]
    calls = _calls(answer)
    return [*chunks, _chunk(answer, calls or [{"text": ""}], FINISH[answer.finish])]


def stream(answer: Answer) -> list[bytes]:
    chunks = _chunks(answer)
    if "alt=sse" in answer.ask.path:
        return [sse_event(chunk, end=b"\r\n") for chunk in chunks]
    last = len(chunks) - 1
    return [
        (b"[" if place == 0 else b",\r\n") + orjson.dumps(chunk) + (b"]" if place == last else b"")
        for place, chunk in enumerate(chunks)
    ]


_WORDS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}  # fmt: skip


def error(status: int, message: str) -> object:
    return {"error": {"code": status, "message": message, "status": _WORDS.get(status, "UNAVAILABLE")}}


GEMINI_GENERATE = Shape(
    name="gemini-generate",
    matches=lambda path: path.endswith((":generateContent", ":streamGenerateContent")),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="text/event-stream",
    error=error,
    error_event=sse_event(error(503, "The model is overloaded."), end=b"\r\n"),
    prefix="fc",
)
