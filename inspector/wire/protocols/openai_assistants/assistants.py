"""OpenAI Assistants: runs of a thread that the server holds."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, objects_in
from ...values import ApiError, FinishLabel, Kind, Message, Part, RequestReading, ResponseReading, ToolCall, ToolResult
from ..openai_chat.request import content_parts, message_calls, read_tool_choice, read_tools
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.answers import answer, objects, stream_error
from ..shared.errors import error_in
from ..shared.output_format import response_format
from ..shared.parts import arguments_of, call_part, media_part, other_fields, text_of, text_part, unread
from ..traits import Pairing
from .api import API
from .not_read import NOT_READ

FINISH: dict[str, FinishLabel] = {
    "completed": "complete",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "expired": "limit",
    "failed": "error",
    "cancelled": "cancelled",
    "cancelling": "cancelled",
    "queued": "unknown",
    "in_progress": "unknown",
}
"""`queued` and `in_progress` in a whole answer: the run continues, its answer is fetched later."""

_RUN = regex(r"/threads(?:/([^/]+))?/runs(?:/[^/]+/submit_tool_outputs)?$")
_ANY = regex(r"/(?:threads|assistants)(?:/|$)")
_GIVEN = ("outputs", "results")
"""The fields in which a call of the API's own tool has its result."""
_OPEN = frozenset({"queued", "in_progress"})
_KNOWN = frozenset(
    {"model", "instructions", "additional_instructions", "additional_messages", "thread", "stream", "tools"}
    | {"tool_outputs", "tool_choice", "parallel_tool_calls", "max_completion_tokens"}
)


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    if exchange.method == "POST" and _RUN.search(path):
        return "generation"
    return "assistants" if "/v1/" in path and _ANY.search(path) else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    found = _RUN.search(exchange.path.rstrip("/"))
    messages = [*_messages(as_object(fields.get("thread")).get("messages"), "/thread/messages")]
    messages += _messages(fields.get("additional_messages"), "/additional_messages")
    for i, value in enumerate(as_array(fields.get("tool_outputs"))):
        item, pointer = as_object(value), f"/tool_outputs/{i}"
        result = ToolResult(as_text(item.get("tool_call_id")), None, False, text_of(item.get("output")))
        part = Part("result", pointer, text=result.text, result=result, raw=value)
        messages.append(Message("tool", (part,), pointer, value))
    system = [(key, text) for key in ("instructions", "additional_instructions") if (text := as_text(fields.get(key)))]
    parallel = fields.get("parallel_tool_calls")
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        system=tuple(text_part(text, f"/{key}", text) for key, text in system),
        messages=tuple(messages),
        tools=read_tools(fields.get("tools"), "/tools"),
        tool_choice=read_tool_choice(fields.get("tool_choice")),
        parallel_tool_calls=parallel if isinstance(parallel, bool) else None,
        max_output=as_count(fields.get("max_completion_tokens")),
        output_format=response_format(fields.get("response_format"), "/response_format"),
        parameters=other_fields(fields, _KNOWN),
        previous_id=found[1] if found else None,
    )


def _messages(items: object, pointer: str) -> list[Message]:
    found: list[Message] = []
    for i, value in enumerate(as_array(items)):
        item, where = as_object(value), f"{pointer}/{i}"
        parts = tuple(content_parts(item.get("content"), f"{where}/content"))
        found.append(Message("assistant" if item.get("role") == "assistant" else "user", parts, where, value))
    return found


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "sse":
        problems: list[str] = []
        run, parts, ended = assemble(objects(exchange.events, problems))
        return _read(run, parts, ended=ended, error=stream_error(exchange.events), problems=problems)
    if not exchange.answer_fields:
        return unread(exchange, "a run")
    return _read(exchange.answer_fields, [], ended=True, error=None, problems=[])


def assemble(events: list[tuple[str, Object]]) -> tuple[Object, list[Part], bool]:
    """The run that the events add up to, what its messages and steps say, and whether its end was among them."""
    run: Object = {}
    messages: dict[str, dict[int, str]] = {}
    others: dict[str, Part] = {}
    steps: dict[str, Object] = {}
    ended = False
    for name, event in events:
        kind = as_text(event.get("object"))
        if kind == "thread.run":
            run = event
            status = as_text(event.get("status"))
            ended = status in FINISH and status not in _OPEN
        elif kind == "thread.run.step":
            steps[as_text(event.get("id")) or ""] = event
        elif kind == "thread.message.delta":
            content = as_array(as_object(event.get("delta")).get("content"))
            texts = messages.setdefault(as_text(event.get("id")) or "", {})
            for value in content:
                block = as_object(value)
                index = as_count(block.get("index")) or 0
                texts[index] = texts.get(index, "") + (as_text(as_object(block.get("text")).get("value")) or "")
                pointer = f"/{event.get('id')}/{index}"
                if block.get("type") == "refusal":
                    said_before = others[pointer].text if pointer in others else ""
                    refusal = said_before + (as_text(block.get("refusal")) or "")
                    others[pointer] = text_part(refusal, pointer, value, "refusal")
                elif block.get("type") != "text":
                    others[pointer] = media_part(as_text(block.get("type")) or "part", pointer, value)
        ended = ended or name == "done"
    said = [(f"/{key}/{i}", text) for key, texts in messages.items() for i, text in sorted(texts.items()) if text]
    own = [part for step in steps.values() for part in _server_calls(step)]
    return run, [*own, *(text_part(text, pointer, text) for pointer, text in said), *others.values()], ended


def _server_calls(step: Object) -> list[Part]:
    """The API's own tools that ran in a step, with their results."""
    parts: list[Part] = []
    for i, value in enumerate(as_array(as_object(step.get("step_details")).get("tool_calls"))):
        item, pointer = as_object(value), f"/step_details/tool_calls/{i}"
        kind = as_text(item.get("type")) or ""
        if kind == "function":
            continue
        details = as_object(item.get(kind))
        arguments, raw = arguments_of({key: one for key, one in details.items() if key not in _GIVEN})
        call = ToolCall(kind, as_text(item.get("id")), arguments, raw, server=True)
        parts.append(call_part(call, pointer, value))
        if given := [one for key in _GIVEN for one in objects_in(details.get(key))]:
            text = "\n".join(_given_text(one) for one in given)
            result = ToolResult(call.id, kind, False, text, server=True)
            parts.append(Part("result", f"{pointer}/{kind}", text=text, result=result, raw=given))
    return parts


def _given_text(given: Object) -> str:
    """The logs of a program, or the text and the name of a file that was found."""
    name = as_text(given.get("file_name"))
    text = as_text(given.get("logs")) or text_of(given.get("content"))
    return " ".join(filter(None, (name, text))) or f"[{as_text(given.get('type')) or 'output'}]"


def _read(
    run: Object, parts: list[Part], *, ended: bool, error: ApiError | None, problems: list[str]
) -> ResponseReading:
    raw = as_text(run.get("status"))
    action = as_object(as_object(run.get("required_action")).get("submit_tool_outputs"))
    calls = message_calls({"tool_calls": action.get("tool_calls")}, "/required_action/submit_tool_outputs")
    reason = as_text(as_object(run.get("incomplete_details")).get("reason"))
    if run.get("last_error"):
        error = error or error_in({"error": run["last_error"]}, in_stream=True)
    usage = as_object(run.get("usage"))
    return answer(
        [*parts, *calls],
        finish_raw=raw,
        finish=(FINISH.get(raw, "unknown") if raw else None) if ended else None,
        finish_detail=reason or ("the run continues: its answer is fetched later" if raw in _OPEN else None),
        ended=ended,
        usage=chat_usage(usage) if usage else None,
        usage_raw=run.get("usage"),
        model=as_text(run.get("model")),
        id=as_text(run.get("id")),
        continuation=as_text(run.get("thread_id")),
        error=error,
        problems=problems,
    )


OPENAI_ASSISTANTS = Protocol(
    name="openai-assistants",
    title="OpenAI Assistants",
    spec="https://platform.openai.com/docs/api-reference/runs, and openai 3.54.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    pairing=Pairing(in_request=False),
)
