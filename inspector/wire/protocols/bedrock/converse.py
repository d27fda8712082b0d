"""Amazon Bedrock Converse and ConverseStream."""

from collections.abc import Iterator
from urllib.parse import unquote

from turntape.cassettes.regex import regex

from ...exchange import Exchange
from ...json_value import Object, as_count, as_object, as_text
from ...values import ApiError, FinishLabel, Kind, RequestReading, ResponseReading
from ..protocol import Protocol
from ..shared.after_end import after_end
from ..shared.answers import answer, objects, stream_error, stream_objects
from ..shared.left_open import gone_on, left_open
from ..shared.parts import unread
from ..shared.piece_names import second_message
from ..traits import AnswerRules, ArgumentsField, Caching, Demand, Pairing, Reasoning, RequestRules
from .answer_format import FORMAT, ORDER
from .api import CONVERSE_API
from .converse_blocks import assemble, block_parts, converse_usage, lacks_id, read_converse_request
from .guardrail import stopped_prompt
from .not_read import NOT_READ
from .rewrite import EDIT_TARGETS, REWRITE
from .roles import check_roles

FINISH: dict[str, FinishLabel] = {
    "end_turn": "complete",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
    "model_context_window_exceeded": "context_full",
    "refusal": "refusal",
    "pause_turn": "pause",
}
"""Converse has no words for `refusal` and `pause_turn`, so they are read from the model's own fields."""

_PATH = regex(r"/model/(.+)/converse(-stream)?$")


def detect(exchange: Exchange) -> Kind | None:
    return "generation" if exchange.method == "POST" and _PATH.search(exchange.path.rstrip("/")) else None


def read_request(exchange: Exchange) -> RequestReading:
    found = _PATH.search(exchange.path.rstrip("/"))
    model = unquote(found[1]) if found else None
    return read_converse_request(exchange.fields, model, streamed=bool(found and found[2]))


def read_response(exchange: Exchange, request: RequestReading) -> ResponseReading:
    if exchange.framing == "aws-event-stream":
        problems: list[str] = []
        events = objects(exchange.events, problems)
        return read_converse_events(events, stream_error(exchange.events), problems)
    if not exchange.answer_fields:
        return unread(exchange, "a Converse answer")
    return read_converse_body(exchange.answer_fields)


def read_converse_events(
    events: list[tuple[str, Object]], error: ApiError | None, problems: list[str]
) -> ResponseReading:
    """The events of a stream; it has ended at `messageStop`."""
    body = assemble(events)
    problems = [*problems, *second_message(events, "messageStart")]
    return read_converse_body(body, ended="stopReason" in body, error=error, problems=problems)


def read_converse_body(
    body: Object, *, ended: bool = True, error: ApiError | None = None, problems: list[str] | None = None
) -> ResponseReading:
    """A whole answer, or what a stream adds up to."""
    message = as_object(as_object(body.get("output")).get("message"))
    raw = as_text(body.get("stopReason"))
    native = as_text(as_object(body.get("additionalModelResponseFields")).get("stop_reason"))
    label = FINISH.get(raw, "unknown") if raw else None
    if native in ("refusal", "pause_turn"):
        label = FINISH[native]
    usage = as_object(body.get("usage"))
    guardrail = as_object(as_object(body.get("trace")).get("guardrail"))
    return answer(
        block_parts(message.get("content"), "/output/message/content"),
        finish_raw=raw,
        finish=label,
        finish_detail=f"the model's own word: {native}" if native and native != raw else None,
        prompt_filtered=raw == "guardrail_intervened" and stopped_prompt(guardrail, converse_usage(usage)),
        ended=ended,
        usage=converse_usage(usage),
        usage_raw=body.get("usage"),
        error=error,
        problems=problems or (),
    )


def _contradictions(exchange: Exchange) -> Iterator[str]:
    yield from after_end(exchange, _ends, lambda kind, _: kind == "contentBlockDelta")
    yield from _begun_twice(exchange)
    yield from left_open(
        exchange,
        lambda kind, event: _place(event) if kind in ("contentBlockStart", "contentBlockDelta") else None,
        _closed,
        _ends,
    )
    yield from gone_on(exchange, lambda kind, event: _place(event) if kind == "contentBlockDelta" else None, _closed)
    yield from _mixed(exchange)
    yield from _unopened(exchange)


def _begun_twice(exchange: Exchange) -> Iterator[str]:
    """A call that begins under the number of another one."""
    names: dict[int, str] = {}
    for kind, event in stream_objects(exchange):
        call = as_object(as_object(event.get("start")).get("toolUse")) if kind == "contentBlockStart" else {}
        name = as_text(call.get("toolUseId"))
        if name is not None and names.setdefault(_place(event), name) != name:
            yield f"the calls {names[_place(event)]} and {name} share block {_place(event)}: clients keep one of them"
            return


def _mixed(exchange: Exchange) -> Iterator[str]:
    """A piece of another kind than the block in which it comes."""
    kinds: dict[int, str] = {}
    for kind, event in stream_objects(exchange):
        if kind not in ("contentBlockStart", "contentBlockDelta"):
            continue
        piece = as_object(event.get("start" if kind == "contentBlockStart" else "delta"))
        found = next((name for name in _KINDS if name in piece), None)
        first = kinds.setdefault(_place(event), found) if found is not None else None
        if found is not None and first != found:
            yield f"a piece of {found!r} comes in a block of {first!r}: clients lose it or mix it with the other"
            return


_KINDS = ("text", "toolUse", "reasoningContent", "toolResult")


def _unopened(exchange: Exchange) -> Iterator[str]:
    """A piece of a call in a block that no event opened; a block of text may begin without one."""
    opened: set[int] = set()
    for kind, event in stream_objects(exchange):
        if kind == "contentBlockStart":
            opened.add(_place(event))
        elif kind == "contentBlockDelta" and "toolUse" in as_object(event.get("delta")) and _place(event) not in opened:
            yield (
                f"arguments of a call come in block {_place(event)}, which no `contentBlockStart` opened: "
                "its id and its name are missing"
            )
            return


def _closed(kind: str, event: Object) -> int | None:
    return _place(event) if kind == "contentBlockStop" else None


def _ends(kind: str, _: Object) -> bool:
    return kind == "messageStop"


def _place(event: Object) -> int:
    return as_count(event.get("contentBlockIndex")) or 0


BEDROCK_CONVERSE = Protocol(
    name="bedrock-converse",
    title="Amazon Bedrock Converse",
    spec="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, and botocore 1.44.5, "
    "read 2026-11-22",
    detect=detect,
    read_request=read_request,
    read_response=read_response,
    finish=dict(FINISH),
    not_read=NOT_READ,
    streams=("aws-event-stream",),
    api=CONVERSE_API,
    rewrite=REWRITE,
    edit_targets=EDIT_TARGETS,
    pairing=Pairing(one_message=True, results_first=True),
    requests=RequestRules(
        demands=(Demand("no_reasoning", ("additionalModelRequestFields", "thinking", "type"), ("disabled",)),),
        check_roles=check_roles,
        roles=frozenset({"user", "assistant", "system"}),
        tool_name=regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}"),
        arguments=(ArgumentsField(("toolUse",), "input", "object", required=True),),
        rejects_empty_text=True,
        needs_tools_for_history=True,
        marks_errors=True,
    ),
    answers=AnswerRules(
        format=FORMAT,
        order=ORDER,
        holder="output",
        roles=(("output", "message", "role"), ("role",)),
        streams_holder=False,
        always_says_finish=True,
        contradictions=_contradictions,
        lacks_id=lacks_id,
        words=frozenset(FINISH),
        shows_thoughts=True,
    ),
    reasoning=Reasoning("expected"),
    caching=Caching(on_request=True, has_marks=True, most_marks=4),
    price_provider="aws",
)
