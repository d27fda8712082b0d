"""Requests and answers of a declared gateway."""

from collections.abc import Iterator

from ..exchange import Exchange
from ..json_value import Object, as_object, as_text, is_object
from ..protocols.shared.answers import answer, has_done, objects, posts, stream_error
from ..protocols.shared.counts import Counts
from ..protocols.shared.errors import error_in
from ..protocols.shared.parts import arguments_of, call_part, other_fields, text_of, text_part, unread
from ..values import Kind, Message, Part, RequestReading, ResponseReading, Tool, ToolCall, ToolResult, Usage
from .declaration import Declaration
from .places import get, objects_at, put

_ROLES = frozenset({"system", "user", "assistant", "tool"})


class Reader:
    """Reads what a declaration describes."""

    def __init__(self, declaration: Declaration) -> None:
        self._at = declaration

    def detect(self, exchange: Exchange) -> Kind | None:
        """`generation` for a POST to the declared path."""
        return "generation" if posts(exchange, "/" + self._at.path.strip("/")) else None

    def read_request(self, exchange: Exchange) -> RequestReading:
        at, body = self._at, exchange.fields
        known = frozenset(pointer.split("/")[1] for pointer in (at.messages, at.tools, at.request_model) if pointer)
        return RequestReading(
            model=as_text(get(body, at.request_model)),
            streamed=body.get("stream") is True,
            messages=tuple(self._messages(body)),
            tools=tuple(self._tools(body)),
            parameters=other_fields(body, known),
        )

    def _messages(self, body: Object) -> Iterator[Message]:
        for place, message in enumerate(objects_at(body, self._at.messages)):
            pointer = f"{self._at.messages}/{place}"
            role = as_text(get(message, self._at.role)) or "other"
            parts = tuple(self._parts(message, pointer))
            if any(part.result is not None for part in parts):
                yield Message("tool", parts, pointer, message)
            else:
                yield Message(role if role in _ROLES else "other", parts, pointer, message)  # type: ignore[arg-type]

    def _parts(self, message: Object, pointer: str) -> Iterator[Part]:
        content = get(message, self._at.content)
        text = text_of(content)
        call_id = as_text(get(message, self._at.result_id))
        if call_id is not None:
            result = ToolResult(call_id, None, False, text)
            yield Part("result", f"{pointer}{self._at.content}", text=text, result=result, raw=message)
            return
        if text:
            yield text_part(text, f"{pointer}{self._at.content}", content)
        for place, call in enumerate(objects_at(message, self._at.message_calls)):
            yield self._call(call, f"{pointer}{self._at.message_calls}/{place}")

    def _call(self, call: Object, pointer: str) -> Part:
        arguments, raw = arguments_of(get(call, self._at.call_arguments))
        name, call_id = as_text(get(call, self._at.call_name)) or "", as_text(get(call, self._at.call_id))
        return call_part(ToolCall(name, call_id, arguments, raw), pointer, call)

    def _tools(self, body: Object) -> Iterator[Tool]:
        for place, tool in enumerate(objects_at(body, self._at.tools)):
            if name := as_text(get(tool, self._at.tool_name)):
                description = as_text(get(tool, self._at.tool_description))
                yield Tool(name, description, get(tool, self._at.tool_schema), f"{self._at.tools}/{place}")

    def read_response(self, exchange: Exchange, request: RequestReading) -> ResponseReading:
        if exchange.framing is None:
            if not exchange.answer_fields:
                return unread(exchange, f"an answer of {self._at.name}")
            return self._answer(exchange.answer_fields, ended=True, streamed=False, exchange=exchange)
        body = self.whole(exchange)
        ended = get(body, self._at.finish) is not None or has_done(exchange)
        return self._answer(body, ended=ended, streamed=True, exchange=exchange)

    def whole(self, exchange: Exchange) -> Object:
        """What a stream adds up to: texts are joined, calls are collected, and any other field has its last value."""
        at, text, calls = self._at, "", list[Object]()
        body: Object = {}
        for _, event in objects(exchange.events, []):
            text += as_text(get(event, at.text)) or ""
            calls += objects_at(event, at.calls)
            _merge(body, event)
        put(body, at.text, text)
        if calls:
            put(body, at.calls, calls)
        return body

    def _answer(self, body: Object, *, ended: bool, streamed: bool, exchange: Exchange) -> ResponseReading:
        at = self._at
        parts: list[Part] = []
        if text := as_text(get(body, at.text)):
            parts.append(text_part(text, at.text, text))
        calls = objects_at(body, at.calls)
        parts += [self._call(call, f"{at.calls}/{place}") for place, call in enumerate(calls)]
        word = as_text(get(body, at.finish))
        return answer(
            parts,
            finish_raw=word,
            finish=at.finish_words.get(word, "unknown") if word else None,  # type: ignore[arg-type]
            ended=ended,
            usage=self._usage(body),
            usage_raw=body.get("usage"),
            model=as_text(get(body, at.model)),
            id=as_text(get(body, at.id)),
            error=stream_error(exchange.events) if streamed else error_in(body) if "error" in body else None,
        )

    def _usage(self, body: Object) -> Usage | None:
        at = self._at
        counts = Counts({place: get(body, place) for place in (at.usage_input, at.usage_output, at.usage_cached)}, "")
        found = [counts.first(place) for place in (at.usage_input, at.usage_output)]
        if found == [None, None] and not counts.problems:
            return None
        return Usage(found[0], counts.first(at.usage_cached), None, found[1], problems=counts.problems)


def _merge(body: Object, event: Object) -> None:
    for key, value in event.items():
        if is_object(value) and is_object(body.get(key)):
            _merge(as_object(body[key]), value)
        elif value is not None:
            body[key] = value
