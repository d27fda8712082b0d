"""Schema version 1 of the shipped rows, as pydantic models. A row is one line of `show --json` in columns.

There is one row for each round trip; a WebSocket session has one for each of its turns, numbered by `part`.
No column holds prose, arguments, results, query strings or the values of headers. `None` is "not known", never 0.

New columns are only added at the top level, because engines read a new column as NULL but fail on a new field inside
a list. Any other change is a new version, with its own prefix in the store.
"""

from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

VERSION = 1
"""The value of `Row.v`."""


class RowPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True, protected_namespaces=())


class CallColumn(RowPart):
    """A tool call that the model emitted."""

    id: str | None
    """The call's id; `null` where the API gives none."""
    name: str
    """The tool's name."""
    server: str | None
    """The tool server that ran it, where its wire was recorded."""
    args_hash: str | None
    """Keyed hash of the arguments as compact JSON with sorted keys."""
    args_bytes: int
    """The size of the arguments as the API sent them."""
    is_error: bool | None
    """Whether the result was an error; `null` while no result is known."""
    result_bytes: int | None
    """The size of the result's text in the next request; `null` while none was sent."""


class ToolRunColumn(RowPart):
    """One execution of a tool, as its own wire or the agent's spans show it."""

    call_id: str | None
    """The id of the model's call."""
    name: str
    """The tool's name as the server knows it."""
    server: str
    """The tool server."""
    wire: str
    """`wire` or `span`: what shows it."""
    outcome: str
    """`answered`, `failed`, `cancelled`, `unanswered` or `input_required`."""
    joined: str | None
    """`exact` or `inferred`: how it was joined to the call."""
    duration_ms: float | None
    """Milliseconds until the answer."""
    is_error: bool | None
    """Whether the tool or its server reported an error."""
    returned_bytes: int | None
    """The size of the result as returned."""
    seen_bytes: int | None
    """The size of its text in the request that shows it to the model."""
    seen_as: str | None
    """How the model saw it: `equal`, `cut`, `changed`, `dropped` and others; see `show --json`."""
    sent_hash: str | None
    """Keyed hash of the returned text."""
    seen_hash: str | None
    """Keyed hash of the text that the model saw."""


class FindingColumn(RowPart):
    """One thing that went wrong or costs money."""

    id: str
    """The class of the finding."""
    layer: str
    """Who is to blame: `model`, `api`, `client` or `tool`."""
    severity: str
    """`error`, `warning`, `info` and so on."""
    tier: str
    """`P` proven by the bytes, `S` strong inference, `H` heuristic."""
    root: bool
    """True unless it follows from another finding."""


class KindColumn(RowPart):
    """The pieces of a request that have the same kind, from the ledger."""

    kind: str
    """`system`, `tool` (a definition), `user`, `assistant`, `call`, `result`, `media`, `reasoning` or `other`."""
    pieces: int
    """How many they are."""
    bytes: int
    """Their size as compact JSON."""
    tokens: int | None
    """Their tokens; all kinds together are the input."""
    cost_usd: Decimal | None
    """Their part of the input's cost."""


class Row(RowPart):
    """One round trip. `recording`, `n` and `part` identify it; `cassette` and `n` are the address of its bytes."""

    v: int
    """The version of this schema: 1."""
    recording: str
    """32 hexadecimal digits; the same for a recording and for the same recording when it has grown."""
    cassette: str
    """SHA-256 of the recording's plain bytes: names the object `cassettes/v1/<aa>/<sha256>.jsonl.zst`."""
    n: int
    """The number of the round trip in the recording, from 0."""
    part: int
    """The place among the rows of one round trip, from 0; above 0 only in a WebSocket session."""
    run: str | None
    """The name of the run."""
    session: str | None
    """The session that the client names: a UUID or hexadecimal id as it is, anything else as a keyed hash."""
    agent: str | None
    """The agent that the client names, as `session`."""
    trace_id: str | None
    """The trace id of `traceparent`."""
    thread: str | None
    """`t1`, `t2`, …; `null` outside generation."""
    turn: int | None
    """From 1 within its thread; `null` outside generation."""
    attempt: int | None
    """From 1. From 2 on it repeats a turn that failed."""
    edge: str | None
    """Why the turn is in its thread: `main`, `continuation`, `attempt`, `fork`, `subagent` and others."""
    protocol: str
    """The shape of the API, such as `openai-chat`."""
    kind: str
    """What the endpoint is for. `generation`: a turn."""
    provider: str | None
    """Whose API it is."""
    method: str
    """The HTTP method."""
    host: str | None
    """The host that was asked."""
    path: str | None
    """The path of the URL; its query string is left out."""
    client: str | None
    """The program that sent the request, as its user agent names it."""
    client_version: str | None
    """That program's version."""
    status: int | None
    """The HTTP status; `null` when no answer came."""
    streamed: bool
    """Whether the answer was a stream."""
    started_at: datetime
    """When the request began, in UTC."""
    first_byte_ms: float | None
    """Milliseconds from then to the first byte of the answer."""
    duration_ms: float | None
    """Milliseconds from then to the end."""
    request_bytes: int | None
    """The size of the request's body."""
    response_bytes: int | None
    """The size of the answer's body."""
    request_model: str | None
    """The requested model."""
    response_model: str | None
    """The model that answered."""
    emitted: str | None
    """Layer model: what kind of answer it is."""
    finish_raw: str | None
    """Layer api: the API's own word."""
    finish: str | None
    """Layer api: what that word means."""
    effective: str | None
    """Layer api: what a correct client must act on."""
    error_type: str | None
    """The type of the API's error."""
    error_code: str | None
    """The code of the API's error."""
    outcome: str | None
    """Layer client: what it did with the calls."""
    history: str | None
    """Layer client: how this request relates to the previous one of the thread."""
    echo: str | None
    """Layer client: how the next request repeats this turn."""
    input: int | None
    """All input tokens, cached ones included."""
    cache_read: int | None
    """Input tokens that were read from a cache."""
    cache_write: int | None
    """Input tokens that were written to a cache."""
    output: int | None
    """All output tokens, reasoning included."""
    reasoning: int | None
    """Output tokens that were reasoning."""
    cost_usd: Decimal | None
    """US dollars; `null` where the price is not known."""
    cost_source: str | None
    """`stated`, `settings` or `listed`: who says the cost."""
    unpriced_fees: list[str] | None
    """What the API did for a fee without a known price, such as `Google Maps`; the cost is then higher than `cost_usd`.

    `null` in rows that an older version shipped.
    """
    added_tokens: int | None
    """Ledger: what the request has more than the previous one of its thread, in tokens."""
    input_cost_usd: Decimal | None
    """Ledger: the part of the cost that is for the input."""
    kinds: list[KindColumn]
    """Ledger: what the input consists of."""
    system_hash: str | None
    """Keyed hash of the system prompt; `null` without one."""
    tools_hash: str | None
    """Keyed hash of the tool definitions; `null` without any."""
    prefix_hash: str | None
    """Keyed hash of system prompt, tools and all messages but the last."""
    messages: int | None
    """The number of messages in the request."""
    repository: str | None
    """Label: the repository."""
    branch: str | None
    """Label: the branch."""
    commit: str | None
    """Label: the commit."""
    pull_request: str | None
    """Label: the number of the pull or merge request."""
    job: str | None
    """Label: the job of the CI."""
    task: str | None
    """Label: what the run was to do, such as the name of a test."""
    verdict: str | None
    """Label: whether the run did it, such as `pass` and `fail`."""
    user: str | None
    """Label: who ran it."""
    service: str | None
    """Label: the program or the deployment that ran it."""
    labels: dict[str, str]
    """All other labels."""
    tools_offered: list[str]
    """The names of the tools in the request."""
    tool_calls: list[CallColumn]
    """The calls that the client must answer."""
    tool_runs: list[ToolRunColumn]
    """The tool runs of its calls, where the tools' own wire was recorded."""
    findings: list[FindingColumn]
    """What went wrong, root causes first."""
    tool: str
    """The version of turntape that read it."""


LABELS = (
    "repository",
    "branch",
    "commit",
    "pull_request",
    "job",
    "task",
    "verdict",
    "user",
    "service",
)
"""The labels with a column each."""
