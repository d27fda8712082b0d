"""A round trip as a small row: enough to list it, add it up and find it, without its bodies."""

from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from turntape.cassettes.frozen import frozen

from ..analysis.call_words import LONGEST, call_words
from ..analysis.pricing import CostParts, CostSource
from ..analysis.refused import is_refused
from ..analysis.turn import Edge
from ..findings.finding import SEVERITIES, Finding
from ..tools.tool_run import ToolRun
from ..wire.json_value import as_array, as_object, as_text
from ..wire.printable import safe
from ..wire.values import Kind, RequestReading, Usage
from .emission_label import Label
from .labelled import Key, LabelledRoundTrip
from .newest import NewPiece, newest_piece
from .search_text import search_text

SHOWN = 240
"""At most this many characters of an answer are in a row."""
SEVEREST_FIRST = tuple(reversed(SEVERITIES))


@frozen
class Row:
    """A round trip as a row, with its numbers."""

    key: Key
    index: int
    thread: str | None
    """None outside generation, like all that follows from a turn."""
    turn: int | None
    attempt: int
    run: str | None
    protocol: str
    provider: str | None
    model: str | None
    """The model's name: from the answer, or else from the request."""
    method: str
    url: str
    status: int | None
    streamed: bool
    emitted: str | None
    calls: tuple[str, ...]
    """The names of the calls that the client must answer."""
    said: str
    """How the answer begins."""
    finish: str | None
    """What a correct client does next."""
    finish_raw: str | None
    error: str | None
    outcome: str | None
    history: str | None
    results: int
    failed_results: int
    usage: Usage
    before: Usage | None
    """The usage of the previous turn of the thread."""
    cost: Decimal | None
    cost_source: CostSource | None
    """The source of the cost; None if the cost is unknown."""
    input_cost: Decimal | None
    """The cost of the input."""
    findings: tuple[Finding, ...]
    started_at: float
    first_byte_ms: float | None
    duration_ms: float | None
    request_bytes: int
    response_bytes: int
    messages: int
    messages_before: int
    """How many messages at the front the previous request had already sent."""
    tools: tuple[str, ...]
    edge: Edge | None
    session: int | None
    """Its place among the turns of a WebSocket session."""
    haystack: str
    """What is new in it, in lower case, for searching."""
    tool_runs: tuple[ToolRun, ...] = ()
    """The tool runs of its calls, in order of the calls, without large texts; their round trips have those. A row of
    the tools' own wire has its run while that is not joined to a call."""

    kind: Kind = "other"
    cost_parts: CostParts | None = None
    """The cost by kind of token; None where the cost is unknown or cannot be divided."""
    done: tuple[str, ...] = ()
    """Each of `calls` with its main argument: `bash pytest -q`."""
    asked: str = ""
    """How the last new text of the user begins; of a subagent's first turn this is its task."""
    unpriced_fees: tuple[str, ...] = ()
    """What the API did for a fee without a known price, in words; the real cost is then higher than `cost`."""
    newest: NewPiece | None = None
    """The largest piece that is new in its request."""

    @property
    def is_tool_wire(self) -> bool:
        """Whether it holds messages between the client and a tool server."""
        return self.kind == "tools"

    @property
    def is_quiet(self) -> bool:
        """Whether a list of round trips leaves it out: what it says is beside the model's calls, or nothing."""
        return self.is_tool_wire and not self.findings and not self.tool_runs

    @property
    def is_turn(self) -> bool:
        return self.turn is not None

    @property
    def label(self) -> str:
        """The turn as every view writes it: `4`, `4·2`."""
        return turn_label(self.turn, self.attempt)

    @property
    def failed(self) -> bool:
        """Whether this attempt got no complete answer: an error, a cut, or nothing. A finding may say more."""
        return self.is_turn and self.finish in (None, "error", "cut", "cancelled")

    @property
    def unpriced(self) -> bool:
        """Whether its cost is not known, or not known as a whole: then the real one is higher than `cost`.

        A request that was refused costs nothing. Nor does one outside generation whose answer counts nothing.
        """
        if self.unpriced_fees:
            return True
        if not self.is_turn:
            return self.cost is None and self.usage != Usage()
        refused = is_refused(status=self.status, finish=self.finish, emitted=self.emitted, counted=self.usage.input)
        return self.cost is None and not refused

    @property
    def is_billed(self) -> bool:
        """Whether it is in the bill of the run: a turn, or another request that has a cost or should have one."""
        return self.is_turn or self.cost is not None or self.unpriced

    @property
    def went_wrong(self) -> bool:
        """Whether it has an error, which everywhere means: a finding with the severity error."""
        return self.worst == "error"

    @property
    def rebuilt(self) -> bool:
        """Whether its prompt was rebuilt with the words of the last answer in it."""
        return self.edge is not None and self.edge.kind == "rebuilt"

    @property
    def worst(self) -> str | None:
        """The most severe of the severities of its findings; None when it has none."""
        severities = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVEREST_FIRST if severity in severities), None)


def turn_label(turn: int | None, attempt: int) -> str:
    """The number of a turn, with the attempt from the second one on: `4`, `4·2`. The one notation of retries."""
    return f"{turn}" if attempt == 1 else f"{turn}·{attempt}"


def finding_of(value: object) -> Finding:
    """A finding in a label, with a message that a terminal can show."""
    found = Finding.from_json(value)
    return replace(found, message=safe(found.message))


def edge_of(value: object) -> Edge | None:
    """The edge in a label, or None when it has none."""
    fields = as_object(value)
    if fields.get("kind") is None:
        return None
    return Edge(**cast("dict[str, Any]", fields))


def _client(label: Label) -> dict[str, object]:
    """The fields of a row that the next turn of the thread decides."""
    client = as_object(label["client"])
    results = [as_object(one) for one in as_array(client.get("results"))]
    return {
        "outcome": as_text(client.get("outcome")),
        "history": as_text(client.get("history")),
        "results": len(results),
        "failed_results": sum(bool(one.get("is_error")) for one in results),
        "findings": tuple(finding_of(found) for found in as_array(label["findings"])),
        "edge": edge_of(label.get("edge")),
    }


def settled(row: Row, one: LabelledRoundTrip) -> Row:
    """`row` after more was seen of it: the next turn of its thread, or a run of a tool."""
    return replace(row, tool_runs=tuple(run.small() for run in one.tool_runs), **_client(one.label))


def row_of(key: Key, one: LabelledRoundTrip, session: int | None) -> Row:
    """What is kept of a round trip."""
    trip, reading, turn, label = one.round_trip, one.reading, one.turn, one.label
    model, api = as_object(label["model"]), as_object(label["api"])
    error = as_object(api.get("error"))
    price, cost = as_text(label["cost_usd"]), one.cost
    usage = reading.usage or Usage()
    attempt = label.get("attempt")
    failure = trip.failure.message if trip.failure else None
    sent_before = turn.messages_before if turn and turn.history == "extended" and turn.shared else 0
    shown = error.get("message") or (reading.error.message if reading.error else None) or failure
    return Row(
        key=key,
        index=key[0],
        thread=turn.thread if turn else None,
        turn=turn.number if turn else None,
        attempt=attempt if isinstance(attempt, int) else 1,
        run=trip.run,
        protocol=reading.protocol,
        provider=reading.provider,
        model=reading.response_model or reading.request.model,
        method=trip.request.method,
        url=trip.request.url,
        status=(trip.response.status or None) if trip.response else None,
        streamed=reading.streamed,
        emitted=as_text(model.get("emitted")),
        calls=tuple(str(as_object(call).get("name")) for call in as_array(model.get("tool_calls"))),
        said=" ".join(safe((as_text(model.get("text")) or as_text(model.get("refusal")) or "")[:SHOWN]).split()),
        finish=as_text(api.get("effective")),
        finish_raw=as_text(api.get("finish_raw")),
        error=safe(shown) if isinstance(shown, str) else None,
        usage=usage,
        before=turn.usage_before if turn else None,
        cost=None if price is None else Decimal(price),
        cost_source=cost.source if cost else None,
        input_cost=cost.input if cost else None,
        started_at=trip.started_at,
        first_byte_ms=_milliseconds(trip.first_byte_at),
        duration_ms=_milliseconds(trip.ended_at),
        request_bytes=len(trip.request.body),
        response_bytes=len(trip.response.body) if trip.response else 0,
        messages=len(reading.request.messages),
        messages_before=sent_before,
        tools=tuple(tool.name for tool in reading.request.tools),
        session=session,
        haystack=search_text(one),
        tool_runs=tuple(run.small() for run in one.tool_runs),
        kind=reading.kind,
        cost_parts=cost.parts if cost else None,
        unpriced_fees=cost.unpriced_fees if cost else (),
        done=tuple(map(call_words, reading.emission.calls)) if turn and reading.emission else (),
        asked=_asked(reading.request, sent_before) if turn else "",
        newest=newest_piece(reading.request, sent_before) if turn else None,
        **_client(label),  # pyright: ignore[reportArgumentType]
    )


def _asked(request: RequestReading, sent_before: int) -> str:
    """How the last new text of the user begins."""
    texts = (
        part.text
        for message in reversed(request.messages[sent_before:])
        if message.role == "user"
        for part in reversed(message.parts)
        if part.kind == "text" and part.text.strip()
    )
    return " ".join(safe(next(texts, "")[: 2 * LONGEST]).split())[:LONGEST]


def _milliseconds(at: int | None) -> float | None:
    return None if at is None else at / 1000
