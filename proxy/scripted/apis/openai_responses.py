"""OpenAI Responses (openai 3.52 types, read 2026-11-21)."""

from collections.abc import Mapping
from itertools import count
from typing import cast

from turntape.cassettes.framing.encode import sse_event

from ..answer import Answer, Ask, Json, Shape, entries, fields_of, pieces, words
from .openai_chat import CREATED, error


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    items = entries(fields.get("input"))
    calls = {"function_call"}
    # An answer is a run of the model's items: what follows a result or a user's words begins the next.
    answers, inside = 0, False
    for item in items:
        own = item.get("type") in calls or item.get("role") == "assistant" or item.get("type") == "reasoning"
        answers += own and not inside
        inside = own
    previous = str(fields.get("previous_response_id") or "")
    if previous.startswith("resp_") and previous[5:9].isdigit():
        answers += int(previous[5:9])
    model, streamed = str(fields.get("model", "gpt-5")), fields.get("stream") is True
    return Ask(path, headers, fields, model, streamed, answers, len(body))


def _namespaces(fields: Json) -> dict[str, object]:
    """The namespace of each tool that is offered in one, as Codex offers the tools of MCP servers."""
    groups = [tool for tool in entries(fields.get("tools")) if tool.get("type") == "namespace"]
    return {str(tool.get("name")): group.get("name") for group in groups for tool in entries(group.get("tools"))}


def _output(answer: Answer) -> list[Json]:
    output: list[Json] = []
    if answer.text:
        part: Json = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        output.append(
            {
                "id": f"msg_{answer.identity}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    namespaces = _namespaces(answer.ask.fields)
    for identity, name, arguments in answer.calls:
        inside: Json = {"namespace": namespaces[name]} if name in namespaces else {}
        output.append(
            {
                **inside,
                "id": f"fc_{identity.removeprefix('call_')}",
                "type": "function_call",
                "status": "incomplete" if answer.finish == "length" else "completed",
                "call_id": identity,
                "name": name,
                "arguments": arguments,
            }
        )
    return output


def _response(answer: Answer, status: str, output: list[Json]) -> Json:
    sent, cached, said = answer.tokens
    fields = answer.ask.fields
    return {
        "id": f"resp_{answer.identity}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": fields.get("instructions"),
        "max_output_tokens": fields.get("max_output_tokens"),
        "model": answer.ask.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": fields.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None, **_given(fields, "reasoning")},
        "store": fields.get("store", True),
        "temperature": fields.get("temperature", 1.0),
        "text": {"format": {"type": "text"}, **_given(fields, "text")},
        "tool_choice": fields.get("tool_choice", "auto"),
        "tools": fields.get("tools", []),
        "top_p": fields.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": None
        if status == "in_progress"
        else {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sent + said,
        },
        "user": None,
        "metadata": {},
    }


def _given(fields: Json, name: str) -> Json:
    """What the request says of a parameter, which the API repeats."""
    value = fields.get(name)
    return cast(Json, value) if isinstance(value, dict) else {}


def _status(answer: Answer) -> str:
    return "incomplete" if answer.finish == "length" else "completed"


def whole(answer: Answer) -> object:
    return _response(answer, _status(answer), _output(answer))


def stream(answer: Answer) -> list[bytes]:
    number = count()
    events: list[bytes] = []

    def say(kind: str, **fields: object) -> None:
        events.append(sse_event({"type": kind, "sequence_number": next(number), **fields}, kind))

    say("response.created", response=_response(answer, "in_progress", []))
    say("response.in_progress", response=_response(answer, "in_progress", []))
    output = _output(answer)
    for place, item in enumerate(output):
        identity = item["id"]
        if item["type"] == "message":
            begun: Json = {**item, "status": "in_progress", "content": []}
            say("response.output_item.added", output_index=place, item=begun)
            empty: Json = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            where = {"item_id": identity, "output_index": place, "content_index": 0}
            say("response.content_part.added", **where, part=empty)
            for word in words(answer.text):
                say("response.output_text.delta", **where, delta=word, logprobs=[])
            say("response.output_text.done", **where, text=answer.text, logprobs=[])
            say("response.content_part.done", **where, part={**empty, "text": answer.text})
        else:
            arguments = str(item["arguments"])
            say(
                "response.output_item.added",
                output_index=place,
                item={**item, "status": "in_progress", "arguments": ""},
            )
            for piece in pieces(arguments):
                say("response.function_call_arguments.delta", item_id=identity, output_index=place, delta=piece)
            say(
                "response.function_call_arguments.done",
                item_id=identity,
                output_index=place,
                name=item["name"],
                arguments=arguments,
            )
        say("response.output_item.done", output_index=place, item=item)
    status = _status(answer)
    say(f"response.{status}", response=_response(answer, status, output))
    return events


OPENAI_RESPONSES = Shape(
    name="openai-responses",
    matches=lambda path: path.endswith("/responses"),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="text/event-stream; charset=utf-8",
    error=error,
    error_event=sse_event(
        {
            "type": "error",
            "code": "server_error",
            "message": "The server had an error",
            "param": None,
            "sequence_number": 3,
        },
        "error",
    ),
)
