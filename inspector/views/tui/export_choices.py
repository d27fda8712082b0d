"""What can be taken away of a round trip: to the clipboard as text, or into a file."""

from collections.abc import Callable
from dataclasses import dataclass

from ...run.detail import Detail
from ...wire.json_value import compact
from ...wire.printable import safe
from ..text.snippets import curl, python
from .pages.page import Page

CLIPBOARD = 70_000
"""Bytes that terminals take over OSC 52; many drop what is longer without a word."""


@dataclass(frozen=True, slots=True)
class Taking:
    """Something to copy."""

    key: str
    word: str
    suffix: str
    """The end of its file's name, when it is too long for the clipboard."""
    make: Callable[[Detail], str]


def answer(detail: Detail) -> str:
    """What the model emitted: its text, then its calls as JSON lines."""
    emission = detail.reading.emission
    if emission is None:
        return detail.round_trip.response.body.decode("utf-8", "replace") if detail.round_trip.response else ""
    calls = [
        compact({"name": call.name, "arguments": call.arguments if call.arguments is not None else call.arguments_raw})
        for call in emission.calls
    ]
    return "\n".join(part for part in (emission.text or emission.refusal or "", *calls) if part)


def _request(detail: Detail) -> str:
    return detail.round_trip.request.body.decode("utf-8", "surrogateescape")


def _response(detail: Detail) -> str:
    response = detail.round_trip.response
    return response.body.decode("utf-8", "surrogateescape") if response is not None else ""


COPIES: tuple[Taking, ...] = (
    Taking("a", "the answer: text and calls", "txt", answer),
    Taking("q", "the request body", "json", _request),
    Taking("r", "the response body", "txt", _response),
    Taking("u", "the request as a curl command", "sh", lambda detail: curl(detail.round_trip.request)),
    Taking("p", "the request as Python with httpx", "py", lambda detail: python(detail.round_trip.request)),
)

COPY_CHOICES: tuple[tuple[str, str], ...] = (*((one.key, one.word) for one in COPIES), ("l", "this page as text"))

SAVES: tuple[tuple[str, str], ...] = (
    ("s", "a picture of this screen (SVG)"),
    ("m", "this page as Markdown"),
    ("t", "this turn as a cassette of its own"),
    ("q", "the request body"),
    ("r", "the response body"),
)


def markdown(page: Page, title: str, width: int = 100) -> str:
    """A page as Markdown: a heading for each section, the rest as it is read, with nothing folded."""
    out = [f"# {safe(title)}", ""]
    layout = page.laid_out(width, {block.key: True for block in page.blocks})
    fenced = False
    for y in range(len(layout)):
        found = layout.at(y)
        line = "".join(text for text, _ in layout.line(y)).rstrip()
        heading = found is not None and found[1] == 0 and found[0].titled and found[0].block.indent == 0
        if heading:
            if fenced:
                out += ["```", ""]
            fenced = False
            out += [f"## {line.removeprefix('▾ ').removeprefix('▸ ').removeprefix('━━ ').strip()}", ""]
        elif line or fenced:
            if not fenced:
                out.append("```text")
                fenced = True
            out.append(line.replace("```", "ʼʼʼ"))
    if fenced:
        out.append("```")
    return "\n".join(out) + "\n"
