"""The function that makes the page of each view. They are called on the thread of the page maker.

Only the page of a turn, which is shown first, is imported here: to import the others would delay the first screen.
"""

from collections.abc import Callable
from pathlib import Path

from ....run.run_index import Run
from .blocks import Block
from .page import Page
from .text_lines import lines, prose
from .turn_page import turn_page

OUTPUT = 400_000
"""Bytes of the output of a command that are shown."""


def _turn(run: Run, place: int) -> Page:
    return turn_page(run.detail(place), run.rows, place, _miss(run, place), priced=run.priced)


def _miss(run: Run, place: int) -> str | None:
    """What a cache miss of the turn cost and why it came, when the ledger is there; the page does not wait for it."""
    ledger = run.known_ledger
    entry = ledger.at(place) if ledger is not None else None
    if entry is None:
        return None
    from ....run.strip.marks import priced_miss

    found = priced_miss(run.rows.all[place], entry)
    return found.text if found is not None else None


def _wire(run: Run, place: int) -> Page:
    from .wire_page import wire_page

    return wire_page(run.detail(place))


def _no_turn(name: str, so: str) -> Page:
    """A page of turns, for another round trip."""
    return Page(name, [Block("none", (), lines([(f"no turn of a conversation: {so}", "dim")]))])


def _context(run: Run, place: int) -> Page:
    from ....run.growth import context_window
    from ....run.request_cost import context
    from .context_page import context_page

    row = run.rows.all[place]
    if row.turn is None:
        return _no_turn("context", "it has no context")
    return context_page(context(run.ledger.at(place), context_window(row.model, row.provider)), place)


def _findings(run: Run, place: int) -> Page:
    from .findings_page import findings_page

    del place
    return findings_page(run.rows, run.problems)


def _diff(run: Run, place: int) -> Page:
    from ....run.detail import history_diff_with
    from .diff_page import diff_page

    if run.rows.all[place].turn is None:
        return _no_turn("diff", "there is nothing to compare it with")
    before, after = run.rows.before(place), run.rows.after(place)
    detail = run.detail(place)
    echo = history_diff_with(detail, run.reading(after), run.rows.all[after].edge) if after is not None else None
    return diff_page(detail, run.rows, place, run.exchange(before) if before is not None else None, echo)


def _tools(run: Run, place: int) -> Page:
    from .tools_page import tools_page

    return tools_page(run.rows, place)


def _timeline(run: Run, place: int) -> Page:
    from ....run.stream_timeline import first_token
    from .timeline_page import timeline_page

    row = run.rows.all[place]
    token = first_token(run.detail(place)) if row.is_turn and row.streamed else None
    return timeline_page(run.rows, place, None if token is None else token / 1_000_000)


def compare(run: Run, marked: int | None, place: int) -> Page:
    """The turn at `place` against the marked one."""
    from .compare_page import compare_page

    first = run.detail(marked) if marked is not None else None
    return compare_page(first, run.detail(place), run.rows, run.ledger)


def costs(run: Run, order: str = "cost") -> Page:
    """The costs of the run, its pieces in one of `ORDERS`."""
    from .costs_page import costs_page

    return costs_page(run.ledger, run.rows, order)


def output(path: Path) -> Page:
    """The output of the recorded command so far; of a long output the end."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - OUTPUT))
        text = file.read().decode("utf-8", "replace")
    blocks = [Block("cut", [(f"the last {OUTPUT:,} bytes", "dim")])] if size > OUTPUT else []
    return Page("output", [*blocks, Block("output", (), prose(text.rstrip("\n") or "nothing was written yet"))])


PAGES: dict[str, Callable[[Run, int], Page]] = {
    "turn": _turn,
    "wire": _wire,
    "context": _context,
    "findings": _findings,
    "diff": _diff,
    "tools": _tools,
    "timeline": _timeline,
    "compare": lambda run, place: compare(run, None, place),
    "costs": lambda run, place: costs(run),
}
