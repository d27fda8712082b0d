"""Mistral's conversations: a request brings new entries, the API keeps the others and may run tools and agents."""

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text
from ...values import ApiError, FinishLabel, Kind, Part, RequestReading, ResponseReading, Tool, Usage
from ..openai_chat.request import read_tool_choice, read_tools
from ..protocol import Protocol
from ..shared.answers import answer, first_object, prompt_message, read_assembled
from ..shared.errors import error_in
from ..shared.output_format import response_format
from ..shared.parts import other_fields, text_part, texts
from ..traits import AnswerRules, Pairing, Reasoning, RequestRules
from .api import API
from .entries import entry_message, entry_parts
from .not_read import NOT_READ
from .stream import assemble

_PATH = regex(r"/conversations(?:/([^/]+))?(/restart)?$")
_KNOWN = frozenset({"inputs", "model", "agent_id", "instructions", "tools", "stream", "completion_args"})


def detect(exchange: Exchange) -> Kind | None:
    """Decides by `inputs` or by the answer's shape, because other APIs have conversations too."""
    if exchange.method != "POST" or not _PATH.search(exchange.path.rstrip("/")):
        return None
    body = first_object(exchange)
    own = body.get("object") == "conversation.response" or body.get("type") == "conversation.response.started"
    return "generation" if own or "inputs" in exchange.fields else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    options = as_object(fields.get("completion_args"))
    found = _PATH.search(exchange.path.rstrip("/"))
    given, instructions = fields.get("inputs"), fields.get("instructions")
    entries = enumerate(as_array(given))
    return RequestReading(
        model=as_text(fields.get("model")) or as_text(fields.get("agent_id")),
        streamed=fields.get("stream") is True,
        system=(text_part(text, "/instructions", instructions),) if (text := as_text(instructions)) else (),
        messages=prompt_message(given, "/inputs")
        or tuple(entry_message(as_object(entry), f"/inputs/{i}") for i, entry in entries),
        tools=tuple[Tool, ...](read_tools(fields.get("tools"), "/tools")),
        tool_choice=read_tool_choice(options.get("tool_choice")),
        max_output=as_count(options.get("max_tokens")),
        stop=texts(options.get("stop")),
        output_format=response_format(options.get("response_format"), "/completion_args/response_format"),
        parameters={**other_fields(fields, _KNOWN), **options},
        previous_id=found[1] if found else None,
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_assembled(exchange, "a conversation", assemble, _read)


def _read(body: Object, *, ended: bool, error: ApiError | None, problems: list[str]) -> ResponseReading:
    outputs = [as_object(entry) for entry in as_array(body.get("outputs"))]
    parts: list[Part] = []
    for i, entry in enumerate(outputs):
        parts += entry_parts(entry, f"/outputs/{i}")
    if body.get("error"):
        error = error or error_in(body, in_stream=True)
    usage = as_object(body.get("usage"))
    return answer(
        parts,
        finish=_label(parts) if ended and error is None else None,
        ended=ended,
        usage=conversation_usage(usage) if usage else None,
        usage_raw=body.get("usage"),
        model=next((model for entry in reversed(outputs) if (model := as_text(entry.get("model")))), None),
        id=as_text(body.get("conversation_id")),
        error=error,
        problems=problems,
    )


def _label(parts: list[Part]) -> FinishLabel:
    """This API has no finish words: an answer with calls for the client waits for their results."""
    return "tool_calls" if any(part.call is not None and not part.call.server for part in parts) else "complete"


def conversation_usage(usage: Object) -> Usage:
    """Tokens that connectors read are input too. The total shows whether they are counted separately."""
    prompt, output = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    connectors, total = as_count(usage.get("connector_tokens")) or 0, as_count(usage.get("total_tokens"))
    apart = prompt is not None and total == prompt + (output or 0) + connectors
    return Usage(input=prompt + connectors if apart and prompt is not None else prompt, output=output)


MISTRAL_CONVERSATIONS = Protocol(
    name="mistral-conversations",
    title="Mistral conversations",
    spec="https://docs.mistral.ai/api/endpoint/beta/conversations, and mistralai 3.7.0, read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    not_read=NOT_READ,
    streams=("sse",),
    api=API,
    pairing=Pairing(anywhere=True),
    requests=RequestRules(keeps_tools=True),
    answers=AnswerRules(has_word_for_calls=False),
    reasoning=Reasoning("unused"),
    price_provider="mistral",
)
