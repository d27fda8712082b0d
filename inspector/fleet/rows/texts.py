"""The texts of a run, which are written only with `--content`, and apart from the rows."""

from collections.abc import Sequence

from turntape.cassettes.redaction.redactor import Redactor

from ...run.labelled import LabelledRoundTrip
from ...wire.json_value import as_object, as_text
from ...wire.values import Message
from .schema import RowPart


class CallText(RowPart):
    """The arguments of a tool call."""

    id: str | None
    """The call's id."""
    name: str
    """The tool's name."""
    arguments: str
    """The arguments as the API sent them."""


class ResultText(RowPart):
    """A result in the request."""

    call_id: str | None
    """The id of the call that it answers."""
    text: str
    """Its text."""


class TextRow(RowPart):
    """The texts of one turn; `recording`, `n` and `part` name its row."""

    recording: str
    """As in the rows."""
    n: int
    """As in the rows."""
    part: int
    """As in the rows."""
    system: str
    """The system prompt."""
    sent: str
    """The text of the newest message of the request."""
    text: str
    """The text of the answer."""
    reasoning: str
    """The reasoning that the API showed."""
    refusal: str | None
    """The text of a refusal."""
    tool_calls: list[CallText]
    """The calls with their arguments."""
    results: list[ResultText]
    """The results in the newest messages."""
    error: str | None
    """The text of the API's error."""


def text_row(done: LabelledRoundTrip, recording: str, redactor: Redactor) -> TextRow | None:
    """The texts of a turn, secrets in them replaced; None outside generation. `part` is 0 and is set later."""
    if done.turn is None:
        return None
    request, emission = done.reading.request, done.reading.emission
    error = as_text(as_object(as_object(done.label["api"]).get("error")).get("message"))

    def clean(text: str) -> str:
        return redactor.body(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    newest = _newest(request.messages)
    results = [part.result for message in newest for part in message.parts if part.result is not None]
    return TextRow(
        recording=recording,
        n=done.round_trip.index,
        part=0,
        system=clean("\n".join(part.text for part in request.instructions if part.text)),
        sent=clean("\n".join(part.text for message in newest for part in message.parts if part.kind == "text")),
        text=clean(emission.text if emission else ""),
        reasoning=clean(emission.reasoning if emission else ""),
        refusal=clean(emission.refusal) if emission and emission.refusal else None,
        tool_calls=[
            CallText(id=call.id, name=clean(call.name), arguments=clean(call.arguments_raw))
            for call in (emission.calls if emission else ())
        ],
        results=[ResultText(call_id=result.call_id, text=clean(result.text)) for result in results],
        error=None if error is None else clean(error),
    )


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages after the last one of the assistant."""
    last = max((place for place, one in enumerate(messages) if one.role == "assistant"), default=-1)
    return messages[last + 1 :]
