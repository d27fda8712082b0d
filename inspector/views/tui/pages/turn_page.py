"""The page of a turn: what is new first, the answer with its calls and their results, then what was sent already."""

from collections.abc import Iterator, Sequence

from ....analysis.schema_notes import schema_notes
from ....findings.finding import Finding
from ....run.detail import Detail
from ....run.row import Row
from ....run.rows import Rows
from ....wire.json_value import compact, is_object
from ....wire.printable import safe
from ....wire.values import Message, Part, Reading, ToolCall, ToolResult
from ...text.terminal_text import GLYPHS, clip
from ..formatting import (
    EMITTED,
    FINISH,
    OUTCOME,
    ROLE,
    SEVERITY,
    count,
    dollars,
    full,
    model_name,
    seconds,
    several,
    size,
)
from .page import Block, Body, Goto, Page, Prose, Spans, fields_of, json_line, keyed, lines, pretty, prose

PREVIEW, CALL = 12, 16
"""Lines of a long text, and of a call's arguments, that are shown before it is opened."""


def turn_page(detail: Detail, rows: Rows, place: int) -> Page:
    """All of one turn; of another round trip, its request and answer."""
    if not detail.row.is_turn:
        return Page("other", list(_other(detail)))
    return Page("turn", [*_head(detail.row), *_findings(detail.row.findings, rows), *_told(detail, rows, place)])


def _told(detail: Detail, rows: Rows, place: int) -> Iterator[Block]:
    yield from _new(detail, rows, place)
    yield from answer_blocks(detail, rows, place)
    yield from _history(detail)
    yield from _setting(detail.reading)


def _head(row: Row) -> Iterator[Block]:
    """Two lines that say what the turn was and what it took."""
    usage = row.usage
    title: list[tuple[str, str]] = [
        (f"Turn {row.turn}", "title"),
        (f" of {row.thread}", "dim"),
        (f"  {safe(model_name(row.model))}", "plain"),
        (f"  {row.protocol}", "dim"),
    ]
    if row.attempt > 1:
        title.append((f"  attempt {row.attempt}", "warn"))
    title.append((f"  #{row.index}", "faint"))
    spent: list[tuple[str, str]] = [(f"{full(usage.input)} in", "plain")]
    if row.before is not None and row.before.input is not None and usage.input is not None:
        fresh = usage.input - row.before.input
        if fresh >= 0:
            spent.append((f" ({fresh:,} new)", "dim"))
    if usage.cache_read:
        spent.append((f"  {count(usage.cache_read)} cached", "cache_read"))
    if usage.cache_write:
        spent.append((f"  {count(usage.cache_write)} to cache", "cache_write"))
    spent.append((f"  {full(usage.output)} out", "plain"))
    if usage.reasoning:
        spent.append((f" ({usage.reasoning:,} reasoning)", "reasoning"))
    spent.append((f"  {dollars(row.cost)}", "money" if row.cost is not None else "dim"))
    yield Block("head", title, lines(spent, *layer_lines(row)), anchors=("head",))


def layer_lines(row: Row) -> list[Spans]:
    """One line for each layer: what the model emitted, how the API finished it, what the client did."""
    emitted = row.emitted or "nothing"
    calls = f": {', '.join(row.calls)}" if row.calls else ""
    finish, look = FINISH.get(row.finish or "", (row.finish or "nothing", "warn"))
    del finish
    api: list[tuple[str, str]] = [(row.finish or "nothing", look)]
    if row.finish_raw is not None and row.finish_raw != row.finish:
        api.append((f"  said {safe(row.finish_raw)!r}", "dim"))
    if row.status is not None and row.status != 200:
        api.append((f"  HTTP {row.status}", "bad" if row.status >= 400 else "dim"))
    if row.error:
        api.append((f"  {clip(row.error, 400)}", "bad"))
    if row.first_byte_ms is not None:
        api.append((f"  first byte {seconds(row.first_byte_ms)}, whole {seconds(row.duration_ms)}", "dim"))
    outcome = row.outcome or "nothing"
    client: list[tuple[str, str]] = [(outcome.replace("_", " "), OUTCOME.get(outcome, ("", "plain"))[1])]
    if row.results:
        client.append((f"  {several(row.results, 'result')}", "plain"))
    if row.failed_results:
        client.append((f", {row.failed_results} with an error", "bad"))
    if row.history == "changed":
        client.append(("  it had rewritten the history before this turn", "warn"))
    return [
        [(f"{GLYPHS['model']} model   ", "model"), (emitted, EMITTED.get(emitted, "good")), (calls, "plain")],
        [(f"{GLYPHS['api']} api     ", "api"), *api],
        [(f"{GLYPHS['client']} client  ", "client"), *client],
    ]


def _findings(marks: Sequence[Finding], rows: Rows) -> Iterator[Block]:
    for number, mark in enumerate(marks):
        yield Block(f"mark:{number}", (), finding_body(mark), anchors=(f"finding:{number}",))
    del rows


def finding_body(mark: Finding) -> "_Finding":
    return _Finding(mark)


class _Finding:
    """The lines of a finding: what, why, where, and what to do."""

    def __init__(self, mark: Finding) -> None:
        self._mark = mark

    def __call__(self, width: int) -> Sequence[Spans]:
        mark = self._mark
        glyph, look = SEVERITY.get(mark.severity, ("?", "dim"))
        out: list[Spans] = [[(f"{glyph} {mark.layer} · {mark.id}", look)]]
        out += [[("  ", "plain"), *line] for line in Prose(mark.message, width - 2)]
        if mark.fix:
            told = list(Prose(mark.fix, width - 7))
            out += [[("  fix  " if not at else "       ", "good"), *line] for at, line in enumerate(told)]
        if mark.because_of:
            out.append([("  because of ", "dim"), (", ".join(mark.because_of), "plain")])
        if mark.evidence:
            out.append([("  see  ", "dim"), (clip(" · ".join(mark.evidence), width - 7), "accent")])
        return out


def rule(text: str, note: str = "", look: str = "accent") -> Spans:
    """The title of a section."""
    return [("━━ ", "faint"), (text, f"{look}"), (f"  {note}" if note else "", "dim")]


def _gap(key: str) -> Block:
    return Block(f"gap:{key}", (), lines(()))


def _new(detail: Detail, rows: Rows, place: int) -> Iterator[Block]:
    reading, new = detail.reading, detail.new
    yield _gap("new")
    if detail.row.history == "changed":
        note = "the client had rewritten the history; shown is all that is not as it was"
    elif detail.sent:
        note = f"{several(len(new), 'message')}; {detail.sent:,} before were sent already"
    else:
        note = several(len(new), "message")
    yield Block("new", rule("new in this request", note), None, anchors=("new",))
    if not new:
        told = "nothing: the history stands with the API" if reading.request.previous_id else "nothing"
        yield Block("new:none", (), lines([(told, "dim")]), indent=2)
    names = names_of(reading)
    before = rows.before(place)
    for number, message in enumerate(new, detail.sent):
        if message.role == "assistant" and before is not None and number <= detail.sent + 1:
            yield echo_head(message)
            yield from message_blocks(message, names, 4, f"echo:{message.pointer}")
        else:
            yield from message_blocks(message, names, 2, None)


def echo_head(message: Message) -> Block:
    """The head under which the last answer, which the client sent back, is folded away."""
    parts = [safe(part.call.name) if part.call is not None else part.kind for part in message.parts]
    title = [("assistant", ROLE["assistant"]), (f"  echo of the last answer: {', '.join(parts) or 'empty'}", "dim")]
    return Block(f"echo:{message.pointer}", title, group=True, open=False, indent=2, anchors=(message.pointer,))


def names_of(reading: Reading) -> dict[str | None, str]:
    """The tools' names by the ids of the calls in the history."""
    return {part.call.id: part.call.name for m in reading.request.messages for part in m.parts if part.call}


def message_blocks(message: Message, names: dict[str | None, str], indent: int, parent: str | None) -> Iterator[Block]:
    """A message of the history, one block a part."""
    if not message.parts:
        yield Block(
            f"message:{message.pointer}",
            [(message.role, ROLE.get(message.role, "dim")), ("  empty", "dim")],
            indent=indent,
            parent=parent,
            anchors=(message.pointer,),
        )
    for number, part in enumerate(message.parts):
        anchors = (message.pointer, part.pointer) if number == 0 else (part.pointer,)
        key = f"part:{part.pointer}"
        title, body, shut = _part(message, part, names)
        yield Block(
            key,
            title,
            body,
            open=False,
            preview=0 if shut else PREVIEW,
            indent=indent,
            parent=parent,
            anchors=anchors,
        )


def _part(message: Message, part: Part, names: dict[str | None, str]) -> tuple[Spans, Body | None, bool]:
    """Title and body of a part, and whether it starts shut."""
    if part.result is not None:
        return (
            _result_title(part.result, names.get(part.result.call_id)),
            prose(part.result.text, "bad" if part.result.is_error else "plain"),
            False,
        )
    if part.call is not None:
        return (
            [("→ ", "model"), (safe(part.call.name), "bold"), (f"  {part.call.id or ''}", "faint")],
            call_body(part.call, {}),
            True,
        )
    look = ROLE.get(message.role, "dim")
    if part.kind == "reasoning":
        note = several(len(part.text), "character") if part.text else "encrypted"
        return [("reasoning", "reasoning"), (f"  {note}", "dim")], prose(part.text, "dim") if part.text else None, True
    if part.kind in ("text", "refusal"):
        return [(message.role, look)], prose(part.text), message.role == "system"
    return [(message.role, look), (f"  [{part.kind}]", "dim")], prose(pretty(part.raw), json_line), True


def _result_title(result: ToolResult, name: str | None) -> Spans:
    title = [
        ("← ", "client"),
        (safe(result.name or name or "a call"), "bold"),
        (f"  {safe(result.call_id or '')}", "faint"),
        (f"  {size(len(result.text.encode('utf-8', 'replace')))}", "dim"),
    ]
    return [*title, ("  error", "bad")] if result.is_error else title


def call_body(call: ToolCall, notes: dict[str, tuple[str, bool]]) -> Body:
    """The arguments of a call, one a line."""
    if is_object(call.arguments):
        rows = list(fields_of(call.arguments))
        rows += [("", key, "") for key, (_, broken) in notes.items() if broken and key not in call.arguments]
        if not rows:
            return lines([("no arguments", "dim")])
        return keyed(rows, {key: (text, "bad" if broken else "dim") for key, (text, broken) in notes.items()})
    if call.arguments is not None:
        return prose(compact(call.arguments))
    return prose(call.arguments_raw or "no arguments", "warn" if call.arguments_raw else "dim")


def answer_blocks(detail: Detail, rows: Rows, place: int, *, joined: bool = True) -> Iterator[Block]:
    """What came back; `joined` puts the results that the next request brought beside their calls."""
    emission, finish, row = detail.reading.emission, detail.reading.finish, detail.row
    yield _gap("answer")
    note = "streamed" if row.streamed else ""
    yield Block("answer", rule("answer", note, "accent"), None, anchors=("answer", "/answer"))
    if emission is None:
        return
    if emission.reasoning:
        title = [("reasoning", "reasoning"), (f"  {several(len(emission.reasoning), 'character')}", "dim")]
        yield Block("answer:reasoning", title, prose(emission.reasoning, "dim"), open=False, preview=3, indent=2)
    if emission.refusal:
        yield Block("answer:refusal", [("refusal", "warn")], prose(emission.refusal), indent=2)
    if emission.text:
        yield Block("answer:text", (), prose(emission.text), open=True, indent=2, anchors=("answer/text",))
    after = rows.after(place)
    for number, call in enumerate(emission.calls):
        yield _call_block(detail, number, call, whole=joined)
        if joined:
            yield _result_block(detail, number, call, after, rows)
    for number, call in enumerate(emission.server_calls):
        title = [("⚙ ", "api"), (safe(call.name), "bold"), ("  run by the API itself", "dim")]
        yield Block(f"server:{number}", title, call_body(call, {}), indent=2)
    if emission.emitted in ("empty", "none"):
        what = detail.reading.error.message if detail.reading.error else "nothing was emitted"
        yield Block("answer:nothing", (), prose(what, "bad" if detail.reading.error else "warn"), indent=2)
    if finish is not None and finish.detail:
        yield Block("answer:detail", (), prose(finish.detail, "dim"), indent=2)
    for number, problem in enumerate(detail.reading.problems):
        yield Block(f"problem:{number}", (), prose(f"! {problem}", "warn"), indent=2)
    failure = detail.round_trip.failure
    if failure is not None:
        yield Block("answer:failure", (), prose(f"{failure.kind}: {failure.message}", "bad"), indent=2)


def _call_block(detail: Detail, number: int, call: ToolCall, *, whole: bool) -> Block:
    key = f"call:{number}"
    title: list[tuple[str, str]] = [("→ ", "model"), (safe(call.name or "?"), "bold"), (f"  {call.id or ''}", "faint")]
    if whole and (not call.complete or detail.row.emitted == "partial_call" and call.arguments is None):
        title.append(("  cut off", "bad"))
    elif whole and call.arguments is None and call.arguments_raw:
        title.append(("  no JSON", "bad"))
    notes = schema_notes(call, detail.reading.request.tools)
    if any(broken for _, broken in notes.values()):
        title.append(("  against its schema", "bad"))
    anchors = (f"answer/call/{number}", f"call {call.id or call.name}")
    return Block(key, title, call_body(call, notes), open=False, preview=CALL, indent=2, anchors=anchors)


def _result_block(detail: Detail, number: int, call: ToolCall, after: int | None, rows: Rows) -> Block:
    """What the next request brought for a call."""
    result = detail.results.get(number)
    if result is not None and after is not None:
        where = [*_result_title(result, call.name), (f"  in turn {rows.all[after].turn}", "dim")]
        body = prose(result.text, "bad" if result.is_error else "plain")
        return Block(f"result:{number}", where, body, open=False, preview=6, indent=4)
    if after is not None:
        told = f"← no result in turn {rows.all[after].turn}"
        return Block(f"result:{number}", [(told, "bad")], None, indent=4)
    return Block(f"result:{number}", [("← no later turn was recorded", "dim")], None, indent=4)


def _history(detail: Detail) -> Iterator[Block]:
    history = detail.history
    if not history:
        return
    yield _gap("history")
    note = several(len(history), "message")
    yield Block("history", rule("sent already", note), group=True, open=False)
    names = names_of(detail.reading)
    for message in history:
        yield from message_blocks(message, names, 2, "history")


def _setting(reading: Reading) -> Iterator[Block]:
    """What stands around the messages: system, tools, parameters."""
    request = reading.request
    yield _gap("setting")
    if request.system:
        whole = sum(len(part.text) for part in request.system)
        note = several(whole, "character")
        yield Block("system", rule("system", note), group=True, open=False, anchors=("system", "/system"))
        for part in request.system:
            yield Block(
                f"part:{part.pointer}",
                (),
                prose(part.text),
                indent=2,
                parent="system",
                anchors=(part.pointer,),
            )
    if request.tools:
        note = f"{len(request.tools)} offered"
        yield Block("tools", rule("tools", note), group=True, open=False, anchors=("/tools",))
        for tool in request.tools:
            title = [(safe(tool.name), "bold"), (f"  {clip(tool.description or '', 200)}", "dim")]
            body = prose(pretty({"description": tool.description, "schema": tool.schema}), json_line)
            yield Block(f"tool:{tool.name}", title, body, open=False, indent=2, parent="tools", anchors=(tool.pointer,))
    if request.parameters:
        names = ", ".join(request.parameters)
        yield Block(
            "parameters",
            rule("parameters", clip(names, 60)),
            prose(pretty(request.parameters), json_line),
            open=False,
            anchors=("parameters", *(f"/{name}" for name in request.parameters)),
        )


def _other(detail: Detail) -> Iterator[Block]:
    trip, row = detail.round_trip, detail.row
    status = f"{row.status}" if row.status is not None else "no answer"
    yield Block(
        "head",
        [(f"{trip.request.method} ", "title"), (safe(trip.request.url), "plain"), (f"  {status}", "dim")],
        lines([(f"{row.protocol}, no turn of a conversation  #{row.index}", "dim")]),
    )
    if row.error:
        yield Block("error", (), prose(row.error, "bad"))
    yield _gap("request")
    yield Block(
        "request",
        rule("request", size(row.request_bytes)),
        prose(_json_text(detail.exchange.body, trip.request.body), json_line),
    )
    if trip.response is not None:
        yield _gap("answer")
        yield Block(
            "answer",
            rule("answer", size(row.response_bytes)),
            prose(_json_text(detail.exchange.answer, trip.response.body), json_line),
            anchors=("answer",),
        )


def _json_text(value: object, body: bytes) -> str:
    return pretty(value) if value is not None else body.decode("utf-8", "backslashreplace")


_REQUEST = {"tools": "/tools", "system": "system", "stop": "parameters", "model": "head", "tool": "/tools"}
"""Where a part of a request that is named by a word is shown."""


def evidence(text: str, rows: Rows) -> Goto | None:
    """Where a piece of evidence stands: `#3 request /messages/4` is message 4 of round trip 3."""
    head, _, rest = text.partition(" ")
    number = head.removeprefix("#").partition(".")[0].rstrip(":,")
    if not head.startswith("#") or not number.isdigit():
        return None
    place = rows.by_index.get(int(number))
    if place is None:
        return None
    what, _, where = rest.partition(" ")
    if what == "call":
        return Goto(place, f"call {where.split(', ')[0]}")
    if what in ("usage", "status", "finish"):
        return Goto(place, "head")
    if what == "request":
        word = where.split(" ")[0]
        return Goto(place, word if word.startswith("/") else _REQUEST.get(word, "new"))
    return Goto(place, "answer")
