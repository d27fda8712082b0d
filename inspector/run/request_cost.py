"""The pieces of a request (tools, system prompt, each message), and the cost of each over all turns that sent it.

An API reports the tokens of a whole request, not of its pieces. Here the API's total is divided in proportion to bytes.
Every view of these numbers says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ..wire.json_value import compact
from ..wire.printable import several
from ..wire.values import Message, Part, RequestReading
from .detail import Detail
from .row import Row
from .rows import Rows

SHARED_OUT = "the API's input tokens, divided in proportion to bytes"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request."""

    kind: str
    """`system`, `tools`, `tool`, `parameters`, or a message's role."""
    name: str
    pointer: str
    """JSON pointer into the request body; empty for a group."""
    size: int
    """Its bytes as compact JSON."""
    tokens: int | None
    """Its share of the input tokens; None when the API did not report them."""
    since: int
    """The turn of its thread that first sent it."""
    times: int
    """How many requests sent it, up to this one."""
    cost: Decimal | None
    """Its share of the input cost of these requests; None when none of them has a price."""
    pieces: tuple["Piece", ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """A request in pieces."""

    pieces: tuple[Piece, ...]
    """System, tools, then the messages in order."""
    size: int
    tokens: int | None
    window: int | None

    def of(self, kind: str) -> int:
        """The bytes of all pieces of that kind."""
        return sum(piece.size for piece in self.pieces if piece.kind == kind)


def size_of(value: object) -> int:
    """The bytes of a JSON value in its shortest form."""
    return len(compact(value).encode("utf-8", "surrogatepass"))


def context(detail: Detail, rows: Rows, place: int, window: int | None = None) -> Context:
    """The pieces of the request at `place`."""
    request, row = detail.reading.request, detail.row
    measured = list(_measured(request))
    whole = sum(size for *_, size, _ in measured) or 1
    total = row.usage.input
    shares = shared_out(total, [size for *_, size, _ in measured]) if total is not None else None
    sent = _requests(rows, place)
    pieces: list[Piece] = []
    for number, (kind, name, pointer, first, size, parts) in enumerate(measured):
        shown = sent[_first(sent, first) :] if first is not None else sent
        tokens = shares[number] if shares is not None else None
        pieces.append(
            Piece(
                kind,
                name,
                pointer,
                size,
                tokens,
                shown[0].turn or 1 if shown else 1,
                len(shown),
                _cost(shown, size),
                _inner(parts, tokens, size, shown),
            )
        )
    return Context(tuple(pieces), whole, total, window)


type _Part = tuple[str, str, str, int]
"""Kind, name, pointer, bytes."""


def _measured(request: RequestReading) -> Iterator[tuple[str, str, str, int | None, int, list[_Part]]]:
    """Kind, name, pointer, number of the message or None, bytes, and the parts of each piece."""
    if request.system:
        parts: list[_Part] = [
            ("text", _begins(part.text), part.pointer, size_of(part.raw if part.raw is not None else part.text))
            for part in request.system
        ]
        yield "system", "system", request.system[0].pointer, None, sum(p[3] for p in parts), parts
    if request.tools:
        parts = [
            (
                "tool",
                tool.name,
                tool.pointer,
                size_of({"name": tool.name, "description": tool.description, "parameters": tool.schema}),
            )
            for tool in request.tools
        ]
        yield "tools", several(len(parts), "tool"), "", None, sum(p[3] for p in parts), parts
    names = {part.call.id: part.call.name for m in request.messages for part in m.parts if part.call}
    for number, message in enumerate(request.messages):
        parts = [(part.kind, _name(part, names), part.pointer, size_of(_raw(part))) for part in message.parts]
        size = size_of(message.raw) if message.raw is not None else sum(p[3] for p in parts)
        yield _kind(message), _title(message, names), message.pointer, number, size, parts if len(parts) > 1 else []


def _raw(part: Part) -> object:
    return part.raw if part.raw is not None else part.text


def _kind(message: Message) -> str:
    """The role of a message; `tool` for tool results, whatever the API calls them."""
    return "tool" if message.parts and all(part.result is not None for part in message.parts) else message.role


def _title(message: Message, names: dict[str | None, str]) -> str:
    return ", ".join(dict.fromkeys(_name(part, names) for part in message.parts)) or "nothing"


def _name(part: Part, names: dict[str | None, str]) -> str:
    if part.call is not None:
        return f"call of {part.call.name}"
    if part.result is not None:
        return f"result of {part.result.name or names.get(part.result.call_id) or part.result.call_id or 'a call'}"
    return _begins(part.text) if part.text else part.kind


def _begins(text: str) -> str:
    return " ".join(text[:200].split())


def _requests(rows: Rows, place: int) -> list[Row]:
    """The requests of this thread up to this one, since its history was last changed."""
    row = rows.all[place]
    if row.thread is None:
        return [row]
    sent: list[Row] = []
    for at in rows.threads[row.thread]:
        if at > place:
            break
        one = rows.all[at]
        if one.history == "changed":
            sent.clear()
        sent.append(one)
    return sent


def _first(sent: Sequence[Row], number: int) -> int:
    """The first of these requests that has message `number`."""
    return next((at for at, row in enumerate(sent) if row.messages > number), len(sent) - 1)


def _cost(sent: Iterable[Row], size: int) -> Decimal | None:
    """The share of `size` bytes in the input cost of these requests."""
    priced = [(row.input_cost, row.request_bytes) for row in sent if row.input_cost is not None and row.request_bytes]
    if not priced:
        return None
    return sum((cost * min(size, whole) / whole for cost, whole in priced), Decimal(0))


def _inner(parts: list[_Part], tokens: int | None, size: int, sent: Sequence[Row]) -> tuple[Piece, ...]:
    if not parts:
        return ()
    shares = shared_out(tokens, [p[3] for p in parts]) if tokens is not None else None
    return tuple(
        Piece(
            kind,
            name,
            pointer,
            own,
            shares[at] if shares is not None else None,
            sent[0].turn or 1 if sent else 1,
            len(sent),
            _cost(sent, own),
        )
        for at, (kind, name, pointer, own) in enumerate(parts)
    )


def shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide `total` into integers in proportion to `sizes`; they add up to `total` (largest remainder method)."""
    whole = sum(sizes)
    if not whole:
        return [0] * len(sizes)
    exact = [total * size / whole for size in sizes]
    shares = [int(share) for share in exact]
    by_rest = sorted(range(len(sizes)), key=lambda at: exact[at] - shares[at], reverse=True)
    for at in by_rest[: total - sum(shares)]:
        shares[at] += 1
    return shares


def flat(pieces: Iterable[Piece]) -> Iterator[tuple[int, Piece]]:
    """All pieces with their depth."""
    for piece in pieces:
        yield 0, piece
        for inner in piece.pieces:
            yield 1, inner


@dataclass(frozen=True, slots=True)
class Share:
    """All pieces of a kind together."""

    kind: str
    size: int
    tokens: int | None
    count: int


def by_kind(request: RequestReading, total: int | None) -> list[Share]:
    """The pieces of a request by kind, without their history in other requests; `total` is its input tokens."""
    sums: dict[str, tuple[int, int]] = {}
    for kind, _, _, _, size, _ in _measured(request):
        held, number = sums.get(kind, (0, 0))
        sums[kind] = held + size, number + 1
    shares = shared_out(total, [held for held, _ in sums.values()]) if total is not None else [None] * len(sums)
    return [
        Share(kind, held, tokens, number) for (kind, (held, number)), tokens in zip(sums.items(), shares, strict=True)
    ]
