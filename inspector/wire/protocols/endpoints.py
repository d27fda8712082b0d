"""Endpoints other than generation: a table of paths, and what each is for."""

import re
from dataclasses import replace

from turntape.cassettes.apis.interface import Api
from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ..exchange import Exchange
from ..json_value import as_text
from ..values import Kind, RequestReading, ResponseReading
from .protocol import Protocol
from .shared.parts import other_fields


@frozen
class Endpoint:
    kind: Kind
    path: re.Pattern[str]
    """Searched in the path without a trailing slash."""
    methods: frozenset[str] = frozenset({"GET", "POST", "DELETE", "PUT", "PATCH"})


def _row(kind: Kind, pattern: str, *methods: str) -> Endpoint:
    endpoint = Endpoint(kind, regex(pattern))
    return replace(endpoint, methods=frozenset(methods)) if methods else endpoint


ENDPOINTS: tuple[Endpoint, ...] = (
    _row("count_tokens", r"/(?:count_tokens|count-tokens|tokenize|detokenize)$", "POST"),
    _row("count_tokens", r":(?:countTokens|computeTokens)$", "POST"),
    _row("batches", r"/(?:batches|batch|jobs|message_batches)(?:/[^/]+)*$|:(?:asyncBatch|batchGenerateContent)\w*$"),
    _row("embeddings", r"/(?:embeddings|embed|v\d+/embed|api/embed)$", "POST"),
    _row("embeddings", r":(?:embedContent|batchEmbedContents|asyncBatchEmbedContent)$", "POST"),
    _row("rerank", r"/(?:rerank|v\d+/rerank)$", "POST"),
    _row("moderation", r"/(?:moderations|chat/moderations|classifications)$", "POST"),
    _row("audio", r"/audio/(?:speech|transcriptions|translations|voices)(?:/[^/]+)*$"),
    _row("images", r"/images/(?:generations|edits|variations)$|:(?:predict|predictLongRunning)$", "POST"),
    _row("images", r"/videos(?:/[^/]+){0,2}$"),
    _row("realtime", r"/realtime(?:/.*)?$|[./]BidiGenerateContent\w*$"),
    _row("files", r"/(?:files|uploads|vector_stores|cachedContents|fileSearchStores|containers)(?:/[^?]*)?$"),
    _row("files", r"^/upload/|:(?:uploadToFileSearchStore|importFile|download)$"),
    _row("models", r"/api/(?:show|tags|ps|pull|push|create|copy|delete|version|blobs/[^/]+)$"),
    _row("models", r"/(?:models|foundation-models|foundation_model_specs|inference-profiles)(?:/[^:]+)?$", "GET"),
    _row("models", r"/(?:models|model)/[^:]+$", "DELETE"),
    _row("stored", r"/(?:chat/completions|messages|generation)/[^/]+$|/v\d+/generation$", "GET", "DELETE"),
    _row("other", r"/(?:traces/ingest|conversations|agents|instances)(?:/[^/]+)*$"),
    _row("other", r"/operations/[^/]+$", "GET"),
)
"""The first row that fits."""


def detect(exchange: Exchange) -> Kind | None:
    path = exchange.path.rstrip("/")
    for row in ENDPOINTS:
        if exchange.method in row.methods and row.path.search(path):
            return row.kind
    return None


def read_request(exchange: Exchange) -> RequestReading:
    """The model and the other fields. Nothing here is read as a conversation."""
    fields = exchange.fields
    return RequestReading(
        model=as_text(fields.get("model")),
        streamed=fields.get("stream") is True,
        parameters=other_fields(fields, frozenset({"model", "stream", "input", "inputs", "messages", "documents"})),
    )


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    return ResponseReading(ended=True)


ENDPOINT = Protocol(
    name="endpoint",
    title="Endpoints other than generation",
    spec="the API references of the protocols above, read 2026-11-20",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    streams=("sse", "ndjson", "aws-event-stream"),
    api=Api(other_paths=("/embeddings",)),
)
