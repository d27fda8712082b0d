"""What can be copied to the clipboard or saved in a file."""

from collections.abc import Callable

from turntape.cassettes.frozen import frozen

from ....run.detail import Detail
from ....wire.json_value import compact
from ....wire.printable import safe
from ...text.snippets import curl, python
from ..pages.page import Layout, Page

CLIPBOARD = 70_000
"""Most bytes that terminals accept over OSC 52; many drop a longer text without a message."""


@frozen
class CopyChoice:
    """Something to copy."""

    key: str
    word: str
    suffix: str
    """The file suffix, used when the content is too long for the clipboard."""
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


COPIES: tuple[CopyChoice, ...] = (
    CopyChoice("a", "the answer: text and calls", "txt", answer),
    CopyChoice("q", "the request body", "json", _request),
    CopyChoice("r", "the response body", "txt", _response),
    CopyChoice("u", "the request as a curl command", "sh", lambda detail: curl(detail.round_trip.request)),
    CopyChoice("p", "the request as Python with httpx", "py", lambda detail: python(detail.round_trip.request)),
)

COPY_CHOICES: tuple[tuple[str, str], ...] = (*((one.key, one.word) for one in COPIES), ("l", "this page as text"))

SAVE_CHOICES: tuple[tuple[str, str], ...] = (
    ("s", "a picture of this screen (SVG)"),
    ("m", "this page as Markdown"),
    ("t", "this turn as a separate cassette"),
    ("q", "the request body"),
    ("r", "the response body"),
    ("i", "the pictures and files of this turn"),
)


def markdown(page: Page, title: str, width: int = 100) -> str:
    """A page as Markdown: a heading for each section, the rest as code blocks, with nothing folded."""
    out = [f"# {safe(title)}", ""]
    layout = page.laid_out(width, {block.key: True for block in page.blocks})
    code: list[str] = []
    for y in range(len(layout)):
        line = "".join(text for text, _ in layout.line(y)).rstrip()
        if _is_heading(layout, y):
            out += [*_fenced(code), f"## {line.removeprefix('▾ ').removeprefix('▸ ').removeprefix('━━ ').strip()}", ""]
            code = []
        elif line or code:
            code.append(line.replace("```", "ʼʼʼ"))
    return "\n".join([*out, *_fenced(code)]).rstrip("\n") + "\n"


def _is_heading(layout: Layout, y: int) -> bool:
    found = layout.at(y)
    return found is not None and found[1] == 0 and bool(found[0].titled) and found[0].block.indent == 0


def _fenced(lines: list[str]) -> list[str]:
    return ["```text", *lines, "```", ""] if lines else []
