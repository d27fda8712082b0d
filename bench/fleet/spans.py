"""What leaves by OTLP, for every API of the corpus and for tools: decoded by the official package of the protocol, with
names and values of the official package of the conventions.

Attributes that the package marks as replaced or removed are not allowed. Those of ours begin with `turntape.`.
"""

import importlib
import pkgutil
import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Any

import opentelemetry.semconv._incubating.attributes as incubating
import opentelemetry.semconv.attributes as stable
import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.corpus import corpus
from turntape.cassettes import RoundTrip
from turntape.inspector.exporters.otel import otel
from turntape.inspector.otlp.protobuf import resource_bytes, span_bytes

ROOT = Path(__file__).parents[2]
_CONSTANT = re.compile(r'^[A-Z_0-9]+: Final = "(.+)"\n"""\n(.*)', re.MULTILINE)
_REPLACED = ("Deprecated: Replaced", "Deprecated: Removed")
KINDS = {"chat": "CLIENT", "text_completion": "CLIENT", "generate_content": "CLIENT"}
"""The kind of a span by its operation; `execute_tool` is that of the MCP client too."""
REQUIRED = {
    "chat": ("gen_ai.provider.name",),
    "text_completion": ("gen_ai.provider.name",),
    "generate_content": ("gen_ai.provider.name",),
    "invoke_agent": ("gen_ai.provider.name",),
    "execute_tool": ("gen_ai.tool.name",),
}
"""What the conventions require beside `gen_ai.operation.name`."""
NAMED_BY = {"invoke_agent": "gen_ai.agent.name", "execute_tool": "gen_ai.tool.name"}
"""The attribute in the name of a span; else it is the requested model."""


class Conventions:
    """The names of the official package, and the values of those attributes that it lists."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.values: dict[str, set[object]] = {}
        for package in (stable, incubating):
            for found in pkgutil.iter_modules(package.__path__):
                self._add(importlib.import_module(f"{package.__name__}.{found.name}"))

    def _add(self, module: Any) -> None:
        from inspect import getsource

        said = dict(_CONSTANT.findall(getsource(module)))
        self.names |= {name for name, words in said.items() if not words.startswith(_REPLACED)}
        enums = {
            key.lower(): one for key, one in vars(module).items() if isinstance(one, type) and issubclass(one, Enum)
        }
        for name in said:
            listed = enums.get(re.sub(r"[._]", "", name) + "values")
            if listed is not None:
                self.values[name] = {one.value for one in listed}


STARTED = 1_780_000_000.0
"""The sources of the corpus kept no times, and Protocol Buffers leaves out a zero."""
OPEN = {"error.type", "gen_ai.provider.name"}
"""Attributes whose list the conventions leave open."""


def problems(spans: Iterable[Any], conventions: Conventions) -> Iterator[str]:
    """What is wrong with decoded spans, in a few words each."""
    for span in spans:
        given = {one.key: _value(one.value) for one in span.attributes}
        operation = given.get("gen_ai.operation.name")
        yield from (f"name {key}" for key in given if not key.startswith("turntape.") and key not in conventions.names)
        for key, allowed in conventions.values.items():
            if key in given and key not in OPEN and given[key] not in allowed:
                yield f"value {key}={given[key]!r}"
        yield from (f"{operation} without {key}" for key in REQUIRED.get(str(operation), ()) if key not in given)
        if operation is None:
            yield "no gen_ai.operation.name"
        if operation in KINDS and Span.SpanKind.Name(span.kind) != f"SPAN_KIND_{KINDS[str(operation)]}":
            yield f"{operation} is {Span.SpanKind.Name(span.kind)}"
        first = str(given.get("mcp.method.name") or operation)
        target = given.get(NAMED_BY.get(str(operation), "gen_ai.request.model"))
        if span.name != (f"{first} {target}" if target else first):
            yield f"{operation} has the name {span.name!r}"
        if (len(span.trace_id), len(span.span_id)) != (16, 8) or span.end_time_unix_nano < span.start_time_unix_nano:
            yield f"{operation} has wrong ids or times"


def _value(value: Any) -> object:
    found = getattr(value, value.WhichOneof("value"))
    return [_value(one) for one in found.values] if value.WhichOneof("value") == "array_value" else found


def decoded(trips: list[RoundTrip]) -> tuple[list[Any], str | None]:
    """The spans of round trips as the official package decodes what we send; None, or how it differs from OTLP/JSON."""
    exported = orjson.loads(otel(trips))["resourceSpans"]
    data = b"".join(
        resource_bytes(one, [span_bytes(span) for scope in one["scopeSpans"] for span in scope["spans"]])
        for one in exported
    )
    request = ExportTraceServiceRequest()
    request.ParseFromString(data)
    size = request.ByteSize()
    request.DiscardUnknownFields()
    theirs = MessageToDict(request, use_integers_for_enums=True).get("resourceSpans", [])
    same = _without_empty(theirs) == _without_empty(_as_theirs(exported)) and request.ByteSize() == size
    spans = [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
    return spans, None if same else "not what OTLP/JSON says"


def _as_theirs(value: Any) -> Any:
    """OTLP/JSON in the form of the package: ids are base64 there."""
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {k: b64encode(bytes.fromhex(v)).decode() if k in ids else _as_theirs(v) for k, v in value.items()}
    return [_as_theirs(one) for one in value] if isinstance(value, list) else value


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_empty(v) for k, v in value.items() if v not in ("", [], {})}
    return [_without_empty(one) for one in value] if isinstance(value, list) else value


def _cassettes() -> Iterator[tuple[str, list[RoundTrip]]]:
    sys.path.append(str(ROOT / "tests"))  # the factories of tests import each other by their names
    yield "tools", list(importlib.import_module("tool_tapes").story().trips)
    for file in corpus.files():
        for name, lines in groupby(corpus.read_file(file), lambda line: line.cassette):
            yield name, [replace(line.round_trip, started_at=STARTED) for line in lines]


def check() -> bool | None:
    """Print the counts and each kind of problem; None without the corpus."""
    if corpus.folder() is None:
        print(f"\nspans SKIPPED: {corpus.ABSENT}", flush=True)
        return None
    conventions = Conventions()
    found, where = Counter[str](), dict[str, str]()
    operations, names, count = Counter[str](), set[str](), 0
    for name, trips in _cassettes():
        count += 1
        spans, difference = decoded(trips)
        for problem in [*problems(spans, conventions), *([difference] if difference else [])]:
            found[problem] += 1
            where.setdefault(problem, name)
        for span in spans:
            operations[span.name.partition(" ")[0]] += 1
            names |= {one.key for one in span.attributes if not one.key.startswith("turntape.")}
    said = ", ".join(f"{one} {number:,}" for one, number in operations.most_common())
    print(f"\nspans of {count:,} recordings, {len(names)} attributes of the conventions: {said}", flush=True)
    for problem, number in found.most_common():
        print(f"  {number:>6}  {problem}, first in {where[problem]}", flush=True)
    return not found
