"""An agent loop as data, and the round trips that it leaves on a tape.

A `Step` is one round trip. Its fields are grouped by the layer that decides them, in the order in which they meet
the wire: what the client asks, what the model emits, what the API makes of it, what the client does next. A fault
edits the fields of one layer; everything later follows, since history, token counts and cache reads are
worked out when the loop is recorded.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from turntape.cassettes.tape.model import Chunk, Failure, Request, Response, RoundTrip

from .dialects import Dialect
from .dialects.dialect import compact
from .pieces import (
    Answer,
    Ask,
    Block,
    Call,
    Event,
    Failed,
    Json,
    Message,
    Refusal,
    Result,
    Text,
    Thinking,
    Tokens,
    Tool,
)

START = 1_780_000_000.0
MINIMUM_CACHE = 1024

type Rewrite = Callable[[list[Message]], list[Message]]


@dataclass(slots=True)
class Step:
    blocks: tuple[Block, ...] = ()
    """What the model emits."""

    # The client, before
    gap: float = 0.9
    """Seconds after the end of the step before; negative when it does not wait for it."""
    rewrite: Rewrite | None = None
    """A change of the history, for this request and all later ones."""
    ask: Json = field(default_factory=dict[str, Any])
    """Fields of `Ask` that are other than the loop's, for this request alone."""
    edit_request: tuple[Callable[[Json], None], ...] = ()
    spelling: Callable[[Json], bytes] | None = None
    request_headers: tuple[tuple[str, str], ...] = ()
    hangs_up: float | None = None
    """The client closes the connection after this share of the answer."""

    # The API
    passes: Callable[[tuple[Block, ...]], tuple[Block, ...]] | None = None
    """What it lets through of what was emitted."""
    finish: str | None = None
    detail: Json = field(default_factory=dict[str, Any])
    cut_call: bool = False
    served: str | None = None
    spent: Callable[[Tokens], Tokens | None] | None = None
    edit_answer: tuple[Callable[[Json], None], ...] = ()
    edit_events: tuple[Callable[[list[Event]], list[Event]], ...] = ()
    edit_pieces: tuple[Callable[[list[bytes]], list[bytes]], ...] = ()
    edit_headers: tuple[tuple[str, str], ...] = ()
    cut: float | None = None
    """The server closes after this share of the answer."""
    stall: tuple[float, float, int] | None = None
    """After which share of the events, for how many seconds, with how many keepalives."""
    failed: Failed | None = None
    failed_inside: Failed | None = None
    """An error in the middle of a stream that began well."""
    duration: float = 2.4

    # The client, after
    keeps: bool | None = None
    """Whether the answer goes into the history; by default when it is whole."""
    results: tuple[Block, ...] = ()
    says: str | None = None
    """What the user says after the answer."""

    @property
    def delivered(self) -> tuple[Block, ...]:
        return self.passes(self.blocks) if self.passes else self.blocks

    @property
    def calls(self) -> list[Call]:
        return [block for block in self.delivered if isinstance(block, Call)]

    @property
    def broken(self) -> bool:
        return bool(self.failed or self.failed_inside or self.cut is not None or self.hangs_up is not None)


BEFORE = ("gap", "rewrite", "ask", "edit_request", "spelling", "request_headers", "hangs_up")
API = (
    "passes",
    "finish", "detail", "cut_call", "served", "spent", "edit_answer", "edit_events", "edit_pieces", "edit_headers",
    "cut", "stall", "failed", "failed_inside", "duration",
)  # fmt: skip
AFTER = ("keeps", "results", "says")
LAYERS = (("client", BEFORE), ("model", ("blocks",)), ("api", API), ("client", AFTER))
"""The layers of a step in the order in which they meet the wire."""


@dataclass(slots=True)
class Loop:
    dialect: Dialect
    streamed: bool
    system: str
    tools: tuple[Tool, ...]
    opening: list[Message]
    """The history of the first request."""
    steps: list[Step]
    model: str = ""
    served: str | None = None
    name: str = "main"
    parameters: Json = field(default_factory=dict[str, Any])
    max_output: int | None = None
    tool_choice: str | None = None
    parallel: bool | None = None
    begins: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()
    socket: str = "127.0.0.1:52114"
    others: "list[Loop]" = field(default_factory=list["Loop"])
    """Threads that run beside this one."""
    run: str | None = None
    base_url: str | None = None
    """Another place that speaks the same API, up to the version in the path."""
    upstream: str | None = None

    def copy(self) -> "Loop":
        return replace(
            self,
            opening=list(self.opening),
            steps=[replace(step, ask=dict(step.ask), detail=dict(step.detail)) for step in self.steps],
            parameters=dict(self.parameters),
            others=[other.copy() for other in self.others],
        )

    def from_step(self, place: int, **ask: Any) -> None:
        """Ask otherwise from a step on."""
        for step in self.steps[place:]:
            step.ask |= ask


@dataclass(frozen=True, slots=True)
class Recording:
    trips: list[RoundTrip]
    places: list[int]
    """The number of the round trip of each step of the main loop."""


def record(loop: Loop) -> Recording:
    """The round trips of a loop and the threads beside it, numbered as they end."""
    own = list(_play(loop))
    beside = [trip for other in loop.others for trip in record(other).trips]
    ordered = sorted([*own, *beside], key=lambda trip: trip.started_at + (trip.ended_at or 0) / 1e6)
    numbers = {id(trip): place for place, trip in enumerate(ordered)}
    trips = [replace(trip, index=place) for place, trip in enumerate(ordered)]
    return Recording(trips, [numbers[id(trip)] for trip in own])


def asks(loop: Loop) -> list[Ask]:
    """What each step asks."""
    history = list(loop.opening)
    made: list[Ask] = []
    previous, held = None, 0
    for place, step in enumerate(loop.steps):
        if step.rewrite:
            history = step.rewrite(list(history))
        ask = Ask(
            model=loop.model or loop.dialect.model,
            system=loop.system,
            tools=loop.tools,
            messages=list(history),
            streamed=loop.streamed,
            parameters=loop.parameters,
            max_output=loop.max_output,
            tool_choice=loop.tool_choice,
            parallel=loop.parallel,
            previous=previous if loop.dialect.stateful else None,
            held=held if loop.dialect.stateful else 0,
        )
        made.append(replace(ask, **step.ask))
        if (not step.broken) if step.keeps is None else step.keeps:
            history.append(Message("assistant", step.delivered))
            previous, held = identity(loop, place), len(history)
        if step.results:
            history.append(Message("results", step.results))
        if step.says:
            history.append(Message("user", (Text(step.says),)))
    return made


def identity(loop: Loop, place: int) -> str:
    """The id of a step's answer."""
    return loop.dialect.answer_id(f"{loop.dialect.name}/{loop.name}/{place}")


def _play(loop: Loop) -> Iterable[RoundTrip]:
    warm: list[tuple[str, str]] = []
    clock = START + loop.begins
    for place, (step, ask) in enumerate(zip(loop.steps, asks(loop), strict=True)):
        clock += step.gap if place else 0.0
        trip = _trip(loop, step, ask, place, clock, warm)
        clock += (trip.ended_at or 0) / 1e6
        yield trip


def _trip(loop: Loop, step: Step, ask: Ask, place: int, clock: float, warm: list[tuple[str, str]]) -> RoundTrip:
    dialect = loop.dialect
    body = dialect.body(ask)
    whole_ask = replace(ask, held=0, previous=None)
    whole_body = dialect.body(whole_ask)
    for edit in step.edit_request:
        edit(body)
        if not dialect.stateful:
            edit(whole_body)
    prompt = dialect.prompt(whole_ask, whole_body)
    sent = step.spelling(body) if step.spelling else compact(body).encode()
    seed = f"{dialect.name}/{loop.name}/{place}"
    request = Request(
        "POST",
        _moved(dialect.url(ask), loop.base_url),
        (
            ("content-type", "application/json"),
            ("user-agent", dialect.agent),
            *dialect.request_headers(ask),
            *loop.headers,
            *step.request_headers,
        ),
        sent,
    )
    tokens = _tokens(dialect, ask, step, prompt, warm)
    finish = step.finish or _finish(step)
    answer = Answer(
        id=identity(loop, place),
        model=step.served or loop.served or (dialect.served if ask.model == dialect.model else ask.model) or "",
        blocks=step.delivered,
        finish=finish,
        tokens=step.spent(tokens) if step.spent else tokens,
        detail=step.detail,
        cut_call=step.cut_call,
    )
    response, closed = _response(dialect, step, ask, answer, seed)
    if not step.failed:
        warm.append((ask.model, "".join(prompt)))
    ended = response.chunks[-1].at + 2_000 if response.chunks else int(step.duration * 1e6)
    failure = None
    if closed == "server":
        failure = Failure("cut", "the upstream closed the connection before the end of the answer")
    elif closed == "client":
        failure = Failure("client_gone", "the client closed the connection")
    return RoundTrip(
        request=request,
        response=response,
        started_at=clock,
        run=loop.run,
        request_at=900,
        first_byte_at=response.chunks[0].at - 500 if response.chunks else 200_000,
        ended_at=ended,
        closed_first=closed,
        failure=failure,
        route="base_url",
        upstream=loop.upstream or dialect.upstream,
        client=loop.socket,
    )


def _moved(url: str, base: str | None) -> str:
    return url if base is None else base + url.partition("/v1")[2]


def _finish(step: Step) -> str:
    if any(isinstance(block, Refusal) for block in step.delivered):
        return "refusal"
    return "calls" if step.calls else "stop"


def _tokens(dialect: Dialect, ask: Ask, step: Step, prompt: list[str], warm: list[tuple[str, str]]) -> Tokens:
    """Counts that fit the bytes: four to a token, and a cache that knows the prompts sent before."""
    full = "".join(prompt)
    total = len(full) // 4
    known = [earlier for model, earlier in warm if model == ask.model]
    cached, written = _cached(dialect, ask, prompt, known, total)
    thought = sum(len(b.text) for b in step.delivered if isinstance(b, Thinking)) // 4 if dialect.thinks else 0
    said = sum(len(b.text) for b in step.delivered if isinstance(b, Text | Refusal)) // 4
    called = sum(len(call.arguments) + len(call.name) + 40 for call in step.calls) // 4
    return Tokens(total, cached, written, thought + said + called + 3, thought)


def _cached(dialect: Dialect, ask: Ask, prompt: list[str], known: list[str], total: int) -> tuple[int, int]:
    """Tokens that were read from the cache and written to it."""
    full = "".join(prompt)
    if not dialect.caches:
        return 0, 0
    if not dialect.flags_errors or dialect.protocol == "gemini-generate":
        common = max((_common(full, earlier) for earlier in known), default=0)
        return _worth_caching(common // 4 // 64 * 64), 0
    if not ask.parameters.get("cache", True):
        return 0, 0
    # Caches on request hold what ended at a mark.
    ends = [len(earlier) for earlier in known if full.startswith(earlier)]
    if any(earlier.startswith(prompt[0]) for earlier in known):
        ends.append(len(prompt[0]))
    cached = _worth_caching(max(ends, default=0) // 4)
    return cached, max(0, total - cached - 5)


def _worth_caching(tokens: int) -> int:
    return tokens if tokens >= MINIMUM_CACHE else 0


def _common(a: str, b: str) -> int:
    if b.startswith(a) or a.startswith(b):
        return min(len(a), len(b))
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _response(dialect: Dialect, step: Step, ask: Ask, answer: Answer, seed: str) -> tuple[Response, Any]:
    headers = dialect.answer_headers(seed)
    if step.failed:
        return _refusal(dialect, step.failed, headers, step.duration), None
    if not ask.streamed:
        body = dialect.whole(ask, answer)
        for edit in step.edit_answer:
            edit(body)
        pieces = [dialect.written(body)]
        kind = "application/json"
    else:
        events = dialect.events(ask, answer)
        for change in step.edit_events:
            events = change(events)
        last = len(events) - 1
        pieces = [dialect.framed(event, place, place == last) for place, event in enumerate(events)]
        kind = dialect.stream_type
    closed = None
    if step.failed_inside:
        event = dialect.error_event(step.failed_inside)
        framed = event if isinstance(event, bytes) else dialect.framed(event)
        pieces = [*pieces[: max(2, len(pieces) // 2)], framed]
    share = step.cut if step.cut is not None else step.hangs_up
    if share is not None:
        closed = "server" if step.cut is not None else "client"
        keep = int(len(pieces[0]) * share)
        pieces = pieces[: max(1, int(len(pieces) * share))] if ask.streamed else [pieces[0][:keep]]
    for change_pieces in step.edit_pieces:
        pieces = change_pieces(pieces)
    replaced = {name for name, _ in step.edit_headers}
    headers = tuple(h for h in (("content-type", kind), *headers) if h[0] not in replaced) + step.edit_headers
    timed = _timed(dialect, step, pieces)
    chunks = tuple(Chunk(len(piece), at) for piece, at in timed if piece)
    return Response(200, "OK", headers, b"".join(piece for piece, _ in timed), chunks), closed


def _timed(dialect: Dialect, step: Step, pieces: list[bytes]) -> list[tuple[bytes, int]]:
    """Pieces spread over the step's duration; where it stalls a pause, in which keepalives come."""
    first = int(step.duration * 0.35e6)
    pace = int(step.duration * 0.65e6) // max(1, len(pieces))
    timed = [(piece, first + place * pace) for place, piece in enumerate(pieces)]
    if not step.stall:
        return timed
    share, seconds, keepalives = step.stall
    place, pause = int(len(pieces) * share), int(seconds * 1e6)
    begun = timed[place][1]
    alive = [(dialect.keepalive(), begun + pause * (i + 1) // (keepalives + 1)) for i in range(keepalives)]
    return [*timed[:place], *alive, *((piece, at + pause) for piece, at in timed[place:])]


def _refusal(dialect: Dialect, failed: Failed, headers: tuple[tuple[str, str], ...], duration: float) -> Response:
    body = failed.body if failed.body is not None else dialect.failed(failed)
    data = dialect.written(body)
    kind: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    if dialect.upstream == "bedrock":
        kind = (*kind, ("x-amzn-errortype", f"{dialect.kind(failed)}:http://internal.amazon.com/coral/"))
    reasons = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests",
               500: "Internal Server Error", 503: "Service Unavailable"}  # fmt: skip
    at = int(min(duration, 0.4) * 1e6)
    return Response(
        failed.status, reasons.get(failed.status, ""), (*kind, *headers, *failed.headers), data, (Chunk(len(data), at),)
    )


def results_of(message: Message) -> list[Result]:
    return [block for block in message.blocks if isinstance(block, Result)]
