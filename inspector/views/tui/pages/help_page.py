"""The page of help: every key, and what the signs mean."""

from ....run.filters import FIELDS
from ....run.growth import KINDS
from ...text.terminal_text import GLYPHS
from .page import Block, Page, Spans, lines
from .turn_page import rule

_KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "moving",
        (
            ("j k ↑ ↓", "next and previous line; in the list that is a turn"),
            ("g G", "first, last"),
            ("Ctrl-d Ctrl-u", "a page down, up"),
            ("Enter l →", "into the turn; on a thread: fold or open it"),
            ("h ← Esc", "back to the list"),
            ("Tab", "the other pane"),
            ("J K", "scroll the turn while the list has the cursor; in a page: next and previous part"),
        ),
    ),
    (
        "jumping",
        (
            ("n N", "next, previous finding; while words are searched, the next line that says one"),
            ("e E", "next, previous turn with an error"),
            ("c C", "next, previous tool call"),
            ("t T", "next, previous thread"),
            ("/", "search and filter; Enter keeps it and goes to the first match, Esc shows all again"),
        ),
    ),
    (
        "views",
        (
            ("1 Turn", "what is new, the answer, calls with their results; what was sent already is folded"),
            ("2 Wire", "headers, events with their times, bodies as they went over the wire"),
            ("3 Growth", "tokens and cost of each turn, as stacked bars"),
            ("4 Context", "what this request is made of, and what each part has cost so far"),
            ("5 Findings", "what went wrong, the layer to blame; Enter goes to the evidence"),
            ("6 Diff", "against the turn before, and the answer against what was sent back of it"),
            ("r", "the raw bodies of this turn and back"),
            ("z", "this pane alone, and both again"),
        ),
    ),
    (
        "replay",
        (
            ("p", "play from here, and stop"),
            ("+ -", "faster, slower; beyond the fastest there is no timing"),
        ),
    ),
    (
        "taking away",
        (
            ("y", "copy the answer, the bodies, curl, Python"),
            ("x", "save a picture (SVG) or Markdown"),
        ),
    ),
    (
        "else",
        (
            ("f", "follow the recording, and stop following"),
            ("o Enter", "open and shut what is under the cursor"),
            ("O", "open all, shut all"),
            ("Ctrl-t", "next theme"),
            ("Ctrl-p :", "all commands"),
            ("?", "this page"),
            ("q", "quit"),
        ),
    ),
)


def help_page() -> Page:
    """All keys, all signs, all fields of a filter."""
    blocks: list[Block] = []
    signs: list[Spans] = [
        [
            (f"  {GLYPHS['model']} model   ", "model"),
            ("what the model emitted: text, calls, a refusal, nothing", "plain"),
        ],
        [
            (f"  {GLYPHS['api']} api     ", "api"),
            ("how the API finished it: done, calls, length, an error, a cut", "plain"),
        ],
        [
            (f"  {GLYPHS['client']} client  ", "client"),
            ("what your program did with it: ran the calls, or did not", "plain"),
        ],
        [
            ("  ✗ ", "bad"),
            ("an error   ", "plain"),
            ("! ", "warn"),
            ("a warning   ", "plain"),
            ("with its number", "dim"),
        ],
        [("  ", "plain"), *(span for name, word in KINDS for span in (("█ ", name), (f"{word}  ", "plain")))],
    ]
    blocks += [Block("signs", rule("signs"), lines(*signs)), Block("gap signs", (), lines(()))]
    for title, keys in _KEYS:
        told: list[Spans] = [[(f"  {key:<14}", "accent"), (what, "plain")] for key, what in keys]
        blocks += [Block(title, rule(title), lines(*told)), Block(f"gap {title}", (), lines(()))]
    fields: list[Spans] = [[(f"  {name + ':':<14}", "accent"), (what, "plain")] for name, (_, what) in FIELDS.items()]
    note: list[Spans] = [
        [("  word          ", "accent"), ('what is new in a turn says it; "two words" together', "plain")],
        [("  -word         ", "accent"), ("leaves out; also before a field", "plain")],
    ]
    blocks.append(Block("fields", rule("search and filter: all must hold"), lines(*note, *fields)))
    return Page("help", blocks)
