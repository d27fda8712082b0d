"""The three layers of a turn: what the model emitted, how the API finished it, what the client did."""

from collections.abc import Iterator

from ....run.row import Row
from ....tools.run_words import WHOLE
from ....wire.printable import safe
from ...text.number_format import lasted
from ...text.terminal_text import GLYPHS, clip
from ..formatting import EMITTED, FINISH, OUTCOME, several
from .blocks import Spans


def layer_lines(row: Row) -> list[Spans]:
    """One line for each layer; one more for the tools, where their own wire was recorded."""
    emitted = "" if row.emitted in (None, "none") else row.emitted
    calls = ", ".join(row.done or row.calls)
    word = f"{emitted}: " if calls else emitted
    return [
        [(f"{GLYPHS['model']} model   ", "model"), (word, EMITTED.get(emitted, "good")), (calls, "plain")],
        [(f"{GLYPHS['api']} api     ", "api"), *_api(row)],
        [(f"{GLYPHS['client']} client  ", "client"), *_client(row)],
        *([[(f"{GLYPHS['tool']} tool    ", "tool"), *_tools(row)]] if row.tool_runs else []),
    ]


def _api(row: Row) -> Iterator[tuple[str, str]]:
    yield row.finish or "nothing", FINISH.get(row.finish or "", ("", "warn"))[1]
    if row.finish_raw is not None and row.finish_raw != row.finish:
        yield f"  said {safe(row.finish_raw)!r}", "dim"
    if row.status is not None and row.status != 200:
        yield f"  HTTP {row.status}", "bad" if row.status >= 400 else "dim"
    if row.error:
        yield f"  {clip(row.error, 400)}", "bad"
    if row.first_byte_ms is not None:
        yield f"  first byte {lasted(row.first_byte_ms)}, whole {lasted(row.duration_ms)}", "dim"


def _client(row: Row) -> Iterator[tuple[str, str]]:
    outcome = row.outcome or "nothing"
    yield outcome, OUTCOME.get(outcome, ("", "plain"))[1]
    if row.results:
        yield f"  {several(row.results, 'result')}", "plain"
    if row.failed_results:
        yield f", {row.failed_results} with an error", "bad"
    if row.history == "changed" and not row.rebuilt:
        yield "  it had changed the history before this turn", "warn"


def _tools(row: Row) -> Iterator[tuple[str, str]]:
    """Each run with its time; then what the model did not see."""
    for number, run in enumerate(row.tool_runs):
        yield f"{', ' if number else ''}{clip(run.name, 40)} {lasted(run.duration_ms)}", "plain"
        if run.is_error or run.outcome != "answered":
            yield " ✗", "bad"
    if other := sum(run.seen_as not in WHOLE for run in row.tool_runs):
        yield f"  {several(other, 'result')} not seen as returned", "warn"
