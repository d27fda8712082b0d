"""Amazon Bedrock InvokeModel: each model's own body, streamed as base64 chunks inside AWS frames.

The chunks are unwrapped and passed to the reader of the API that the model speaks.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Response
from turntape.cassettes.whole_number import whole_number

from ...exchange import Exchange, header
from ...json_value import Object, as_array, as_count, as_object, as_text, compact, is_object, parse_json
from ...values import Kind, RequestReading, ResponseReading, Usage
from ..anthropic import messages as anthropic_messages
from ..anthropic.complete import read_complete_request
from ..cohere import v1 as cohere_v1
from ..openai_chat import chat as openai_chat
from ..protocol import Protocol
from ..shared.answers import objects, prompt_message, stream_error
from ..shared.parts import other_fields, texts, unread
from ..shared.text_pieces import FINISH, read_text
from ..traits import AnswerRules, ArgumentsField, Caching, RequestRules
from .answer_format import NOVA
from .api import INVOKE_API
from .converse import BEDROCK_CONVERSE, read_converse_body, read_converse_events
from .converse_blocks import converse_usage, read_converse_request
from .guardrail import stopped_prompt

_PATH = regex(r"/model/(.+)/(?:invoke|(invoke-with-response-stream))$")
_METRICS = "amazon-bedrock-invocationMetrics"
_GUARDRAIL = "amazon-bedrock-guardrailAction"
_TRACE = "amazon-bedrock-trace"
_PROMPTS = ("prompt", "inputText")
_LIMITS = ("max_tokens", "max_gen_len", "maxTokens", "max_tokens_to_sample")

type Bodies = list[Object]


@frozen
class Inner:
    """The API that a model speaks inside InvokeModel."""

    name: str
    fits: Callable[[Object, Object], bool]
    """Decides by the request's fields and the answer's first object."""
    read_request: Callable[[Exchange], RequestReading]
    read_response: Callable[[Exchange, Bodies, list[str]], ResponseReading]


def bodies_of(exchange: Exchange, problems: list[str]) -> Bodies:
    """The JSON objects inside the frames of a stream, or the one body."""
    if exchange.framing != "aws-event-stream":
        return [exchange.answer_fields] if exchange.answer_fields else []
    found: Bodies = []
    for _, frame in objects(exchange.events, problems):
        encoded = as_text(frame.get("bytes"))
        if encoded is None:
            continue
        try:
            value = parse_json(b64decode(encoded, validate=True))
        except (Base64Error, ValueError):
            value = None
        if is_object(value):
            found.append(as_object(value))
        else:
            problems.append(f"A chunk is not base64 of a JSON object: it begins {cut(encoded, 20)!r}.")
    return found


def _as_sse(exchange: Exchange, bodies: Bodies) -> Exchange:
    """The exchange as if the model's own API had streamed it."""
    lines = (f"event: {as_text(body.get('type')) or 'message'}\ndata: {compact(body)}\n\n" for body in bodies)
    return _with_answer(exchange, "".join(lines).encode("utf-8", "surrogatepass"), "text/event-stream")


def _as_ndjson(exchange: Exchange, bodies: Bodies) -> Exchange:
    content = "".join(compact(body) + "\n" for body in bodies).encode("utf-8", "surrogatepass")
    return _with_answer(exchange, content, "application/stream+json")


def _with_answer(exchange: Exchange, content: bytes, media: str) -> Exchange:
    inner = Response(200, headers=(("content-type", media),), content=content)
    return Exchange(replace(exchange.round_trip, response=inner))


def _streamed(exchange: Exchange) -> bool:
    return exchange.framing == "aws-event-stream"


def _claude(exchange: Exchange, bodies: Bodies, problems: list[str]) -> ResponseReading:
    inner = _as_sse(exchange, bodies) if _streamed(exchange) else exchange
    return anthropic_messages.ANTHROPIC_MESSAGES.read_response(inner, RequestReading())


def _chat(exchange: Exchange, bodies: Bodies, problems: list[str]) -> ResponseReading:
    return openai_chat.OPENAI_CHAT.read_response(_chat_exchange(exchange, bodies), RequestReading())


def _chat_exchange(exchange: Exchange, bodies: Bodies) -> Exchange:
    spelt = [_with_finish(body) for body in bodies]
    if _streamed(exchange):
        return _as_sse(exchange, spelt)
    return _with_answer(exchange, compact(next(iter(spelt), None)).encode(), "application/json")


def _with_finish(body: Object) -> Object:
    """Mistral on Bedrock calls its finish word `stop_reason`."""
    choices = [as_object(choice) for choice in as_array(body.get("choices"))]
    if all("finish_reason" in choice or "stop_reason" not in choice for choice in choices):
        return body
    return {**body, "choices": [{**choice, "finish_reason": choice.get("stop_reason")} for choice in choices]}


def first_of(bodies: Bodies) -> Object:
    """The first body, or an empty one."""
    return bodies[0] if bodies else {}


def _nova(exchange: Exchange, bodies: Bodies, problems: list[str]) -> ResponseReading:
    if not _streamed(exchange):
        return read_converse_body(first_of(bodies))
    events = [(key, as_object(value)) for body in bodies for key, value in body.items()]
    return read_converse_events(events, stream_error(exchange.events), problems)


def _command(exchange: Exchange, bodies: Bodies, problems: list[str]) -> ResponseReading:
    inner = _as_ndjson(exchange, bodies) if _streamed(exchange) else exchange
    return cohere_v1.COHERE_V1.read_response(inner, RequestReading())


def _text(exchange: Exchange, bodies: Bodies, problems: list[str]) -> ResponseReading:
    return read_text(bodies, streamed=_streamed(exchange), error=stream_error(exchange.events), problems=problems)


def _nova_request(exchange: Exchange) -> RequestReading:
    return read_converse_request(exchange.fields, None, streamed=False)


def _text_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    if "max_tokens_to_sample" in fields:
        return read_complete_request(fields)
    key = next((key for key in _PROMPTS if key in fields), "prompt")
    config = as_object(fields.get("textGenerationConfig"))
    limits = (as_count(fields.get(name)) for name in _LIMITS)
    return RequestReading(
        messages=prompt_message(fields.get(key), f"/{key}"),
        max_output=next((n for n in limits if n is not None), as_count(config.get("maxTokenCount"))),
        stop=texts(fields.get("stop") or fields.get("stop_sequences") or config.get("stopSequences")),
        parameters=other_fields(fields, frozenset({key, "stop"})),
    )


def _inner_answer(exchange: Exchange) -> tuple[Exchange, AnswerRules]:
    """The answer as the model's own API gives it, and that API's rules; the answer itself where there is none."""
    bodies = bodies_of(exchange, [])
    speaks = _inner(exchange, first_of(bodies)).read_response
    if speaks is _nova:
        return _nova_exchange(exchange, bodies), replace(BEDROCK_CONVERSE.answers, format=NOVA)
    if speaks is _claude:
        return _as_sse(exchange, bodies) if _streamed(
            exchange
        ) else exchange, anthropic_messages.ANTHROPIC_MESSAGES.answers
    if speaks is _chat:
        # Each model leaves out other fields of the chat format.
        return _chat_exchange(exchange, bodies), replace(openai_chat.OPENAI_CHAT.answers, format=None)
    return exchange, AnswerRules(own_stops=True)


def _nova_exchange(exchange: Exchange, bodies: Bodies) -> Exchange:
    if not _streamed(exchange):
        return exchange
    events = ((key, as_object(value)) for body in bodies for key, value in body.items())
    lines = (f"event: {key}\ndata: {compact(value)}\n\n" for key, value in events)
    return _with_answer(exchange, "".join(lines).encode("utf-8", "surrogatepass"), "text/event-stream")


def _is_nova(fields: Object, first: Object) -> bool:
    blocks = [as_object(m).get("content") for m in as_array(fields.get("messages"))]
    textual = any("text" in as_object(b) and "type" not in as_object(b) for c in blocks for b in as_array(c))
    return "messageStart" in first or "stopReason" in first or "inferenceConfig" in fields or textual


def _lacks_id(call: Object) -> bool:
    """Whether a call has no id, in either shape that models speak here."""
    return any(rules.lacks_id is not None and rules.lacks_id(call) for rules in _SPOKEN)


_SPOKEN = (
    anthropic_messages.ANTHROPIC_MESSAGES.answers,
    openai_chat.OPENAI_CHAT.answers,
    BEDROCK_CONVERSE.answers,
)

INNER: tuple[Inner, ...] = (
    Inner(
        "Claude",
        lambda fields, first: "messages" in fields and ("anthropic_version" in fields or "stop_reason" in first),
        lambda exchange: anthropic_messages.ANTHROPIC_MESSAGES.read_request(exchange),
        _claude,
    ),
    Inner("Nova", _is_nova, _nova_request, _nova),
    Inner(
        "Mistral, AI21 Jamba, OpenAI and others that speak chat",
        lambda fields, first: "messages" in fields,
        lambda exchange: openai_chat.OPENAI_CHAT.read_request(exchange),
        _chat,
    ),
    Inner(
        "Cohere Command R",
        lambda fields, first: "message" in fields,
        lambda exchange: cohere_v1.COHERE_V1.read_request(exchange),
        _command,
    ),
    Inner(
        "Titan, Llama, Mistral, AI21, Cohere and Claude that continue a text",
        lambda fields, first: True,
        _text_request,
        _text,
    ),
)
"""The first row that fits reads the request and the answer."""


def detect(exchange: Exchange) -> Kind | None:
    if exchange.method != "POST" or not _PATH.search(exchange.path.rstrip("/")):
        return None
    answer, fields = exchange.answer_fields, exchange.fields
    if "embedding" in answer or "embeddings" in answer or "input_type" in fields:
        return "embeddings"
    if "images" in answer or "artifacts" in answer:
        return "images"
    return "rerank" if "query" in fields and "documents" in fields else "generation"


def _inner(exchange: Exchange, first: Object) -> Inner:
    return next(inner for inner in INNER if inner.fits(exchange.fields, first))


def read_request(exchange: Exchange) -> RequestReading:
    found = _PATH.search(exchange.path.rstrip("/"))
    first = first_of(bodies_of(exchange, []))
    request = _inner(exchange, first).read_request(exchange)
    model = unquote(found[1]) if found else request.model
    return replace(request, model=model, streamed=bool(found and found[2]))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    problems: list[str] = []
    bodies = bodies_of(exchange, problems)
    if not bodies and not _streamed(exchange):
        return unread(exchange, "a model's answer")
    read = _inner(exchange, first_of(bodies)).read_response(exchange, bodies, problems)
    usage = read.usage or _metrics(exchange, bodies)
    error = read.error or stream_error(exchange.events)
    both = (*problems, *(problem for problem in read.problems if problem not in problems))
    read = replace(read, usage=usage, error=error, problems=both)
    if not any(body.get(_GUARDRAIL) == "INTERVENED" for body in bodies):
        return read
    traces = [as_object(as_object(body.get(_TRACE)).get("guardrail")) for body in bodies]
    read = replace(read, prompt_filtered=stopped_prompt(next(filter(None, traces), as_object(None)), usage))
    if read.finish is None:
        # A blocked stream has no separate finish word.
        return replace(read, finish_raw="INTERVENED", finish="content_filter", ended=True)
    return read


def _metrics(exchange: Exchange, bodies: Bodies) -> Usage | None:
    """What Bedrock itself counted: in the last chunk of a stream, or in the headers."""
    for body in reversed(bodies):
        if metrics := as_object(body.get(_METRICS)):
            return converse_usage(metrics)
    headers = exchange.response.headers if exchange.response else ()
    names = {"inputTokens": "x-amzn-bedrock-input-token-count", "outputTokens": "x-amzn-bedrock-output-token-count"}
    said = {key: whole_number(header(headers, name) or "") for key, name in names.items()}
    return converse_usage({key: count for key, count in said.items() if count is not None})


BEDROCK_INVOKE = Protocol(
    name="bedrock-invoke",
    title="Amazon Bedrock InvokeModel",
    spec="https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    streams=("aws-event-stream",),
    api=INVOKE_API,
    requests=RequestRules(
        rejects_empty_text=True,
        # Anthropic's, Nova's and the chat format's: the keys that lead there distinguish them.
        arguments=(
            ArgumentsField((), "input", "object"),
            ArgumentsField(("toolUse",), "input", "object"),
            ArgumentsField(("function",), "arguments", "string"),
        ),
    ),
    answers=AnswerRules(
        calls_by_index=True, always_says_finish=True, own_stops=True, lacks_id=_lacks_id, inner=_inner_answer
    ),
    caching=Caching(on_request=True),
)
