"""Answers in the shape of OpenAI Chat Completions, streamed or whole, in all dialects."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial

from turntape.cassettes.framing import Event
from turntape.cassettes.frozen import mutable

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text, compact, is_object, parse_json
from ...values import ApiError, FinishLabel, Part, ResponseReading, ToolCall, Usage
from ..shared.answers import answer
from ..shared.choices import Verdict, choices_of, most_severe
from ..shared.counts import later_usage
from ..shared.errors import error_in
from ..shared.parts import arguments_of, call_part, media_part, text_part, unread
from ..shared.piece_names import PieceNames
from ..shared.stated_cost import merge_stated, price_terms, stated_cost
from .deltas import ChoiceDraft, index_of
from .executed_tools import with_executed
from .request import content_parts, is_repeated, message_calls, message_reasoning, read_call
from .usage import chat_usage, usage_of

FINISH: dict[str, FinishLabel] = {
    "stop": "complete",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    # dialects and native words
    "eos": "complete",
    "eos_token": "complete",
    "end_turn": "complete",
    "completed": "complete",
    "complete": "complete",
    "finish": "complete",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "context_full",
    "model_context_window_exceeded": "context_full",
    "pause_turn": "pause",
    "refusal": "refusal",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "sensitive": "content_filter",
    "guardrail_intervened": "content_filter",
    "malformed_function_call": "malformed",
    "malformed_response": "malformed",
    "unexpected_tool_call": "malformed",
    "error": "error",
    "failed": "error",
    "timeout": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "abort": "cancelled",
}
"""Finish words in lower case. A custom stop string gives `stop` too, so the two look the same."""

_PROMPT_FILTER = "prompt_filter_results"
"""Azure's verdict on the prompt, beside that on each choice (Azure OpenAI reference, read 2026-11-22)."""
_MORE_EXACT = frozenset({"refusal", "malformed", "content_filter", "length", "context_full", "pause", "error"})
"""Labels for which the native word of a router replaces its own, less exact word."""

type ReadUsage = Callable[[Object], Usage]


def read_chat_answer(
    exchange: Exchange,
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
) -> ResponseReading:
    """The answer of a chat endpoint; `finish` and `read_usage` are for APIs with other words."""
    usage_reader = read_usage or partial(usage_of, exchange)
    if exchange.framing in ("sse", "ndjson"):
        return read_chat_stream(exchange.events, finish, usage_reader)
    if not exchange.answer_fields:
        return unread(exchange, "a chat completion")
    return read_chat_body(exchange.answer_fields, finish, usage_reader)


def read_chat_body(
    body: Object,
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
    *,
    ended: bool = True,
    streamed: bool = False,
    problems: tuple[str, ...] = (),
    error: ApiError | None = None,
) -> ResponseReading:
    """A whole answer, or what a stream adds up to. Text, reasoning and refusal are those of the first choice."""
    choices = [as_object(choice) for choice in as_array(body.get("choices"))]
    parts = [part for position, choice in enumerate(choices) for part in _choice_parts(choice, position)]
    verdicts = [_choice_verdict(choice, finish) for choice in choices]
    raw, label = most_severe(verdicts)
    error = error or _error_of(body, choices, streamed)
    if label == "error" and error is None:
        error = ApiError(f"The generation ended with {raw!r}.", raw, in_stream=streamed)
    usage = body.get("usage") or as_object(body.get("x_groq")).get("usage")
    usage_fields = as_object(usage)
    counted = with_executed((read_usage or chat_usage)(usage_fields), choices) if usage_fields else None
    whole = answer(
        parts,
        finish_raw=raw,
        finish=label,
        finish_detail=_detail(choices, raw),
        prompt_filtered=label == "content_filter" and _filtered(body.get(_PROMPT_FILTER)),
        ended=ended,
        usage=counted,
        usage_raw=usage,
        stated_cost=stated_cost(body, usage),
        price_terms=price_terms(body),
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=error,
        problems=problems,
    )
    first = answer(part for part in parts if part.pointer.startswith("/choices/0/")) if len(choices) > 1 else whole
    return replace(
        whole,
        text=first.text,
        reasoning=first.reasoning,
        refusal=first.refusal or None,
        choices=choices_of(parts, verdicts, "/choices"),
    )


def _filtered(results: object) -> bool:
    """True when a filter of Azure's acted on what these results are about."""
    return '"filtered":true' in compact(results)


def _error_of(body: Object, choices: list[Object], streamed: bool) -> ApiError | None:
    """The error of an answer: beside the choices, inside one, or the whole body."""
    if body.get("error") and (error := error_in(body, in_stream=streamed)):
        return error
    for choice in choices:
        if choice.get("error") and (error := error_in(choice)):
            return error
    return None if choices or body.get("usage") else error_in(body)


def read_chat_stream(
    events: list[Event],
    finish: Mapping[str, FinishLabel] = FINISH,
    read_usage: ReadUsage | None = None,
) -> ResponseReading:
    """A stream of chunks. It has ended when every choice has a finish word, or at `[DONE]`."""
    stream = _Stream()
    for event in events:
        stream.add(event)
    choices = [{"index": index, **draft.whole()} for index, draft in sorted(stream.drafts.items())]
    words = [_word(choice) for choice in choices]
    return read_chat_body(
        {**stream.body, "choices": choices},
        finish,
        read_usage,
        ended=stream.done or (bool(words) and all(words)),
        streamed=True,
        problems=(
            *stream.problems,
            *stream.names.problems,
            *(problem for draft in stream.drafts.values() for problem in draft.problems),
        ),
        error=stream.error,
    )


@mutable
class _Stream:
    """What the chunks of a stream add up to so far."""

    body: Object = field(default_factory=dict[str, object])
    drafts: dict[int, ChoiceDraft] = field(default_factory=dict[int, ChoiceDraft])
    problems: list[str] = field(default_factory=list[str])
    error: ApiError | None = None
    """The first error."""
    done: bool = False
    """Whether `[DONE]` has come."""
    names: PieceNames = field(default_factory=PieceNames)

    def add(self, event: Event) -> None:
        data = event.data.strip()
        if event.kind == "comment" or (event.kind == "data" and not data):
            return
        if data == b"[DONE]":
            self.done = True
        elif event.kind == "field" or event.name == "error":
            self._fail(event)
        elif is_object(chunk := parse_json(event.data)):
            if chunk.get("error") or (chunk.get("object") == "error" and not chunk.get("choices")):
                self.error = self.error or error_in(chunk, in_stream=True)
            if any(map(_says, as_array(chunk.get("choices")))):
                if self.done and not self.problems:
                    self.problems.append("Pieces of the answer come after [DONE]; clients do not read them.")
                self.names.add({f"the {key}": chunk.get(key) for key in ("id", "model", "created")})
            _merge_chunk(self.body, self.drafts, chunk)
        else:
            self.problems.append(event.problem or f"An event at byte {event.start} is not a JSON object.")

    def _fail(self, event: Event) -> None:
        """Read an event named `error`, or a line of a field that server-sent events do not have."""
        value = event.value or event.data.decode("utf-8", "replace")
        known = event.name.lower() == "error" or bool(as_object(value).get("error"))
        if known:
            self.error = self.error or error_in(value, in_stream=True)
        if event.name != "error" and self.error is None:
            self.problems.append(f"The stream has a line of the unknown field {event.name!r}.")


def _says(choice: object) -> bool:
    """True for a choice of a chunk with something of the model, and not only its role or its end."""
    delta = as_object(as_object(choice).get("delta"))
    return any(value for key, value in delta.items() if key != "role")


def _merge_chunk(body: Object, drafts: dict[int, ChoiceDraft], chunk: Object) -> None:
    for key in ("id", "model", "provider", "service_tier", "system_fingerprint", _PROMPT_FILTER):
        if value := chunk.get(key):
            body.setdefault(key, value)
    if chunk.get("x_groq"):
        body["x_groq"] = {**as_object(body.get("x_groq")), **as_object(chunk["x_groq"])}
    merge_stated(body, chunk)
    usage = {k: v for k, v in as_object(chunk.get("usage")).items() if v is not None}
    for choice in as_array(chunk.get("choices")):
        fields = as_object(choice)
        merge_stated(body, as_object(fields.get("delta")))
        # Some servers put it into the choice.
        usage = usage or as_object(fields.get("usage"))
        drafts.setdefault(index_of(fields), ChoiceDraft()).add(fields)
    if usage:
        body["usage"] = later_usage(as_object(body.get("usage")), usage)


def _choice_parts(choice: Object, position: int) -> list[Part]:
    message = as_object(choice.get("message")) or as_object(choice.get("delta"))
    pointer = f"/choices/{position}/message"
    parts = message_reasoning(message, pointer)
    parts += content_parts(message.get("content"), f"{pointer}/content")
    if refusal := as_text(message.get("refusal")):
        parts.append(text_part(refusal, f"{pointer}/refusal", refusal, "refusal"))
    number = index_of(choice)
    for i, item in enumerate(as_array(message.get("tool_calls"))):
        call = read_call(as_object(item), number)
        parts.append(call_part(call, f"{pointer}/tool_calls/{i}", item))
    if not is_repeated(as_object(message.get("function_call")), message):
        parts += [p for p in message_calls({"function_call": message.get("function_call")}, pointer) if _is_call(p)]
    for i, item in enumerate(as_array(message.get("executed_tools"))):
        parts.append(call_part(_executed(as_object(item), number), f"{pointer}/executed_tools/{i}", item))
    if audio := as_object(message.get("audio")):
        if not message.get("content") and (transcript := as_text(audio.get("transcript"))):
            parts.append(text_part(transcript, f"{pointer}/audio/transcript", transcript))
        parts.append(media_part("audio", f"{pointer}/audio", audio))
    for i, image in enumerate(as_array(message.get("images"))):
        parts.append(media_part("image", f"{pointer}/images/{i}", image))
    return parts


def _is_call(part: Part) -> bool:
    return part.call is not None and bool(part.call.name)


def _executed(item: Object, choice: int) -> ToolCall:
    """A tool that Groq ran."""
    arguments, raw = arguments_of(item.get("arguments"))
    name = as_text(item.get("name")) or as_text(item.get("type")) or ""
    return ToolCall(name, as_text(item.get("id")), arguments, raw, server=True, choice=choice)


def _word(choice: Object) -> str | None:
    """The finish word of a choice; old vision models put it into `finish_details`."""
    word = choice.get("finish_reason")
    if word is None:
        word = as_object(choice.get("finish_details")).get("type")
    if is_object(word):
        word = as_object(word).get("type") or compact(word)
    return word if isinstance(word, str) else None if word is None else str(word)


def _choice_verdict(choice: Object, finish: Mapping[str, FinishLabel]) -> Verdict:
    """The word of one choice, and its label; a router's native word may be more exact."""
    raw = _word(choice)
    label = finish.get(raw.lower(), "unknown") if raw else None
    native = finish.get((as_text(choice.get("native_finish_reason")) or "").lower())
    return raw, native if native in _MORE_EXACT and label != "error" else label


def _detail(choices: list[Object], raw: str | None) -> str | None:
    """What the answer has beside the finish word: words of other choices, native words, messages."""
    words = dict.fromkeys(word for choice in choices if (word := _word(choice)))
    details = ["finish reasons of the choices: " + ", ".join(words)] if len(words) > 1 else []
    native = next((word for choice in choices if (word := as_text(choice.get("native_finish_reason")))), None)
    if native and raw and native.lower() != raw.lower():
        details.append(f"native finish reason: {native}")
    details += [message for choice in choices if (message := as_text(choice.get("finish_message")))]
    return "; ".join(details) or None
