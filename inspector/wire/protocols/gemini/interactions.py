"""Gemini Interactions: turns made of steps, which the server stores on request."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, add_text, as_array, as_count, as_object, as_text, is_object
from ...values import (
    ApiError,
    FinishLabel,
    Kind,
    Message,
    OutputFormat,
    Part,
    RequestReading,
    ResponseReading,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)
from ..protocol import Protocol
from ..shared.answers import answer, prompt_message, read_assembled, summed
from ..shared.counts import Counts
from ..shared.errors import error_in
from ..shared.output_format import mime_format
from ..shared.parts import (
    arguments_of,
    call_part,
    chosen,
    media_part,
    other_fields,
    text_of,
    text_part,
    texts,
)
from ..traits import AnswerRules, Pairing, Reasoning
from .api import INTERACTIONS_API
from .interactions_format import FORMAT, ORDER, STEADY
from .not_read import INTERACTIONS_NOT_READ
from .searches import billed_interaction_searches, other_interaction_fees

FINISH: dict[str, FinishLabel] = {
    "completed": "complete",
    "requires_action": "tool_calls",
    "failed": "error",
    "cancelled": "cancelled",
    "incomplete": "length",
    "budget_exceeded": "limit",
    "requires_continuation": "pause",
    "idle": "complete",
    "in_progress": "unknown",
    "queued": "unknown",
}
"""`in_progress` and `queued` in a whole answer are a background run, whose answer is fetched later.
`idle` says that nothing is being processed, also not in the background."""

_ENDS = frozenset({"interaction.completed", "interaction.complete", "interaction.failed", "interaction.cancelled"})
_BACKGROUND = frozenset({"queued", "in_progress"})
_KNOWN = frozenset({"model", "agent", "input", "system_instruction", "tools", "stream", "previous_interaction_id"})
_PATH = regex(r"/interactions(/(?!live$)[^/]+(?:/cancel)?)?$")
_MEDIA = frozenset({"audio", "document", "image", "video"})
_ROLES = {"user_input": "user", "model_output": "assistant", "user": "user", "model": "assistant"}


def detect(exchange: Exchange) -> Kind | None:
    found = _PATH.search(exchange.path.rstrip("/"))
    if found is None:
        return None
    return "generation" if exchange.method == "POST" and not found[1] else "stored"


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    config = as_object(fields.get("generation_config"))
    system = fields.get("system_instruction")
    given = fields.get("input")
    return RequestReading(
        model=as_text(fields.get("model")) or as_text(fields.get("agent")),
        streamed=fields.get("stream") is True,
        system=(text_part(text, "/system_instruction", system),) if (text := text_of(system)) else (),
        messages=prompt_message(given, "/input") or tuple(_messages(given)),
        tools=tuple(_tool(as_object(t), f"/tools/{i}") for i, t in enumerate(as_array(fields.get("tools")))),
        tool_choice=_tool_choice(config.get("tool_choice", fields.get("tool_choice"))),
        max_output=as_count(config.get("max_output_tokens")),
        stop=texts(config.get("stop_sequences")),
        output_format=_output_format(fields),
        parameters=other_fields(fields, _KNOWN),
        previous_id=as_text(fields.get("previous_interaction_id")),
        continuation=as_text(fields.get("continuation_token")),
    )


def _output_format(fields: Object) -> OutputFormat | None:
    """The format of the text: one of several formats, or a bare schema with its media type beside it."""
    value = fields.get("response_format")
    formats = [as_object(item) for item in as_array([value] if is_object(value) else value)]
    text = next((item for item in formats if item.get("type") == "text"), None)
    if text is not None:
        return mime_format(text.get("mime_type"), text.get("schema"), "/response_format")
    return mime_format(fields.get("response_mime_type"), value, "/response_format")


def _messages(given: object) -> list[Message]:
    found: list[Message] = []
    for i, value in enumerate(as_array([given] if is_object(given) else given)):
        item, pointer = as_object(value), f"/input/{i}"
        role = _ROLES.get(as_text(item.get("role")) or as_text(item.get("type")) or "")
        parts = tuple(step_parts(item, pointer))
        kinds = {part.kind for part in parts}
        if kinds == {"result"}:
            found.append(Message("tool", parts, pointer, value))
        elif role == "assistant" or (role is None and kinds & {"call", "reasoning"}):
            found.append(Message("assistant", parts, pointer, value))
        else:
            found.append(Message("user", parts, pointer, value))
    return found


def _tool(tool: Object, pointer: str) -> Tool:
    kind = as_text(tool.get("type")) or "function"
    name = as_text(tool.get("name")) or kind
    own = kind != "function"
    return Tool(name, as_text(tool.get("description")), tool.get("parameters"), pointer, server=own)


def _tool_choice(value: object) -> ToolChoice | None:
    if is_object(value):
        allowed = as_object(as_object(value).get("allowed_tools"))
        return chosen(allowed.get("mode"), texts(allowed.get("tools")))
    return chosen(value)


def step_parts(step: Object, pointer: str) -> list[Part]:
    """The parts of one step, or of one content block."""
    kind = as_text(step.get("type")) or as_text(step.get("role")) or ""
    if kind in _ROLES:
        content = step.get("content")
        if isinstance(content, str):
            return [text_part(content, f"{pointer}/content", content)]
        items = enumerate(as_array(content))
        return [part for i, item in items for part in step_parts(as_object(item), f"{pointer}/content/{i}")]
    if kind == "thought":
        summary = text_of(step.get("summary"))
        return [Part("reasoning", pointer, summary, signature=as_text(step.get("signature")), raw=step)]
    if kind.endswith("_result"):
        return [_result(step, pointer)]
    if kind.endswith("_call"):
        return [_call(step, kind, pointer)]
    if isinstance(text := step.get("text"), str):
        return [text_part(text, pointer, step)]
    if kind in _MEDIA:
        return [media_part(kind, pointer, step)]
    return [Part("other", pointer, text=f"[{kind or 'part'}]", raw=step)]


def _call(step: Object, kind: str, pointer: str) -> Part:
    arguments, raw = arguments_of(step.get("arguments"))
    own = kind != "function_call"
    call = ToolCall(
        as_text(step.get("name")) or kind.removesuffix("_call"),
        as_text(step.get("id")),
        arguments,
        raw,
        server=own,
        complete=step.get("cut") is not True,
    )
    return call_part(call, pointer, step, as_text(step.get("signature")))


def _result(step: Object, pointer: str) -> Part:
    kind = as_text(step.get("type")) or ""
    text = text_of(step.get("result")) or ("" if "result" in step else f"[{kind}]")
    error, own = step.get("is_error") is True, kind != "function_result"
    result = ToolResult(as_text(step.get("call_id")), as_text(step.get("name")), error, text, server=own)
    return Part("result", pointer, text=text, result=result, raw=step)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_assembled(exchange, "an interaction", assemble, read_body)


def assemble(events: list[tuple[str, Object]]) -> tuple[Object, bool]:
    body: Object = {}
    steps: dict[int, Object] = {}
    ended = False
    for name, event in events:
        kind = as_text(event.get("event_type")) or name
        index = as_count(event.get("index")) or 0
        if interaction := as_object(event.get("interaction")):
            body.update(interaction)
        if status := as_text(event.get("status")):
            body["status"] = status
        if usage := as_object(as_object(event.get("metadata")).get("total_usage") or event.get("usage")):
            body["usage"] = usage
        if usage := as_object(as_object(event.get("metadata")).get("usage")):
            body.setdefault("usage", usage)
        ended = ended or kind in _ENDS or (kind == "interaction.status_update" and _is_verdict(body))
        if kind in ("step.start", "content.start"):
            steps[index] = {**as_object(event.get("step") or event.get("content")), "cut": True}
        elif kind in ("step.delta", "content.delta"):
            _grow(steps.setdefault(index, {"cut": True}), as_object(event.get("delta")))
        elif kind in ("step.stop", "content.stop"):
            steps.setdefault(index, {}).pop("cut", None)
    if not body.get("steps") and not body.get("outputs"):
        body["steps"] = [step for _, step in sorted(steps.items())]
    return body, ended


def _is_verdict(body: Object) -> bool:
    return (status := as_text(body.get("status"))) in FINISH and status not in _BACKGROUND


def _last_text(step: Object) -> Object:
    """The last block of a step when it is text and nothing else; one that is begun or takes its place otherwise."""
    content = as_array(step.get("content"))
    last = as_object(content[-1]) if content else as_object(None)
    before = as_text(last.get("text"))
    if before is None or last != {"type": "text", "text": before}:
        block: Object = {"type": "text", "text": before or ""}
        step["content"] = [*(content if before is None else content[:-1]), block]
        return block
    return last


def _grow(step: Object, delta: Object) -> None:
    match delta.get("type"):
        case "text":
            text = as_text(delta.get("text")) or ""
            if step.get("type") == "model_output":
                add_text(_last_text(step), "text", text)
            else:
                add_text(step, "text", text)
        case "thought_signature":
            add_text(step, "signature", as_text(delta.get("signature")))
        case "thought_summary":
            add_text(step, "summary", text_of(delta.get("content")))
        case "arguments_delta":
            old = step.get("arguments")
            step["arguments"] = (old if isinstance(old, str) else "") + (as_text(delta.get("arguments")) or "")
        case "function_call" | "google_search_call" | "code_execution_call" | "url_context_call":
            step.update(delta)
        case None:
            pass
        case "audio" | "document" | "image" | "video" if step.get("type") == "model_output":
            step["content"] = [*as_array(step.get("content")), delta]
        case _:
            step.update({key: value for key, value in delta.items() if key not in step})


def read_body(body: Object, *, ended: bool, error: ApiError | None, problems: list[str]) -> ResponseReading:
    key = "steps" if body.get("steps") else "outputs"
    parts: list[Part] = []
    for i, step in enumerate(as_array(body.get(key))):
        parts += step_parts(as_object(step), f"/{key}/{i}")
    raw = as_text(body.get("status"))
    label = FINISH.get(raw, "unknown") if raw else None
    if body.get("error"):
        error = error or error_in(body, in_stream=True)
    if label == "error" and error is None:
        error = ApiError("The interaction failed; the API gave no error.", in_stream=True)
    usage, model = as_object(body.get("usage")), as_text(body.get("model"))
    return answer(
        parts,
        finish_raw=raw,
        finish=label if ended else None,
        finish_detail="a background run: its answer is fetched later" if ended and raw in _BACKGROUND else None,
        ended=ended,
        usage=_usage(usage, model) if usage else None,
        usage_raw=body.get("usage"),
        model=model,
        id=as_text(body.get("id")),
        continuation=as_text(body.get("continuation_token")),
        error=error,
        problems=problems,
    )


def _usage(usage: Object, model: str | None) -> Usage:
    """Thoughts are counted apart from the output, and tool-use prompts apart from the input."""
    counts = Counts(usage)
    thoughts = counts.first("total_thought_tokens", "total_reasoning_tokens")
    return Usage(
        input=summed(counts.first("total_input_tokens"), counts.first("total_tool_use_tokens")),
        cache_read=counts.first("total_cached_tokens"),
        output=summed(counts.first("total_output_tokens"), thoughts),
        reasoning=thoughts,
        web_searches=billed_interaction_searches(usage, model),
        other_fees=other_interaction_fees(usage),
        problems=counts.problems,
    )


def _lacks_id(step: Object) -> bool:
    return step.get("type") == "function_call" and not step.get("id")


GEMINI_INTERACTIONS = Protocol(
    name="gemini-interactions",
    title="Gemini Interactions",
    spec="https://ai.google.dev/api/interactions-api, and google-genai 3.6.1, read 2026-11-29",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=INTERACTIONS_NOT_READ,
    streams=("sse",),
    api=INTERACTIONS_API,
    pairing=Pairing(anywhere=True),
    answers=AnswerRules(
        has_word_for_calls=False, always_says_finish=True, format=FORMAT, order=ORDER, steady=STEADY, lacks_id=_lacks_id
    ),
    reasoning=Reasoning("expected"),
    operation="generate_content",
)
