"""An index of the turns so far, to find the thread that a new request continues.

Every lookup takes constant time: its cost does not grow with the run.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterator

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip, split_url

from ..wire.exchange import Exchange
from ..wire.json_value import is_array, is_object
from ..wire.values import Emission, Reading
from .conversation import Conversation, meanings_emitted
from .identity import Identity
from .remembered_text import RememberedText, remembered
from .turn import Turn

OPEN_CALLS = 64
"""How many of the latest call arguments of a run are searched for the task of a subagent."""
ANSWERS = 64
"""How many of the latest answers of a run are searched for the text that a compacted history begins with."""
DISTINCTIVE = 24
"""A text of at least this many characters is very unlikely to occur twice."""
TASKS_IN_CALL = 16
"""At most this many texts of one call are kept as possible tasks."""
RECENT_THREADS = 8
"""A new request is compared with the conversations of this many threads of its scope, to read only what is new."""

type Scope = tuple[str | None, str | None, str | None]
"""A run, and the session and agent that a request names, if it does."""
type Address = tuple[str | None, str, str]
"""A run, and the host and path of a URL."""
type Place = tuple[str, int]
"""A thread, and the number of a round trip in it."""
type Quote = tuple[str, int, RememberedText]
"""A thread, the number of a round trip in it, and a text from its answer."""


@frozen
class NewRequest:
    """A request whose thread is not known yet."""

    round_trip: RoundTrip
    reading: Reading
    conversation: Conversation
    body: bytes
    """Its length and hash: equal for equal bodies within one process."""
    identity: Identity

    @property
    def run(self) -> str | None:
        """The run that it belongs to."""
        return self.round_trip.run

    @property
    def named_run(self) -> str | None:
        """As `run`, where a client gave the name. A conversation may have turns of several traces."""
        return named_run(self.round_trip, self.identity)

    @property
    def scope(self) -> Scope:
        """Whose request it is."""
        return scope_of(self.round_trip, self.identity)

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that it offers."""
        return frozenset(tool.name for tool in self.reading.request.tools)

    @property
    def has_answer(self) -> bool:
        """Whether its history has an answer of the model: the same first message alone proves nothing."""
        return has_answer(self.reading)


def has_answer(reading: Reading) -> bool:
    """Whether the history of a request has an answer of the model, or names parts of one."""
    request = reading.request
    return any(message.role == "assistant" for message in request.messages) or bool(request.item_ids)


def named_run(round_trip: RoundTrip, identity: Identity) -> str | None:
    """The run of a request; None for one that is named by the request's trace alone."""
    return None if round_trip.run is not None and round_trip.run == identity.trace else round_trip.run


def scope_of(round_trip: RoundTrip, identity: Identity) -> Scope:
    """Whose request it is."""
    return named_run(round_trip, identity), identity.session, identity.agent


def address_of(round_trip: RoundTrip) -> Address:
    """Where it was sent, whether over HTTP or over WebSocket."""
    url = split_url(round_trip.request.url)
    return round_trip.run, url.netloc, url.path


class ThreadIndex:
    """The last turn of each thread, and the ways to find a thread."""

    def __init__(self) -> None:
        self.last: dict[str, Turn] = {}
        """The last turn of each thread."""
        self.main: dict[str | None, tuple[str, str | None]] = {}
        """The first thread with tools of each run, and the model that it requested."""
        self.by_history: defaultdict[tuple[Scope, int], list[str]] = defaultdict(list)
        """Threads by the hash of the whole conversation of their last request."""
        self.by_any_history: dict[tuple[Scope, int], tuple[Place, int]] = {}
        """The first request with that conversation, by its hash: where a fork may begin; and a hash of its tools."""
        self.by_answer_id: dict[tuple[str | None, str], Place] = {}
        """The place of each answer, by its id."""
        self.by_call_id: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
        """Threads that emitted a call with that id, the latest last."""
        self.by_item_id: dict[tuple[str | None, str], Place] = {}
        """The place of each part of an answer that a request can name, by its id."""
        self.by_emitted: dict[tuple[Scope, int], str] = {}
        """Threads by the meaning of something that they emitted: a call, or a text that is distinctive."""
        self.failed: dict[tuple[Scope, int], str] = {}
        """Threads whose last turn failed, by the hash of its conversation."""
        self.refused: dict[Address, str] = {}
        """Threads whose last turn is a WebSocket handshake that failed, and after which nothing else was sent there."""
        self.tasks: defaultdict[str | None, deque[Quote]] = defaultdict(lambda: deque(maxlen=OPEN_CALLS))
        """Texts in the arguments of a run's calls: the first message of a subagent repeats one."""
        self.answers: defaultdict[str | None, deque[Quote]] = defaultdict(lambda: deque(maxlen=ANSWERS))
        """Texts of a run's answers: a compacted history repeats one."""
        self._waiting: defaultdict[Scope, Counter[int]] = defaultdict(Counter)
        """How many conversations in `by_history` have so many pieces."""
        self._lengths: defaultdict[Scope, list[int]] = defaultdict(list)
        """How many pieces the conversations in `by_any_history` have, each number once, in order."""
        self._recent: defaultdict[Scope, dict[str, None]] = defaultdict(dict)
        """The threads of a scope, the latest last."""

    def conversations(self, scope: Scope) -> Iterator[Conversation]:
        """The last conversations of the scope's latest threads, the latest first, without those that are put aside."""
        turns = (self.last[thread] for thread in reversed(self._recent[scope]))
        return (turn.conversation for turn in turns if turn.seen.in_memory)

    def waiting_lengths(self, scope: Scope, most: int) -> list[int]:
        """How many pieces the scope's conversations in `by_history` have: not more than `most`, the longest first."""
        return sorted((length for length in self._waiting[scope] if length <= most), reverse=True)

    def lengths(self, scope: Scope, most: int) -> Iterator[int]:
        """As `waiting_lengths`, for the conversations in `by_any_history`."""
        lengths = self._lengths[scope]
        return (lengths[place] for place in range(bisect_right(lengths, most) - 1, -1, -1))

    def main_turn(self, run: str | None) -> Turn | None:
        """The last turn of a run's main thread."""
        main = self.main.get(run)
        return self.last[main[0]] if main else None

    def remember(self, turn: Turn) -> None:
        """Add a turn whose thread is known."""
        run, scope = turn.round_trip.run, scope_of(turn.round_trip, turn.identity)
        self.refused.pop(address_of(turn.round_trip), None)
        if Exchange(turn.round_trip).failed_handshake:
            self.refused[address_of(turn.round_trip)] = turn.thread
        self._forget_history(turn.thread)
        self.last[turn.thread] = turn
        recent = self._recent[scope]
        recent.pop(turn.thread, None)
        recent[turn.thread] = None
        if len(recent) > RECENT_THREADS:
            del recent[next(iter(recent))]
        if run not in self.main and turn.reading.request.tools:
            self.main[run] = (turn.thread, turn.reading.request.model)
        if turn.conversation.units:
            key = (scope, turn.conversation.prefixes[-1])
            if turn.failed:
                self.failed[key] = turn.thread
            self.by_history[key].append(turn.thread)
            length = len(turn.conversation.units)
            self._waiting[scope][length] += 1
            if key not in self.by_any_history:
                self.by_any_history[key] = ((turn.thread, turn.round_trip.index), hash(turn.tools))
                place = bisect_left(lengths := self._lengths[scope], length)
                if lengths[place : place + 1] != [length]:
                    lengths.insert(place, length)
        for name in turn.reading.answer_ids:
            self.by_answer_id[(scope[0], name)] = (turn.thread, turn.round_trip.index)
        if turn.reading.emission is not None:
            self._remember_emission(turn, turn.reading.emission, scope)

    def _forget_history(self, thread: str) -> None:
        """Drop the conversation of the thread's last request, because another one follows."""
        before = self.last.get(thread)
        if before is not None and before.conversation.units:
            scope = scope_of(before.round_trip, before.identity)
            waiting = self.by_history.get((scope, before.conversation.prefixes[-1]))
            if waiting and thread in waiting:
                waiting.remove(thread)
                lengths, length = self._waiting[scope], len(before.conversation.units)
                lengths[length] -= 1
                if not lengths[length]:
                    del lengths[length]

    def _remember_emission(self, turn: Turn, emission: Emission, scope: Scope) -> None:
        run, thread, index = turn.round_trip.run, turn.thread, turn.round_trip.index
        named = (part.item_id for part in emission.content if part.item_id is not None)
        self.by_item_id.update(dict.fromkeys(((scope[0], item_id) for item_id in named), (thread, index)))
        for call in emission.calls:
            if call.id and thread not in (known := self.by_call_id[(scope[0], call.id)]):
                known.append(thread)
            self.tasks[run].extend((thread, index, remembered(text)) for text in long_texts(call.arguments))
        if emission.calls or len(emission.text) >= DISTINCTIVE:
            self.by_emitted.update(dict.fromkeys(((scope, one) for one in meanings_emitted(emission)), thread))
        text = emission.text.strip()
        if len(text) >= 2 * DISTINCTIVE and not emission.calls:
            self.answers[run].append((thread, index, remembered(text)))


def long_texts(arguments: object) -> list[str]:
    """The texts in a call's arguments that are long enough to be a task."""
    found: list[str] = []
    waiting = [arguments]
    while waiting and len(found) < TASKS_IN_CALL:
        value = waiting.pop()
        if isinstance(value, str):
            if len(value.strip()) >= DISTINCTIVE:
                found.append(value.strip())
        elif is_object(value):
            waiting.extend(value.values())
        elif is_array(value):
            waiting.extend(value)
    return found
