"""The text of `turntape show`.

`story` gives styled lines. The terminal, the SVG picture and the tests render the same lines.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import cast

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette

from ...analysis.pictures import pictures_in, pictures_of, without_data
from ...run.label_costs import is_unpriced
from ...run.labels import Key, Label, LabelledRoundTrip, label_stream
from ...run.row import turn_label
from ...tools.tool_run import ToolRun
from ...wire.json_value import as_array, as_object, compact
from ...wire.per_message import ByKey
from ...wire.printable import safe, several
from ...wire.socket_turn import SOCKET
from ...wire.values import Emission, Kind, Message, Part, RequestReading, Tool, ToolCall
from ..vocabulary.endpoints import endpoint_words
from ..vocabulary.nothing import NOTHING_RECORDED
from .number_format import NO_COST, cost_note, dollars, spent
from .picture_words import kind_words, picture_words
from .run_head import TurnFigures, head_lines, turn_figures
from .short_names import address
from .status_styles import FINISH, OUTCOME, REBUILT, SEVERITY
from .terminal_text import GLYPHS, Line, Span, Style, ansi, clip, fit, flow, folded, width_of, wrap
from .tool_text import loose_lines, tool_lines, turn_runs, unjoined_lines


def show_text(
    round_trips: Cassette | Iterable[RoundTrip],
    *,
    turn: int | None = None,
    thread: str | None = None,
    colour: bool = False,
    width: int = 100,
    hints: bool = False,
) -> Iterator[str]:
    """The run, line by line. `turn`: one turn in full. `thread`: one thread. An unknown one gives nothing."""
    for line in story(round_trips, turn=turn, thread=thread, width=width, hints=hints):
        yield ansi(line, colour)


def story(
    round_trips: Cassette | Iterable[RoundTrip],
    *,
    turn: int | None = None,
    thread: str | None = None,
    width: int = 100,
    hints: bool = False,
) -> Iterator[Line]:
    """The run as styled lines; `hints` adds the findings of tier H."""
    width = max(40, width)
    rows: dict[Key, _TurnText] = {}
    prompts, called = _SystemPrompts(), dict[str, str]()
    again = round_trips.round_trip if isinstance(round_trips, Cassette) and round_trips.path else None
    for key, one in label_stream(round_trips, hints=hints, again=again):
        if thread is not None and one.label["thread"] != thread:
            continue
        if turn is None:
            runs = tuple(run.small() for run in one.tool_runs)
            reported = [*prompts.lines(key, one, width), *_reported(one, called, width)]
            rows[key] = _TurnText(turn_figures(one), reported, _tokens_line(one), runs)
        elif one.label["turn"] == turn:
            rows[key] = _TurnText(turn_figures(one), list(whole_turn(one, width)), [], ())
    done = [rows[key] for key in sorted(rows)]
    if turn is not None:
        for row in done:
            yield from row.reported
        return
    if thread is not None and not done:
        return
    if isinstance(round_trips, Cassette):
        name = safe(round_trips.path.name) if round_trips.path else "a run"
        yield from head_lines(name, [row.figures for row in done], width)
    if not done:
        for text in wrap(NOTHING_RECORDED, width):
            yield [(text, "warn")]
    yield from _summaries(done, width, of_one_run=isinstance(round_trips, Cassette))
    if isinstance(round_trips, Cassette):
        for problem in round_trips.problems:
            yield []
            yield [("! ", "warn"), (safe(problem), "plain")]


@frozen
class _Many:
    """Of what a tape has several, so that each turn says which one it belongs to."""

    threads: bool
    runs: bool


_ANY = _Many(threads=True, runs=True)
"""For one turn that is shown alone."""


@frozen
class _TurnText:
    """The lines of a round trip, kept until all are read; no bodies."""

    figures: TurnFigures
    reported: list[Line]
    tokens: Line
    tool_runs: tuple[ToolRun, ...]

    @property
    def label(self) -> Label:
        return self.figures.label


class _SystemPrompts:
    """The system prompts that an API has apart from the messages: each is shown where it is new in its thread."""

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        """A hash of the last one of each thread, because a run must not stay in memory."""
        self._new: dict[Key, str | None] = {}
        """How that of a turn is introduced; None where it was shown before. A turn may be given twice."""

    def lines(self, key: Key, one: LabelledRoundTrip, width: int) -> Iterator[Line]:
        if one.turn is None or not (text := " ".join(filter(None, (part.text for part in one.reading.request.system)))):
            return
        if key not in self._new:
            now, before = hash(text), self._latest.get(one.turn.thread)
            self._latest[one.turn.thread] = now
            self._new[key] = "system: " if before is None else "system, changed: " if before != now else None
        if (lead := self._new[key]) is not None:
            yield from folded([("    ", "plain"), (lead, "dim"), (clip(text, 400), "plain")], width, "      ", _PREVIEW)


def tokens_text(number: object) -> str:
    """All digits of a count; `?` when it is not known."""
    return f"{number:,}" if isinstance(number, int) else "?"


def _reported(one: LabelledRoundTrip, called: dict[str, str], width: int) -> Iterator[Line]:
    """What went over the wire: what is new in the request, the emission, the finish.

    `called` are the names of the calls of all answers so far, by id: a history that the API holds has only the results.
    """
    if one.turn is not None:
        yield from _new(one, called, width)
        called.update((call.id, call.name) for call in (one.reading.emission or Emission()).calls if call.id)
        yield from _emission(one, width)
        yield from folded(_finish(one), width, _UNDER)


def _summaries(rows: Sequence[_TurnText], width: int, *, of_one_run: bool) -> Iterator[Line]:
    """Each turn in short with what was spent until then; after them the other runs of tool servers."""
    turns = [row.label for row in rows if row.label["turn"] is not None]
    threads, runs = ({label[key] for label in turns} for key in ("thread", "run"))
    many = _Many(len(threads) > 1, len(runs) > 1 or not of_one_run)
    so_far: Decimal | None = None
    unpriced = 0
    for row in rows:
        if row.label["kind"] == "tools" and not row.label["findings"]:
            continue
        if (cost := row.figures.cost) is not None:
            so_far = (so_far or Decimal(0)) + cost
        unpriced += row.figures.unpriced
        yield []
        yield from _summary(row, "" if so_far is None else spent(so_far, unpriced), many, width)
    loose = (row.tool_runs for row in rows if row.label["turn"] is None and not row.label["findings"])
    yield from unjoined_lines((run for runs in loose for run in runs), width)


def _summary(row: _TurnText, so_far: str, many: _Many, width: int) -> Iterator[Line]:
    label = row.label
    if label["turn"] is None:
        yield from loose_lines(row.tool_runs, width) if row.tool_runs else folded(other_line(label), width, "    ")
        yield from _findings(label, width)
        return
    yield from flow(_title(label, row.figures.unpriced, many, so_far), width, "    ")
    yield from row.reported
    yield from folded(_dispatch(label), width, _UNDER)
    yield from tool_lines(row.tool_runs, width)
    yield from folded(row.tokens, width, "      ")
    yield from _findings(label, width)


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


def _title(label: Label, unpriced: bool, many: _Many, so_far: str = "") -> Line:
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
    line: Line = [(f"  {dollars(Decimal(cast(str, price)))}", "money")]
    if note := cost_note(cast("str | None", label["cost_source"])):
        line.append((f" ({note})", "dim"))
    return line


_UNDER = " " * 11
"""Where the words after a layer's name begin."""
_PREVIEW = 3
"""Lines of a text, an argument or a result in the run; `--turn` has them whole."""


def _row(layer: str, spans: Line) -> Line:
    return [("  ", "plain"), (f"{GLYPHS[layer]} {layer:<7}", cast(Style, layer)), *spans]


def _names_of(message: Message) -> list[tuple[str | None, str]]:
    return [(part.call.id, part.call.name) for part in message.parts if part.call is not None]


_names = ByKey(_names_of).of
"""The names of the calls in a history, by id."""


def _new(one: LabelledRoundTrip, called: Mapping[str, str], width: int) -> Iterator[Line]:
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
        yield from folded([("    ", "plain"), *line], width, "      ", _PREVIEW)


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


def _emission(one: LabelledRoundTrip, width: int) -> Iterator[Line]:
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
    lines += _pictures(emission.content)
    if not lines:
        lines.append([(f"{emission.emitted}", "dim" if emission.emitted != "empty" else "warn")])
    yield from folded(_row("model", lines[0]), width, _UNDER + "  ", _PREVIEW)
    for line in lines[1:]:
        yield from folded([(_UNDER, "plain"), *line], width, _UNDER + "  ", _PREVIEW)


def _pictures(parts: Iterable[Part]) -> Iterator[Line]:
    """The pictures and files of an answer, each in a few words."""
    for picture in pictures_of(parts):
        yield [(f"[{safe(picture_words(picture))}]", "dim")]


def _finish(one: LabelledRoundTrip) -> Line:
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


def _dispatch(label: Mapping[str, object]) -> Line:
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


def _tokens_line(one: LabelledRoundTrip) -> Line:
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


def _findings(label: Mapping[str, object], width: int, *, fix: bool = False) -> Iterator[Line]:
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


def _paragraphs(text: str, indent: str, width: int, style: Style = "plain") -> Iterator[Line]:
    for paragraph in safe(text).split("\n"):
        for line in wrap(paragraph, max(20, width - len(indent))):
            yield [(indent, "plain"), (line, style)]


def _tool(tool: Tool, width: int) -> Iterator[Line]:
    properties = ", ".join(as_object(as_object(tool.schema).get("properties")))
    said: Span = (f"  {clip(tool.description or '', 400)}", "dim")
    yield from folded([("    ", "plain"), (safe(f"{tool.name}({properties})"), "plain"), said], width, "        ")


def whole_turn(one: LabelledRoundTrip, width: int) -> Iterator[Line]:
    """One turn in full."""
    yield from flow(_title(one.label, is_unpriced(one.label), _ANY), width, "    ")
    trip = one.round_trip
    socket = trip.response is not None and trip.response.http_version == SOCKET
    asked = safe(f"{SOCKET if socket else trip.request.method} {trip.request.url}")
    yield from folded([(asked, "dim")], width, "    ")
    yield from _whole_request(one.reading.request, width)
    yield []
    yield [("answer", "bold")]
    if one.reading.emission is not None:
        yield from _whole_answer(one.reading.emission, width)
    yield from folded(_finish(one), width, _UNDER)
    yield from folded(_dispatch(one.label), width, _UNDER)
    yield from folded(_tokens_line(one), width, "      ")
    yield from turn_runs(one.tool_runs, width)
    yield from _findings(one.label, width, fix=True)


def _whole_request(request: RequestReading, width: int) -> Iterator[Line]:
    if request.parameters:
        line: Line = [("  parameters  ", "dim"), (clip(compact(request.parameters), 2000), "plain")]
        yield from folded(line, width, "    ")
    if request.tools:
        yield []
        yield [(f"tools ({len(request.tools)})", "bold")]
        for tool in request.tools:
            yield from _tool(tool, width)
    if request.system:
        yield []
        yield [("system", "bold")]
        for part in request.system:
            yield from _paragraphs(part.text, "    ", width)
    names = {part.call.id: part.call.name for m in request.messages for part in m.parts if part.call}
    for message in request.messages:
        yield []
        yield [(message.role, "bold"), (f"  {message.pointer}", "dim")]
        for part in message.parts:
            yield from _part(part, names, width)


def _whole_answer(emission: Emission, width: int) -> Iterator[Line]:
    if emission.reasoning:
        yield from _paragraphs(emission.reasoning, "    ", width, "dim")
    if emission.text:
        yield from _paragraphs(emission.text, "    ", width)
    calls = (*emission.calls, *emission.server_calls)
    for call in calls:
        yield from _call_lines(call, width)
    names = {call.id: call.name for call in calls}
    for part in emission.content:
        if part.result is not None or part.kind == "other":
            yield from _part(part, names, width)
    for line in _pictures(part for part in emission.content if part.kind != "other"):
        yield [("    ", "plain"), *line]


def _call_lines(call: ToolCall, width: int) -> Iterator[Line]:
    *lines, last = wrap(safe(call_text(call)), max(20, width - 8))
    head: Span = ("    → ", "model")
    for line in lines:
        yield [head, (line, "plain")]
        head = ("        ", "plain")
    yield from flow([head, (last, "plain"), *([(f"  {safe(call.id)}", "dim")] if call.id else [])], width, " " * 8)


def _part(part: Part, names: Mapping[str | None, str], width: int) -> Iterator[Line]:
    if part.call is not None:
        yield from _call_lines(part.call, width)
    elif part.result is not None:
        name = part.result.name or names.get(part.result.call_id) or ""
        giver: Style = "api" if part.result.server else "client"
        head: Line = [("    ← ", giver), (safe(name), "plain"), (f"  {safe(part.result.call_id or '')}", "dim")]
        yield from folded(head, width, "        ")
        yield from _paragraphs(part.result.text, "        ", width, "bad" if part.result.is_error else "plain")
    elif part.kind in ("text", "reasoning", "refusal"):
        yield from _paragraphs(part.text, "    ", width, "plain" if part.kind == "text" else "dim")
    else:
        raw = without_data(part.raw, [*pictures_in(part.raw)])
        text = part.text if part.text and not part.text.startswith("[") else compact(raw)
        yield from folded(
            [("    ", "plain"), (f"{safe(kind_words(part))} {clip(text, 400)}", "dim")], width, "        "
        )
