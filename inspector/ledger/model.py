"""What each piece of a run's prompts is, and what it costs: the values of the ledger.

Tokens are integers, money is US dollars as `Decimal`. `None` is "not known", never 0. In one turn the tokens of the
pieces add up to the input that the API counted, and their dollars to the input's part of the bill.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from decimal import Decimal
from functools import cached_property
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable

type Certainty = Literal["exact", "bounded", "estimated"]
"""`exact`: the API's own counts leave no choice. `bounded`: they leave a range, which is small. `estimated`: they leave
so much that the figure is mostly a share by bytes; `low` and `high` are still true."""

type PieceKind = Literal["system", "tool", "user", "assistant", "call", "result", "media", "reasoning", "other"]
"""`tool` is a definition. `other` has no place in the request: text that the API adds, history that it keeps."""

type Expectation = Literal["expected", "possible", "unknown"]
"""What a cache's rules say of a read. `expected`: the provider keeps what they say. `possible`: it may, and promises
nothing. `unknown`: the tape does not show what the cache held, or nothing is known of the cache."""

type GroupKey = Literal["kind", "tool", "definition", "server", "thread", "subagent"]


@frozen
class Figure:
    """A number of tokens, and how sure it is."""

    value: int
    low: int
    high: int
    certainty: Certainty

    @classmethod
    def exact(cls, value: int) -> "Figure":
        """A number that the API's counts leave no choice about."""
        return cls(value, value, value, "exact")


@mutable(kw_only=True)
class Piece:
    """One content in the prompts of a thread. The same content that is sent again is the same piece."""

    id: int
    kind: PieceKind
    name: str
    """Words for a person: `result of bash pytest -q`, `read_file (definition)`, `system prompt`."""
    tool: str | None = None
    """The tool's name, for a definition, a call and a result."""
    server: str | None = None
    """The MCP server of the tool, where the tool wire or the tool's name says it."""
    thread: str | None = None
    place: int = 0
    """The place of the row whose request first had it."""
    turn: int | None = None
    pointer: str = ""
    """JSON pointer into that request; empty for `other`."""
    size: int = 0
    """Its bytes as compact JSON; of media, of what describes them."""
    tokens: Figure | None = None
    """In the latest request that has it; None when the API counted no input."""
    first_tokens: Figure | None = None
    """In the first one; another number only where tools, system prompt or model changed since."""
    sent: int = 0
    """How many requests had it."""
    read: int = 0
    """In how many of them some of it was read from the cache."""
    written: int = 0
    """In how many of them some of it was written to the cache."""
    tokens_sent: int = 0
    """Its tokens over all requests."""
    cost: Decimal | None = None
    """Its part of the bill over all requests; None when none of them has a price."""
    never_called: bool = False
    """True for the definition of a tool that the model never called in this run."""


@frozen
class Use:
    """A piece in one request."""

    piece: Piece
    pointer: str
    """JSON pointer into this request."""
    tokens: Figure | None
    read: int
    """How many of its tokens were read from the cache. `read`, `written` and `fresh` add up to the tokens."""
    written: int
    written_1h: int
    """The part of `written` that is kept for an hour."""
    fresh: int
    cost: Decimal | None


@frozen
class KindShare:
    """The pieces of one kind in one request."""

    kind: PieceKind
    pieces: int
    size: int
    """Their bytes as compact JSON."""
    tokens: int | None
    cost: Decimal | None


@frozen(kw_only=True)
class Miss:
    """Tokens that the cache could have given and did not."""

    cause: str
    """`changed-tools`, `changed-system`, `changed-history`, `moved-breakpoint`, `expired`, `unexplained`, and the
    others of `wire/cache_rules.py`."""
    message: str
    at: str = ""
    """JSON pointer to the first difference in this request."""
    first_byte: int | None = None
    tokens: int = 0
    price: Decimal | None = None
    because_of: int | None = None
    """The place of the turn that it is to be compared with."""

    @property
    def is_promised(self) -> bool:
        """False when the prefix was unchanged and the provider does not promise to read it: nobody can change that."""
        return self.cause != "not-promised"


@frozen(kw_only=True)
class CacheEntry:
    """What the provider's rules would read and write, beside what happened; in tokens."""

    rule: str
    """The name of the rule: `marks`, `grid of 128`, `units`, `none promised`, `unknown`."""
    expected: Expectation
    read: Figure | None
    written: Figure | None
    actual_read: int | None
    actual_written: int | None
    read_less: int | None = None
    """Where a grid rules: what is read if the earlier request was kept without its answer, as the rules allow too.
    None where that is the same."""
    miss: Miss | None = None


@frozen(kw_only=True, slots=False)
class TurnEntry:
    """One turn: what it added, and what it cost."""

    place: int
    """The place of its row."""
    thread: str
    turn: int
    attempt: int
    input: int | None
    added: Figure | None
    """What its request has more than the previous one of the thread, in tokens; negative when the client removed more
    than it added. None without that, and without counts."""
    input_cost: Decimal | None
    output_cost: Decimal | None
    cost: Decimal | None
    unpriced: bool = False
    """Whether its cost is not known, or not known as a whole. What failed before anything was counted or answered
    costs nothing."""
    output: int | None = None
    new: int = 0
    """The number of the first use that the previous request of the thread did not have."""
    make: Callable[[], Sequence[Use]] = field(default=tuple, repr=False, compare=False)
    """Makes the uses."""
    make_kinds: Callable[[], Sequence[KindShare]] = field(default=tuple, repr=False, compare=False)
    cache: CacheEntry | None = None
    """What the rules of the API's cache expect, beside what happened; None where no rule is known."""

    @cached_property
    def uses(self) -> Sequence[Use]:
        """The pieces of the request in the order of the prompt; made when they are first asked for."""
        return self.make()

    @cached_property
    def kinds(self) -> Sequence[KindShare]:
        """The pieces by kind, in the order in which they first come; much cheaper than `uses`."""
        return self.make_kinds()


@frozen
class Group:
    """Pieces that belong together, summed up over the run."""

    name: str
    pieces: int
    size: int
    """The bytes of its pieces, each once."""
    tokens_sent: int
    """The input tokens over all requests."""
    output: int
    """The output tokens, where the group has answers."""
    cost: Decimal | None
    """Dollars of input and output; None when no turn of it has a price."""
    never_called: bool = False
    """True when it is the definition of a tool that was never called."""
    counted: bool = False
    """True when the tokens of at least one of its pieces are known, even if they are 0."""


@frozen
class OtherRequest:
    """A request outside generation whose answer counts something: embeddings, pictures, speech."""

    place: int
    """The place of its row."""
    kind: str
    """What its endpoint is for: `embeddings`, `rerank`, `audio`, `images`."""
    input: int | None
    output: int | None
    cost: Decimal | None
    whole: bool = True
    """False when a fee without a known price is not in its cost."""

    @property
    def unpriced(self) -> bool:
        """Whether its cost is not known, or not known as a whole."""
        return self.cost is None or not self.whole


@frozen(kw_only=True, slots=False)
class Ledger:
    """What every piece of a run cost."""

    turns: Sequence[TurnEntry]
    pieces: Sequence[Piece]
    total: Decimal | None
    """The bill of all requests that have a price; None when none has."""
    unpriced: int
    """How many requests have a cost that is not known, or not known as a whole."""
    others: Sequence[OtherRequest] = ()
    """Requests outside generation that are in the bill. Their tokens are in no piece."""
    grouped: dict[GroupKey, list[Group]] = field(default_factory=dict[GroupKey, list[Group]], repr=False)

    @cached_property
    def _places(self) -> dict[int, TurnEntry]:
        return {turn.place: turn for turn in self.turns}

    @property
    def beside(self) -> Decimal | None:
        """What the requests outside generation cost; None when none of them has a price."""
        known = [one.cost for one in self.others if one.cost is not None]
        return sum(known, Decimal(0)) if known else None

    def at(self, place: int) -> TurnEntry | None:
        """The turn of the row at `place`; None for a row that is not a turn."""
        return self._places.get(place)

    def ranked(self) -> list[Piece]:
        """The pieces, the dearest first: by dollars, then by tokens over all requests, then by size."""
        return sorted(
            self.pieces,
            key=lambda piece: (piece.cost or Decimal(0), piece.tokens_sent, piece.sent * piece.size),
            reverse=True,
        )

    def groups(self, by: GroupKey) -> list[Group]:
        """The pieces in groups, the dearest first."""
        return self.grouped.get(by, [])
