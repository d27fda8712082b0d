"""A held answer in a few lines: what the model emitted, how the API finished it, and what it was held on."""

from collections.abc import Iterator
from textwrap import indent, shorten

from turntape.inspector.views.text.run_text import call_text
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document
from turntape.inspector.wire.values import Reading

from .pending import Held

_WIDTH = 96


def lines(held: Held, colour: bool) -> list[str]:
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    reading = read(held.round_trip)
    model = reading.response_model or reading.request.model
    what = ", ".join(name for name in (reading.protocol, model) if name)
    return [
        f"{bold}turntape{off} holds turn {held.number} ({what}) on {bold}{held.on}{off}",
        *(f"  {dim}{layer:6}{off} {text}" for layer, text in _layers(held, reading)),
    ]


def _layers(held: Held, reading: Reading) -> Iterator[tuple[str, str]]:
    if emission := reading.emission:
        for text in filter(None, (emission.text, emission.refusal)):
            yield "model", f'"{shorten(text, _WIDTH)}"'
        for call in emission.calls:
            yield "model", shorten(call_text(call), _WIDTH * 3)
        if emission.emitted in ("none", "empty"):
            yield "model", "said nothing"
    status = held.round_trip.response.status if held.round_trip.response else None
    word = reading.error.message if reading.error else f"finished with {reading.finish.raw if reading.finish else None}"
    yield "api", f"{status}, {shorten(word, _WIDTH)}"


def whole(held: Held) -> str:
    """The answer as the editor would show it."""
    try:
        return indent(document(held.round_trip), "  ")
    except NotEditable as exc:
        response = held.round_trip.response
        return f"  {exc}; the bytes:\n{indent((response.body if response else b'').decode('utf-8', 'replace'), '  ')}\n"
