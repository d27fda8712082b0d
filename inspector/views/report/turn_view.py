"""A turn: what is new in its request first, then the answer with its calls and their results; the rest is folded."""

from collections.abc import Iterator

from ...ledger import TurnEntry
from ...run.detail import Detail
from ...run.growth import GrowthStep
from ...run.row import Row
from ...run.rows import Rows
from ...wire.json_value import as_text
from ..text.number_format import cost_note, count, lasted, percent, price, several, spent
from ..text.status_styles import EMITTED, FINISH, OUTCOME, REBUILT
from ..text.terminal_text import GLYPHS
from ..vocabulary.endpoints import endpoint_words
from .findings_list import finding
from .markup import Html, joined, span, tag
from .tool_runs import run_block, timeline, tools_layer
from .turn_answer import answer
from .turn_request import Shown, composition, new_messages, settings


def turn_view(
    detail: Detail, rows: Rows, place: int, step: GrowthStep | None, entry: TurnEntry | None, shown: Shown
) -> Html:
    """All of one round trip."""
    parts = [_head(detail, step), *(finding(mark, rows) for mark in detail.row.findings)]
    if detail.row.is_turn:
        after = rows.after(place)
        lanes = timeline(detail.row, rows.all[after] if after is not None else None)
        parts += [new_messages(detail, rows, place), answer(detail, rows, place), lanes, composition(entry)]
        parts.append(settings(detail, place, shown))
    return tag("article", *parts)


def _head(detail: Detail, step: GrowthStep | None) -> Html:
    row = detail.row
    if row.is_tool_wire:
        return _tool_message(detail)
    if not row.is_turn:
        status = f"{row.status}" if row.status is not None else "no answer"
        what = endpoint_words(row.kind, row.protocol)
        return joined(
            (
                tag("h2", f"{row.method} ", span("dim", row.url)),
                tag("p", f"{status}, {what}, no turn of a conversation", class_="dim"),
                tag("p", *_spent_beside(row), class_="spent") if row.is_billed else "",
                tag("p", row.error, class_="bad") if row.error else "",
            )
        )
    facts = [
        row.model or "unknown model",
        row.protocol,
        f"round trip #{row.index}",
    ]
    if row.duration_ms is not None:
        facts.append(f"first byte {lasted(row.first_byte_ms)}, whole {lasted(row.duration_ms)}")
    return joined(
        (
            tag("h2", f"Turn {row.label} ", span("dim", f"of {row.thread}")),
            tag("p", " · ".join(facts), class_="dim"),
            tag("p", *_spent(row, step), class_="spent"),
            tag("table", *(tag("tr", tag("th", span(layer, f"{GLYPHS[layer]} {layer}")), tag("td", text))
                           for layer, text in _layers(row)), class_="layers"),
        )
    )  # fmt: skip


def _tool_message(detail: Detail) -> Html:
    """A message of a tool server, with the run that no call explains."""
    row, trip = detail.row, detail.round_trip
    method = as_text(detail.reading.request.parameters.get("method")) or f"{trip.request.method} message"
    answered = f"answered after {lasted(row.duration_ms)}" if trip.response else "no answer"
    failure = tag("p", trip.failure.message, class_="bad") if trip.failure else ""
    where = trip.tool_wire.server if trip.tool_wire else row.url
    head = tag("h2", span("tool", f"{GLYPHS['tool']} "), f"{method} ", span("dim", where))
    facts = tag("p", f"message of a tool server #{row.index}, {answered}", class_="dim")
    return joined((head, facts, failure, *(run_block(run, number=True) for run in row.tool_runs)))


def _spent(row: Row, step: GrowthStep | None) -> Iterator[Html | str]:
    """Tokens and cost of the turn, and the cost so far. A refused request has neither."""
    if row.cost is None and not row.unpriced:
        yield "no tokens were counted"
    else:
        yield from _tokens(row)
        yield " · "
        yield span("money", price(row.cost, unpriced=row.unpriced))
    if note := cost_note(row.cost_source, row.unpriced_fees):
        yield span("dim", f" ({note})")
    if step is not None:
        if step.cumulative or not step.unpriced:
            yield span("dim", f", so far {spent(step.cumulative, step.unpriced)}")
        if step.fill is not None and step.window:
            yield span("dim", f" · {percent(step.fill)} of a context of {count(step.window)}")


def _spent_beside(row: Row) -> Iterator[Html | str]:
    """Model, tokens and cost of a request outside generation."""
    yield f"{row.model or 'unknown model'} · "
    if row.usage.input is not None or row.usage.output is not None:
        yield from _tokens(row)
        yield " · "
    yield span("money", price(row.cost, unpriced=row.unpriced))
    if note := cost_note(row.cost_source, row.unpriced_fees):
        yield span("dim", f" ({note})")


def _tokens(row: Row) -> Iterator[Html | str]:
    usage = row.usage
    yield f"{usage.input:,} in" if usage.input is not None else "tokens unknown"
    before = row.before.input if row.before is not None else None
    if before is not None and usage.input is not None and usage.input >= before:
        yield span("dim", f" ({usage.input - before:,} new, {before:,} sent before)")
    if usage.cache_read:
        yield f", {usage.cache_read:,} cache read"
    if usage.cache_write:
        yield f", {usage.cache_write:,} cache write"
    if usage.output is not None:
        yield f", {usage.output:,} out"
    if usage.reasoning:
        yield span("dim", f" ({usage.reasoning:,} reasoning)")


def _layers(row: Row) -> Iterator[tuple[str, Html]]:
    """What each layer did, by its name."""
    calls = f": {', '.join(row.done or row.calls)}" if row.calls else ""
    emitted = row.emitted or "nothing"
    yield "model", joined((span(EMITTED.get(emitted, "good"), emitted), calls))
    yield "api", joined(_api(row))
    yield "client", joined(_client(row))
    if row.tool_runs:
        yield "tool", tools_layer(row.tool_runs)


def _api(row: Row) -> Iterator[Html]:
    finish = row.finish or "nothing"
    yield span(FINISH.get(finish, "warn"), finish)
    if row.finish_raw is not None and row.finish_raw != row.finish:
        yield span("dim", f" said {row.finish_raw!r}")
    if row.status is not None and row.status != 200:
        yield span("bad" if row.status >= 400 else "dim", f" HTTP {row.status}")
    if row.error:
        yield span("bad", f" {row.error}")


def _client(row: Row) -> Iterator[Html]:
    outcome = row.outcome or "nothing"
    yield span(OUTCOME.get(outcome, "dim"), outcome)
    if row.results:
        yield joined((f" {several(row.results, 'result')}",))
    if row.failed_results:
        yield span("bad", f", {row.failed_results} with an error")
    if row.rebuilt:
        yield span("dim", f" {REBUILT}")
    elif row.history == "changed":
        yield span("warn", " it had changed the history before this turn")
