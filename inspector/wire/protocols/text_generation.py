"""Hugging Face text generation, also behind SageMaker endpoints: `inputs` in, `generated_text` out."""

from turntape.cassettes.regex import regex

from ..exchange import Exchange
from ..json_value import as_count, as_object, as_text, is_array
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol
from .shared.answers import prompt_message
from .shared.output_format import response_format
from .shared.parts import other_fields, texts
from .shared.text_pieces import FINISH, read_text_answer

_MODEL = regex(r"/(?:models|endpoints)/(.+?)(?:/invocations(?:-response-stream)?)?$")
_PATH = regex(r"/models/[^/]+/[^/]+$|/invocations(?:-response-stream)?$|/generate(?:_stream)?$|^/?$")
_KNOWN = frozenset({"inputs", "stream", "model"})


def detect(exchange: Exchange) -> Kind | None:
    if exchange.method != "POST" or not isinstance(exchange.fields.get("inputs"), str):
        return None
    if not _PATH.search(exchange.path.rstrip("/")):
        return None
    # Models of all tasks have the same address: one that returns numbers makes an embedding.
    return "embeddings" if isinstance(_innermost(exchange.answer), int | float) else "generation"


def _innermost(value: object) -> object:
    """What the first list in a list in a list begins with."""
    while is_array(value) and value:
        value = value[0]
    return value


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    parameters = as_object(fields.get("parameters"))
    found = _MODEL.search(exchange.path.rstrip("/"))
    return RequestReading(
        model=as_text(fields.get("model")) or (found[1] if found else None),
        streamed=fields.get("stream") is True,
        messages=prompt_message(fields.get("inputs"), "/inputs"),
        max_output=as_count(parameters.get("max_new_tokens")),
        stop=texts(parameters.get("stop")),
        output_format=response_format(parameters.get("grammar"), "/parameters/grammar"),
        parameters=other_fields(fields, _KNOWN),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_text_answer(exchange, "a text generation")


TEXT_GENERATION = Protocol(
    name="text-generation",
    title="Hugging Face text generation",
    spec="https://huggingface.co/docs/inference-providers/tasks/text-generation, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    streams=("sse",),
    operation="text_completion",
)
