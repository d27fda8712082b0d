"""A turn: what was new in its request first, then the answer with its calls and their results, the rest folded."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from turntape.cassettes.tape.model import Headers

from ...run.detail import Detail
from ...run.growth import GrowthStep
from ...run.request_cost import SHARED_OUT, by_kind
from ...run.row import Row
from ...run.rows import Rows
from ...wire.json_value import is_object, parse_json
from ...wire.values import Message, Part, RequestReading, ToolCall, ToolResult
from ..text.number_format import count, dollars, lasted, several, size
from ..text.status_styles import EMITTED, FINISH, OUTCOME
from ..text.terminal_text import GLYPHS
from .findings_list import finding
from .markup import Html, joined, link, span, tag

TEXT = 30_000
"""So many characters of one text are shown."""
LINES, CHARACTERS = 14, 1200
"""A text that is longer starts folded."""
ANSWER = 6_000
"""So many characters of what the model said are never folded."""


@dataclass(slots=True)
class Shown:
    """What the page has shown so far, so that it need not be shown again."""

    raw: int
    """How many characters of each raw body are shown."""
    settings: dict[str, tuple[int, object, object]] = field(default_factory=dict[str, tuple[int, object, object]])
    """By thread: where its system prompt and tools were shown last, and which."""


def turn_view(detail: Detail, rows: Rows, place: int, step: GrowthStep | None, shown: Shown) -> Html:
    """All of one round trip."""
    parts = [_head(detail, step)]
    parts += [finding(mark, rows) for mark in detail.row.findings]
    if detail.row.is_turn:
        parts += [_new(detail, rows, place), _answer(detail, rows, place), _made_of(detail)]
        parts.append(_setting(detail, place, shown))
    parts += _raw(detail, shown.raw)
    return tag("article", *parts)


def _head(detail: Detail, step: GrowthStep | None) -> Html:
    row = detail.row
    if not row.is_turn:
        status = f"{row.status}" if row.status is not None else "no answer"
        return joined(
            (
                tag("h2", f"{row.method} ", span("dim", row.url)),
                tag("p", f"{status}, {row.protocol}, no turn of a conversation", class_="dim"),
                tag("p", row.error, class_="bad") if row.error else "",
            )
        )
    facts = [
        row.model or "unknown model",
        row.protocol,
        f"round trip #{row.index}",
        f"first byte {lasted(row.first_byte_ms)}, whole {lasted(row.duration_ms)}",
    ]
    attempt = f", attempt {row.attempt}" if row.attempt > 1 else ""
    return joined(
        (
            tag("h2", f"Turn {row.turn} ", span("dim", f"of {row.thread}{attempt}")),
            tag("p", " · ".join(facts), class_="dim"),
            tag("p", *_spent(row, step), class_="spent"),
            tag("table", *(tag("tr", tag("th", span(layer, f"{GLYPHS[layer]} {layer}")), tag("td", told))
                           for layer, told in _layers(row)), class_="layers"),
        )
    )  # fmt: skip


def _spent(row: Row, step: GrowthStep | None) -> Iterator[str]:
    usage = row.usage
    yield f"{usage.input:,} in" if usage.input is not None else "tokens not said"
    before = row.before.input if row.before is not None else None
    if before is not None and usage.input is not None and usage.input >= before:
        yield span("dim", f" ({usage.input - before:,} new, {before:,} resent)")
    if usage.cache_read:
        yield f", {usage.cache_read:,} from the cache"
    if usage.cache_write:
        yield f", {usage.cache_write:,} to the cache"
    if usage.output is not None:
        yield f", {usage.output:,} out"
    if usage.reasoning:
        yield span("dim", f" ({usage.reasoning:,} reasoning)")
    yield " · "
    yield span("money", dollars(row.cost))
    if step is not None:
        yield span("dim", f", so far {dollars(step.cumulative)}")
        if step.fill is not None and step.window:
            yield span("dim", f" · {step.fill:.0%} of a context of {count(step.window)}")


def _layers(row: Row) -> Iterator[tuple[str, Html]]:
    calls = f": {', '.join(row.calls)}" if row.calls else ""
    emitted = row.emitted or "nothing"
    yield "model", joined((span(EMITTED.get(emitted, "good"), emitted.replace("_", " ")), calls))
    finish = row.finish or "nothing"
    api = [span(FINISH.get(finish, "warn"), finish.replace("_", " "))]
    if row.finish_raw is not None and row.finish_raw != row.finish:
        api.append(span("dim", f" said {row.finish_raw!r}"))
    if row.status is not None and row.status != 200:
        api.append(span("bad" if row.status >= 400 else "dim", f" HTTP {row.status}"))
    if row.error:
        api.append(span("bad", f" {row.error}"))
    yield "api", joined(api)
    outcome = row.outcome or "nothing"
    client = [span(OUTCOME.get(outcome, "dim"), outcome.replace("_", " "))]
    if row.results:
        client.append(Html(f" {several(row.results, 'result')}"))
    if row.failed_results:
        client.append(span("bad", f", {row.failed_results} with an error"))
    if row.history == "changed":
        client.append(span("warn", " it had rewritten the history before this turn"))
    yield "client", joined(client)


def _new(detail: Detail, rows: Rows, place: int) -> Html:
    new, reading = detail.new, detail.reading
    notes: list[str] = [several(len(new), "message")]
    before = rows.before(place)
    if detail.sent and before is not None:
        notes += [f"; {several(detail.sent, 'message')} before sent already, see ", link(before, "the turn before")]
    if detail.row.history == "changed":
        notes.append(span("warn", "; the client had rewritten the history"))
    names = {part.call.id: part.call.name for m in reading.request.messages for part in m.parts if part.call}
    body = [_message(message, names, echo=message.role == "assistant" and bool(detail.sent)) for message in new]
    if not new:
        said = "nothing: the history stands with the API" if reading.request.previous_id else "nothing"
        body = [tag("p", said, class_="dim")]
    return tag("section", tag("h3", "New in this request ", span("dim", *notes)), *body)


def _message(message: Message, names: dict[str | None, str], *, echo: bool) -> Html:
    return tag("div", *(_part(message, part, names, echo) for part in message.parts), class_=f"message {message.role}")


def _part(message: Message, part: Part, names: dict[str | None, str], echo: bool) -> Html:
    if part.result is not None:
        return _result(part.result, names.get(part.result.call_id), "")
    said = [span("role", message.role), span("dim", " as the model had said it" if echo else "")]
    if part.call is not None:
        return _folded([*said, span("dim", " call of "), part.call.name], _arguments(part.call))
    if part.kind in ("text", "refusal"):
        return tag("div", tag("div", *said), block(part.text, shut=echo))
    if part.kind == "reasoning":
        return _folded([*said, span("dim", " reasoning")], block(part.text or "encrypted", whole=True))
    return _folded([*said, span("dim", f" [{part.kind}]")], block(_pretty(part.raw), whole=True))


def _folded(head: Sequence[str], body: Html) -> Html:
    return tag("details", tag("summary", *head), body)


def _result(result: ToolResult, name: str | None, where: str) -> Html:
    look = "bad" if result.is_error else "client"
    head = [span(look, "← "), result.name or name or result.call_id or "a call"]
    if result.is_error:
        head.append(span("bad", " error"))
    return tag("div", tag("div", *head, span("dim", where)), block(result.text), class_="result")


def block(said: str, *, whole: bool = False, shut: bool = False) -> Html:
    """A text; a long one folded under its beginning unless `whole`, a very long one cut."""
    if not said:
        return tag("p", "empty", class_="dim")
    cut = Html("")
    size_of = len(said)
    if size_of > TEXT:
        cut = tag("p", f"… {size_of - TEXT:,} more characters in the cassette", class_="dim")
        said = said[:TEXT]
    body = joined((tag("pre", said), cut))
    lines = said.count("\n") + 1
    if whole or (not shut and lines <= LINES and size_of <= CHARACTERS):
        return body
    begins = " ".join(said[:240].split())[:160]
    more = several(lines, "line") if lines > 1 else several(size_of, "character")
    return tag("details", tag("summary", span("begins", begins), span("dim", f" {more}")), body, class_="long")


def _arguments(call: ToolCall) -> Html:
    if is_object(call.arguments):
        if not call.arguments:
            return tag("p", "no arguments", class_="dim")
        rows = (
            tag("div", tag("dt", key), tag("dd", block(value if isinstance(value, str) and value else _pretty(value))))
            for key, value in call.arguments.items()
        )
        return tag("dl", *rows)
    if call.arguments is not None:
        return block(_pretty(call.arguments))
    if not call.arguments_raw:
        return tag("p", "no arguments", class_="dim")
    return joined((tag("p", "these arguments are no JSON:", class_="bad"), block(call.arguments_raw)))


def _answer(detail: Detail, rows: Rows, place: int) -> Html:
    emission, row = detail.reading.emission, detail.row
    parts: list[Html] = []
    if emission is not None:
        if emission.reasoning:
            note = span("dim", f" {several(len(emission.reasoning), 'character')}")
            parts.append(_folded([span("role", "reasoning"), note], block(emission.reasoning, whole=True)))
        if emission.refusal:
            parts.append(tag("div", span("warn", "refusal"), block(emission.refusal)))
        if emission.text:
            parts.append(tag("div", block(emission.text, whole=len(emission.text) <= ANSWER), class_="said"))
        after = rows.after(place)
        for number, call in enumerate(emission.calls):
            parts.append(_call(detail, number, call, after, rows))
        for call in emission.server_calls:
            head = [span("api", "⚙ "), call.name, span("dim", " run by the API itself")]
            parts.append(tag("div", tag("div", *head), _arguments(call), class_="call"))
        if emission.emitted in ("empty", "none"):
            parts.append(tag("p", row.error or "nothing was emitted", class_="bad" if row.error else "warn"))
    finish, failure = detail.reading.finish, detail.round_trip.failure
    if finish is not None and finish.detail:
        parts.append(tag("p", finish.detail, class_="dim"))
    parts += [tag("p", f"! {problem}", class_="warn") for problem in detail.reading.problems]
    if failure is not None:
        parts.append(tag("p", f"{failure.kind}: {failure.message}", class_="bad"))
    note = span("dim", "streamed" if row.streamed else "")
    return tag("section", tag("h3", "Answer ", note), *(parts or [tag("p", "no answer", class_="bad")]))


def _call(detail: Detail, number: int, call: ToolCall, after: int | None, rows: Rows) -> Html:
    head = [span("model", "→ "), span("name", call.name), span("dim", f" {call.id or ''}")]
    if not call.complete:
        head.append(span("bad", " not whole"))
    result = detail.results.get(number)
    if result is not None and after is not None:
        joint = _result(result, call.name, f" in turn {rows.all[after].turn}")
    elif after is not None:
        joint = tag("p", f"← no result in turn {rows.all[after].turn}", class_="bad result")
    else:
        joint = tag("p", "← no later turn was recorded", class_="dim result")
    return tag("div", tag("div", *head), _arguments(call), joint, class_="call")


def _made_of(detail: Detail) -> Html:
    """What the request is made of, by kind."""
    shares = by_kind(detail.reading.request, detail.row.usage.input)
    whole = sum(share.size for share in shares)
    if not whole:
        return Html("")
    lines = [
        tag(
            "tr",
            tag("th", one.kind),
            tag("td", tag("span", tag("span", class_="fill", style=f"width:{one.size / whole:.1%}"), class_="bar")),
            tag("td", f"{one.tokens:,} tokens" if one.tokens is not None else size(one.size), class_="figure"),
            tag("td", several(one.count, "message") if one.kind not in ("system", "tools") else "", class_="dim"),
        )
        for one in shares
    ]
    note = SHARED_OUT if detail.row.usage.input is not None else "bytes; the API did not say the tokens"
    table = joined((tag("table", *lines, class_="made"), tag("p", note, class_="dim")))
    return _folded([tag("h3", "What the request is made of")], table)


def _setting(detail: Detail, place: int, shown: Shown) -> Html:
    """System prompt, tools and parameters, once for as long as they stay the same."""
    request, thread = detail.reading.request, detail.row.thread or ""
    system = "\n\n".join(part.text for part in request.system)
    tools = [(tool.name, tool.description, tool.schema) for tool in request.tools]
    last = shown.settings.get(thread)
    parts: list[Html] = []
    if last is not None and last[1:] == (system, tools):
        if system or tools:
            parts.append(
                tag("p", "System prompt and tools as in ", link(last[0], "an earlier turn"), ".", class_="dim")
            )
    else:
        shown.settings[thread] = (place, system, tools)
        if system:
            head = [tag("h3", "System prompt "), span("dim", several(len(system), "character"))]
            parts.append(_folded(head, block(system, whole=True)))
        if tools:
            parts.append(_folded([tag("h3", "Tools "), span("dim", f"{len(tools)} offered")], _tools(request)))
    if request.parameters:
        named = ", ".join(request.parameters)
        parts.append(
            _folded([tag("h3", "Parameters "), span("dim", named[:80])], block(_pretty(request.parameters), whole=True))
        )
    return joined(parts)


def _tools(request: RequestReading) -> Html:
    return joined(
        _folded(
            [span("name", tool.name), span("dim", f" {(tool.description or '')[:160]}")],
            block(_pretty({"description": tool.description, "schema": tool.schema}), whole=True),
        )
        for tool in request.tools
    )


def _raw(detail: Detail, limit: int) -> Iterator[Html]:
    trip = detail.round_trip
    request, response = trip.request, trip.response
    first = f"{request.method} {request.url} {request.http_version}"
    yield _wire("Raw request", first, request.headers, request.body, limit)
    if response is not None:
        first = f"{response.http_version} {response.status} {response.reason}"
        yield _wire("Raw answer", first, response.headers, response.body, limit)


def _wire(title: str, first: str, headers: Headers, body: bytes, limit: int) -> Html:
    lines = "\n".join([first, *(f"{name}: {value}" for name, value in headers)])
    said = body[: 4 * limit].decode("utf-8", "backslashreplace")[:limit]
    left = len(body) - len(said.encode("utf-8", "replace"))
    cut = tag("p", f"… {size(left)} more in the cassette", class_="dim") if left > 0 else Html("")
    head = [tag("h3", f"{title} "), span("dim", size(len(body)))]
    return tag("details", tag("summary", *head), tag("pre", lines, class_="dim"), tag("pre", said), cut, class_="raw")


def _pretty(value: object) -> str:
    if isinstance(value, str) and is_object(parsed := parse_json(value)):
        value = parsed
    return json.dumps(value, ensure_ascii=False, indent=2)
