"""The lines of `show --json` as pydantic models; `report_models` has the documents of the other commands.

Validate with `RoundTripLabel.model_validate_json(line)`.

Unknown keys are ignored, because later versions may add some. A key that is not here never disappears from the output
without a new schema version; see `schemas`. Nothing in turntape makes its output through these models: the labels
are dicts, and the tests hold them against the models.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from ...analysis.history_diff import ChangeKind
from ...analysis.pricing import CostSource
from ...analysis.turn import EdgeKind
from ...findings.finding import Layer, Severity, Tier
from ...ledger import Certainty, PieceKind
from ...tools.tool_run import Joined, Lost, Outcome, SeenAs
from ...wire.values import Emitted, FinishLabel, Kind


def _plain(amount: Decimal) -> str:
    return format(amount, "f")


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


type Dollars = Annotated[
    Decimal,
    PlainSerializer(_plain),
    WithJsonSchema({"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}),
]
"""US dollars, a decimal number in a string."""
type Moment = Annotated[datetime, PlainSerializer(_utc), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time in UTC with microseconds, as ISO 8601."""


class JsonObject(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, use_attribute_docstrings=True, protected_namespaces=())


class EdgeInfo(JsonObject):
    """Why a turn is in its thread."""

    kind: EdgeKind
    """How the turn relates to the round trip that it follows from."""
    of: int | None
    """The `index` of the round trip that it follows from."""
    thread: str | None
    """The thread of that round trip."""
    reason: str
    """The evidence, as a sentence."""
    tier: Tier
    """How sure it is: `P` proven by the bytes, `S` strong inference, `H` heuristic."""


class CallInfo(JsonObject):
    """A tool call that the model emitted."""

    id: str | None
    """The call's id; `null` where the API gives none."""
    name: str
    """The tool's name."""
    arguments: object
    """The parsed arguments; `null` when they do not parse."""
    arguments_raw: str
    """The arguments as the API sent them."""


class ServerResultInfo(JsonObject):
    """What a tool of the API gave, as far as the answer shows it."""

    call_id: str | None
    """The id of the call that it belongs to; `null` where the API gives none."""
    name: str | None
    """The tool's name; `null` where only the call has it."""
    is_error: bool
    """Whether the API marked it as failed."""
    text: str
    """Its text. Media are named in brackets."""


class ChoiceInfo(JsonObject):
    """One of several answers to the same request (`n` > 1)."""

    index: int
    """Its place, from 0."""
    finish_raw: str | None
    """The API's own word for it."""
    finish: FinishLabel | None
    """What that word means; `null` when the API gave none."""
    text: str
    """Its text."""
    reasoning: str
    """Its reasoning."""
    refusal: str | None
    """The text of its refusal."""
    tool_calls: list[CallInfo]
    """Its calls that the client must answer."""


class ModelLayer(JsonObject):
    """What the model emitted."""

    emitted: Emitted
    """What kind of answer it is. `none`: there was no answer."""
    text: str
    """The text of the answer."""
    reasoning: str
    """The reasoning that the API showed."""
    refusal: str | None
    """The text of a refusal."""
    tool_calls: list[CallInfo]
    """The calls that the client must answer. Calls of the API's own tools are in `server_calls`."""
    server_calls: list[CallInfo]
    """The calls of the API's own tools, such as a web search. The client must not answer them."""
    server_results: list[ServerResultInfo]
    """What the API's own tools gave, in order."""
    choices: list[ChoiceInfo] | None
    """Every choice where the answer has several; `text` is that of the first. `null` for a single one."""


class ErrorInfo(JsonObject):
    """An error that the API answered with."""

    message: str
    """The error's text."""
    type: str | None
    """The API's own type of error."""
    code: str | None
    """The API's own code."""
    status: int | None
    """The HTTP status; for an error inside a stream, the one that it names."""


class ApiLayer(JsonObject):
    """How the API finished the answer."""

    finish_raw: str | None
    """The API's own word."""
    finish: FinishLabel
    """What that word means. A word that turntape does not know is `unknown`."""
    effective: FinishLabel
    """What a correct client must act on, given what was emitted. `cut`: the answer broke off."""
    error: ErrorInfo | None
    """The error, if the API answered with one."""


class ResultInfo(JsonObject):
    """A result that the next request brought for one of the calls."""

    call_id: str | None
    """The id of the call that it answers."""
    is_error: bool
    """Whether the client marked it as an error."""
    ran: bool | None
    """Whether the tools' own wire shows that the call was executed; `null` where that wire was not recorded."""


class HistoryChangeInfo(JsonObject):
    """One place at which the next request departs from the history that it continues."""

    kind: ChangeKind
    """What happened to it."""
    of: Literal["request", "response"]
    """Whether it changes what this turn's request held, or this turn's answer."""
    before: str | None
    """JSON pointer into that request or answer."""
    now: str | None
    """JSON pointer into the next request."""
    call_id: str | None
    """The id of the call that it is about."""


class HistoryDiffInfo(JsonObject):
    """How the next request repeats this turn's request and answer."""

    state: Literal["verbatim", "respelled", "changed", "cut", "held"]
    """`respelled`: other JSON with the same meaning; `cut`: parts were left out; `held`: the API keeps the history."""
    reasoning: Literal["none", "kept", "dropped", "altered"]
    """What the client did with the answer's reasoning and signatures."""
    changes: list[HistoryChangeInfo]
    """The first 50 places that differ."""


class ClientLayer(JsonObject):
    """What the client did with the answer."""

    results: list[ResultInfo]
    """What the next request brought for this turn's calls."""
    history: Literal["first", "extended", "changed"]
    """How this turn's own request relates to the thread's previous one."""
    outcome: Literal["dispatched", "partly", "not_dispatched", "ended", "open"]
    """What the client did with the calls. `ended`: there was nothing to do; `open`: nothing later was recorded."""
    proof: Literal["tool_wire", "spans", "request"] | None
    """What shows it: the tools' own wire, the agent's spans, or only the next request."""
    echo: HistoryDiffInfo | None
    """How the next request repeats this turn; `null` when there is no next request."""


class ToolRunInfo(JsonObject):
    """One execution of a tool, as its own wire or the agent's instrumentation shows it."""

    source: Literal["wire", "span"]
    """`wire`: the messages of the tool itself. `span`: an OpenTelemetry span of the agent."""
    index: int
    """The number of the round trip of its `tools/call`, or of the one that brought the span."""
    call_id: str | None
    """The id of the model's call; `null` where the API gives none."""
    server: str
    """The tool server."""
    session: str
    """The process of that server, or the connection to it."""
    name: str
    """The tool's name as the server knows it; the model may have been shown another one."""
    arguments: object
    """The arguments that the server was given."""
    outcome: Outcome
    """`answered`: with a result, which may be an error of the tool. `failed`: with a JSON-RPC error. `cancelled`: the
    client gave up first. `unanswered`: nothing came. `input_required`: the server asked, and the client did not
    continue."""
    joined: Joined | None
    """`exact`: by an id that both wires have. `inferred`: by name, arguments and order."""
    by: str | None
    """What joined it."""
    duration_ms: float | None
    """Milliseconds until the answer."""
    is_error: bool | None
    """Whether the tool or its server reported an error; `null` without an answer."""
    returned_bytes: int | None
    """The size of the result as returned."""
    seen_by: int | None
    """The number of the round trip whose request shows the result to the model; `null` when none does."""
    seen_bytes: int | None
    """The size of the result's text in that request."""
    seen_as: SeenAs | None
    """How the model saw it. `equal`: all of it. `structured`, `text`: only that half of it. `cut`: a part. `file`: the
    name of a file. `changed`: other text. `dropped`: nothing. `replaced`: the client's own words for an error.
    `other`: the result of another run. `empty`: the tool returned nothing."""
    lost: list[Lost]
    """The kinds of content that were returned and not shown to the model."""


class UsageInfo(JsonObject):
    """The tokens of a turn, as the API counted them."""

    input: int | None
    """All input tokens, cached ones included, whatever the API's own convention."""
    cache_read: int | None
    """Input tokens that were read from a cache."""
    cache_write: int | None
    """Input tokens that were written to a cache."""
    output: int | None
    """All output tokens, reasoning included."""
    reasoning: int | None
    """Output tokens that were reasoning."""


class FindingInfo(JsonObject):
    """One thing that went wrong or costs money."""

    id: str
    """The class of the finding; [findings.md](findings.md) lists them."""
    layer: Layer
    """Who is to blame."""
    severity: Severity
    """How bad it is."""
    tier: Tier
    """How sure it is: `P` proven by the bytes, `S` strong inference, `H` heuristic."""
    message: str
    """What happened, in one sentence."""
    evidence: list[str]
    """Places that prove it. Each begins with `#N`, the `index` of a round trip."""
    fix: str
    """What to do about it."""
    because_of: list[str]
    """The ids of the findings that this one follows from."""
    aliases: list[str]
    """Former ids of the class. Commands accept them; compare with these too if your code still knows an old id."""


class AddedInfo(JsonObject):
    """What a request has more than the previous one of its thread."""

    tokens: int
    """Negative when the client removed more than it added."""
    low: int
    """The number is not lower than this."""
    high: int
    """The number is not higher than this."""
    certainty: Certainty
    """`exact`: the difference of the API's counts. `bounded`: within a small range. `estimated`: within a wide one."""


class KindInfo(JsonObject):
    """The pieces of a request that have the same kind."""

    kind: PieceKind
    """`tool` is a definition; `other` is text that the API adds, or history that it keeps."""
    pieces: int
    """How many they are."""
    bytes: int
    """Their size as compact JSON."""
    tokens: int | None
    """The tokens of all kinds add up to the input."""
    cost_usd: Dollars | None
    """By position in the prompt: read from the cache, written to it, or neither. The sum is `input_cost_usd`."""


class LedgerInfo(JsonObject):
    """What a turn added, and what its input consists of."""

    added: AddedInfo | None
    """`null` for the first turn of a thread, and without counts."""
    input_cost_usd: Dollars | None
    """The part of `cost_usd` that is for the input."""
    kinds: list[KindInfo]
    """In the order of the prompt."""


class RoundTripLabel(JsonObject):
    """One round trip, as `turntape show --json` prints it on a line."""

    index: int
    """The number of the round trip in the cassette, from 0. The turns of one WebSocket session share it."""
    run: str | None
    """The name of the run."""
    thread: str | None
    """`t1`, `t2`, …; `null` outside generation."""
    turn: int | None
    """From 1 within its thread; the attempts of one turn share it; `null` outside generation."""
    attempt: int | None
    """From 1. From 2 on it repeats a turn that failed."""
    edge: EdgeInfo | None
    """Why the turn is in its thread."""
    protocol: str
    """The shape of the API, such as `openai-chat`; see [protocols.md](protocols.md)."""
    kind: Kind
    """What the endpoint is for. `generation`: a turn. `tools`: messages between the client and a tool server."""
    provider: str | None
    """Whose API it is."""
    method: str
    """The HTTP method."""
    url: str
    """The URL that was requested."""
    status: int | None
    """The HTTP status; `null` when no answer came."""
    streamed: bool
    """Whether the answer was a stream."""
    started_at: Moment
    """When the request began, in UTC."""
    first_byte_ms: float | None
    """Milliseconds from then to the first byte of the answer."""
    duration_ms: float | None
    """Milliseconds from then to the end."""
    request_model: str | None
    """The requested model."""
    response_model: str | None
    """The model that answered."""
    tools_offered: list[str]
    """The names of the tools in the request."""
    model: ModelLayer | None
    """What the model emitted."""
    api: ApiLayer | None
    """How the API finished it."""
    client: ClientLayer | None
    """What the client did with it."""
    tool_runs: list[ToolRunInfo]
    """The tool runs of its calls, where the tools' own wire was recorded."""
    usage: UsageInfo | None
    """The tokens; outside generation only where the answer counts some, as of embeddings."""
    cost_usd: Dollars | None
    """US dollars; `null` where the price is not known."""
    cost_source: CostSource | None
    """Who says the cost. `stated`: the answer itself. `settings`: its tokens at the price in your settings.
    `listed`: its tokens at the list price of that day."""
    unpriced_fees: list[str]
    """What the API did for a fee without a known price, such as `Google Maps`; the cost is then higher than
    `cost_usd`."""
    ledger: LedgerInfo | None
    """What the turn added, and what its input consists of. `null` outside generation, and in labels on the tape."""
    findings: list[FindingInfo]
    """What went wrong, root causes first."""
