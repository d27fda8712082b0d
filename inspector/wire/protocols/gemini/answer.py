"""Answers of Gemini: one body, an SSE stream, or one JSON array sent in pieces."""

from dataclasses import replace

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, is_object, parse_json
from ...values import ApiError, FinishLabel, Part, ResponseReading, Usage
from ..shared.choices import Verdict, choices_of, most_severe
from ..shared.counts import Counts, as_token_count
from ..shared.errors import error_in
from ..shared.parts import unread
from ..shared.piece_names import PieceNames, grow
from ..shared.stated_cost import stated_cost
from .parts import get, grow_call, read_parts
from .searches import billed_searches, other_fees

FINISH: dict[str, FinishLabel] = {
    "STOP": "complete",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "limit",
    "CONTINUATION": "pause",
    "OTHER": "unknown",
    "IMAGE_OTHER": "unknown",
    "NO_IMAGE": "unknown",
    "FINISH_REASON_UNSPECIFIED": "unknown",
}

# With `enum-encoding=int` words come as numbers. From 6 on, the two APIs use different numbers.
# google.ai.generativelanguage.v1beta and google.cloud.aiplatform.v1 Candidate.FinishReason, 2026-11-20.
_NUMBERS = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
_GEMINI_NUMBERS = (*_NUMBERS, "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL")
_VERTEX_NUMBERS = (*_NUMBERS, "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL")


def read_gemini_answer(exchange: Exchange) -> ResponseReading:
    """The answer of a generate endpoint."""
    vertex = "aiplatform" in exchange.host
    if exchange.framing is None:
        body = exchange.answer_fields
        if not body:
            return unread(exchange, "generateContent")
        # Code Assist wraps the answer.
        return read_gemini_body(as_object(body.get("response")) or body, vertex=vertex)
    return _stream(exchange, vertex)


def _stream(exchange: Exchange, vertex: bool) -> ResponseReading:
    body: Object = {}
    problems: list[str] = []
    error: ApiError | None = None
    names, texts = PieceNames(), list[str]()
    for event in exchange.events:
        if event.kind == "comment" or event.data.strip() in (b"", b"[DONE]"):
            continue
        value = parse_json(event.data)
        if not is_object(value):
            problems.append(event.problem or f"An event at byte {event.start} is not a JSON object.")
            continue
        chunk = as_object(value)
        if chunk.get("error"):
            error = error or error_in(chunk, in_stream=True)
        chunk = as_object(chunk.get("response")) or chunk
        if any(map(_says, as_array(chunk.get("candidates")))):
            names.add({f"the {key}": chunk.get(key) for key in ("responseId", "modelVersion")})
            texts.append(_text_of(chunk))
        merge_chunk(body, chunk)
    if grow(texts):
        problems.append("Each piece of the text repeats all pieces before it.")
    candidates = [as_object(c) for c in as_array(body.get("candidates"))]
    finished = bool(candidates) and all(get(c, "finishReason") is not None for c in candidates)
    blocked = bool(as_object(get(body, "promptFeedback")).get("blockReason"))
    return read_gemini_body(
        body,
        vertex=vertex,
        ended=finished or blocked,
        error=error,
        problems=(*problems, *names.problems),
        streamed=True,
    )


def _text_of(chunk: Object) -> str:
    """The text of the first candidate of a chunk, without thoughts."""
    first = next((as_object(one) for one in as_array(chunk.get("candidates"))), as_object(None))
    parts = map(as_object, as_array(as_object(first.get("content")).get("parts")))
    return "".join(as_text(part.get("text")) or "" for part in parts if not part.get("thought"))


def _says(candidate: object) -> bool:
    """True for a candidate of a chunk with something of the model."""
    return bool(as_object(as_object(candidate).get("content")).get("parts"))


def merge_chunk(body: Object, chunk: Object) -> None:
    """Add one chunk to the answer so far. Parts are appended; usage and the rest are cumulative."""
    drafts = as_array(body.setdefault("candidates", []))
    for position, item in enumerate(as_array(chunk.get("candidates"))):
        candidate = as_object(item)
        index = as_count(candidate.get("index"))
        index = position if index is None else index
        draft = next((d for d in map(as_object, drafts) if d.get("index") == index), None)
        if draft is None:
            draft = as_object({"index": index, "content": {"parts": []}})
            drafts.append(draft)
        parts = as_array(as_object(draft["content"]).get("parts"))
        for part in as_array(as_object(candidate.get("content")).get("parts")):
            _add_part(parts, as_object(part))
        draft.update({k: v for k, v in candidate.items() if k not in ("content", "index") and v is not None})
    for key, value in chunk.items():
        if key == "usageMetadata":
            body[key] = {**as_object(body.get(key)), **as_object(value)}
        elif key != "candidates" and value is not None:
            body[key] = value


def _add_part(parts: list[object], part: Object) -> None:
    last = as_object(parts[-1]) if parts else {}
    call, open_call = as_object(get(part, "functionCall")), as_object(get(last, "functionCall"))
    if call or "functionCall" in part:
        pieces = get(call, "partialArgs")
        if open_call.get("willContinue") is True and not call.get("name"):
            grow_call(open_call, pieces)
            open_call["willContinue"] = get(call, "willContinue") is True
        elif pieces is not None or get(call, "willContinue") is True:
            opened = {k: v for k, v in call.items() if k != "partialArgs"}
            grow_call(opened, pieces)
            parts.append({**part, "functionCall": opened})
        else:
            parts.append(part)
        return
    plain = isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}
    same = isinstance(last.get("text"), str) and last.get("thought") == part.get("thought")
    if plain and same and not get(last, "thoughtSignature"):
        last["text"] = f"{last['text']}{part['text']}"
    else:
        parts.append(dict(part))


def read_gemini_body(
    body: Object,
    *,
    vertex: bool = False,
    ended: bool = True,
    streamed: bool = False,
    error: ApiError | None = None,
    problems: tuple[str, ...] = (),
) -> ResponseReading:
    """A whole answer, or what a stream adds up to."""
    candidates = [as_object(c) for c in as_array(body.get("candidates"))]
    parts: list[Part] = []
    first: list[Part] = []
    for i, candidate in enumerate(candidates):
        found = read_parts(candidate.get("content"), f"/candidates/{i}/content", i)
        parts += found
        first = first or found
    if error is None and (body.get("error") or not candidates):
        error = error_in(body, in_stream=streamed)
    calls = tuple(p.call for p in parts if p.call is not None and not p.call.server)
    verdicts = [_candidate_verdict(candidate, vertex) for candidate in candidates]
    raw, label, detail = _verdict(body, candidates, verdicts, vertex)
    if label == "error" and error is None:
        error = ApiError(f"The generation ended with {detail or raw!r}.", raw, in_stream=streamed)
    stated = get(body, "usageMetadata")
    usage, model = as_object(stated), as_text(get(body, "modelVersion"))
    searches, fees = billed_searches(candidates, usage, model), other_fees(candidates, usage)
    return ResponseReading(
        text="".join(p.text for p in first if p.kind == "text"),
        reasoning="".join(p.text for p in first if p.kind == "reasoning"),
        calls=calls,
        server_calls=tuple(p.call for p in parts if p.call is not None and p.call.server),
        signatures=tuple(p.signature for p in parts if p.signature),
        content=tuple(parts),
        choices=choices_of(parts, verdicts, "/candidates"),
        finish_raw=raw,
        # There is no finish word for tool calls: beside a call, STOP means it.
        finish="tool_calls" if label == "complete" and calls else label,
        finish_detail=detail,
        prompt_filtered=label == "content_filter" and not any(word for word, _ in verdicts),
        ended=ended,
        usage=replace(gemini_usage(usage), web_searches=searches, other_fees=fees) if usage else None,
        usage_raw=stated or None,
        stated_cost=stated_cost(body, usage),
        model=model,
        id=as_text(get(body, "responseId")),
        continuation=next((token for c in candidates if (token := as_text(get(c, "continuationToken")))), None),
        error=error,
        problems=problems,
        other_content=any(p.kind == "media" or (p.kind in ("other", "result") and p.text) for p in parts),
    )


def _candidate_verdict(candidate: Object, vertex: bool) -> Verdict:
    """The word of one candidate, and its label; enums may come as numbers."""
    word = get(candidate, "finishReason")
    if isinstance(word, int) and not isinstance(word, bool):
        return str(word), FINISH.get(_name_of(word, vertex), "unknown")
    return (word, FINISH.get(word, "unknown")) if isinstance(word, str) and word else (None, None)


def _name_of(number: int, vertex: bool) -> str:
    names = _VERTEX_NUMBERS if vertex else _GEMINI_NUMBERS
    return names[number] if 0 <= number < len(names) else ""


def _verdict(
    body: Object, candidates: list[Object], verdicts: list[Verdict], vertex: bool
) -> tuple[str | None, FinishLabel | None, str | None]:
    """The most severe word of the candidates, or why the prompt was blocked."""
    raw, label = most_severe(verdicts)
    if raw is not None:
        candidate = candidates[verdicts.index((raw, label))]
        word = get(candidate, "finishReason")
        name = _name_of(word, vertex) if isinstance(word, int) else as_text(get(candidate, "finishMessage"))
        return raw, label, name or None
    feedback = as_object(get(body, "promptFeedback"))
    reason = get(feedback, "blockReason")
    if reason not in (None, 0, "", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"):
        message = as_text(get(feedback, "blockReasonMessage"))
        return str(reason), "content_filter", message or None
    return None, None, None


def gemini_usage(usage: Object) -> Usage:
    """Gemini counts thoughts and tool results apart from candidates and prompt; here they are included.

    Zero counts are left out on the wire, so a missing one is worked out from the total.
    """
    counts = Counts({name: get(usage, name) for name in _COUNTED}, "usageMetadata")
    prompt = counts.first("promptTokenCount")
    tools = counts.first("toolUsePromptTokenCount") or 0
    thoughts = counts.first("thoughtsTokenCount")
    candidates = counts.first("candidatesTokenCount", "responseTokenCount")
    total = counts.first("totalTokenCount")
    whole = None if prompt is None else prompt + tools
    output: int | None = None
    if candidates is not None and thoughts and whole is not None and total == whole + candidates:
        output = candidates  # Older previews count thoughts among the candidates.
    elif candidates is not None or thoughts is not None:
        output = (candidates or 0) + (thoughts or 0)
    elif total is not None and whole is not None and total >= whole:
        output = total - whole
    cached = counts.first("cachedContentTokenCount")
    kinds = _by_modality(get(usage, "promptTokensDetails"))
    held = _by_modality(get(usage, "cacheTokensDetails"))
    made = _by_modality(get(usage, "candidatesTokensDetails") or get(usage, "responseTokensDetails"))
    return Usage(
        whole,
        cached,
        None,
        output,
        thoughts,
        input_audio=kinds.get("AUDIO", 0),
        input_image=kinds.get("IMAGE", 0) + kinds.get("DOCUMENT", 0),
        input_video=kinds.get("VIDEO", 0),
        cached_audio=held.get("AUDIO", 0) if held else None,
        cached_image=held.get("IMAGE", 0) + held.get("DOCUMENT", 0) if held else None,
        cached_video=held.get("VIDEO", 0) if held else None,
        output_audio=made.get("AUDIO", 0),
        output_image=made.get("IMAGE", 0),
        output_video=made.get("VIDEO", 0),
        input_media=sum(count for kind, count in kinds.items() if kind != "TEXT") if kinds else None,
        problems=counts.problems,
    )


def _by_modality(details: object) -> dict[str, int]:
    """The tokens of a prompt or an answer by `TEXT`, `IMAGE`, `DOCUMENT`, `VIDEO`, `AUDIO`."""
    found: dict[str, int] = {}
    for one in as_array(details):
        kind, count = as_text(get(as_object(one), "modality")), as_token_count(get(as_object(one), "tokenCount"))
        if kind and count is not None:
            found[kind] = found.get(kind, 0) + count
    return found


_COUNTED = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "thoughtsTokenCount",
    "candidatesTokenCount",
    "responseTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
)
