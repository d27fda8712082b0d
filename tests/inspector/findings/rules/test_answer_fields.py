"""Fields of answers that are not as their API says, and streams whose events are not those of their API."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from chat_streams import ASKED, CALLED, call
from conversations import CALL, HELLO, TOOLS, chat, result, said
from dialogues import MISTRAL
from judged import RESPONSES, ids, judged, lines, only, trip
from round_trips import CHAT, exchanged, sse
from rule_exceptions_fields import (
    BLOCK,
    COMPLETE,
    MESSAGE,
    STOP,
    chunks,
    completion,
    messages,
    opened,
    without,
)

from turntape.cassettes.tape.model import RoundTrip

GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse"
CONVERSE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1:0/converse"
INVOKE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4/invoke"
COHERE = "https://api.cohere.com/v2/chat"
OLLAMA = "http://127.0.0.1:11434/api/chat"
HI = {"role": "user", "content": "hi"}
TEXT = {"type": "text", "text": "A strip."}


def asked_chat(answer: dict[str, Any]) -> RoundTrip:
    return trip(CHAT, {"model": "gpt-5", "messages": [HI]}, answer)


def claude(content: list[Any]) -> dict[str, Any]:
    return {"id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
            "content": content, "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (completion(choice={"index": {"value": 0}}), "`choices[0].index` of the answer is an object"),
        (completion(choice={"index": -1}), "`choices[0].index` of the answer is the number -1"),
        (completion(model=["gpt-5"]), "`model` of the answer is a list, where the API has a text"),
        (completion(object="zq"), "`object` of the answer is the text 'zq', where the API has 'chat.completion'"),
        (asked_chat({**COMPLETE, "choices": {"0": MESSAGE}}), "`choices` of the answer is an object"),
        (
            trip(
                RESPONSES,
                {"model": "gpt-5", "input": "hi"},
                {"id": 7, "object": "response", "model": 9, "status": "completed", "output": []},
            ),
            "`id` of the answer is the number 7, where the API has a text (1 other field like it)",
        ),
        (
            trip(
                GEMINI.replace("streamGenerateContent?alt=sse", "generateContent"),
                {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
                {"candidates": [{"content": {"parts": [{"text": "A strip."}]}, "finishReason": "STOP", "index": "x"}]},
            ),
            "`candidates[0].index` of the answer is the text 'x'",
        ),
        (
            trip(
                CONVERSE,
                {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
                {"output": {"message": {"role": "assistant", "content": [{"text": "A strip."}]}},
                 "stopReason": "end_turn", "metrics": {"latencyMs": "fast"}},
            ),
            "`metrics.latencyMs` of the answer is the text 'fast', where the API has a number",
        ),
        (
            trip(
                CONVERSE,
                {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
                {"output": {"message": {"role": "assistant", "content": [{"text": "A strip.", "type": "text"}]}},
                 "stopReason": "end_turn"},
            ),
            "`output.message.content[0]` of the answer has 'text' and 'type', where the API has one of them alone",
        ),
        (
            trip(
                INVOKE,
                {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [HI]},
                claude([{"type": "text", "text": "A strip.", "citations": "none"}]),
            ),
            "`content[0].citations` of the answer is the text 'none', where the API has a list",
        ),
        (
            trip(
                COHERE,
                {"model": "command", "messages": [HI]},
                {"id": 9, "finish_reason": "COMPLETE",
                 "message": {"role": "assistant", "content": [{"type": "text", "text": "A strip."}]}},
            ),
            "`id` of the answer is the number 9, where the API has a text",
        ),
        (
            trip(
                COHERE,
                {"model": "command", "messages": [HI]},
                {"id": "c", "finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": -3}},
                 "message": {"role": "assistant", "content": [{"type": "text", "text": "A strip."}]}},
            ),
            "`usage.tokens.input_tokens` of the answer is the number -3, where the API has a whole number",
        ),
        (
            asked_chat({**COMPLETE, "choices": [{**MESSAGE, "message": {"role": "assistant", "content": [TEXT]}}]}),
            "`choices[0].message.content` of the answer is a list, where the API has a text or null",
        ),
        (
            trip(
                OLLAMA,
                {"model": "qwen3", "messages": [HI], "stream": False},
                {"model": "qwen3", "created_at": "2026-11-22T00:00:00Z", "done": True, "done_reason": "stop",
                 "total_duration": "long", "message": {"role": "assistant", "content": "A strip."}},
            ),
            "`total_duration` of the answer is the text 'long'",
        ),
    ],
    ids=lambda given: given.split("`")[1] if isinstance(given, str) else None,
)  # fmt: skip
def test_a_field_that_is_not_as_the_api_says(one: RoundTrip, says: str) -> None:
    found = only("api-field-wrong", one)

    assert found.message.startswith(says)
    assert (found.layer, found.severity) == ("api", "warning")


def test_a_piece_of_a_call_without_an_index_is_an_info_where_the_client_understood_it() -> None:
    pieces = [call(None, "call_1", "look_up", ""), call(None, None, None, '{"word":"tape"}'), CALLED]
    first = trip(CHAT, {**ASKED, "tools": TOOLS}, sse(*pieces, done=True))
    ran = chat([HELLO, said(None, CALL), result("call_1", "a strip")], said("A strip."), index=1)

    alone, understood = only("api-field-wrong", first), only("api-field-wrong", first, ran)
    assert alone.message.startswith("`choices[0].delta.tool_calls[0].index` of the answer is missing")
    assert (alone.severity, understood.severity) == ("warning", "info")


def test_mistral_answers_in_a_list_of_parts() -> None:
    parts = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": [TEXT]}}
    answer = {**COMPLETE, "choices": [parts]}

    assert not lines(trip(MISTRAL, {"model": "mistral", "messages": [HI]}, answer), only="api-field-wrong")


@pytest.mark.parametrize(
    ("call", "because"),
    [
        (
            {"id": "c1", "type": "function", "function": {"name": {"is": "look"}, "arguments": "{}"}},
            ("api-field-wrong",),
        ),
        ({"id": "c1", "type": "function", "index": "x", "function": {"name": "look_up", "arguments": "{}"}}, ()),
    ],
)
def test_a_call_of_an_unknown_tool_may_follow_from_a_wrong_name(call: dict[str, Any], because: tuple[str, ...]) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {**COMPLETE, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    one = trip(CHAT, {"model": "gpt-5", "messages": [HI], "tools": [tool]}, answer)

    assert only("model-unknown-tool", one).because_of == because
    assert "api-field-wrong" in ids(one)


def begun(kind: str = "response.output_item.added", **fields: Any) -> dict[str, Any]:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []}
    return {"type": kind, "output_index": 0, "item": item, **fields}


def numbered(events: Sequence[dict[str, Any]], numbers: Sequence[int]) -> RoundTrip:
    spelt = [{**event, "sequence_number": number} for event, number in zip(events, numbers, strict=True)]
    return trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*spelt, names=True))


RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
WHOLE = [
    {"type": "response.created", "response": {**RESPONSE, "output": []}},
    {"type": "response.in_progress", "response": {**RESPONSE, "output": []}},
    begun(),
    begun("response.output_item.done"),
    {"type": "response.completed", "response": {**RESPONSE, "output": [begun()["item"]]}},
]
LONG = {"candidates": [{"content": {"parts": [{"text": "a text that nobody says twice"}]}, "index": 0}]}
ENDED = {"candidates": [{"content": {"parts": [{"text": "."}]}, "finishReason": "STOP", "index": 0}]}


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (messages(opened(), *BLOCK, *STOP, STOP[1]), "'message_stop' comes after 'message_stop'"),
        (messages(opened(), *({**one, "index": 3} for one in BLOCK), *STOP), "which is not the next one"),
        (messages(opened(), *BLOCK, STOP[0]), "'message_stop' never comes"),
        (numbered([WHOLE[0], *WHOLE], range(6)), "comes twice"),
        (chunks(("c", "gpt-5"), ("c", "gpt-5-mini")), "the model changes from 'gpt-5' to 'gpt-5-mini'"),
        (
            trip(GEMINI, {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, sse(LONG, LONG, ENDED)),
            "comes twice in a row",
        ),
    ],
    ids=["after", "gap", "never", "created", "model", "same"],
)
def test_a_stream_out_of_order(one: RoundTrip, says: str) -> None:
    found = only("api-stream-out-of-order", one)

    assert says in found.message
    assert (found.layer, found.severity) == ("api", "warning")


@pytest.mark.parametrize(
    "one",
    [
        messages(opened(), *BLOCK, *STOP),
        messages(opened(), {"type": "ping"}, *BLOCK, {"type": "ping"}, *STOP),
        numbered(WHOLE, range(5)),
        chunks(("c", "gpt-5"), ("c", "gpt-5")),
        trip(GEMINI, {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, sse(LONG, ENDED)),
    ],
    ids=["anthropic", "ping", "responses", "chat", "gemini"],
)
def test_a_stream_in_order_is_fine(one: RoundTrip) -> None:
    with pytest.raises(ValueError, match="not enough values"):
        only("api-stream-out-of-order", one)


def spoken(*events: dict[str, Any]) -> RoundTrip:
    """A Responses stream with these events of a text in its item."""
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    opens = [*WHOLE[:3], {"type": "response.content_part.added", "part": part, **at}]
    text = next((one["text"] for one in events if "text" in one), "")
    item = {**begun()["item"], "content": [{**part, "text": text}] if text else []}
    closes = [
        {"type": "response.content_part.done", "part": part, **at},
        {**WHOLE[3], "item": item},
        {**WHOLE[4], "response": {**RESPONSE, "output": [item]}},
    ]
    return numbered([*opens, *({**one, **at} for one in events), *closes], range(len(events) + 7))


DELTA = {"type": "response.output_text.delta", "delta": "A"}
DONE = {"type": "response.output_text.done", "text": "A"}


@pytest.mark.parametrize(
    ("events", "severity"),
    [([DELTA, DONE], None), ([DONE], None), ([DELTA], "info"), ([DELTA, DONE, DELTA], "warning")],
    ids=["whole", "empty", "never", "continues"],
)
def test_a_text_that_grew_is_closed_once_and_last(events: list[dict[str, Any]], severity: str | None) -> None:
    found = [one.severity for one in judged(spoken(*events)) if one.id == "api-stream-out-of-order"]

    assert found == ([severity] if severity else [])


def response(**fields: Any) -> RoundTrip:
    return trip(RESPONSES, {"model": "gpt-5", "input": "hi"}, {**RESPONSE, "output": [], **fields})


SAID_BY_USER = {**begun()["item"], "role": "user", "content": [{"type": "output_text", "text": "A", "annotations": []}]}


@pytest.mark.parametrize("fields", [{"output": None}, {"output": [SAID_BY_USER]}], ids=["null", "role"])
def test_a_wrong_field_of_an_answer_that_says_nothing_is_its_cause(fields: dict[str, Any]) -> None:
    found = {one.id: one for one in judged(response(**fields))}

    assert found["api-field-wrong"].severity == "warning"
    assert found["model-empty-response"].because_of == ("api-field-wrong",)


def test_a_null_that_the_api_may_leave_out_is_the_cause_of_an_empty_answer_alone() -> None:
    def answered(part: list[dict[str, Any]] | None, **more: Any) -> RoundTrip:
        content = {"role": "model", "parts": part, **more}
        return trip(
            GEMINI.replace("streamGenerateContent?alt=sse", "generateContent"),
            {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
            {"candidates": [{"content": content, "finishReason": "STOP", "index": 0, "safetyRatings": None}]},
        )

    assert only("model-empty-response", answered(None)).because_of == ("api-field-wrong",)
    assert only("api-field-wrong", answered([{"text": "A strip."}])).severity == "info"


def test_a_compaction_keeps_the_messages_of_the_user() -> None:
    url = f"{RESPONSES}/compact"
    answer = {"id": "c", "object": "response.compaction", "created_at": 1, "output": [SAID_BY_USER]}

    assert "api-field-wrong" not in ids(trip(url, {"model": "gpt-5", "input": "hi"}, answer))


def test_arguments_that_are_not_json_may_follow_from_a_wrong_piece() -> None:
    def piece(text: object) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}

    block = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
    opens = {"type": "content_block_start", "index": 0, "content_block": block}
    closes = {"type": "content_block_stop", "index": 0}
    ends = {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": STOP[0]["usage"],
    }

    def called(second: object) -> RoundTrip:
        return messages(opened(), opens, piece('{"word"'), piece(second), piece('"tape"}'), closes, ends, STOP[1])

    assert only("call-args-not-json", called(None)).because_of == ("api-field-wrong",)
    assert only("call-args-not-json", called("=")).because_of == ()


def test_a_call_without_its_function() -> None:
    call = {"id": "c1", "type": "function", "function": None}
    message = {"role": "assistant", "tool_calls": [call]}
    answer = {"id": "c", "finish_reason": "TOOL_CALL", "message": message}
    found = only("api-field-wrong", trip(COHERE, {"model": "command", "messages": [HI]}, answer))

    assert (found.severity, found.message.split("`")[1]) == ("warning", "message.tool_calls[0].function")


def test_a_name_without_a_character_is_not_put_up_with() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {**COMPLETE, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}

    assert only("api-field-wrong", asked_chat(answer)).severity == "warning"


def test_a_model_that_changes_is_not_the_cause_of_a_call_of_an_unknown_tool() -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1}
    events = (
        {**head, "model": "gpt-5", "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]},
        {**head, "model": "other", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    )
    one = trip(CHAT, {"model": "gpt-5", "messages": [HI], "stream": True, "tools": [tool]}, sse(*events, done=True))

    assert only("api-stream-out-of-order", one).severity == "warning"
    assert only("model-unknown-tool", one).because_of == ()


def test_a_field_that_a_server_never_sends_is_an_info_given_once() -> None:
    first, second = without("id"), without("id", 1)

    assert not lines(without("created"), only="api-field-wrong")
    assert lines(first, second, only="api-field-wrong") == [
        "#0 api-field-wrong (api, info, P): `id` of the answer is missing | #0 response id"
    ]


@pytest.mark.parametrize("key", ["total_duration", "eval_count"])
def test_only_the_last_piece_of_ollama_has_the_counts(key: str) -> None:
    ends = {"total_duration": 9, "load_duration": 1, "prompt_eval_duration": 4, "eval_count": 2, "eval_duration": 4}
    piece = {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "A"}}
    done = {**piece, "done": True, "done_reason": "stop", "prompt_eval_count": 3, **ends}

    def asked_ollama(end: dict[str, Any]) -> RoundTrip:
        lined = b"".join(orjson.dumps(one) + b"\n" for one in ({**piece, "done": False}, end))
        return exchanged(OLLAMA, {"model": "qwen3", "messages": [HI]}, lined, content_type="application/x-ndjson")

    assert "api-field-wrong" not in ids(asked_ollama(done))
    assert (
        f"`{key}` of the answer is missing"
        in only("api-field-wrong", asked_ollama({name: value for name, value in done.items() if name != key})).message
    )
    assert "is null" in only("api-field-wrong", asked_ollama({**done, key: None})).message


def test_an_item_keeps_its_id() -> None:
    item = {"type": "message", "id": "msg_a", "role": "assistant", "status": "completed", "content": []}
    response = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5", "output": [item]}

    def streamed(last: str) -> RoundTrip:
        events = (
            {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": {**item, "id": last}},
            {"type": "response.completed", "response": {**response, "status": "completed"}},
        )
        return trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*events, names=True))

    assert "api-stream-out-of-order" not in ids(streamed("msg_a"))
    found = only("api-stream-out-of-order", streamed("msg_b"))
    assert (found.severity, found.message.endswith("changes from 'msg_a' to 'msg_b'")) == ("info", True)


@pytest.mark.parametrize("kind", ["FUNCTION", "function", None, ""])
def test_the_type_of_a_piece_of_a_call_is_a_word_of_the_api(kind: str | None) -> None:
    piece = {"index": 0, "id": "c1", "type": kind, "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    events = [{**chunk, "choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]},
              {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]  # fmt: skip
    one = trip(CHAT, {"model": "gpt-5", "stream": True, "messages": [HELLO], "tools": TOOLS}, sse(*events, done=True))

    found = [said.severity for said in judged(one) if said.id == "api-field-wrong" and "tool_calls" in said.message]
    assert found == ([] if kind in ("function", None) else ["warning" if kind else "info"])


def test_a_chunk_of_azures_filter_alone_needs_no_delta() -> None:
    """With the asynchronous filter, Azure annotates a text in separate chunks behind it."""

    def streamed(**more: object) -> list[str]:
        words = [{"index": 0, "delta": {"content": "A strip."}, "finish_reason": None},
                 {"index": 0, "delta": {}, "finish_reason": "stop"},
                 {"index": 0, "finish_reason": None, **more}]  # fmt: skip
        chunks = [{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "choices": [one]}
                  for one in words]  # fmt: skip
        return lines(trip(CHAT, ASKED, sse(*chunks, done=True)), only="api-f")

    assert streamed(content_filter_offsets={"check_offset": 44, "end_offset": 198}, content_filter_results={}) == []
    assert "`choices[0].delta` of the answer is missing" in streamed()[0]


@pytest.mark.parametrize(("name", "layers"), [(None, {"api"}), ("", {"api"}), ("other", {"model"})])
def test_a_call_whose_name_no_piece_of_the_stream_says_is_the_apis_fault(name: str | None, layers: set[str]) -> None:
    asked = {**ASKED, "tools": TOOLS}
    one = trip(CHAT, asked, sse(call(0, "c1", name, ""), call(0, None, None, "{}"), CALLED, done=True))
    roots = [found for found in judged(one) if found.severity != "info" and not found.because_of]

    assert {found.layer for found in roots} == layers


@pytest.mark.parametrize(("finish", "found"), [("MALFORMED_FUNCTION_CALL", False), ("SAFETY", False), ("STOP", True)])
def test_gemini_leaves_the_content_empty_where_it_refuses_the_call(finish: str, *, found: bool) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    candidate = {"content": {}, "finishReason": finish, "index": 0}
    usage = {"promptTokenCount": 9, "totalTokenCount": 9}
    answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3"}

    assert ("api-field-wrong" in ids(trip(GEMINI, body, answer))) is found
