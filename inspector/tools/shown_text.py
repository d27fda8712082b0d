"""The text that the model is shown, searched for what a tool returned, whatever the client wrapped it in."""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ..analysis.conversation import without_space
from ..wire.json_value import compact, is_array, is_object, parse_json
from .arguments import meaning

_CONTENT = ("content", "output", "response", "result", "json")
_WRAPPERS = ("toolResult", "functionResponse", "function_response")
"""Where APIs keep the content of a result, and what they put around it."""
_NO_TEXT = regex(r"\s*(?:\[(?:in|out)put_text\]\s*)+")
"""Text parts of the Responses API without text, as its reader names them."""
_DEPTH = 6
_MOST_LEAVES = 2_000
_MOST_STARTS = 4
_STARTS = regex(r"[\[{]")
_PATH = regex(r"(?:(?<![\w:/])/|[A-Za-z]:\\|~/)(?:[\w.@+~-]+[/\\])+[\w.@+~-]+")
_SAYS_FILE = regex(r"\b(?:saved|stored|written|wrote|output|file|full|path|available|read)\b", re.IGNORECASE)
_NOTICE = regex(
    r"truncat|omitted|too (?:large|long|big)|\bcut\b|exceed|limit|shorten|\d+ (?:more )?(?:chars|lines|tokens|bytes)",
    re.IGNORECASE,
)
_UNSEEN = regex(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\ufeff")
"""The colours of a terminal and a byte order mark: clients take them out, and no text is lost."""
_WORDS = regex(r"\S+")
_NUMBERED = regex(r"[ \t]*(\d{1,7})(?:\t|[|:→][ \t]?|[ ]{1,2})(.*)")
"""A line with its number, as clients show files."""
_HEAD = 1_000
"""Characters. A client's words before the first line are fewer."""
_ENOUGH = 200
"""So many common characters at one end of a text are not there by accident."""


def _unnumbered(text: str) -> str | None:
    """A text without the numbers of its lines, where at least two of them are numbered one after the other."""
    if not any(_NUMBERED.fullmatch(line) for line in text[:_HEAD].splitlines()):
        return None
    lines = text.splitlines()
    found = [_NUMBERED.fullmatch(line) for line in lines]
    numbers = [int(one[1]) for one in found if one is not None]
    if len(numbers) < 2 or any(b - a != 1 for a, b in pairwise(numbers)):
        return None
    return "\n".join(one[2] if one is not None else line for one, line in zip(found, lines, strict=True))


@frozen(slots=False)
class ShownText:
    """A result's text in a request, with the JSON that is in it."""

    text: str
    raw: object = None
    """The JSON of the part that holds it. An API's reader may have left out what is around the text."""

    @cached_property
    def values(self) -> list[object]:
        """The JSON of the part's content, and of the text: of the whole, or the first after the client's words."""
        found = list(_contents(self.raw))
        for start in list(_starts(self.text))[:_MOST_STARTS]:
            try:
                value, _ = json.JSONDecoder().raw_decode(self.text, start)
            except (ValueError, RecursionError):
                continue
            found.append(value)
            break
        return found

    @property
    def blank(self) -> bool:
        """Whether it says nothing: no text, or JSON without any value in it."""
        if not self.text.strip() or self.text.strip() == "null" or _NO_TEXT.fullmatch(self.text):
            return True
        value = parse_json(self.text)
        return (is_object(value) or is_array(value)) and not any(_values(value, _DEPTH))

    @cached_property
    def meanings(self) -> set[str]:
        """The meanings of that JSON, and of what it holds one and two levels below."""
        found: set[str] = set()
        for value in self.values:
            for one in _inner(value, 2):
                found.add(meaning(one))
        return found

    @cached_property
    def leaves(self) -> list[str]:
        """All texts in that JSON."""
        return [leaf for value in self.values for leaf in _leaves(value, _DEPTH)][:_MOST_LEAVES]

    @cached_property
    def texts(self) -> list[str]:
        found = [self.text, *self.leaves]
        return [*found, *filter(None, map(_unnumbered, found))]

    @cached_property
    def folded(self) -> list[str]:
        """The texts without white space."""
        return [without_space(text) for text in self.texts]

    def holds(self, text: str) -> bool:
        """Whether the text is in it: as it is, in other white space, as a JSON string, or as equal JSON."""
        whole = text.strip()
        return self._holds(whole) or (_UNSEEN.search(whole) is not None and self._holds(_UNSEEN.sub("", whole).strip()))

    def _holds(self, wanted: str) -> bool:
        if any(wanted in one for one in self.texts):
            return True
        folded = without_space(wanted)
        if not folded or any(folded in one for one in self.folded):
            return True
        if wanted[0] in "[{" and (value := parse_json(wanted)) is not None and meaning(value) in self.meanings:
            return True
        return compact(wanted)[1:-1] in self.text

    def glued(self, text: str) -> str | None:
        """Two words of the text that became one, where it is there in other white space; None where none did."""
        wanted = text.strip()
        if self._holds_strictly(wanted):
            return None
        folded, found = without_space(wanted), None
        for one, bare in zip(self.texts, self.folded, strict=True):
            start = bare.find(folded) if folded else -1
            if start >= 0 and (found := _glued(wanted, one, start)) is None:
                return None
        return found

    def flattened(self, text: str) -> str | None:
        """The first indented line of the text whose place in its lines is gone, where the words are there; else None.

        Of code and lists: where the indented lines are joined to one, or all begin at the same column.
        """
        wanted = text.strip("\r\n")
        lines = _columns(wanted)
        indented = {place: column for place, column in lines.items() if column}
        if len(indented) < _MOST_FLAT or len(set(lines.values())) < 2 or wanted.lstrip()[:1] in ("[", "{", "<"):
            return None
        if self._holds_strictly(wanted.strip()):
            return None
        folded, lost = without_space(wanted), False
        for one, bare in zip(self.texts, self.folded, strict=True):
            start = bare.find(folded)
            if start >= 0:
                shown = {place - start: column for place, column in _columns(one).items()}
                kept = {shown[place] for place in lines if place in shown}
                lost = sum(place in shown for place in indented) * 2 < len(indented) or len(kept) < 2
                if not lost:
                    return None
        return (
            next(line for line in wanted.splitlines() if line[:1].isspace() and line.strip()).strip() if lost else None
        )

    def _holds_strictly(self, wanted: str) -> bool:
        """Whether the text is in it as it is, as a JSON string, or as equal JSON."""
        if any(wanted in one for one in self.texts) or compact(wanted)[1:-1] in self.text:
            return True
        value = parse_json(wanted) if wanted[:1] in ("[", "{") else None
        return value is not None and meaning(value) in self.meanings

    def holds_value(self, value: object) -> bool:
        """Whether structured content is in it: as equal JSON, or the one value in it as text."""
        if meaning(value) in self.meanings:
            return True
        if not (is_object(value) or is_array(value)):
            return self.holds(value if isinstance(value, str) else compact(value))
        if is_object(value) and len(value) == 1:
            # Frameworks put a result that is not an object into one, under `result`.
            (inner,) = value.values()
            if isinstance(inner, str) and inner.strip():
                return self.holds(inner)
            if isinstance(inner, int | float | bool) and self.text.strip() in (compact(inner), str(inner)):
                return True
            return (is_object(inner) or is_array(inner)) and meaning(inner) in self.meanings
        return False

    def kept(self, text: str) -> tuple[int, int]:
        """How many characters of the beginning and of the end of `text` are in it."""
        best = (0, 0)
        wanted = text.strip()
        for needle in dict.fromkeys((wanted, compact(wanted)[1:-1])):
            for one in self.texts[:50]:
                best = max(best, *_ends(needle, one), key=sum)
        return best

    def is_part_of(self, text: str) -> bool:
        """Whether it is a part of `text`: cut at one end, at both, or in the middle, and nothing else put there."""
        head, tail = self.kept(text)
        common, whole = head + tail, len(text.strip())
        if common == 0:
            return False
        if common >= _ENOUGH or (common >= 40 and _NOTICE.search(self.text)):
            return True
        rest = self.text.strip().rstrip(".… ")
        return common < whole and bool(rest) and (rest in text or (_NOTICE.search(self.text) is not None and head > 7))

    def names_file(self, text: str) -> bool:
        """Whether it names a file that `text` does not name."""
        found = [path for path in _PATH.findall(self.text) if path not in text]
        return bool(found) and _SAYS_FILE.search(self.text) is not None


def _glued(wanted: str, shown: str, start: int) -> str | None:
    """The first two words with white space between them that have none in `shown`, in which the text begins behind
    `start` characters that are none."""
    there = {place - start for place in _gaps(shown)}
    letters = without_space(wanted)
    for place in _gaps(wanted):
        if place not in there and letters[place - 1].isalnum() and letters[place : place + 1].isalnum():
            return letters[max(place - _WORD, 0) : place + _WORD]
    return None


def _columns(text: str) -> dict[int, int]:
    """By how many characters are before a line, white space not counted: at which column it begins."""
    found: dict[int, int] = {}
    count = 0
    for line in text.splitlines():
        words = without_space(line)
        if words:
            found[count] = len(line) - len(line.lstrip())
        count += len(words)
    return found


_MOST_FLAT = 3
"""So many indented lines are more than a matter of taste."""
_WORD = 12
"""So many characters of a word are quoted."""


def _gaps(text: str) -> Iterator[int]:
    """Behind how many characters, white space not counted, there is white space."""
    count = 0
    for word in _WORDS.finditer(text):
        count += word.end() - word.start()
        yield count


def _starts(text: str) -> Iterator[int]:
    """Where JSON may begin: at the beginning, or at the beginning of a line, or after a colon."""
    for found in _STARTS.finditer(text):
        before = text[max(0, found.start() - 2) : found.start()]
        if not before.strip() or before[-1] == "\n" or before.rstrip()[-1:] in (":", ">"):
            yield found.start()


def _contents(raw: object) -> Iterator[object]:
    """What a part of a request holds as the result, without ids and names around it."""
    if not is_object(raw):
        return
    for key in _CONTENT:
        if (inner := raw.get(key)) is not None:
            yield inner
    for key in _WRAPPERS:
        yield from _contents(raw.get(key))


def _values(value: object, depth: int) -> Iterator[bool]:
    """Whether each value inside says something."""
    if is_object(value) or is_array(value):
        for one in value.values() if is_object(value) else value:
            if depth:
                yield from _values(one, depth - 1)
    else:
        yield value is not None and (not isinstance(value, str) or bool(value.strip()))


def _inner(value: object, depth: int) -> Iterator[object]:
    yield value
    if depth == 0:
        return
    below = value.values() if is_object(value) else value if is_array(value) else ()
    for one in list(below)[:_MOST_LEAVES]:
        if isinstance(one, str) and one[:1] in ("{", "[") and (parsed := parse_json(one)) is not None:
            yield from _inner(parsed, depth - 1)
        elif is_object(one) or is_array(one):
            yield from _inner(one, depth - 1)


def _leaves(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "[") and depth and (parsed := parse_json(value)) is not None:
            yield from _leaves(parsed, depth - 1)
    elif depth:
        below = value.values() if is_object(value) else value if is_array(value) else ()
        for one in below:
            yield from _leaves(one, depth - 1)


def _ends(needle: str, text: str) -> Iterator[tuple[int, int]]:
    """How much of both ends of `needle` is in `text`, one after the other; by the longest beginning, and end."""
    head = _longest(needle, text)
    rest = text[text.find(needle[:head]) + head :]
    yield head, min(_longest(needle, rest, from_end=True), len(needle) - head)
    if 0 < head < len(needle):
        tail = _longest(needle, text, from_end=True)
        rest = text[: text.rfind(needle[-tail:])] if tail else ""
        yield min(_longest(needle, rest), len(needle) - tail), tail


def _longest(needle: str, text: str, *, from_end: bool = False) -> int:
    """The length of the longest beginning (or end) of `needle` that is in `text`."""
    low, high = 0, min(len(needle), len(text))
    while low < high:
        middle = (low + high + 1) // 2
        piece = needle[-middle:] if from_end else needle[:middle]
        if piece in text:
            low = middle
        else:
            high = middle - 1
    return low
