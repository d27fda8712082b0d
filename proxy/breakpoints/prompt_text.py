"""A held answer as text for a person."""

from collections.abc import Iterator
from textwrap import indent, shorten

from turntape.inspector.views.text.turn_lines import call_text
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document
from turntape.inspector.wire.values import Reading

from .held_answer import HeldAnswer

_WIDTH = 96


def lines(held: HeldAnswer, colour: bool) -> list[str]:
    """A few lines: what the model emitted, how the API finished it, and which condition was met."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    reading = read(held.round_trip)
    model = reading.response_model or reading.request.model
    what = ", ".join(name for name in (reading.protocol, model) if name)
    return [
        f"{bold}turntape{off} holds turn {held.number} ({what}) on {bold}{held.on}{off}",
        *(f"  {dim}{layer:6}{off} {text}" for layer, text in _layers(held, reading)),
    ]


def _layers(held: HeldAnswer, reading: Reading) -> Iterator[tuple[str, str]]:
    if emission := reading.emission:
        for text in filter(None, (emission.text, emission.refusal)):
            yield "model", f'"{shorten(text, _WIDTH)}"'
        for call in emission.calls:
            yield "model", shorten(call_text(call), _WIDTH * 3)
        if emission.emitted in ("none", "empty"):
            yield "model", "emitted nothing"
    status = held.round_trip.response.status if held.round_trip.response else None
    yield "api", f"{status}, {shorten(_finish(reading), _WIDTH)}"


def _finish(reading: Reading) -> str:
    if reading.error:
        return reading.error.message
    raw = reading.finish.raw if reading.finish else None
    return f"finished with {raw}" if raw else "sent no finish reason"


def whole(held: HeldAnswer) -> str:
    """The answer as the document that the editor shows; the raw bytes when it has no document."""
    try:
        return indent(document(held.round_trip), "  ")
    except NotEditable as exc:
        response = held.round_trip.response
        return f"  {exc}; the bytes:\n{indent((response.body if response else b'').decode('utf-8', 'replace'), '  ')}\n"
