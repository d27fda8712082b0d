"""The messages of a request as blocks: one for each part."""

from collections.abc import Iterator, Mapping

from ....analysis.pictures import pictures_in, without_data
from ....wire.json_value import compact, is_object
from ....wire.printable import safe
from ....wire.values import Message, Part, ToolCall, ToolResult
from ...text.picture_words import picture_words
from ..formatting import ROLE, several, size
from .blocks import Block, Body, Spans, Title
from .json_lines import fields_of, json_line, keyed, pretty
from .picture_lines import ROWS, is_drawn, with_pictures
from .text_lines import lines, prose

PREVIEW = ROWS
"""Lines of a long text, and of a picture, that are shown before it is opened."""


def echo_head(message: Message) -> Block:
    """The title under which the last answer, as the client sent it back, is folded."""
    parts = [safe(part.call.name) if part.call is not None else part.kind for part in message.parts]
    title = [("assistant", ROLE["assistant"]), (f"  echo of the last answer: {', '.join(parts) or 'empty'}", "dim")]
    return Block(f"echo:{message.pointer}", title, group=True, open=False, indent=2, anchors=(message.pointer,))


def new_note(new: int, sent: int) -> str:
    """How many messages are new in a request, and how many the request before had sent."""
    before = f"; {sent:,} {'was' if sent == 1 else 'were'} sent before" if sent else ""
    return several(new, "message") + before


def message_blocks(message: Message, names: dict[str | None, str], indent: int, parent: str | None) -> Iterator[Block]:
    """A message of the history, one block for each part."""
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


def _result(result: ToolResult, name: str | None, raw: object) -> tuple[Title, Body, bool]:
    """A result. Its pictures are looked for when it is shown: most results of a long history never are."""
    text = prose(result.text, "bad" if result.is_error else "plain")

    def title(width: int) -> Spans:
        del width
        return result_title(result, name, raw)

    return title, lambda width: with_pictures([*pictures_in(raw)], text)(width), False


def _part(message: Message, part: Part, names: dict[str | None, str]) -> tuple[Title, Body | None, bool]:
    """Title and body of a part, and whether it starts folded."""
    if part.result is not None:
        return _result(part.result, names.get(part.result.call_id), part.raw)
    if part.call is not None:
        return (
            [("→ ", "model"), (safe(part.call.name), "bold"), (f"  {part.call.id or ''}", "dim")],
            call_body(part.call, {}),
            True,
        )
    look = ROLE.get(message.role, "dim")
    if part.kind == "reasoning":
        note = several(len(part.text), "character") if part.text else "encrypted"
        return [("reasoning", "reasoning"), (f"  {note}", "dim")], prose(part.text, "dim") if part.text else None, True
    if part.kind in ("text", "refusal"):
        return [(message.role, look)], prose(part.text), message.role == "system"
    found = [*pictures_in(part.raw)]
    notes = [f"  [{part.kind}]", *(f"  {picture_words(one)}" for one in found)]
    rest = without_data(part.raw, found)
    drawn = found and all(map(is_drawn, found))
    body = with_pictures(found, prose(compact(rest), "dim") if drawn else prose(pretty(rest), json_line))
    return [(message.role, look), *((note, "dim") for note in notes)], body, not found


def result_title(result: ToolResult, name: str | None, raw: object = None) -> Spans:
    shown = [(f"  {picture_words(one)}", "dim") for one in pictures_in(raw)]
    title = [
        ("← ", "client"),
        (safe(result.name or name or "a call"), "bold"),
        (f"  {safe(result.call_id or '')}", "dim"),
        (f"  {size(len(result.text.encode('utf-8', 'replace')))}", "dim"),
        *shown,
    ]
    return [*title, ("  error", "bad")] if result.is_error else title


def call_body(call: ToolCall, notes: dict[str, tuple[str, bool]]) -> Body:
    """The arguments of a call, each on its line.

    `notes` has a remark on an argument by its name, and whether the argument is wrong.
    """
    if is_object(call.arguments):
        return _arguments(call.arguments, notes)
    if call.arguments is not None:
        return prose(compact(call.arguments))
    return prose(call.arguments_raw or "no arguments", "warn" if call.arguments_raw else "dim")


def _arguments(given: Mapping[str, object], notes: dict[str, tuple[str, bool]]) -> Body:
    rows = list(fields_of(given))
    # A missing required argument also has a note.
    rows += [("", key, "") for key, (_, wrong) in notes.items() if wrong and key not in given]
    if not rows:
        return lines([("no arguments", "dim")])
    return keyed(rows, {key: (text, "bad" if wrong else "dim") for key, (text, wrong) in notes.items()})
