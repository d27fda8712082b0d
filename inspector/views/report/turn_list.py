"""The list of turns by thread: one line each, with a cell for each of the three layers."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...run.row import Row
from ...run.rows import Rows
from ...run.totals import totals
from ...tools.run_words import alone_words
from ..text.number_format import count, lasted, price, several, spent
from ..text.status_styles import ASIDE, EDGES, EMITTED, FINISH, FINISH_WORDS, OUTCOME, OUTCOME_WORDS, SEVERITY
from ..text.terminal_text import GLYPHS
from .markup import NOTHING, Html, span, tag


@frozen
class Group:
    """Lines that fold together."""

    head: Html | None
    """None when the run has only one thread, which does not fold."""
    places: Sequence[int]
    is_open: bool


def groups(rows: Rows) -> Iterator[Group]:
    """All round trips; each thread under its own head when there are several. Messages of tool servers are quiet in a
    single thread, not shown until they are searched or linked to, unless they say what no turn does."""
    if len(rows.threads) <= 1:
        yield Group(None, range(len(rows.all)), is_open=True)
        return
    for thread, places in rows.threads.items():
        first = rows.all[places[0]]
        kind = first.edge.kind if first.edge is not None else "main"
        of = rows.by_index.get(first.edge.of) if first.edge is not None and first.edge.of is not None else None
        note = f" from turn {rows.all[of].turn} of {rows.all[of].thread}" if of is not None else ""
        head = [span("name", thread), span("dim", f" {EDGES.get(kind, kind)}{note}")]
        if first.asked:
            head.append(span("task", f" “{first.asked}”"))
        yield _group(rows, places, head, is_open=kind not in ASIDE)
    for title, of_tools in (("tool servers", True), ("other round trips", False)):
        places = [p for p, row in enumerate(rows.all) if row.thread is None and row.is_tool_wire == of_tools]
        if places:
            yield _group(rows, places, [span("name", title)], is_open=False)


def _group(rows: Rows, places: Sequence[int], head: Sequence[Html], *, is_open: bool) -> Group:
    mine = [rows.all[place] for place in places]
    sums = totals(mine)
    worst = next((one for one in SEVERITY if any(row.worst == one for row in mine)), None)
    kinds = ((sums.turns, "turn"), (sums.tool_messages, "message"), (sums.others, "round trip"))
    total = next((several(number, noun) for number, noun in kinds if number), "")
    note = span("dim", f" · {total}" + (f", {spent(sums.cost, sums.unpriced)}" if sums.billed else ""))
    return Group(tag("summary", *head, note, _mark(worst)), places, is_open)


def dearest(rows: Rows) -> Decimal:
    """The cost of the dearest turn, which has the longest bar."""
    return max((row.cost for row in rows.all if row.cost is not None), default=Decimal(0))


def _mark(severity: str | None) -> Html:
    if severity is None:
        return NOTHING
    glyph, look = SEVERITY[severity]
    return tag("span", f" {glyph}", class_=f"mark {look}", title=severity)


def turn_line(place: int, row: Row, dearest: Decimal) -> Html:
    """One round trip."""
    cells = _turn(row, dearest) if row.is_turn else _message(row) if row.is_tool_wire else _other(row)
    look = "row" if row.is_turn else "row other billed" if row.is_billed else "row other"
    return tag(
        "a",
        *cells,
        class_=look,
        href=f"#row-{place}",
        data_place=place,
        data_worst=row.worst,
    )


def _turn(row: Row, dearest: Decimal) -> Iterator[Html]:
    share = float(row.cost / dearest) if row.cost is not None and dearest else 0.0
    yield tag("span", row.label, class_="number", title=f"round trip #{row.index}")
    yield _cell("model", emitted_words(row), _emitted_look(row), row.said)
    if row.failed and row.error and row.emitted in (None, "none"):
        # Nothing for the client to do: the words of the API's error take its cell too.
        status = f"{row.status} " if row.status is not None and row.status >= 400 else ""
        yield _cell("api", f"{status}{row.error}", "bad", None, wide=True)
    else:
        yield _cell("api", *_api_words(row), row.error)
        yield _cell("client", *_client_words(row), None)
    used = "" if row.failed and row.usage.input is None else f"{count(row.usage.input)} → {count(row.usage.output)}"
    yield tag("span", used, class_="tokens", title="tokens in → out")
    bar = tag("span", class_="fill", style=f"width:{share:.1%}")
    cost = span("dim" if row.cost is None else "money", price(row.cost, unpriced=row.unpriced))
    yield tag("span", tag("span", bar, class_="bar"), cost, class_="cost")
    yield span("time", lasted(row.duration_ms))
    yield tag("span", _mark(row.worst), class_="marks")


def _other(row: Row) -> Iterator[Html]:
    yield span("number", "·")
    look = "bad" if row.status is None or row.status >= 400 else "dim"
    path = row.url.partition("://")[2].partition("/")[2].partition("?")[0]
    yield tag("span", f"{row.method} /{path}", class_="endpoint")
    yield span(look, f"{row.status or 'no answer'}")
    if row.is_billed:
        yield tag("span", span("money", price(row.cost, unpriced=row.unpriced)), class_="cost")
        yield span("time", lasted(row.duration_ms))
    yield tag("span", _mark(row.worst), class_="marks")


def _message(row: Row) -> Iterator[Html]:
    """A message of a tool server: the run that no turn shows, else where it went."""
    said = [f"{run.name} on {run.server}, {alone_words(run)}" for run in row.tool_runs]
    yield tag("span", GLYPHS["tool"], class_="number tool", title=f"round trip #{row.index}")
    yield tag("span", ", ".join(said) or f"message of {row.url.partition('://')[2]}", class_="endpoint")
    yield span("dim", lasted(row.duration_ms) if row.duration_ms is not None else "")
    yield tag("span", _mark(row.worst), class_="marks")


def emitted_words(row: Row) -> str:
    """What the model emitted: what its calls do, or how its text begins; empty when it emitted nothing."""
    if row.done or row.calls:
        words = ", ".join(row.done or row.calls)
        return f"cut: {words}" if row.emitted == "partial_call" else words
    if row.emitted in (None, "none"):
        return ""
    word = (row.emitted or "").replace("_", " ")
    if row.emitted == "text":
        return f"“{row.said}”" if row.said else word
    return f"{word}: {row.said}" if row.said else word


def _emitted_look(row: Row) -> str:
    """As in the viewer's list: text is not calls."""
    return "good" if row.emitted == "text" and not row.calls else EMITTED.get(row.emitted or "none", "plain")


def _api_words(row: Row) -> tuple[str, str]:
    """How the API finished it, and the look of that: the status of an error, the finish otherwise."""
    if row.status is not None and row.status >= 400:
        return str(row.status), "bad"
    finish = row.finish or "none"
    return FINISH_WORDS.get(finish, finish), FINISH.get(finish, "warn")


def _client_words(row: Row) -> tuple[str, str]:
    """What the client did, with the number of results that were errors."""
    outcome = row.outcome or ""
    word = OUTCOME_WORDS.get(outcome, outcome)
    return (f"{word} ✗{row.failed_results}", "bad") if row.failed_results else (word, OUTCOME.get(outcome, "dim"))


def column_heads() -> Html:
    """The names of the columns of turns."""
    layers = (tag("span", span(name, f"{GLYPHS[name]} {name}"), class_="cell") for name in ("model", "api", "client"))
    return tag(
        "div",
        span("number", "turn"),
        *layers,
        span("tokens", "in → out"),
        tag("span", "cost", class_="cost"),
        span("time", "time"),
        class_="row heads",
        aria_hidden="true",
    )


def _cell(layer: str, words: str, look: str, title: str | None, *, wide: bool = False) -> Html:
    glyph = tag("span", GLYPHS[layer], class_=f"glyph {layer}", aria_label=layer)
    return tag(
        "span",
        glyph,
        span(look, words),
        class_="cell wide" if wide else "cell",
        title=f"{layer}: {words}" + (f" – {title}" if title else ""),
    )
