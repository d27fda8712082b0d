"""The prompts of a run, one after the other, as rows of nodes in a `PrefixTree`."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice

from turntape.cassettes.frozen import frozen, mutable

from ...analysis.turn import Turn
from ...wire.cache_rules import LIFETIMES, CacheRule, Level, Marks, Setting
from ...wire.caching import settings_of
from ...wire.json_value import as_object
from ...wire.per_message import PerMessage
from ...wire.shared_tuple import shared
from ...wire.values import CacheMark, Message, RequestReading
from .blocks import Block, head_blocks, message_blocks
from .prefix_tree import ROOT, PrefixTree

type Scope = tuple[object, ...]
"""What keeps caches apart: provider, model and rule."""
_THREADS = 8
"""Of so many threads the latest request is kept, so that what it shares with the next one is not read again."""
HELD = 24_000_000
"""Bytes of these requests that are kept beside the latest one."""


@frozen
class Mark:
    """A mark of a request."""

    position: int
    lifetime: float
    """Seconds."""


@frozen
class Prompt:
    """One request. It holds no texts."""

    place: int
    at: float
    """When it was sent."""
    ready: float
    """When its answer began: from then on, others can read what it writes."""
    scope: Scope
    nodes: Sequence[int]
    pointers: Sequence[str]
    marks: tuple[Mark, ...]
    settings: tuple[tuple[Setting, str], ...]
    """The fields beside the prompt on which the cache depends, as JSON."""
    keyed: bool
    """Whether it names a cache key."""
    implicit: bool
    """Whether the API keeps the whole prompt without a mark."""


@mutable
class _Latest:
    """The latest request of a thread."""

    key: object
    request: RequestReading
    messages: Sequence[Message]
    nodes: list[int]
    pointers: list[str]
    head: int
    """How many blocks are before the messages."""
    ends: list[int]
    """How many blocks there are up to the end of each message."""
    size: int
    """The bytes of its body."""


@mutable
class Prompts:
    """Makes the prompts of a run. What two requests of a thread share is read once."""

    tree: PrefixTree
    note: Callable[[int, Block], None] | None = None
    """Is called with each new node and its block."""
    _latest: OrderedDict[str, _Latest] = field(default_factory=OrderedDict[str, _Latest])
    _made: _Latest | None = None

    def add(self, turn: Turn, place: int, scope: Scope, rule: CacheRule) -> Prompt:
        """The prompt of a turn. `latest_blocks` then gives those of the one before it, until `keep` is called."""
        request = turn.reading.request
        settings = settings_of(request, rule)
        made = self._walk(turn, scope, settings)
        self._made = made
        implicit, asked = _implicit(request, rule)
        trip = turn.round_trip
        ready = trip.started_at + (trip.first_byte_at or 0) / 1_000_000
        marks = _marks(request.cache_marks, made.pointers, made.head, rule, asked)
        keyed = bool(request.parameters.get("prompt_cache_key"))
        return Prompt(place, trip.started_at, ready, scope, made.nodes, made.pointers, marks, settings, keyed, implicit)

    def latest_blocks(self, thread: str) -> list[Block]:
        """The blocks of the request before; empty when it is no longer at hand."""
        latest = self._latest.get(thread)
        if latest is None:
            return []
        return list(_all_blocks(latest.request, latest.messages))

    def made_blocks(self) -> list[Block]:
        """The blocks of the request that was made last."""
        return list(_all_blocks(self._made.request, self._made.messages)) if self._made is not None else []

    def keep(self, thread: str) -> None:
        """Hold the prompt that was made last as the latest one of its thread."""
        if self._made is not None:
            self._latest[thread] = self._made
            self._latest.move_to_end(thread)
            size = sum(one.size for one in self._latest.values())
            while len(self._latest) > _THREADS or (size > HELD and len(self._latest) > 1):
                size -= self._latest.popitem(last=False)[1].size

    def forget(self) -> None:
        """Let go of all requests: none follows."""
        self._latest.clear()
        self._made = None

    def _walk(self, turn: Turn, scope: Scope, settings: tuple[tuple[Setting, str], ...]) -> _Latest:
        request, messages = turn.reading.request, turn.conversation.messages
        latest = self._latest.get(turn.thread)
        key = (scope, settings)
        if latest is not None and request.previous_id is not None:
            return self._continued(latest, turn, messages, key)
        same_head = (
            latest is not None
            and latest.key == key
            and latest.request.tools == request.tools
            and latest.request.system == request.system
        )
        made = _Latest(key, request, messages, [], [], 0, [], len(turn.round_trip.request.body))
        kept = 0
        if latest is not None and same_head:
            kept = shared(latest.messages, messages)
            end = latest.ends[kept - 1] if kept else latest.head
            made.nodes, made.pointers = latest.nodes[:end], latest.pointers[:end]
            made.head, made.ends = latest.head, latest.ends[:kept]
        else:
            for block in head_blocks(request):
                self._put(made, block, scope, settings)
            made.head = len(made.nodes)
        for of_message in _blocks_of(messages, kept):
            for block in of_message:
                self._put(made, block, scope, settings)
            made.ends.append(len(made.nodes))
        return made

    def _continued(self, latest: _Latest, turn: Turn, messages: Sequence[Message], key: object) -> _Latest:
        """A request that names the answer before it: the API puts the history in front."""
        request, size = turn.reading.request, len(turn.round_trip.request.body)
        made = _Latest(key, request, messages, list(latest.nodes), list(latest.pointers), 0, [], size)
        held = Block("messages", "", str(request.previous_id), 0, echo=True, role="held")
        self._put(made, held, (), ())
        made.head = len(made.nodes)
        for message in messages:
            for block in message_blocks(message, "messages"):
                self._put(made, block, (), ())
            made.ends.append(len(made.nodes))
        return made

    def _put(self, made: _Latest, block: Block, scope: Scope, settings: tuple[tuple[Setting, str], ...]) -> None:
        parent = made.nodes[-1] if made.nodes else self.tree.child(ROOT, hash(scope), "tools", 0)
        before = self.tree.levels[parent] if made.nodes else None
        fresh = settings_between(settings, before, block.level)
        digest = hash((block.level, block.role, block.text, *fresh))
        known = len(self.tree.parents)
        made.nodes.append(
            self.tree.child(parent, digest, block.level, block.weight, echo=block.echo, thought=block.thought)
        )
        made.pointers.append(block.pointer)
        if self.note is not None and made.nodes[-1] >= known:
            self.note(made.nodes[-1], block)


_ORDER: dict[Level | None, int] = {None: -1, "tools": 0, "system": 1, "messages": 2}


def settings_between(settings: tuple[tuple[Setting, str], ...], before: Level | None, now: Level) -> tuple[str, ...]:
    """The settings that count from a block of one level on, behind a block of another one."""
    return tuple(value for one, value in settings if _ORDER[before] < _ORDER[one.level] <= _ORDER[now])


def _level(messages: Sequence[Message], number: int) -> Level:
    """System messages at the beginning are the system prompt."""
    return "system" if all(one.role == "system" for one in islice(messages, number + 1)) else "messages"


_of_message = PerMessage[Message, tuple[Block, ...]](lambda message: tuple(message_blocks(message, "messages")))


def _blocks_of(messages: Sequence[Message], kept: int) -> Iterator[Iterable[Block]]:
    """The blocks of each message from this one on."""
    each = _of_message.of(messages)
    for number in range(kept, len(messages)):
        level = _level(messages, number)
        yield each[number] if level == "messages" else message_blocks(messages[number], level)


def _all_blocks(request: RequestReading, messages: Sequence[Message]) -> Sequence[Block]:
    blocks = list(head_blocks(request))
    return blocks + [block for of_message in _blocks_of(messages, 0) for block in of_message]


def _implicit(request: RequestReading, rule: CacheRule) -> tuple[bool, str | None]:
    """Whether the API keeps the whole prompt, and the lifetime that the request asks for."""
    options = as_object(request.parameters.get("prompt_cache_options"))
    asked = options.get("ttl")
    implicit = isinstance(rule, Marks) and rule.implicit and options.get("mode") != "explicit"
    return implicit, asked if isinstance(asked, str) else None


def _marks(
    marks: Sequence[CacheMark], pointers: Sequence[str], head: int, rule: CacheRule, asked: str | None
) -> tuple[Mark, ...]:
    """The marks by position; those of pieces that are not in the prompt are left out. Messages begin at `head`."""
    if not marks or not isinstance(rule, Marks) or not pointers:
        return ()
    wanted = {mark.pointer: mark.lifetime for mark in marks}
    found = [Mark(at, _seconds(wanted[pointers[at]] or asked, rule)) for at in _positions(wanted, pointers, head)]
    if "" in wanted and (not found or found[-1].position != len(pointers) - 1):
        found.append(Mark(len(pointers) - 1, _seconds(wanted[""] or asked, rule)))
    return tuple(found)


def _positions(wanted: Collection[str], pointers: Sequence[str], head: int) -> list[int]:
    """Where the blocks of some pointers are. Marks are in the head and near the end: the middle is not looked at."""
    found = [at for at in range(head) if pointers[at] in wanted]
    missing = {*wanted}.difference({""}, (pointers[at] for at in found))
    behind: list[int] = []
    for at in range(len(pointers) - 1, head - 1, -1):
        if pointers[at] in wanted:
            behind.append(at)
            missing.discard(pointers[at])
        elif not missing:
            break
    return found + behind[::-1]


def _seconds(word: str | None, rule: Marks) -> float:
    return LIFETIMES.get(word or rule.default_lifetime, LIFETIMES[rule.default_lifetime])
