"""The help page: every key, and the meaning of the signs."""

from collections.abc import Sequence

from turntape.cassettes.frozen import frozen

from ....run.filters import FIELDS
from ...text.status_styles import FINISH, FINISH_WORDS, OUTCOME, OUTCOME_WORDS
from ...text.terminal_text import GLYPHS, wrap
from ...vocabulary.ascii_signs import keys_in_words
from ...vocabulary.kinds import KIND_LOOKS, KindLook
from ...vocabulary.signs import ADDED, MARKS, RANGE, RETRY, UNKNOWN
from .blocks import Block, Spans
from .page import Page
from .sections import rule
from .text_lines import lines


@frozen
class HelpSection:
    """Some keys of the help page, defined next to the widget in which they work."""

    title: str
    keys: tuple[tuple[str, str], ...]
    """Keys as they are shown, and what they do."""


def help_page(sections: Sequence[HelpSection], *, coloured: bool = True, unicode: bool = True) -> Page:
    """The keys of these sections, the signs, the fields of a query, as they look on this terminal."""
    blocks = _key_blocks(sections, unicode)
    blocks += _section("signs", _signs())
    blocks += _section("words in the list", WORDS)
    kinds = [("█" if coloured else kind.shade, kind.name, _meaning(kind)) for kind in KIND_LOOKS]
    blocks += _section("in the growth strip", [*kinds, *STRIP])
    words = [
        ("word", 'is sent or received, counted at its first turn; "two words" together'),
        ("-word", "excludes; also before a field"),
    ]
    fields = [*words, *((f"{name}:", what) for name, (_, what) in FIELDS.items())]
    title = "search and filter: all must match"
    return Page("help", [*blocks, Block("fields", rule(title), _Rows([(key, "accent", what) for key, what in fields]))])


def key_page(sections: Sequence[HelpSection], *, unicode: bool = True) -> Page:
    """The keys of these sections alone."""
    return Page("help", _key_blocks(sections, unicode))


def _key_blocks(sections: Sequence[HelpSection], unicode: bool) -> list[Block]:
    blocks: list[Block] = []
    for section in sections:
        keys = [(key if unicode else keys_in_words(key), "accent", what) for key, what in section.keys]
        blocks += _section(section.title, keys)
    return blocks


def _section(title: str, rows: "Sequence[Row]") -> list[Block]:
    return [Block(title, rule(title), _Rows(rows)), Block(f"gap {title}", (), lines(()))]


type Row = tuple[str, str, str]
"""A key or a sign, its look, and what it means."""
KEY = 15
"""Cells of the column of keys."""


class _Rows:
    """The lines of a section; a long meaning continues on the next line."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __call__(self, width: int) -> Sequence[Spans]:
        out: list[Spans] = []
        for key, look, what in self._rows:
            for number, line in enumerate(wrap(what, max(16, width - KEY - 2))):
                out.append([(f"  {'' if number else key:<{KEY}}", look), (line, "plain")])
        return out


LAYERS = {
    "model": "what the model emitted: text, calls, a refusal, nothing",
    "api": "how the API finished it: done, calls, length, an error, a cut",
    "client": "what your program did with it: ran the calls, or did not",
    "tool": "what a tool server did: when each call ran, what it returned",
}
SIGNS: tuple[Row, ...] = (
    ("✗2", "bad", "2 findings that are errors"),
    ("!2", "warn", "2 findings that are warnings"),
    ("✗+ !+", "warn", "in the list: more than 9 of them"),
    ("12", "bold", "a turn with a finding, also one that is only worth knowing (i)"),
    (RETRY[0], "dim", RETRY[1]),
    ("m", "accent", "the marked turn, with which others are compared"),
    ("i", "dim", "a finding that is neither: worth knowing"),
    ("✗1 under ▶", "bad", "a call whose result is an error"),
    ("#6", "dim", "the round trip's number in the file, from 0; evidence is given by it"),
    ("▾ ▸", "accent", "a thread, or a part of a page, open and folded; a subagent has its task in quotes"),
    ("·", "dim", "a request that is not a turn, such as a list of models"),
    ("?", "dim", "tokens that the API did not report"),
    ("unpriced", "dim", "a cost that is not known: no tokens, or no price for the model"),
    ("no cost", "dim", "the request was refused before anything was counted"),
    ("≥$0.30", "money", "at least so much: some turns have no known price"),
    ("≈1,200 366±41", "plain", "tokens of a piece: an estimate; a number with its bounds. Without a sign it is exact"),
    ("~1.2 s", "dim", "the time of a tool as seen between two requests; without ~ it was recorded"),
    ("→ ←", "model", "a call of the model; the result that the client sent back"),
    ("+1", "dim", "in the list: one more call than the line has room for"),
    ("“…”", "good", "in the list: the text of an answer"),
    ("✓", "good", "no errors and no warnings; on 6 Diff: sent back unchanged"),
    ("1 ▶", "good", "the turn that is being played"),
)
WORDS: tuple[Row, ...] = (
    ("cut:", "bad", "partial_call: the calls were cut off while they were written"),
    *((word, FINISH[label], label) for label, word in FINISH_WORDS.items()),
    *((word, OUTCOME[label], label) for label, word in OUTCOME_WORDS.items()),
)
"""The short words of the list, with the words of the pages, of `show` and of the filter."""
MEANINGS = {
    "cache_read": "input that the previous request contained too, read from the cache",
    "rewritten": "input that the previous request contained too, paid for writing it to the cache once more",
    "resent": "input that the previous request contained too, without a cache",
    "cache_write": "input that is new in this request, and was written to the cache",
    "new": "input that is new in this request, and was not written to a cache",
    "output": "what the model emitted, without its reasoning",
    "reasoning": "what the model emitted as reasoning",
    "other": "a cost that is known only as a whole",
}
"""What the kinds of tokens and dollars mean, by their name."""


def _meaning(kind: KindLook) -> str:
    short = "" if kind.short in kind.title else f"; in short: {kind.short}"
    return f"{kind.title}: {MEANINGS[kind.name]}{short}"


STRIP: tuple[Row, ...] = (
    *((sign.glyph, sign.style, sign.words) for sign in MARKS.values()),
    ("▾+48k", "new", f"{ADDED[1]}: {ADDED[0]}"),
    ("██ faint", "dim", RANGE[1]),
    (UNKNOWN[0], "dim", UNKNOWN[1]),
    ("·", "faint", "a turn that is still to come, while the run is played"),
    ("┄ ▔", "warn", "the limit of the context window, in tokens"),
    ("so far", "money", "the cost of the run so far; the full height is the cost of the whole run"),
)
"""The signs of the growth strip, behind the kinds of tokens."""


def _signs() -> list[Row]:
    layers = [(f"{GLYPHS[layer]} {layer}", layer, what) for layer, what in LAYERS.items()]
    return [*layers, *SIGNS]
