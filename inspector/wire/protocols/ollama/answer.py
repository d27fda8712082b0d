"""What Ollama's two native endpoints share: answers as lines or one object, counts, and finish words."""

from collections.abc import Callable, Iterable, Iterator

from ...exchange import Exchange
from ...json_value import Object, as_object, as_text, is_object
from ...values import FinishLabel, OutputFormat, Part, ResponseReading, Usage
from ..shared.after_end import after_end
from ..shared.answers import answer, objects
from ..shared.counts import Counts
from ..shared.errors import error_in
from ..shared.output_format import schema_format
from ..shared.parts import unread
from ..shared.piece_names import PieceNames, grow

FINISH: dict[str, FinishLabel] = {
    "stop": "complete",
    "length": "length",
    "load": "unknown",
    "unload": "unknown",
    "tool_calls": "tool_calls",
}
"""`stop` is also the word beside tool calls; `load` and `unload` generate nothing; an empty word means cut."""

_IDLE = {"load": "the model was loaded; nothing was generated", "unload": "the model was unloaded"}
IDLE = frozenset({"load"})
"""Finish words of answers for which the model was not run. `unload` comes in the midst of one, too."""


def read_lines(exchange: Exchange, parts_of: Callable[[list[Object]], Iterable[Part]], what: str) -> ResponseReading:
    """An answer as lines or as one object. It has ended if it has `done: true` and a finish word."""
    problems: list[str] = []
    if exchange.framing is None:
        if not exchange.answer_fields:
            return unread(exchange, what)
        bodies = [exchange.answer_fields]
    else:
        bodies = [body for _, body in objects(exchange.events, problems)]
    names = PieceNames()
    for body in bodies:
        if body.get("done") is not True:
            names.add({"the model": body.get("model")})
    texts = [as_text(as_object(body.get("message")).get("content")) or as_text(body.get("response")) for body in bodies]
    if grow(text or "" for text in texts):
        problems.append("Each piece of the text repeats all pieces before it.")
    last = next((body for body in reversed(bodies) if body.get("done") is True), as_object(None))
    error = next((error_in(body, in_stream=True) for body in bodies if body.get("error")), None)
    raw = as_text(last.get("done_reason"))
    counts = Counts(last, "")
    prompt, output = counts.first("prompt_eval_count"), counts.first("eval_count")
    said = prompt is not None or output is not None or bool(counts.problems)
    return answer(
        parts_of(bodies),
        finish_raw=raw,
        finish=FINISH.get(raw, "unknown") if raw else None,
        finish_detail=_IDLE.get(raw or ""),
        ended=bool(last) and raw != "",
        usage=Usage(input=prompt, output=output, problems=counts.problems) if said else None,
        usage_raw={key: last[key] for key in ("prompt_eval_count", "eval_count") if key in last} if said else None,
        model=next((model for body in bodies if (model := as_text(body.get("model")))), None),
        error=error,
        problems=(*problems, *names.problems),
    )


def contradictions(exchange: Exchange) -> Iterator[str]:
    """A sentence when lines with text or calls come after `done: true`."""
    return after_end(exchange, lambda _, line: line.get("done") is True, _says)


def _says(_: str, line: Object) -> bool:
    message = as_object(line.get("message"))
    return bool(message.get("content") or message.get("tool_calls") or line.get("response"))


def output_format(fields: Object) -> OutputFormat | None:
    """`format`: the word `json`, or a schema; empty for none."""
    value = fields.get("format")
    return schema_format(value, "/format") if value == "json" or (is_object(value) and value) else None


def joined(bodies: list[Object], *keys: str) -> str:
    """One field of all lines, joined; `keys` lead to it."""
    pieces: list[str] = []
    for body in bodies:
        value: object = body
        for key in keys:
            value = as_object(value).get(key)
        pieces.append(as_text(value) or "")
    return "".join(pieces)
