"""The page of help: every key, and what the signs mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....run.filters import FIELDS
from ....run.growth import KINDS
from ...text.terminal_text import GLYPHS
from .blocks import Block, Spans
from .page import Page
from .sections import rule
from .text_lines import lines


@dataclass(frozen=True, slots=True)
class HelpSection:
    """Some keys of the help page, kept beside the widget that they work in."""

    title: str
    keys: tuple[tuple[str, str], ...]
    """Keys as they are shown, and what they do."""


def help_page(sections: Sequence[HelpSection]) -> Page:
    """The signs, the keys of these sections, the fields of a query."""
    blocks = [*_section("signs", _signs())]
    for section in sections:
        keys: list[Spans] = [[(f"  {key:<14}", "accent"), (what, "plain")] for key, what in section.keys]
        blocks += _section(section.title, keys)
    fields: list[Spans] = [[(f"  {name + ':':<14}", "accent"), (what, "plain")] for name, (_, what) in FIELDS.items()]
    words: list[Spans] = [
        [("  word          ", "accent"), ('is in what is new in a turn; "two words" together', "plain")],
        [("  -word         ", "accent"), ("leaves out; also before a field", "plain")],
    ]
    title = "search and filter: all must match"
    return Page("help", [*blocks, Block("fields", rule(title), lines(*words, *fields))])


def _section(title: str, body: Sequence[Spans]) -> list[Block]:
    return [Block(title, rule(title), lines(*body)), Block(f"gap {title}", (), lines(()))]


def _signs() -> list[Spans]:
    layers = {
        "model": "what the model emitted: text, calls, a refusal, nothing",
        "api": "how the API finished it: done, calls, length, an error, a cut",
        "client": "what your program did with it: ran the calls, or did not",
    }
    return [
        *([(f"  {GLYPHS[layer]} {layer:<8}", layer), (what, "plain")] for layer, what in layers.items()),
        [
            ("  ✗ ", "bad"),
            ("an error   ", "plain"),
            ("! ", "warn"),
            ("a warning   ", "plain"),
            ("with its number", "dim"),
        ],
        [("  ", "plain"), *(span for name, word in KINDS for span in (("█ ", name), (f"{word}  ", "plain")))],
    ]
