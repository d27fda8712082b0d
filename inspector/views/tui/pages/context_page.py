"""The page of a context: what the request consists of, as one bar and as a tree."""

from collections.abc import Sequence
from functools import partial

from ....run.request_cost import Context, Piece
from ...text.number_format import percent
from ...text.terminal_text import clip
from ...vocabulary.pieces import SHORT, figure, figures_note, piece_cost, short_figure
from ..formatting import ROLE, bar, count, full, several, size
from .blocks import Block, Goto, Spans
from .page import Page
from .text_lines import flowed

_KINDS = ("tools", "system", "user", "assistant", "call", "result", "media", "reasoning", "other")
_FILLS = {
    "tools": "▓", "system": "█", "user": "█", "assistant": "▒", "call": "▒", "result": "░", "media": "▚",
    "reasoning": "▒", "other": "·",
}  # fmt: skip
_BAR = 12
"""Cells of a bar."""
_WIDEST = max(map(len, _KINDS))
"""Cells of the column of kinds."""
WIDE = 64
"""On a narrower page (in cells) a line has no bar, no cost, and not how often the part was sent."""
_LOOKS = {
    **ROLE, "tools": "api", "tool": "api", "user": "good", "system": "accent", "call": "model", "result": "client",
    "media": "number", "reasoning": "reasoning", "other": "dim",
}  # fmt: skip


def context_page(found: Context, place: int) -> Page:
    """The context of the request at `place`."""
    blocks = [Block("bar", (), _Bar(found))]
    for number, piece in enumerate(found.pieces):
        goto = Goto(place, piece.pointer) if not piece.pieces else None
        title = partial(_line, piece, found, False)
        body = _Pieces(piece.pieces, found) if piece.pieces else None
        key = f"piece:{number}:{piece.kind}"
        blocks.append(Block(key, title, body, open=False, goto=goto, anchors=(piece.pointer,) if piece.pointer else ()))
    return Page("context", blocks)


class _Pieces:
    """The lines of the parts of a piece."""

    def __init__(self, pieces: Sequence[Piece], found: Context) -> None:
        self._pieces, self._found = pieces, found

    def __call__(self, width: int) -> Sequence[Spans]:
        return [_line(piece, self._found, True, width) for piece in self._pieces]


class _Bar:
    """The lines of the bar, and what its colours mean."""

    def __init__(self, found: Context) -> None:
        self._found = found

    def __call__(self, width: int) -> Sequence[Spans]:
        found = self._found
        counted = found.tokens is not None
        whole = (found.tokens if counted else found.size) or 1
        cells: list[tuple[str, str]] = []
        legend: list[tuple[str, str]] = []
        used = done = 0
        for kind in _KINDS:
            own = found.tokens_of(kind) if counted else found.of(kind)
            if not own:
                continue
            done += own
            end = round(done * (width - 1) / whole)
            cells.append((_FILLS[kind] * (end - used), _LOOKS[kind]))
            used = end
            # In one piece, so that the end of a line does not part the sign from its word.
            legend.append((f"{_FILLS[kind]} {kind} {percent(own / whole)}   ", _LOOKS[kind]))
        head: list[tuple[str, str]] = [(f"{full(found.tokens)} tokens in", "title"), (f"  {size(found.size)}", "dim")]
        fill: list[Spans] = []
        if (share := found.fill) is not None:
            look = "bad_bar" if share > 0.9 else "warn" if share > 0.7 else "good"
            room = max(8, min(40, width - 44))
            words = f" {percent(share)} of {count(found.window)}"
            fill = [[("window ", "dim"), (bar(share, room), look), (words, look), ("  with the answer", "dim")]]
        figures = (one.tokens for piece in found.pieces for one in (piece, *piece.pieces))
        forms = figures_note(figures, short=width < WIDE) if counted else "bytes; the API did not report its tokens"
        # The other columns are about this request.
        run = f"sent{' and cost' if _is_priced(found) else ''}: in the whole run" if width >= WIDE else ""
        note = flowed([(f"{forms}; " if run else forms, "dim"), (run, "dim")], width)
        cost = f"{'cost':>11}" if _is_priced(found) else ""
        wide = f"{'tokens':>15} {'':{_BAR}}{'part':>7} {'sent':>6}{cost}  what"
        columns = [(wide if width >= WIDE else f"{'tokens':>{SHORT + 2}}   part  what", "dim")]
        return [head, cells, *flowed(legend, width), *fill, *note, (), columns]


def _line(piece: Piece, found: Context, inner: bool, width: int) -> Spans:
    look = _LOOKS.get(piece.kind, "dim")
    lead = "    " if inner else "" if piece.pieces else "  "
    name = clip(piece.name.removesuffix(" (definition)"), 100) if piece.name != piece.kind else ""
    parts = several(len(piece.pieces), "part") if piece.pieces and piece.kind != "tools" else ""
    return [
        (lead, "plain"),
        *_figures(piece, found, look, 0 if width < WIDE else _BAR - 2 if inner else _BAR),
        ("" if inner else f"{piece.kind:<{_WIDEST}} ", look),
        (name, "dim" if inner else "plain"),
        (f"  {parts}" if name and parts else parts, "dim"),
    ]


def _share(piece: Piece, found: Context) -> float:
    """A piece's share of the input's tokens, or of the bytes where those are not known."""
    if piece.tokens is not None:
        return piece.tokens.value / (found.tokens or 1)
    return piece.size / (found.size or 1)


def _is_priced(found: Context) -> bool:
    """Whether there is a column for costs: not where no piece has one."""
    return any(piece.cost is not None for piece in found.pieces)


def _figures(piece: Piece, found: Context, look: str, cells: int) -> list[tuple[str, str]]:
    """Tokens, share, how often it was sent, and its cost in the whole run; without `cells` for a bar, only the first
    two."""
    share = _share(piece, found)
    amount = figure(piece.tokens) if piece.tokens is not None else size(piece.size)
    if not cells:
        amount = short_figure(piece.tokens) if piece.tokens is not None else amount
        return [(f"{amount:>{SHORT}} ", "plain"), (f"{percent(share):>6}  ", "dim")]
    sent = f"{piece.times}×" if piece.times > 1 else "new"
    return [
        (f"{amount:>13} ", "plain"),
        (bar(share, cells), look),
        (f"{percent(share):>7} ", "dim"),
        (f"{sent:>6}", "good" if sent == "new" else "dim"),
        (f"{piece_cost(piece.cost, piece.tokens):>11}" if _is_priced(found) else "", "money" if piece.cost else "dim"),
        ("  ", "plain"),
    ]
