"""A page: blocks of lines that fold, made without a terminal and laid out for a width.

A body is made when it is seen for the first time, and a long text is cut into lines one by one as they are shown,
so that twenty megabytes open as fast as two lines.
"""

import json
import re
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast, overload, override

import orjson

from ....wire.json_value import is_array, is_object
from ....wire.printable import safe
from ...text.terminal_text import width_of, wrap

type Spans = Sequence[tuple[str, str]]
"""A line: pieces of text, each with the name of its look."""
type Body = Callable[[int], Sequence[Spans]]
"""The lines of a block for a width."""

LONG = 60_000
"""A text with more characters is cut at the width and not at words."""


@dataclass(frozen=True, slots=True)
class Goto:
    """Where Enter leads: a round trip, and a place in it."""

    place: int
    anchor: str = ""
    view: str = "turn"


@dataclass(slots=True)
class Block:
    """A title line and what folds away under it."""

    key: str
    """What it is, so that it stays open or shut when the turn changes."""
    title: Spans = ()
    body: Body | None = None
    open: bool = True
    """Whether it starts open."""
    preview: int = 0
    """How many lines are shown while it is shut."""
    indent: int = 0
    parent: str | None = None
    """The key of the block that it folds away with."""
    anchors: tuple[str, ...] = ()
    """What it can be found by: JSON pointers, and words such as `answer`."""
    goto: Goto | None = None
    group: bool = False
    """True when other blocks fold away with it."""

    @property
    def inset(self) -> int:
        """How far its lines stand from the left: under the words of its title."""
        return self.indent + 4 if self.title and self.indent else self.indent


@dataclass(frozen=True, slots=True)
class Seen:
    """A block as it is laid out."""

    block: Block
    lines: Sequence[Spans]
    shown: int
    """How many of its lines are shown."""
    opened: bool

    @property
    def titled(self) -> int:
        return 1 if self.block.title else 0

    @property
    def foldable(self) -> bool:
        """Whether Enter folds it; without a title or a preview nothing would be left to open it again."""
        if not self.block.title and not self.block.preview:
            return False
        return self.block.group or (self.block.body is not None and len(self.lines) > self.block.preview)

    @property
    def height(self) -> int:
        return self.titled + self.shown + (1 if self.hidden and self.block.preview else 0)

    @property
    def hidden(self) -> int:
        return len(self.lines) - self.shown


@dataclass
class Page:
    """What a view shows of a turn or of a run."""

    name: str
    blocks: list[Block]
    note: str = ""
    _bodies: dict[tuple[int, int], Sequence[Spans]] = field(
        default_factory=dict[tuple[int, int], Sequence[Spans]], repr=False
    )

    def laid_out(self, width: int, folds: Mapping[str, bool]) -> "Layout":
        """The page for a width; `folds` says which blocks the user opened or shut."""
        seen: list[Seen] = []
        shut: set[str] = set()
        for number, block in enumerate(self.blocks):
            opened = folds.get(block.key, block.open)
            if block.parent in shut:
                shut.add(block.key)
                continue
            if not opened:
                shut.add(block.key)
            lines: Sequence[Spans] = ()
            if block.body is not None and (opened or block.preview):
                lines = self.body(number, width)
            elif block.body is not None:
                lines = _UNSEEN
            shown = len(lines) if opened else 0 if lines is _UNSEEN else min(block.preview, len(lines))
            seen.append(Seen(block, lines, shown, opened))
        return Layout(self, seen, width)

    def body(self, number: int, width: int) -> Sequence[Spans]:
        """All lines of a block but its title, on a page of that width."""
        block = self.blocks[number]
        if block.body is None:
            return ()
        key = (number, max(16, width - block.inset))
        if key not in self._bodies:
            self._bodies[key] = block.body(key[1])
        return self._bodies[key]

    def opening(self, anchor: str) -> list[str]:
        """The keys of the blocks to open so that `anchor` can be seen."""
        return self.above(self.holding(anchor))

    def above(self, block: Block | None) -> list[str]:
        """The keys of a block and of those that it folds away with."""
        keys: list[str] = []
        while block is not None:
            keys.append(block.key)
            parent = block.parent
            block = next((b for b in self.blocks if parent is not None and b.key == parent), None)
        return keys

    def holding(self, anchor: str) -> Block | None:
        """The block with the longest anchor that `anchor` begins with."""
        best: tuple[int, Block] | None = None
        for block in self.blocks:
            for own in block.anchors:
                fits = anchor == own or anchor.startswith(own + "/")
                if fits and (best is None or len(own) > best[0]):
                    best = (len(own), block)
        return best[1] if best else None


_UNSEEN: Sequence[Spans] = ((),)
"""The body of a shut block, which is not made."""


class Layout:
    """A page for one width: which line stands where."""

    def __init__(self, page: Page, seen: list[Seen], width: int) -> None:
        self.page = page
        self.width = width
        self._seen = seen
        self._ends = list(accumulate(one.height for one in seen))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, y: int) -> tuple[Seen, int] | None:
        """The block that line `y` belongs to, and the line's number in it; the title is 0."""
        if not 0 <= y < len(self):
            return None
        number = bisect_right(self._ends, y)
        return self._seen[number], y - (self._ends[number - 1] if number else 0)

    def line(self, y: int) -> Spans:
        found = self.at(y)
        if found is None:
            return ()
        one, inside = found
        indent = " " * one.block.indent
        if one.titled and inside == 0:
            sign = ("▾ " if one.opened else "▸ ") if one.foldable else ""
            if one.foldable and one.block.goto is None:
                return [(indent, "plain"), (sign, "dim"), *one.block.title]
            return [(indent, "plain"), *one.block.title]
        inside -= one.titled
        indent = " " * one.block.inset
        if inside >= one.shown:
            more = f"{indent}… {one.hidden:,} more line{'' if one.hidden == 1 else 's'}, Enter opens them"
            return [(more, "dim")]
        return [(indent, "plain"), *one.lines[inside]]

    def find(self, key: str) -> int | None:
        """The first line of a block."""
        for number, one in enumerate(self._seen):
            if one.block.key == key:
                return self._ends[number - 1] if number else 0
        return None

    def heads(self) -> list[int]:
        """The first lines of the parts: of all blocks with a title that stand at the left."""
        return [
            self._ends[n - 1] if n else 0 for n, one in enumerate(self._seen) if one.titled and one.block.indent == 0
        ]

    def text(self) -> Iterator[str]:
        """All lines without their looks."""
        for y in range(len(self)):
            yield "".join(text for text, _ in self.line(y)).rstrip()


class Lazily(Sequence[Spans]):
    """Lines that are made when they are shown."""

    @abstractmethod
    def make(self, index: int) -> Spans:
        """The line at `index`, which is in range."""

    @overload
    def __getitem__(self, index: int) -> Spans: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Spans]: ...
    @override
    def __getitem__(self, index: int | slice) -> Spans | Sequence[Spans]:
        if isinstance(index, slice):
            return [self.make(at) for at in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.make(index)


class Prose(Lazily):
    """A text in lines of at most `width` cells. Short texts break at words, long ones where the line is full."""

    def __init__(self, text: str, width: int, look: str | Callable[[str], Spans] = "plain") -> None:
        self._look = look
        text = text.replace("\r\n", "\n").replace("\t", "    ")
        self._width = width if text.isascii() or len(text) <= LONG else max(8, width // 2)
        if len(text) <= LONG:
            self._lines = [line for whole in safe(text).split("\n") for line in _wrapped(whole, width)]
            self._starts: list[int] | None = None
            self._count = len(self._lines)
            return
        self._lines = text.split("\n")
        # The number of the first shown line of each line of the text.
        self._starts = list(accumulate((max(1, -(-len(line) // self._width)) for line in self._lines), initial=0))
        self._count = self._starts.pop()

    @override
    def __len__(self) -> int:
        return self._count

    @override
    def make(self, index: int) -> Spans:
        if self._starts is None:
            text = self._lines[index]
        else:
            number = bisect_right(self._starts, index) - 1
            start = (index - self._starts[number]) * self._width
            text = safe(self._lines[number][start : start + self._width])
        return self._look(text) if callable(self._look) else [(text, self._look)]


def _wrapped(line: str, width: int) -> Iterable[str]:
    """One line of a text in pieces, broken at spaces, its indentation kept."""
    if not line.isascii():
        return wrap(line, width) if width_of(line) > width else (line,)
    if len(line) <= width:
        return (line,)
    pieces: list[str] = []
    indent = " " * min(len(line) - len(line.lstrip()), width // 3)
    while len(line) > width:
        cut = line.rfind(" ", len(indent) + 1, width + 1)
        if cut <= len(indent):
            cut = width
        pieces.append(line[:cut])
        line = indent + line[cut:].lstrip(" ")
    pieces.append(line)
    return pieces


def prose(text: str, look: str | Callable[[str], Spans] = "plain") -> Body:
    """The body that shows a text."""
    return lambda width: Prose(text, width, look)


def lines(*given: Spans) -> Body:
    """The body that shows these lines."""
    return lambda width: given


_JSON = re.compile(r'^(\s*)("(?:[^"\\]|\\.)*")(\s*:\s*)(.*)$')


def json_line(text: str) -> Spans:
    """A line of pretty JSON with its key and its value in their colours."""
    found = _JSON.match(text)
    if found is None:
        rest, lead = text.lstrip(), text[: len(text) - len(text.lstrip())]
        return [(lead, "plain"), (rest, _value_look(rest))]
    lead, key, colon, value = found.groups()
    return [(lead, "plain"), (key, "key"), (colon, "dim"), (value, _value_look(value))]


def _value_look(text: str) -> str:
    if text.startswith('"'):
        return "string"
    return "dim" if text[:1] in "{}[]," else "number" if text[:1] in "-0123456789tfn" else "plain"


def pretty(value: object) -> str:
    """A JSON value over several lines."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (TypeError, ValueError):
        return json.dumps(value, indent=2, ensure_ascii=False)


def fields_of(value: object, indent: int = 0) -> Iterator[tuple[str, str, str]]:
    """A JSON object as people write it: `(lead, key, text)`, texts over several lines as they are."""
    lead = "  " * indent
    if is_object(value):
        for key, inner in value.items():
            if (is_object(inner) or is_array(inner)) and inner:
                yield lead, key, ""
                yield from fields_of(inner, indent + 1)
            else:
                yield lead, key, scalar(inner)
    elif is_array(value):
        for inner in value:
            if is_object(inner) and inner:
                first = True
                for deep, key, text in fields_of(cast(object, inner), indent + 1):
                    yield (f"{lead}- " if first else deep), key, text
                    first = False
            else:
                yield f"{lead}- ", "", scalar(inner)


def scalar(value: object) -> str:
    """A JSON value that is shown in its own words."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return json.dumps(value, ensure_ascii=False)


def keyed(rows: Iterable[tuple[str, str, str]], notes: Mapping[str, tuple[str, str]] | None = None) -> Body:
    """The body that shows `(lead, key, text)` rows; `notes` stand behind the keys that they name."""
    given = list(rows)

    def body(width: int) -> Sequence[Spans]:
        out: list[Spans] = []
        for lead, key, text in given:
            note = notes.get(key) if notes and not lead else None
            tail: list[tuple[str, str]] = [(f"  {note[0]}", note[1])] if note else []
            head: list[tuple[str, str]] = [(lead, "dim"), (safe(key), "key"), (": " if key else "", "dim")]
            room = width - width_of(lead) - width_of(key) - 2
            if "\n" not in text and width_of(text) <= room:
                out.append([*head, (safe(text), _scalar_look(text)), *tail])
                continue
            out.append([*head, *tail])
            inner = " " * (len(lead) + 2)
            told = Prose(text, max(10, width - len(inner)), "plain")
            out.extend([(inner, "plain"), *line] for line in told)
        return out

    return body


def _scalar_look(text: str) -> str:
    return "number" if re.fullmatch(r"-?[\d.eE+]+|true|false|null", text) else "plain"
