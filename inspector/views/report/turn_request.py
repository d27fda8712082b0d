"""The request of a turn: what is new in it, what it consists of, system prompt, tools and parameters."""

from dataclasses import field

from turntape.cassettes.frozen import mutable

from ...ledger import KindShare, TurnEntry
from ...run.detail import Detail
from ...run.rows import Rows
from ...wire.values import Message, Part, RequestReading
from ..text.number_format import dollars, several, size
from ..vocabulary.pieces import KINDS, figure
from .markup import NOTHING, Html, joined, link, span, tag
from .pictures import pictures
from .text_blocks import arguments, block, folded, pretty, result_block


@mutable
class Shown:
    """Remembers what the page has shown, so that nothing is shown twice."""

    settings: dict[str, tuple[int, object, object]] = field(default_factory=dict[str, tuple[int, object, object]])
    """By thread: the place where its system prompt and tools were shown last, and both."""


def new_messages(detail: Detail, rows: Rows, place: int) -> Html:
    """The messages that the turn before did not have."""
    new, reading = detail.new, detail.reading
    notes: list[Html | str] = [several(len(new), "message")]
    before = rows.before(place)
    if detail.sent and before is not None:
        were = "was" if detail.sent == 1 else "were"
        notes += [f"; {detail.sent:,} {were} sent before, see ", link(before, "the turn before")]
    if detail.row.history == "changed":
        notes.append(span("warn", "; the client had changed the history"))
    names = detail.call_names
    body = [_message(message, names, echo=message.role == "assistant" and bool(detail.sent)) for message in new]
    if not new:
        note = "nothing: the API holds the history" if reading.request.previous_id else "nothing"
        body = [tag("p", note, class_="dim")]
    return tag("section", tag("h3", "New in this request ", span("dim", *notes)), *body)


def _message(message: Message, names: dict[str | None, str], *, echo: bool) -> Html:
    return tag("div", *(_part(message, part, names, echo) for part in message.parts), class_=f"message {message.role}")


def _part(message: Message, part: Part, names: dict[str | None, str], echo: bool) -> Html:
    if part.result is not None:
        return joined((result_block(part.result, names.get(part.result.call_id), ""), *pictures(part.raw)))
    head = [span("role", message.role), span("dim", " as the model had sent it" if echo else "")]
    if part.call is not None:
        return folded([*head, span("dim", " call of "), part.call.name], arguments(part.call))
    if part.kind in ("text", "refusal"):
        return tag("div", tag("div", *head), block(part.text, shut=echo))
    if part.kind == "reasoning":
        return folded([*head, span("dim", " reasoning")], block(part.text or "encrypted", whole=True))
    shown = [*pictures(part.raw)]
    return joined((folded([*head, span("dim", f" [{part.kind}]")], block(pretty(part.raw), whole=True)), *shown))


def composition(entry: TurnEntry | None) -> Html:
    """What the request consists of, by kind, in the order of the prompt."""
    kinds = entry.kinds if entry is not None else ()
    whole = sum(one.size for one in kinds)
    counted = entry is not None and entry.input is not None
    if entry is None or not whole:
        return NOTHING
    total = (entry.input or 1) if counted else whole
    lines = [
        tag(
            "tr",
            tag("th", KINDS[one.kind]),
            tag("td", tag("span", tag("span", class_="fill", style=f"width:{_share(one, total):.1%}"), class_="bar")),
            tag("td", f"{one.tokens:,} tokens" if one.tokens is not None else size(one.size), class_="figure"),
            tag("td", dollars(one.cost) if one.cost is not None else "", class_="figure"),
            tag("td", several(one.pieces, "piece"), class_="dim"),
        )
        for one in kinds
    ]
    note = (
        f"the sum is what the API counted; {_added(entry)}" if counted else "bytes; the API did not report its tokens"
    )
    table = joined((tag("table", *lines, class_="made"), tag("p", note, class_="dim")))
    return folded([tag("h3", "What the request consists of")], table)


def _share(one: KindShare, total: int) -> float:
    return (one.tokens if one.tokens is not None else one.size) / total


def _added(entry: TurnEntry) -> str:
    """What the turn added, in words."""
    if entry.added is None:
        return "the parts are estimated within it"
    return f"this turn added {figure(entry.added)}; the parts are estimated within these sums"


def settings(detail: Detail, place: int, shown: Shown) -> Html:
    """System prompt, tools and parameters; a link while they are those of an earlier turn."""
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
            parts.append(folded(head, block(system, whole=True)))
        if tools:
            parts.append(folded([tag("h3", "Tools "), span("dim", f"{len(tools)} offered")], _tools(request)))
    if request.parameters:
        named = ", ".join(request.parameters)
        parts.append(
            folded([tag("h3", "Parameters "), span("dim", named[:80])], block(pretty(request.parameters), whole=True))
        )
    return joined(parts)


def _tools(request: RequestReading) -> Html:
    return joined(
        folded(
            [span("name", tool.name), span("dim", f" {(tool.description or '')[:160]}")],
            block(pretty({"description": tool.description, "schema": tool.schema}), whole=True),
        )
        for tool in request.tools
    )
