"""OpenAI Responses, its compaction endpoint, and the backends and gateways that speak it."""

from dataclasses import replace

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...history import read_messages
from ...json_value import Object, as_array, as_count, as_object, as_text, is_object
from ...per_message import Joined
from ...repeated import Repeated
from ...values import (
    ApiError,
    FinishLabel,
    Kind,
    Message,
    Part,
    RequestReading,
    ResponseReading,
    Tool,
    ToolChoice,
    Usage,
)
from ..openai_chat.usage import chat_usage
from ..protocol import Protocol
from ..shared.answers import answer, first_object, prompt_message
from ..shared.cache_marks import cache_diagnosis, responses_marks
from ..shared.errors import error_in
from ..shared.output_format import response_format
from ..shared.parts import chosen, other_fields, text_part, unread
from ..shared.stated_cost import price_terms, stated_cost
from ..traits import AnswerRules, ArgumentsField, Pairing, Reasoning, RequestRules
from .agreement import renamed
from .answer_format import FORMAT, ORDER, STEADY
from .api import API
from .contradictions import contradictions
from .demands import DEMANDS
from .items import ROLES, answered_ids, item_message, item_parts, lacks_id
from .not_read import NOT_READ
from .phases import phases
from .rewrite import EDIT_TARGETS, REWRITE
from .session_items import TOOL_ITEMS, listed_tools
from .stream import draft, final_without_items

FINISH: dict[str, FinishLabel] = {
    "completed": "complete",
    "complete": "complete",
    "failed": "error",
    "cancelled": "cancelled",
    "queued": "unknown",
    "in_progress": "unknown",
    "incomplete": "unknown",
    "incomplete: max_output_tokens": "length",
    "incomplete: max_tokens": "length",
    "incomplete: max_messages": "limit",
    "incomplete: content_filter": "content_filter",
    "incomplete: steered": "pause",
}
"""`completed` beside calls for the client is `tool_calls`: this API has no word for it."""

_BACKGROUND = frozenset({"queued", "in_progress"})
_KNOWN = frozenset(
    {
        "model",
        "input",
        "instructions",
        "stream",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "max_output_tokens",
        "previous_response_id",
        "conversation",
    }
)
CLIENT_TOOLS = frozenset(
    {"function", "custom", "computer", "computer_use", "computer_use_preview", "local_shell", "apply_patch"}
)
SERVER_TOOLS = frozenset(
    {"code_interpreter", "file_search", "image_generation", "mcp", "programmatic_tool_calling", "web_search"}
)
_CALLED = {"computer_use": "computer", "computer_use_preview": "computer"}
"""Types of tools without a name whose calls have another one."""
MIXED_TOOLS = frozenset({"shell", "tool_search", "namespace"})
"""Tools for which the definition says where they run, and lists of tools."""
_STORED = regex(r"/responses/[^/]+(?:/(?:cancel|input_items))?$")
_CONVERSATION = regex(r"/v\d+/conversations(?:/[^/]+){0,3}$")


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    if path.endswith("/responses/input_tokens"):
        return "count_tokens"
    if path.endswith(("/responses", "/responses/compact")):
        if exchange.fields.get("generate") is False:
            return "other"  # Codex fills the cache with it before its first turn; the model writes nothing
        asks = exchange.method == "POST" or exchange.failed_handshake
        return "generation" if asks else "realtime" if _is_socket(exchange) else "stored"
    if _STORED.search(path) or _CONVERSATION.search(path):
        return "stored"
    if exchange.method == "POST" and "input" in exchange.fields:
        body = first_object(exchange)
        stated = as_text(as_object(body.get("response")).get("object")) or as_text(body.get("object"))
        return "generation" if stated in ("response", "response.compaction") else None
    return None


def _is_socket(exchange: Exchange) -> bool:
    return exchange.status == 101 or bool(exchange.round_trip.frames)


def read_request(exchange: Exchange) -> RequestReading:
    return read_responses_request(exchange.fields)


def read_responses_request(fields: Object) -> RequestReading:
    """A request body, also one that came as a WebSocket message."""
    given = fields.get("input")
    messages = prompt_message(given, "/input") or read_messages(as_array(given), "/input", _message)
    parallel = fields.get("parallel_tool_calls")
    conversation = as_text(fields.get("conversation")) or as_text(as_object(fields.get("conversation")).get("id"))
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        system=_instructions(fields.get("instructions")),
        messages=messages,
        tools=_read_tools(fields.get("tools"), "/tools"),
        added_tools=tuple(_added_tools(messages)),
        tool_choice=_tool_choice(fields.get("tool_choice")),
        parallel_tool_calls=parallel if isinstance(parallel, bool) else None,
        max_output=as_count(fields.get("max_output_tokens")),
        output_format=response_format(as_object(fields.get("text")).get("format"), "/text/format"),
        cache_marks=responses_marks(fields, messages),
        parameters=other_fields(fields, _KNOWN),
        previous_id=as_text(fields.get("previous_response_id")) or conversation,
        conversation_id=conversation,
    )


def _message(item: object, pointer: str) -> Message:
    return item_message(as_object(item), pointer)


def _instructions(value: object) -> tuple[Part, ...]:
    if isinstance(value, str):
        return (text_part(value, "/instructions", value),) if value else ()
    items = enumerate(as_array(value))
    return tuple(part for i, item in items for part in item_parts(as_object(item), f"/instructions/{i}"))


def _tools(tools: object, pointer: str) -> list[Tool]:
    found: list[Tool] = []
    for i, value in enumerate(as_array(tools)):
        tool, where = as_object(value), f"{pointer}/{i}"
        kind = as_text(tool.get("type")) or "function"
        if kind == "namespace":
            found += _tools(tool.get("tools"), f"{where}/tools")
            continue
        body = as_object(tool.get("function")) or tool
        name = as_text(body.get("name")) or as_text(tool.get("server_label")) or _CALLED.get(kind, kind)
        schema = body.get("parameters") if kind == "function" else None
        deferred = tool.get("defer_loading") is True
        server = not _runs_here(tool, kind)
        found.append(Tool(name, as_text(body.get("description")), schema, where, server, deferred))
    return found


_read_tools = Repeated(_tools).of


def _runs_here(tool: Object, kind: str) -> bool:
    """True for tools that the client runs."""
    if kind == "shell":
        return not (as_text(as_object(tool.get("environment")).get("type")) or "local").startswith("container")
    if kind == "tool_search":
        return tool.get("execution") == "client"
    return kind in CLIENT_TOOLS


def _tools_in(message: Message) -> list[Tool]:
    """The tools that an item of the input brings."""
    item = as_object(message.raw)
    if as_text(item.get("type")) not in TOOL_ITEMS:
        return []
    listed = listed_tools(item, message.pointer)
    return [replace(one, pointer=where) for where, tool in listed for one in _tools([tool], "")]


_added_tools = Joined(_tools_in).of


def _tool_choice(value: object) -> ToolChoice | None:
    if not is_object(value):
        return chosen(value)
    fields = as_object(value)
    kind = as_text(fields.get("type"))
    if kind == "allowed_tools":
        tools = [as_object(tool) for tool in as_array(fields.get("tools"))]
        return chosen(fields.get("mode"), [_chosen_name(tool) for tool in tools])
    return chosen(None, [_chosen_name(fields)])


def _chosen_name(fields: Object) -> str | None:
    names = (as_object(fields.get("function")).get("name"), fields.get("name"), fields.get("server_label"))
    kind = as_text(fields.get("type")) or ""
    return next((name for value in names if (name := as_text(value))), _CALLED.get(kind, kind) or None)


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "sse":
        stated = draft(exchange.events)
        return read_responses_body(stated.whole(), ended=stated.ended, error=stated.error, problems=stated.problems)
    if not exchange.answer_fields:
        return unread(exchange, "a response")
    return read_responses_body(exchange.answer_fields)


def read_responses_body(
    body: Object, *, ended: bool = True, error: ApiError | None = None, problems: list[str] | None = None
) -> ResponseReading:
    """A response: unstreamed, or joined from its events."""
    items = [as_object(item) for item in as_array(body.get("output"))]
    answered = answered_ids(items)
    parts: list[Part] = []
    for i, item in enumerate(items):
        # A compaction gives back what the user had said; the model has not said it.
        if as_text(item.get("role")) in (None, "assistant") or item.get("type") not in (None, "message"):
            parts += item_parts(item, f"/output/{i}", answered, emitted=True)
    pending = any(part.call is not None and not part.call.server for part in parts)
    raw, label, detail = _verdict(body, pending)
    if body.get("error"):
        error = error or error_in({"error": body["error"]}, in_stream=True)
    if error is None and label == "error":
        error = ApiError("The response failed; the API gave no error.", in_stream=True)
    if error is None and not items and not raw:
        error = error_in(body)
    usage = as_object(body.get("usage"))
    return answer(
        parts,
        finish_raw=raw,
        finish=label if ended else None,
        finish_detail=detail,
        prompt_filtered=label == "content_filter" and _stopped(body, "prompt") and not _stopped(body, "completion"),
        ended=ended or error is not None,
        usage=_usage(usage, items) if usage else None,
        usage_raw=body.get("usage"),
        stated_cost=stated_cost(body, usage),
        price_terms=price_terms(body),
        cache_diagnosis=cache_diagnosis(body),
        model=as_text(body.get("model")),
        id=as_text(body.get("id")),
        error=error,
        problems=problems or (),
        other_content=any(_has_image(item) for item in items),
    )


def _usage(usage: Object, items: list[Object]) -> Usage:
    """The tokens, and the searches, each of which costs a fee. To open a page that was found costs none:
    https://platform.openai.com/docs/guides/tools-web-search, read 2026-11-29.

    A container in which code runs, and a picture, cost something that is not in these tokens:
    https://community.openai.com/t/1364328 and https://community.openai.com/t/1358188, read 2026-12-01.
    """
    done = [item for item in items if item.get("status") in (None, "completed")]
    web = [as_object(item.get("action")) for item in done if item.get("type") == "web_search_call"]
    return replace(
        chat_usage(usage),
        web_searches=sum(action.get("type") in (None, "search") for action in web),
        file_searches=sum(item.get("type") == "file_search_call" for item in done),
        other_fees=tuple(words for kind, words in _OTHER_FEES if any(item.get("type") == kind for item in done)),
    )


_OTHER_FEES = (("code_interpreter_call", "code interpreter"), ("image_generation_call", "image generation"))
"""Items whose fee no price list has, in words."""


def _has_image(item: Object) -> bool:
    return item.get("type") == "image_generation_call" and bool(item.get("result"))


def _stopped(body: Object, side: str) -> bool:
    """True when a filter of Azure's stopped the `prompt` or the `completion` (its Responses API, read 2026-11-22)."""
    found = [as_object(one) for one in as_array(body.get("content_filters"))]
    return any(one.get("blocked") is True and one.get("source_type") == side for one in found)


def _verdict(body: Object, pending: bool) -> tuple[str | None, FinishLabel | None, str | None]:
    raw = as_text(body.get("status"))
    reason = as_text(as_object(body.get("incomplete_details")).get("reason"))
    if raw is None:
        done = body.get("object") == "response.compaction"
        return None, "complete" if done else None, "compaction" if done else None
    if raw == "completed" and pending:
        return raw, "tool_calls", None
    if raw == "incomplete" and reason:
        return raw, FINISH.get(f"{raw}: {reason}", "unknown"), reason
    detail = "a background run: its answer is fetched later" if raw in _BACKGROUND else None
    if code := as_text(as_object(body.get("error")).get("code")):
        detail = code
    return raw, FINISH.get(raw, "unknown"), detail


OPENAI_RESPONSES = Protocol(
    name="openai-responses",
    title="OpenAI Responses",
    spec="https://platform.openai.com/docs/api-reference/responses, and openai 3.54.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(anywhere=True),
    requests=RequestRules(
        demands=DEMANDS,
        roles=ROLES,
        schema_at=("parameters",),
        tool_name=regex(r"[a-zA-Z0-9_-]{1,64}"),
        max_tools=128,
        arguments=(ArgumentsField((), "arguments", "string", required=True),),
        strict_tools=True,
        keeps_instructions=False,
    ),
    answers=AnswerRules(
        format=FORMAT,
        order=ORDER,
        steady=STEADY,
        renames=renamed,
        vague_words=frozenset({"incomplete"}),
        has_word_for_calls=False,
        counts_empty_answers=True,
        always_says_finish=True,
        final_without_items=final_without_items,
        lacks_id=lacks_id,
        contradictions=contradictions,
        phases=phases,
    ),
    reasoning=Reasoning("expected"),
)
