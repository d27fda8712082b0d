"""The rows of a recording: its labels as `show --json` has them, and what the bytes add to them, in columns.

A turn is labelled again when the next one shows what the client did; its row is made from its last label. Only rows
are kept in memory, and no text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.metadata import version
from typing import cast

from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.model import RoundTrip

from ...analysis.identity import identity
from ...ledger import LedgerBuilder, TurnEntry
from ...run.label_costs import fees_without_price
from ...run.labels import Key, LabelledRoundTrip, label_stream
from ...tools.tool_run import ToolRun
from ...wire.exchange import Exchange, header
from ...wire.json_value import Object, as_array, as_count, as_object, as_text, objects_in
from ...wire.values import Message, Part, Reading, ToolResult
from .keyed_hash import KeyedHash, canonical
from .safe_names import SafeNames
from .schema import LABELS, VERSION, CallColumn, FindingColumn, KindColumn, Row, ToolRunColumn
from .texts import TextRow, text_row
from .user_agent import client_of

_CENTS = Decimal("0.000000001")
_MOST_DOLLARS = Decimal(10) ** 9
"""The column holds nine digits before the point and nine after it."""


@frozen(kw_only=True)
class RowSource:
    """What all rows of a recording share."""

    recording: str
    cassette: str
    hashes: KeyedHash
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    redactor: Redactor = field(default_factory=Redactor)
    texts: bool = False
    """Also make the rows with texts."""


@mutable
class _Draft:
    """A row in the making."""

    fields: Object
    """What the round trip itself says."""
    label: Object
    entry_at: int
    runs: tuple[ToolRun, ...]
    result_bytes: list[int] | None = None
    """The sizes of the results that the next request brought, in the order of `client.results`."""
    text: TextRow | None = None


@frozen
class RunRows:
    """The rows of a recording, and with `texts` those that hold its texts."""

    rows: list[Row]
    texts: list[TextRow]


def rows_of(round_trips: Iterable[RoundTrip], source: RowSource) -> RunRows:
    """A row for each round trip, and one for each turn of a WebSocket session, in order."""
    return _Maker(source).made(round_trips)


class _Maker:
    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._hashes = source.hashes
        self._names = SafeNames(source.hashes, source.redactor)
        self._drafts: dict[Key, _Draft] = {}
        self._last: dict[str, _Draft] = {}
        """The last turn of each thread."""

    def made(self, round_trips: Iterable[RoundTrip]) -> RunRows:
        builder = LedgerBuilder()
        places: dict[Key, int] = {}
        for key, done in label_stream(round_trips):
            place = places.setdefault(key, len(places))
            builder.add(place, done)
            draft = self._drafts.get(key)
            if draft is None:
                draft = self._drafts[key] = _Draft(self._facts(done), {}, place, ())
                self._note_results(done, draft)
            draft.label, draft.runs = _without_texts(done.label), done.tool_runs
            if self._source.texts:
                draft.text = text_row(done, self._source.recording, self._source.redactor)
        ledger = builder.ledger()
        rows: list[Row] = []
        texts: list[TextRow] = []
        part, before = 0, None
        for key in sorted(self._drafts):
            part = part + 1 if before == key[0] else 0
            before = key[0]
            draft = self._drafts[key]
            rows.append(self._row(draft, part, ledger.at(draft.entry_at)))
            if draft.text is not None:
                texts.append(draft.text.model_copy(update={"part": part}))
        return RunRows(rows, texts)

    def _note_results(self, done: LabelledRoundTrip, draft: _Draft) -> None:
        """The results in this request are those of the calls of the thread's previous turn."""
        if done.turn is None:
            return
        earlier = self._last.get(done.turn.thread)
        if earlier is not None and earlier.result_bytes is None:
            given = len(objects_in(as_object(earlier.label.get("client")).get("results")))
            results = done.reading.request.results[-given:] if given else ()
            earlier.result_bytes = [_size(result) for result in results] if len(results) == given else None
        self._last[done.turn.thread] = draft

    def _facts(self, done: LabelledRoundTrip) -> Object:
        """What the bytes say beside the label."""
        trip, reading = done.round_trip, done.reading
        exchange = Exchange(trip)
        who = identity(trip, reading)
        client, client_version = client_of(header(trip.request.headers, "user-agent"))
        return {
            "session": self._names.identifier(who.session),
            "agent": self._names.identifier(who.agent),
            "trace_id": who.trace,
            "host": self._names.name(exchange.host or None),
            "path": self._names.path(exchange.path) if exchange.path else None,
            "client": self._names.name(client),
            "client_version": self._names.name(client_version),
            "request_bytes": len(trip.request.body),
            "response_bytes": len(trip.response.body) if trip.response else None,
            **self._hashed(reading),
        }

    def _hashed(self, reading: Reading) -> Object:
        """The hashes of the prompt; all None outside generation."""
        request = reading.request
        if not reading.is_generation:
            return {"system_hash": None, "tools_hash": None, "prefix_hash": None, "messages": None}
        system = canonical([_raw_part(part) for part in request.instructions]) if request.instructions else b""
        tools = (
            canonical([[tool.name, tool.description, tool.schema] for tool in request.tools]) if request.tools else b""
        )
        conversation = request.conversation
        prefix = b"\0".join([system, tools, *(canonical(_raw_message(one)) for one in conversation[:-1])])
        return {
            "system_hash": self._hashes.data(system) if system else None,
            "tools_hash": self._hashes.data(tools) if tools else None,
            "prefix_hash": self._hashes.data(prefix),
            "messages": len(request.messages),
        }

    def _row(self, draft: _Draft, part: int, entry: TurnEntry | None) -> Row:
        label, source = draft.label, self._source
        model, api, client = (as_object(label[layer]) for layer in ("model", "api", "client"))
        usage, error = as_object(label["usage"]), as_object(api.get("error"))
        name = self._names.name
        fields: Object = dict(
            v=VERSION,
            recording=source.recording,
            cassette=source.cassette,
            n=cast(int, label["index"]),
            part=part,
            run=None if label["run"] is None else self._names.label(str(label["run"])),
            thread=as_text(label["thread"]),
            turn=as_count(label["turn"]),
            attempt=as_count(label["attempt"]),
            edge=as_text(as_object(label["edge"]).get("kind")),
            protocol=str(label["protocol"]),
            kind=str(label["kind"]),
            provider=as_text(label["provider"]),
            method=name(str(label["method"])) or "",
            status=as_count(label["status"]),
            streamed=bool(label["streamed"]),
            started_at=datetime.fromisoformat(str(label["started_at"])),
            first_byte_ms=_float(label["first_byte_ms"]),
            duration_ms=_float(label["duration_ms"]),
            request_model=name(as_text(label["request_model"])),
            response_model=name(as_text(label["response_model"])),
            emitted=as_text(model.get("emitted")),
            finish_raw=name(as_text(api.get("finish_raw"))),
            finish=as_text(api.get("finish")),
            effective=as_text(api.get("effective")),
            error_type=name(as_text(error.get("type"))),
            error_code=name(as_text(error.get("code"))),
            outcome=as_text(client.get("outcome")),
            history=as_text(client.get("history")),
            echo=as_text(as_object(client.get("echo")).get("state")),
            **{
                kind: as_count(usage.get(kind))
                for kind in ("input", "cache_read", "cache_write", "output", "reasoning")
            },
            cost_usd=_dollars(label["cost_usd"]),
            cost_source=as_text(label["cost_source"]),
            unpriced_fees=list(fees_without_price(label)),
            added_tokens=entry.added.value if entry and entry.added else None,
            input_cost_usd=_dollars(entry.input_cost) if entry else None,
            kinds=_kinds(entry),
            **{known: self._label(known) for known in LABELS},
            labels={
                self._names.label(key): self._names.label(value)
                for key, value in source.labels.items()
                if key not in LABELS
            },
            tools_offered=[name(str(one)) or "" for one in as_array(label["tools_offered"])],
            tool_calls=self._calls(draft),
            tool_runs=[self._tool_run(run) for run in draft.runs],
            findings=[_finding(one) for one in objects_in(label["findings"])],
            tool=_tool(),
            **draft.fields,
        )
        return Row.model_construct(None, **fields)

    def _label(self, known: str) -> str | None:
        value = self._source.labels.get(known)
        return self._names.label(value) if value is not None else None

    def _calls(self, draft: _Draft) -> list[CallColumn]:
        results = objects_in(as_object(draft.label["client"]).get("results"))
        sizes = draft.result_bytes or []
        answers = [(result, sizes[place] if place < len(sizes) else None) for place, result in enumerate(results)]
        by_id = {result["call_id"]: (result, size) for result, size in answers if result["call_id"] is not None}
        servers = {run.call_id: run.server for run in draft.runs if run.call_id is not None}
        calls: list[CallColumn] = []
        for place, call in enumerate(objects_in(as_object(draft.label["model"]).get("tool_calls"))):
            answer = by_id.get(call["id"])
            if answer is None and not by_id and place < len(answers):
                answer = answers[place]  # an API without ids: results are in the order of the calls
            calls.append(
                CallColumn.model_construct(
                    id=self._names.name(as_text(call["id"])),
                    name=self._names.name(str(call["name"])) or "",
                    server=self._names.name(servers.get(str(call["id"]))),
                    args_hash=self._arguments_hash(call),
                    args_bytes=cast(int, call["args_bytes"]),
                    is_error=bool(answer[0]["is_error"]) if answer else None,
                    result_bytes=answer[1] if answer else None,
                )
            )
        return calls

    def _arguments_hash(self, call: Object) -> str | None:
        canonically = cast(bytes, call["args"])
        return self._hashes.data(canonically) if canonically else None

    def _tool_run(self, run: ToolRun) -> ToolRunColumn:
        name = self._names.name
        return ToolRunColumn.model_construct(
            call_id=name(run.call_id),
            name=name(run.name) or "",
            server=name(run.server) or "",
            wire=run.source,
            outcome=run.outcome,
            joined=run.joined,
            duration_ms=run.duration_ms,
            is_error=run.is_error,
            returned_bytes=run.returned_bytes,
            seen_bytes=run.seen_bytes,
            seen_as=run.seen_as,
            sent_hash=None if run.returned_text is None else self._hashes.text(run.returned_text),
            seen_hash=None if run.seen_text is None else self._hashes.text(run.seen_text),
        )


def _without_texts(label: Object) -> Object:
    """A label as a draft keeps it: calls with their arguments as canonical bytes, and no text of the answer."""
    model = as_object(label["model"])
    calls = [_small_call(call) for call in objects_in(model.get("tool_calls"))]
    return {**label, "model": {"emitted": model.get("emitted"), "tool_calls": calls}}


def _small_call(call: Object) -> Object:
    raw = str(call["arguments_raw"]).encode("utf-8", "surrogatepass")
    args = canonical(call["arguments"]) if call["arguments"] is not None else raw
    return {"id": call["id"], "name": call["name"], "args": args, "args_bytes": len(raw)}


def _raw_part(part: Part) -> object:
    return part.raw if part.raw is not None else part.text


def _raw_message(message: Message) -> object:
    return message.raw if message.raw is not None else [message.role, *(_raw_part(part) for part in message.parts)]


def _size(result: ToolResult) -> int:
    return len(result.text.encode("utf-8", "surrogatepass"))


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _dollars(amount: object) -> Decimal | None:
    """An amount with nine digits after the point; None for one that is unknown or no real amount."""
    if amount is None:
        return None
    try:
        rounded = Decimal(str(amount)).quantize(_CENTS)
    except InvalidOperation:
        return None
    return rounded if abs(rounded) < _MOST_DOLLARS else None


def _kinds(entry: TurnEntry | None) -> list[KindColumn]:
    return [
        KindColumn.model_construct(
            kind=one.kind, pieces=one.pieces, bytes=one.size, tokens=one.tokens, cost_usd=_dollars(one.cost)
        )
        for one in (entry.kinds if entry else ())
    ]


def _finding(found: Object) -> FindingColumn:
    return FindingColumn.model_construct(
        id=str(found["id"]),
        layer=str(found["layer"]),
        severity=str(found["severity"]),
        tier=str(found["tier"]),
        root=not found["because_of"],
    )


@cache
def _tool() -> str:
    return f"turntape {version('turntape')}"
