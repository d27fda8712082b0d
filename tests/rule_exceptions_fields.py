"""Rules about the fields of answers and the order of events. Rows are as in `rule_exceptions_model_api`."""

from dataclasses import replace
from typing import Any

from conversations import HELLO
from judged import MESSAGES, RESPONSES, anthropic, asked, trip, words
from round_trips import CHAT, sse
from rule_exceptions_model_api import Row

from turntape.cassettes.tape.model import RoundTrip

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
COMPLETE: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "usage": USAGE}
MESSAGE = {"role": "assistant", "content": "A strip."}


def completion(index: int = 0, **fields: Any) -> RoundTrip:
    """A chat answer with every field of the API, except as given."""
    choice = {"index": 0, "message": MESSAGE, "finish_reason": "stop", **fields.pop("choice", {})}
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, {**COMPLETE, "choices": [choice], **fields}, index)


def without(key: str, index: int = 0) -> RoundTrip:
    """A chat answer that lacks one field."""
    fields = {name: value for name, value in COMPLETE.items() if name != key}
    choice = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, {**fields, "choices": [choice]}, index)


def refused(*kinds: str) -> RoundTrip:
    """A Responses stream with these events of a refusal."""
    response = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    pieces = ({"type": f"response.refusal.{kind}", **REFUSED, _TEXT[kind]: "No."} for kind in kinds)
    events = (
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        *pieces,
        {"type": "response.completed", "response": {**response, "status": "completed"}},
    )
    return trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*events, names=True))


REFUSED = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_TEXT = {"delta": "delta", "done": "refusal"}


def opened(**fields: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [],
               "usage": {"input_tokens": 3, "output_tokens": 1}}  # fmt: skip
    return {"type": "message_start", "message": {**message, **fields}}


BLOCK: list[dict[str, Any]] = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A strip."}},
    {"type": "content_block_stop", "index": 0},
]
STOP: list[dict[str, Any]] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]


def messages(*events: dict[str, Any], **more: Any) -> RoundTrip:
    ask = {"model": "claude", "max_tokens": 9, "stream": True, "messages": [asked("hi")]}
    return trip(MESSAGES, ask, sse(*events, names=True), **more)


def chunks(*names: tuple[str, str]) -> RoundTrip:
    """A chat stream of one chunk for each id and model."""
    events = [
        {"id": identity, "object": "chat.completion.chunk", "created": 1, "model": model,
         "choices": [{"index": 0, "delta": {"content": f"word {n} "}, "finish_reason": None}]}
        for n, (identity, model) in enumerate(names)
    ]  # fmt: skip
    events[-1]["choices"][0]["finish_reason"] = "stop"
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(*events, done=True))


def unmarked() -> RoundTrip:
    """A chat stream without its last line."""
    one = chunks(("c", "gpt-5"), ("c", "gpt-5"))
    assert one.response is not None
    body = one.response.body.replace(b"data: [DONE]\n\n", b"")
    return replace(one, response=replace(one.response, content=body))


WRONG = completion(choice={"index": "first"})
GROWN = {**BLOCK[1], "index": 4}

FIELDS: list[Row] = [
    ("api-field-wrong", "Another finding says it of this field", WRONG,
     completion(choice={"index": "first", "message": {**MESSAGE, "role": "user"}})),
    ("api-field-wrong", "A filter stopped the answer, or the API refused what the model wrote",
     completion(choice={"message": None}),
     completion(choice={"message": None, "finish_reason": "content_filter"})),
    ("api-field-wrong",
     "Clients can do without the field, and no other answer of the server had it: then it is an info, given once",
     WRONG, [without("id"), without("id", 1)], "info"),
    ("api-field-wrong", "Clients can do without the field, which is left out or blank: then it is an info",
     WRONG, [completion(), without("id", 1)], "info"),
    ("api-field-wrong", "The answer has a type of item, block or piece that is not known here",
     anthropic([asked("hi")], [words("A strip."), {"type": "thinking", "thinking": 7, "signature": "s"}]),
     anthropic([asked("hi")], [words("A strip."), {"type": "brand_new", "thinking": 7}])),
    ("api-stream-out-of-order", "The stream was cut, or another finding says what is wrong with it",
     messages(opened(), *BLOCK, *STOP, STOP[1]), messages(opened(), BLOCK[0], GROWN)),
    ("api-stream-out-of-order", "Only the id changes, as gateways do it: then it is an info",
     chunks(("c", "gpt-5"), ("c", "gpt-5-mini")), chunks(("c", "gpt-5"), ("d", "gpt-5")), "info"),
    ("api-stream-out-of-order",
     "Only the event that closes a piece is left out, which clients can do without: then it is an info",
     refused("delta", "done", "delta"), refused("delta"), "info"),
    ("api-stream-out-of-order",
     "Only the last line of the stream is left out, after a finish word: then it is an info, given once",
     chunks(("c", "gpt-5"), ("c", "gpt-5-mini")), unmarked(), "info"),
]  # fmt: skip
