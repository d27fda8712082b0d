"""A run as text for a review: the same text for the same behaviour, without ids, times and prices."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...analysis.turn import Turn
from ...run.labels import LabelledRoundTrip
from ...wire.json_value import as_array, as_object
from ...wire.printable import safe
from ...wire.values import Emission, RequestReading
from .terminal_text import Line, clip, folded
from .turn_lines import call_text, part_line

_WIDTH = 160
"""Longer lines of a trajectory are cut."""


def trajectory(round_trips: Iterable[LabelledRoundTrip], *, thread: str | None = None, turn: int | None = None) -> str:
    """Messages, calls, results and findings, turn by turn and thread by thread; of one thread, of the turns of one
    number."""
    chosen = [
        one
        for one in round_trips
        if one.turn is not None and thread in (None, one.turn.thread) and turn in (None, one.turn.number)
    ]
    return "\n".join(_lines(chosen)) + "\n"


def trajectory_lines(text: str, width: int | None) -> Iterator[Line]:
    """The lines of a trajectory, of at most `width` cells each; what follows a break is indented deeper.

    Without a width no line is broken, so that the text is that of the approved file.
    """
    for line in text.splitlines():
        if width is None:
            yield [(line, "plain")]
            continue
        deeper = len(line) - len(line.lstrip(" ")) + 2
        yield from folded([(line, "plain")], width, " " * min(deeper, width // 2))


def _lines(turns: Sequence[LabelledRoundTrip]) -> Iterator[str]:
    threads = Counter(one.turn.thread for one in turns if one.turn)
    for thread in threads:
        if len(threads) > 1:
            yield f"thread {thread}"
            yield ""
        for one in turns:
            if one.turn is not None and one.turn.thread == thread:
                yield from _turn(one)
                yield ""


def _turn(one: LabelledRoundTrip) -> Iterator[str]:
    assert one.turn is not None
    yield f"turn {one.turn.number}"
    yield from _asked(one.turn, one.reading.request)
    if one.reading.emission is not None:
        yield from _answered(one.reading.emission)
    finish = one.reading.finish
    if finish is not None and finish.effective not in ("complete", "tool_calls"):
        yield f"  api: {finish.effective}" + (f" (said {safe(finish.raw)!r})" if finish.raw else "")
    for found in map(as_object, as_array(one.label["findings"])):
        if found["severity"] != "info":
            yield f"  ! {found['layer']}: {clip(str(found['message']), _WIDTH)} [{found['id']}]"


def _asked(turn: Turn, request: RequestReading) -> Iterator[str]:
    """What the client sent for the first time."""
    messages = request.messages
    if turn.history == "changed":
        yield "  the client changed the history"
    elif turn.history == "extended":
        messages = messages[turn.messages_before :]
    elif turn.number == 1:
        for part in request.system:
            yield from _said("system: ", part.text)
    names = {part.call.id: part.call.name for m in request.messages for part in m.parts if part.call}
    for message in messages if turn.history != "changed" else messages[-1:]:
        for part in message.parts:
            line = part_line(message, part, names.get)
            if line is not None:
                yield f"  {clip(''.join(text for text, _ in line), _WIDTH)}"


def _answered(emission: Emission) -> Iterator[str]:
    """What the model emitted."""
    if emission.text:
        yield from _said("model: ", emission.text)
    if emission.refusal:
        yield from _said("model refuses: ", emission.refusal)
    for call in (*emission.calls, *emission.server_calls):
        yield f"  → {clip(call_text(call), _WIDTH)}"
    if emission.emitted in ("empty", "none", "reasoning_only"):
        yield f"  model: ({emission.emitted.replace('_', ' ')})"


def _said(who: str, text: str) -> Iterator[str]:
    """A message with all its lines, so that a change in one line changes one line of the file."""
    lead = who
    for line in safe(text).splitlines():
        yield f"  {lead}{line}".rstrip()
        lead = " " * len(who)
