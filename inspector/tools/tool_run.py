"""A tool run: one execution of a tool as its own wire shows it, and what the model was shown of it."""

from dataclasses import field, replace
from typing import Literal

from turntape.cassettes.frozen import frozen

from .flaw import Flaw

type Outcome = Literal["answered", "failed", "cancelled", "unanswered", "input_required"]
"""How a run ended. `answered`: with a result, which may be an error of the tool. `failed`: with a JSON-RPC error.
`cancelled`: the client gave up before an answer came. `unanswered`: nothing came. `input_required`: the server asked
for input, and the client did not continue."""

type Joined = Literal["exact", "inferred"]
"""How a run was joined to the model's call: by an id that both wires have, or by name, arguments and order."""

type SeenAs = Literal["equal", "structured", "text", "cut", "file", "changed", "dropped", "replaced", "other", "empty"]
"""What the next request has in the place of the result.

`equal`: all of it, after the client's usual wrapping. `structured`: only the structured content; the text was left
out. `text`: only the text; the structured content was left out. `cut`: a part of the text. `file`: the name of a file
in place of the text, or of a part of it. `changed`: other text than was returned. `dropped`: nothing. `replaced`: the
client's own words for an error. `other`: the result of another run. `empty`: the tool returned nothing.
"""

type Lost = Literal["text", "structured", "image", "audio", "resource", "link", "error_mark"]
"""A kind of content that was returned and not seen. `error_mark`: `isError`."""


@frozen
class Departure:
    """What a client did against the rules of MCP before a server failed its call: the failure is the client's then."""

    text: str
    """The end of a sentence that begins with the client."""
    index: int
    """The round trip that shows it."""
    mild: bool = False
    """Whether the finding about it alone is only an info."""


KEPT = 20_000
"""A run in a row holds at most this many characters of each text, and no larger `result`."""


@frozen(kw_only=True)
class ToolRun:
    """One execution of a tool: `tools/call` and its answer. Several exchanges are one run when the server asked for
    input in between, or gave a task."""

    source: Literal["wire", "span"] = "wire"
    """`wire`: the messages of the tool itself. `span`: what the agent's own instrumentation reports."""
    index: int
    """The number of the round trip of its `tools/call`; of the first one where there are several."""
    session: str
    server: str
    sequence: int = 0
    """The place of its `tools/call` among the messages of the session."""
    run: str | None = None
    """The name of the recording's run, where the tool server was given one."""
    name: str
    """The tool's name as the server knows it."""
    arguments: object
    """The parsed arguments; None when there were none."""
    arguments_raw: str = ""
    """The arguments as compact JSON; empty when there were none."""
    meta: dict[str, object] = field(default_factory=dict[str, object])
    """What the client adds to the call, under `_meta`."""
    output_schema: object = None
    """The JSON Schema that its server stated for the structured content, when the call was made; None for none."""
    started_at: float
    """When the call was seen, in seconds since the epoch."""
    duration_ms: float | None = None
    """Until the answer, or until the client gave up; None when neither was seen."""
    result: dict[str, object] | None = None
    """The result as returned; None for an error, without an answer, and in a row when it is larger than `KEPT`."""
    error: dict[str, object] | None = None
    """The JSON-RPC error."""
    status: int | None = None
    """The status of its answer over HTTP; None for any other wire, and without an answer."""
    is_error: bool | None = None
    """Whether the tool or the server reports an error; None without an answer."""
    outcome: Outcome = "unanswered"
    ended_by: Literal["client", "server"] | None = None
    """Who closed the connection while the answer was due; None when nobody did, or it is not known."""
    reason: str | None = None
    """Why the client cancelled, in its words."""
    flaw: Flaw | None = None
    """How its answer breaks the form that MCP gives it; None when it does not, and without an answer."""
    departed: Departure | None = None
    """The first thing that the client did against the rules in this run; None while it did nothing."""
    expired: bool = False
    """Whether the server answered that it no longer has the session, which it may end at any time."""
    answer_over: bool = False
    """Whether the answer of the server over HTTP ended without a result, so that none can come any more."""
    progressed: int = 0
    """How many reports of progress came before it ended."""
    questions: dict[str, object] = field(default_factory=dict[str, object])
    """By name: what its server asks before it answers, in version 2026-07-28."""
    unclear_id: bool = False
    """Whether the id of its request is one by which no answer could be matched."""
    task: str | None = None
    """The id of the task that the server gave in place of a result, while the result has not been fetched."""
    returned_bytes: int | None = None
    """The size of the result or the error as JSON; None without an answer."""
    returned_text: str | None = None
    """The texts of the result, joined by line feeds, or the message of the error; None without an answer."""
    exchanges: tuple[int, ...] = ()
    """The numbers of all its round trips."""
    call_id: str | None = None
    """The id of the model's call; None where it has none, or while the run is not joined."""
    turn: int | None = None
    """The number of the round trip whose answer holds the model's call; None while the run is not joined."""
    joined: Joined | None = None
    """None: no call of the model was found for it."""
    by: str = ""
    """What joined it: the key that both wires have, or `name, arguments`; with `order` where only the order decides."""
    seen_by: int | None = None
    """The number of the round trip whose request shows the result to the model."""
    seen_text: str | None = None
    """The text of the result in that request; media are named in brackets."""
    seen_bytes: int | None = None
    seen_as: SeenAs | None = None
    """None while no request was seen that shows it."""
    seen_error: bool | None = None
    """Whether that request marks the result as an error."""
    seen_kept: tuple[int, int] | None = None
    """How many characters of the beginning and of the end are seen of a text that was cut."""
    seen_of: int | None = None
    """The number of the round trip of the run whose result is seen in the place of this one's (`other`)."""
    lost: tuple[Lost, ...] = ()
    """The kinds of content that were returned and are not in that request."""

    def small(self) -> "ToolRun":
        """The run as a row holds it: without large texts and results, whose sizes remain."""
        keeps = self.result is None or (self.returned_bytes or 0) <= KEPT
        texts = (self.returned_text, self.seen_text)
        if keeps and all(text is None or len(text) <= KEPT for text in texts):
            return self
        returned, seen = (None if text is None else text[:KEPT] for text in texts)
        return replace(self, result=self.result if keeps else None, returned_text=returned, seen_text=seen)

    @property
    def awaits(self) -> bool:
        """Whether the answer may still be recorded, as in the stream of the transport of 2024-11-05."""
        return self.outcome == "unanswered" and self.ended_by is None

    def as_json(self) -> dict[str, object]:
        """The run as a label and `show --json` have it."""
        return {
            "source": self.source,
            "index": self.index,
            "call_id": self.call_id,
            "server": self.server,
            "session": self.session,
            "name": self.name,
            "arguments": self.arguments,
            "outcome": self.outcome,
            "joined": self.joined,
            "by": self.by or None,
            "duration_ms": self.duration_ms,
            "is_error": self.is_error,
            "returned_bytes": self.returned_bytes,
            "seen_by": self.seen_by,
            "seen_bytes": self.seen_bytes,
            "seen_as": self.seen_as,
            "lost": list(self.lost),
        }
