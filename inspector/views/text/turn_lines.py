"""The lines of one turn in the text of a run: what is new in it, what came back, how it ended, what it cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import cast

from turntape.cassettes.frozen import frozen

from ...analysis.pictures import pictures_of
from ...run.label_costs import fees_without_price, is_unpriced
from ...run.labels import Label, LabelledRoundTrip
from ...run.row import turn_label
from ...wire.json_value import as_array, as_object, compact
from ...wire.per_message import ByKey
from ...wire.printable import safe, several
from ...wire.values import Kind, Message, Part, ToolCall
from ..vocabulary.endpoints import endpoint_words
from .number_format import NO_COST, cost_note, spent
from .picture_words import kind_words, picture_words
from .short_names import address
from .status_styles import FINISH, OUTCOME, REBUILT, SEVERITY
from .terminal_text import GLYPHS, Line, Span, Style, clip, fit, folded, width_of, wrap


@frozen
class Many:
    """Of what a tape has several, so that each turn says which one it belongs to."""

    threads: bool
    runs: bool


ANY = Many(threads=True, runs=True)
"""For one turn that is shown alone."""


def tokens_text(number: object) -> str:
    """All digits of a count; `?` when it is not known."""
    return f"{number:,}" if isinstance(number, int) else "?"


def other_line(label: Mapping[str, object]) -> Line:
    """A round trip outside of generation."""
    status = label["status"]
    if label["kind"] == "tools":
        return [(f"#{label['index']} ", "dim"), (f"message of a tool server, {safe(cast(str, label['url']))}", "plain")]
    style: Style = "bad" if not isinstance(status, int) or status >= 400 else "dim"
    return [
        (f"#{label['index']} ", "dim"),
        (safe(f"{label['method']} {address(cast(str, label['url']))} "), "plain"),
        (f"→ {status if status is not None else 'no answer'} ", style),
        (f"({endpoint_words(cast('Kind', label['kind']), cast(str, label['protocol']))})", "dim"),
        *_price(label, is_unpriced(label), ""),
    ]


def seconds(milliseconds: object) -> str:
    """A duration; empty when it is not known."""
    if not isinstance(milliseconds, int | float):
        return ""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def title_line(label: Label, unpriced: bool, many: Many, so_far: str = "") -> Line:
    """The turn, what it cost, then what it was."""
    model = cast(str, label["response_model"] or label["request_model"] or "unknown model")
    line: Line = [(f"Turn {turn_label(cast('int', label['turn']), cast('int', label['attempt'] or 1))}", "bold")]
    if many.threads:
        line.append((f" of {label['thread']}", "plain"))
    line.extend(_price(label, unpriced))
    if so_far:
        line.append((f"  so far {so_far}", "dim"))
    line.append((f"  {clip(model, 34)}", "plain"))
    line.append((f"  {label['protocol']}", "dim"))
    if many.runs and (run := label["run"]):
        line.append((f"  run {safe(cast(str, run))}", "dim"))
    line.append((f"  {seconds(label['duration_ms'])}  #{label['index']}", "dim"))
    return line


def _price(label: Mapping[str, object], unpriced: bool, nothing: str = f"  {NO_COST}") -> Line:
    """The cost with its source; a request that was refused before a token was counted costs nothing."""
    price = label["cost_usd"]
    if price is None:
        return [("  unpriced" if unpriced else nothing, "dim")]
    line: Line = [(f"  {spent(Decimal(cast(str, price)), int(unpriced))}", "money")]
    if note := cost_note(cast("str | None", label["cost_source"]), fees_without_price(label)):
        line.append((f" ({note})", "dim"))
    return line


UNDER = " " * 11
"""Where the words after a layer's name begin."""
PREVIEW = 3
"""Lines of a text, an argument or a result in the run; `--turn` has them whole."""


def _row(layer: str, spans: Line) -> Line:
    return [("  ", "plain"), (f"{GLYPHS[layer]} {layer:<7}", cast(Style, layer)), *spans]


def _names_of(message: Message) -> list[tuple[str | None, str]]:
    return [(part.call.id, part.call.name) for part in message.parts if part.call is not None]


_names = ByKey(_names_of).of
"""The names of the calls in a history, by id."""


def new_lines(one: LabelledRoundTrip, called: Mapping[str, str], width: int) -> Iterator[Line]:
    """The messages of this request that the thread's previous request did not contain."""
    messages = one.reading.request.messages
    turn = one.turn
    assert turn is not None
    if turn.history == "extended" and turn.shared:
        messages = messages[turn.messages_before :]
    names = _names(one.reading.request.messages)
    shown = (
        part_line(message, part, lambda call_id: names.get(call_id) or called.get(call_id or ""))
        for message in reversed(messages)
        for part in reversed(message.parts)
    )
    found = (line for line in shown if line is not None)
    lines = [*islice(found, 3 if turn.history == "changed" else None)][::-1]
    if turn.history == "changed":
        rebuilt = turn.edge.kind == "rebuilt"
        said: Span = (REBUILT, "dim") if rebuilt else ("the history was changed", "warn")
        yield [("    ", "plain"), said]
    if len(lines) > 6:
        yield [("    ", "plain"), (f"… {len(lines) - 6} more", "dim")]
        lines = lines[-6:]
    for line in lines:
        yield from folded([("    ", "plain"), *line], width, "      ", PREVIEW)


def part_line(message: Message, part: Part, name_of: Callable[[str | None], str | None]) -> Line | None:
    """One line for a part of the history that the client wrote; None for a part that the model wrote.

    `name_of` gives the tool of a call by its id.
    """
    if part.result is not None:
        result = part.result
        if result.server:
            return None
        name = result.name or name_of(result.call_id) or result.call_id or "a call"
        style: Style = "bad" if result.is_error else "dim"
        return [(f"← {clip(name, 30)} ", "client"), (clip(result.text, 400), style)]
    if message.role == "assistant" or part.kind in ("call", "reasoning"):
        return None
    if part.kind == "text":
        return [(f"{message.role}: ", "dim"), (clip(part.text, 400), "plain")]
    return [(f"{message.role}: ", "dim"), (safe(kind_words(part)), "dim")]


def call_text(call: ToolCall) -> str:
    """A call in the usual notation: `send_email(to="a@b.c", urgent=true)`."""
    arguments = as_object(call.arguments)
    if call.arguments is None or (call.arguments and not arguments):
        return f"{call.name}({call.arguments_raw})"
    return f"{call.name}({', '.join(f'{key}={compact(value)}' for key, value in arguments.items())})"


def emission_lines(one: LabelledRoundTrip, width: int) -> Iterator[Line]:
    emission = one.reading.emission
    if emission is None:
        return
    lines: list[Line] = []
    if emission.reasoning:
        lines.append([("thinks ", "dim"), (clip(emission.reasoning, 400), "dim")])
    if emission.refusal:
        lines.append([("refuses ", "warn"), (clip(emission.refusal, 400), "plain")])
    if emission.text:
        lines.append([(clip(emission.text, 400), "plain")])
    for call in (*emission.calls, *emission.server_calls):
        broken = call.arguments is None and bool(call.arguments_raw.strip())
        arrow = "⚙ " if call.server else "→ "
        lines.append([(arrow, "model"), (clip(call_text(call), 400), "bad" if broken else "plain")])
    for result in emission.server_results:
        lines.append([("  ← ", "api"), (clip(result.text, 400), "bad" if result.is_error else "dim")])
    lines += picture_lines(emission.content)
    if not lines:
        lines.append([(f"{emission.emitted}", "dim" if emission.emitted != "empty" else "warn")])
    yield from folded(_row("model", lines[0]), width, UNDER + "  ", PREVIEW)
    for line in lines[1:]:
        yield from folded([(UNDER, "plain"), *line], width, UNDER + "  ", PREVIEW)


def picture_lines(parts: Iterable[Part]) -> Iterator[Line]:
    """The pictures and files of an answer, each in a few words."""
    for picture in pictures_of(parts):
        yield [(f"[{safe(picture_words(picture))}]", "dim")]


def finish_line(one: LabelledRoundTrip) -> Line:
    finish, label = one.reading.finish, one.label
    trip = one.round_trip
    line: Line = []
    if finish is not None:
        line.append((finish.effective, FINISH[finish.effective]))
        if finish.raw is not None and finish.raw != finish.effective:
            line.append((f" (said {safe(finish.raw)!r})", "dim"))
    status = label["status"]
    if isinstance(status, int) and status != 200:
        line.append((f"  HTTP {status}", "bad" if status >= 400 else "dim"))
    if one.reading.error is not None:
        line.append((f"  {clip(one.reading.error.message, 300)}", "bad"))
    if trip.failure is not None:
        arrived = len(trip.response.body) if trip.response else 0
        who = f"{trip.closed_first} closed first" if trip.closed_first else trip.failure.kind
        style: Style = "bad" if trip.closed_first != "client" else "warn"
        line.append((f"  {who} after {several(arrived, 'byte')}", style))
    return _row("api", line or [("nothing", "bad")])


_OUTCOMES = {"partly": "partly dispatched", "not_dispatched": "not dispatched"}


def dispatch_line(label: Mapping[str, object]) -> Line:
    client = as_object(label["client"])
    outcome = cast(str, client["outcome"])
    results = as_array(client["results"])
    spans: Line = [(_OUTCOMES.get(outcome, outcome), OUTCOME[outcome])]
    if results:
        wrong = sum(bool(as_object(result).get("is_error")) for result in results)
        spans.append((f"  {several(len(results), 'result')}", "plain"))
        if wrong:
            spans.append((f", {wrong} with an error", "bad"))
    return _row("client", spans)


def tokens_line(one: LabelledRoundTrip) -> Line:
    """The tokens: how many are new, how many the previous turn had already sent, and how many the API had cached."""
    usage = one.reading.usage
    spans: Line = []
    if usage is None or usage.input is None:
        spans.append(("tokens unknown", "dim"))
    else:
        before = one.turn.usage_before if one.turn else None
        spans.append((f"{tokens_text(usage.input)} in", "plain"))
        if before is not None and before.input is not None and before.input <= usage.input:
            fresh = usage.input - before.input
            spans.append((f" ({fresh:,} new, {before.input:,} sent before)", "dim"))
        if usage.cache_read:
            spans.append((f", {usage.cache_read:,} cache read", "good"))
        if usage.cache_write:
            spans.append((f", {usage.cache_write:,} cache write", "dim"))
        spans.append((f", {tokens_text(usage.output)} out", "plain"))
        if usage.reasoning:
            spans.append((f" ({usage.reasoning:,} reasoning)", "dim"))
    return [("    ", "plain"), *spans]


def finding_lines(label: Mapping[str, object], width: int, *, fix: bool = False) -> Iterator[Line]:
    for found in as_array(label["findings"]):
        finding = as_object(found)
        glyph, style = SEVERITY[cast(str, finding["severity"])]
        head: Span = (f"  {glyph} {finding['layer']} · {finding['id']}: ", style)
        room = max(20, width - 4)
        text = safe(cast(str, finding["message"]))
        # The first line is shorter, because the head comes before it.
        lead = min(width_of(head[0]), room - 10)
        first = wrap(text, room - lead)[0]
        more = wrap(text[len(first) :].strip(), room) if len(text) > len(first) else []
        yield fit([head, (first, "plain")], width)
        for line in more:
            yield [("    ", "plain"), (line, "plain")]
        if fix and finding["fix"]:
            for at, line in enumerate(wrap(safe(cast(str, finding["fix"])), max(20, width - 9))):
                yield [("         " if at else "    fix  ", "good"), (line, "plain")]
        where = " · ".join(safe(str(place)) for place in as_array(finding["evidence"]))
        yield from folded([("    ", "plain"), (where, "dim")], width, "    ")
