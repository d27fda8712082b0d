"""The prompt of each thread as a row of pieces, made again for each turn from what changed.

A message that the threads recognised as one of the previous request is not read again.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from turntape.cassettes.frozen import frozen, mutable

from ..analysis.turn import Turn
from ..wire.shared_tuple import in_both, shared
from ..wire.values import Emission, Message, Part, Tool, ToolCall
from .contents import Content, calls_by_id, kept_by_api, message_contents, system_contents, tool_contents
from .pieces import First, Pieces


@frozen
class Prompt:
    """The pieces of one request, and how they relate to those of the thread's previous request."""

    ids: "array[int]"
    same: int
    """How many pieces at the front that one had too."""
    echo: int
    """From `same` up to this one, the pieces are the last answer, sent back."""
    extended: bool
    """Whether it begins with the whole of that one."""
    same_head: bool
    """Whether tools and system prompt are the same."""
    verbatim: bool
    """Whether that answer has the same words as it was emitted with."""
    moved: dict[int, str]
    """The pointers of the pieces that are at another place than where they were first sent."""
    marks: tuple[int, ...]
    """For each mark for the cache, how many pieces are before its end."""


@mutable
class ThreadPrompt:
    """The latest prompt of a thread. Its messages are those that the threads hold too."""

    pieces: Pieces
    tools: tuple[Tool, ...] | None = None
    system: tuple[Part, ...] = ()
    head: list[Content] = field(default_factory=list[Content])
    instructions: list[bytes] = field(default_factory=list[bytes])
    """The digests of the system messages at the front of the messages."""
    held: list[Content] = field(default_factory=list[Content])
    """What the API keeps of the history, so that the request does not have it."""
    messages: Sequence[Message] = ()
    """None of them need be at hand: what the next request shares with them is not read again."""
    contents: list[list[Content]] = field(default_factory=list[list[Content]])
    """By message."""
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    counts: Counter[bytes] = field(default_factory=Counter[bytes])
    ids: "array[int]" = field(default_factory=lambda: array("l"))
    sizes: list[int] = field(default_factory=list[int])
    """How many pieces each message has."""
    marks: list[int] = field(default_factory=list[int])
    said: frozenset[bytes] = frozenset()
    """The digests of the last answer, without its reasoning."""
    answer: list[Content] = field(default_factory=list[Content])
    """The last answer."""

    def next(self, turn: Turn, place: int) -> Prompt:
        """The prompt of the thread's next turn."""
        request, messages = turn.reading.request, turn.conversation.messages
        first = self.tools is None
        same_head = not first and self.tools == request.tools and self.system == request.system
        if not same_head:
            self.tools, self.system = request.tools, request.system
            self.head = [*tool_contents(request.tools), *system_contents(request.system)]
        grown = request.previous_id is not None and self._hold(first, turn)
        kept = 0 if request.previous_id is not None else shared(self.messages, messages)
        self._read(messages, kept)
        self.messages = messages
        old, moved = self.ids, dict[int, str]()
        start = First(turn.thread, turn.number, place)
        if same_head and not grown:
            same = self._cut(kept)
        else:
            same = 0
            self.counts.clear()
            self.sizes, self.marks = [], []
            self.ids = array("l", self._numbers([*self.head, *self.held], start, moved, 0))
            kept = 0
        for contents in self.contents[kept:]:
            self.sizes.append(len(contents))
            self.ids.extend(self._numbers(contents, start, moved, len(self.ids)))
        same += _common(old[same:], self.ids[same:])
        echo = same
        while echo < len(self.ids) and self.pieces.contents[self.ids[echo]].echo:
            echo += 1
        verbatim = self._verbatim(self.ids[same:echo])
        same_head = self._same_instructions() and same_head
        return Prompt(
            self.ids, same, echo, not first and same == len(old), same_head, verbatim, moved, tuple(self.marks)
        )

    def _read(self, messages: Sequence[Message], kept: int) -> None:
        """Make the contents of the messages from this one on that the request before does not have."""
        old, place, count = in_both(self.messages, messages)
        if kept >= place or any(calls_by_id(messages[kept:place])):
            old = place = kept  # calls in front may name what comes behind them
            count = 0
        behind = place + count
        self.calls.update(calls_by_id(messages[behind:]))
        self.contents[kept:] = [
            *(list(message_contents(message, self.calls)) for message in messages[kept:place]),
            *self.contents[old : old + count],
            *(list(message_contents(message, self.calls)) for message in messages[behind:]),
        ]

    def answered(self, turn: int, emission: Emission | None) -> None:
        """Note the answer, which the API may keep for the next request."""
        parts = emission.content if emission else ()
        said = Message("assistant", tuple(replace(part, pointer="") for part in parts), "")
        made = list(message_contents(said, self.calls))
        self.said = frozenset(one.digest for one in made if one.kind != "reasoning")
        self.answer = [replace(one, digest=one.digest[:12] + turn.to_bytes(4, "big")) for one in made]
        if emission:
            self.calls.update((call.id, call) for call in emission.calls if call.id)

    def _hold(self, first: bool, turn: Turn) -> bool:
        """The API keeps the history: it has the previous request of the thread, and its answer. True if it grows."""
        if turn.attempt > 1 and not first:
            return False
        if first:
            self.held.append(kept_by_api(turn.reading.request.previous_id or ""))
        else:
            leading = len(self.instructions) if self.instructions else 0
            sent = [one for contents in self.contents for one in contents][leading:]
            self.held += [*(replace(one, pointer="") for one in sent), *self.answer]
            self.said = frozenset(one.digest for one in self.answer if one.kind != "reasoning")
        return True

    def _cut(self, kept: int) -> int:
        """Leave out the messages from this one on; returns how many pieces remain."""
        length = len(self.ids) - sum(self.sizes[kept:])
        for number in self.ids[length:]:
            self.counts[self.pieces.contents[number].digest] -= 1
        self.ids = self.ids[:length]
        self.marks = [mark for mark in self.marks if mark <= length]
        del self.sizes[kept:]
        return length

    def _verbatim(self, ids: "array[int]") -> bool:
        """Whether these pieces are the last answer."""
        sent = [self.pieces.contents[number] for number in ids]
        return bool(self.said) and self.said == frozenset(one.digest for one in sent if one.kind != "reasoning")

    def _same_instructions(self) -> bool:
        found: list[bytes] = []
        for message, contents in zip(self.messages, self.contents, strict=True):
            if message.role != "system":
                break
            found += (one.digest for one in contents)
        same, self.instructions = found == self.instructions, found
        return same

    def _numbers(self, contents: Sequence[Content], start: First, moved: dict[int, str], offset: int) -> Iterator[int]:
        for at, one in enumerate(contents, offset):
            occurrence = self.counts[one.digest]
            self.counts[one.digest] += 1
            number = self.pieces.number(start, one, occurrence)
            if self.pieces.contents[number].pointer != one.pointer:
                moved[at] = one.pointer
            if one.marked:
                self.marks.append(at + 1)
            yield number


def _common(before: "array[int]", now: "array[int]") -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(before), len(now)))
