"""What the answers of endpoints other than generation count and state: tokens, seconds, the cost.

The endpoints of many servers have the same few shapes, so all of them are in one table here.
"""

from urllib.parse import unquote

from turntape.cassettes.regex import regex

from ..exchange import Exchange, header
from ..json_value import Object, as_object, as_text, parse_json, value_at
from ..values import Kind, ResponseReading, Usage
from .shared.counts import Counts
from .shared.stated_cost import price_terms, stated_cost

BILLED: frozenset[Kind] = frozenset({"embeddings", "rerank", "moderation", "audio", "images"})
"""The kinds of endpoints whose requests may cost something."""

_MODEL = regex(r"/(?:models?|deployments|engines)/([^/]+?)(?::[A-Za-z]+)?(?:/(?:invoke|embeddings|images|audio)\b.*)?$")
"""The model in a path: `/models/NAME:embedContent`, `/model/NAME/invoke`, `/deployments/NAME/embeddings`."""
_USAGE = ("usage", "usageMetadata", "meta.billed_units")
"""Where an answer counts: OpenAI's APIs and those of their shape, Google's, Cohere's. Read 2026-11-29 in the SDKs."""
_INPUT = ("prompt_tokens", "input_tokens", "promptTokenCount", "inputTextTokenCount", "prompt_eval_count")
"""The last two are beside the answer, in Amazon's Titan and in Ollama."""
_OUTPUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")
_HEADER = "x-amzn-bedrock-input-token-count"
"""Where Bedrock counts for models whose own answer does not."""

_NOTHING: Object = {}


def read_counts(exchange: Exchange, kind: Kind) -> ResponseReading:
    """The model, the usage and the stated cost of an answer; nothing where it has none, or cannot have any."""
    if kind not in BILLED or exchange.response is None or not 200 <= exchange.response.status < 300:
        return ResponseReading(ended=True)
    body = _last(exchange)
    said = _said(body)
    return ResponseReading(
        ended=True,
        usage=_usage(exchange, kind, body, said),
        usage_raw=said or None,
        stated_cost=stated_cost(body, said),
        price_terms=price_terms(body),
        model=as_text(body.get("model")),
    )


def path_model(exchange: Exchange) -> str | None:
    """The model that a path names."""
    found = _MODEL.search(exchange.path)
    return unquote(found[1]) if found else None


def _last(exchange: Exchange) -> Object:
    """The answer, or the last event of a stream that counts. Sounds and bare arrays count nothing."""
    if exchange.framing is None:
        return exchange.answer_fields
    events = (as_object(parse_json(event.data)) for event in reversed(exchange.events))
    return next((event for event in events if _said(event)), _NOTHING)


def _said(body: Object) -> Object:
    return next((found for at in _USAGE if (found := as_object(value_at(body, at.split("."))))), _NOTHING)


def _usage(exchange: Exchange, kind: Kind, body: Object, said: Object) -> Usage | None:
    counts = Counts({**{name: body[name] for name in _INPUT[-2:] if name in body}, **said})
    output, total = counts.first(*_OUTPUT), counts.first("total_tokens", "totalTokenCount")
    into = counts.first(*_INPUT)
    if into is None:
        into = _in_header(exchange)
    if into is None and total is not None:
        into = max(0, total - (output or 0))
    usage = Usage(
        into,
        counts.first("input_tokens_details.cached_tokens", "prompt_tokens_details.cached_tokens"),
        None,
        output,
        input_audio=counts.first("input_token_details.audio_tokens", "input_tokens_details.audio_tokens") or 0,
        input_image=counts.first("input_tokens_details.image_tokens", "image_tokens") or 0,
        # An answer that does not divide its output has pictures alone.
        output_image=(counts.first("output_tokens_details.image_tokens") or 0)
        if said.get("output_tokens_details") or kind != "images"
        else output or 0,
        rerank_searches=counts.first("search_units") or 0,
        characters=_characters(exchange) if kind == "audio" and output is None else 0,
        audio_seconds=_seconds(said, body) if kind == "audio" and into is None else 0.0,
        problems=counts.problems,
    )
    return None if usage == Usage() else usage


def _in_header(exchange: Exchange) -> int | None:
    text = header(exchange.response.headers, _HEADER) if exchange.response else None
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else None


def _characters(exchange: Exchange) -> int:
    """How long the text of a request for speech is."""
    text = exchange.fields.get("input")
    return len(text) if isinstance(text, str) else 0


def _seconds(said: Object, body: Object) -> float:
    """How long the recording of a transcription is, where the answer says so."""
    values = (said.get("seconds"), said.get("prompt_audio_seconds"), body.get("duration"))
    known = (one for one in values if isinstance(one, int | float) and not isinstance(one, bool) and 0 < one < 1e7)
    return float(next(known, 0.0))
