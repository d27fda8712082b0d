"""Ollama's native generate: a prompt and its completion, in NDJSON or one object."""

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text
from ...values import Kind, Message, Part, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.answers import posts, prompt_message
from ..shared.parts import media_part, other_fields, text_part, texts
from ..traits import AnswerRules, RequestRules
from .answer import FINISH, IDLE, contradictions, joined, output_format, read_lines
from .answer_format import GENERATE, STEADY
from .api import GENERATE_API
from .demands import DEMANDS

_KNOWN = frozenset({"model", "prompt", "system", "stream", "images"})


def detect(exchange: Exchange) -> Kind | None:
    return "generation" if posts(exchange, "/api/generate") and "model" in exchange.fields else None


def read_request(exchange: Exchange) -> RequestReading:
    fields = exchange.fields
    options = as_object(fields.get("options"))
    system = as_text(fields.get("system"))
    images = enumerate(as_array(fields.get("images")))
    media = tuple(media_part("image", f"/images/{i}", image) for i, image in images)
    messages = prompt_message(fields.get("prompt"), "/prompt")
    if media:
        parts = (*(part for message in messages for part in message.parts), *media)
        messages = (Message("user", parts, "/prompt", fields.get("prompt")),)
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is not False,
        system=(text_part(system, "/system", system),) if system else (),
        messages=messages,
        max_output=as_count(options.get("num_predict")),
        stop=texts(options.get("stop")),
        output_format=output_format(fields),
        parameters=other_fields(fields, _KNOWN),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return read_lines(exchange, _parts, "a generation of Ollama")


def _parts(bodies: list[Object]) -> list[Part]:
    parts: list[Part] = []
    if thinking := joined(bodies, "thinking"):
        parts.append(text_part(thinking, "/thinking", thinking, "reasoning"))
    if text := joined(bodies, "response"):
        parts.append(text_part(text, "/response", text))
    return parts


OLLAMA_GENERATE = Protocol(
    name="ollama-generate",
    title="Ollama generate",
    spec="https://docs.ollama.com/api/generate, and ollama 0.6.3, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    streams=("ndjson",),
    api=GENERATE_API,
    requests=RequestRules(demands=DEMANDS),
    answers=AnswerRules(
        idle_words=IDLE,
        drops_prompt_silently=True,
        shows_thoughts=True,
        contradictions=contradictions,
        format=GENERATE,
        steady=STEADY,
    ),
    operation="text_completion",
    has_prices=False,
)
