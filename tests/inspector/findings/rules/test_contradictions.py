"""Streams that contradict themselves, in the events of each API."""

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_frames import frame
from chat_streams import BASE
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import APIS, asks, says
from judged import CONVERSE, LOOK_UP, OLLAMA, RESPONSES, Said, anthropic, asked, ids, judged, only, trip, words
from round_trips import CHAT, sse
from rule_exceptions_contradictions import LONG, PARTS

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_responses.contradictions import contradictions

ID = "api-stream-contradiction"
ASK: dict[str, Any] = {"model": "gpt-5", "stream": True, "messages": [HELLO], "tools": TOOLS}
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse"
MESSAGES = "https://api.anthropic.com/v1/messages"
COHERE = "https://api.cohere.com/v2/chat"
HI = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up", "arguments": ""}


def broken(one: RoundTrip) -> Said:
    """The one finding about the stream: what its framing shows is not said again."""
    [found] = [found for found in judged(one) if found.id in (ID, "api-malformed-stream")]
    return found


def chunks(*choices: dict[str, Any], done: bool = True, **more: Any) -> RoundTrip:
    events = ({**BASE, "choices": [{"index": 0, **choice}]} for choice in choices)
    return trip(CHAT, ASK, sse(*events, done=done), **more)


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"delta": fields, "finish_reason": finish}


def call(arguments: str, name: str = "", call_id: str = "") -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return delta(tool_calls=[{"index": 0, **({"id": call_id} if call_id else {}), "function": function}])


def unnamed() -> dict[str, Any]:
    """The beginning of a call with an empty name."""
    return delta(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": {"name": "", "arguments": ""}}])


def messages(*events: dict[str, Any]) -> RoundTrip:
    start = {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": []}}
    ask = {"model": "claude", "max_tokens": 9, "stream": True, "messages": [asked("hi")], "tools": [LOOK_UP]}
    ended: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "message_delta":
            places = dict.fromkeys(one["index"] for one in events if one["type"] == "content_block_start")
            ended += ({"type": "content_block_stop", "index": place} for place in places)
        ended.append(event)
    return trip(MESSAGES, ask, sse(start, *ended, names=True))


def began(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def grew(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stopped(reason: str = "end_turn") -> list[dict[str, Any]]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]


def items(*events: dict[str, Any], last: bool = True) -> RoundTrip:
    created = {"type": "response.created", "response": {"id": "resp_1"}}
    done = {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}}
    ask = {"model": "gpt-5", "stream": True, "input": "hi"}
    added = [event for event in events if event["type"] == "response.output_item.added"]
    begun = [event["output_index"] for event in added]
    whole = {event["output_index"]: event["item"] for event in added}
    ended = [
        {"type": "response.output_item.done", "output_index": place, "item": whole[place]} for place in sorted({*begun})
    ]
    ended = ended if last and len(begun) == len(ended) > 1 else []
    return trip(RESPONSES, ask, sse(created, *events, *ended, *([done] if last else []), names=True))


def piece(place: int = 0, item: str = "fc_1", text: str = '{"word":"tape"}') -> dict[str, Any]:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": place, "item_id": item, "delta": text}


def added(place: int = 0, item: str = "fc_1") -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": ITEM | {"id": item, "call_id": item}}


def parts(*lists: list[dict[str, Any]], finish: str = "STOP", first: str = "", **fields: Any) -> RoundTrip:
    bodies = [
        {"candidates": [{"index": 0, "content": {"parts": sent}}], "responseId": "r", "modelVersion": "gemini-3"}
        for sent in lists
    ]
    bodies[-1]["candidates"][0]["finishReason"] = finish
    if first:
        bodies[0]["candidates"][0]["finishReason"] = first
    bodies[-1].update(fields)
    return trip(GEMINI, HI, sse(*bodies))


def lines(*bodies: dict[str, Any]) -> RoundTrip:
    return trip(OLLAMA, ASK, "".join(json.dumps({"model": "m", **body}) + "\n" for body in bodies).encode())


def spoke(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "done": False, **fields}


END = spoke("", done=True, done_reason="stop")


def cohere(*texts: str, late: str = "") -> RoundTrip:
    grown = [{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}} for text in texts]
    after = [{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": late}}}}] if late else []
    end = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}
    return trip(COHERE, ASK, sse({"type": "message-start", "id": "c"}, *grown, end, *after, names=True))


def texts_of(pieces: list[str]) -> dict[str, RoundTrip]:
    """A stream with these pieces of text in each API."""
    said_so = [{"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": p} for p in pieces]
    return {
        "chat": chunks(*(delta(content=p) for p in pieces), delta("stop")),
        "anthropic": messages(began("text", text=""), *(grew("text_delta", text=p) for p in pieces), *stopped()),
        "responses": items(*said_so),
        "gemini": parts(*([{"text": p}] for p in pieces)),
        "ollama": lines(*map(spoke, pieces), END),
        "cohere": cohere(*pieces),
    }


@pytest.mark.parametrize("api", sorted(texts_of(PARTS)))
def test_text_that_comes_as_snapshots_is_the_apis_fault(api: str) -> None:
    one = broken(texts_of(PARTS)[api])

    assert (one.layer, one.severity, one.tier) == ("api", "warning", "P")
    assert ID not in ids(texts_of([LONG[n : n + 10] for n in range(0, 60, 10)])[api])
    assert ID not in ids(texts_of(["a", "ab", "abc"])[api])
    assert ID not in ids(texts_of([LONG[:20], LONG])[api])


def test_arguments_that_come_as_snapshots_are_not_blamed_on_the_model() -> None:
    pieces = ['{"word":', '{"word":"a strip', '{"word":"a strip of tape"}']
    found = judged(chunks(call(pieces[0], "look_up", "c1"), call(pieces[1]), call(pieces[2]), delta("tool_calls")))

    assert {one.layer for one in found if not one.because_of and one.severity != "info"} == {"api"}


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (chunks(delta(content="a"), delta("stop"), delta(content="b")), "after its finish word 'stop'"),
        (chunks(delta(content="a"), delta("length"), delta("stop")), "its finish word is 'length' and then 'stop'"),
        (parts([{"text": "a"}], [{"text": "b"}], [{"text": "c"}], first="STOP"), "after its finish word 'STOP'"),
        (
            chunks(call('{"word"', "look_up", "c"), call(":", "look_up"), call('"x"}', "look_up"), delta("tool_calls")),
            "the name 'look_up' of one call arrives 3 times",
        ),
        (
            chunks(unnamed(), call('{"word":"x"}', "look_up"), delta("tool_calls")),
            "a call begins with an empty name, and 'look_up' comes later",
        ),
        (
            chunks(call('{"word"', "look_up", "c"), call(':"x"}', "look_up", "c"), delta("tool_calls")),
            "the name 'look_up' of one call arrives 2 times",
        ),
        (
            chunks(call('{"word":', "look_up", "c"), call('"x"}'), call('{"word":"x"}'), delta("tool_calls")),
            "one piece holds the arguments of a call whole",
        ),
        (
            trip(CHAT, ASK, sse({**BASE, "choices": [delta("stop", content="a")]}, done=True)
                 + sse({**BASE, "choices": [delta(content="b")]})),
            "1 pieces of the answer come after [DONE]",
        ),
        (
            trip(CHAT, ASK, sse(
                {**BASE, "choices": [delta(role="assistant")]}, {**BASE, "choices": [delta(content="a")]},
                {**BASE, "id": "d", "model": "other", "choices": [delta(role="assistant", content="b")]},
                {**BASE, "id": "d", "model": "other", "choices": [delta("stop")]}, done=True)),
            "a second answer begins in it: id 'd' of 'other' after 'c' of 'gpt-5'",
        ),
        (messages(began("text", text="a"), *stopped()[:1], grew("text_delta", text="b"), *stopped()[1:]),
         "after its stop reason 'end_turn'"),
        (messages(began("tool_use", id="t", name="look_up", input={"word": "x"}), *stopped("tool_use")),
         "the input of 'look_up' is in the event that begins its block"),
        (
            messages(
                began("tool_use", id="t", name="look_up", input={}),
                *(grew("input_json_delta", partial_json=p) for p in ('{"word":', '"x"}', '{"word":"x"}')),
                *stopped("tool_use"),
            ),
            "one piece holds the input of a call whole",
        ),
        (items(added(), piece(item="fc_9")), "the item fc_1 is called fc_9 in its own pieces"),
        (items(added(), piece(), added(item="fc_2"), piece(item="fc_2")), "several items have the output_index 0"),
        (items({"type": "response.created", "response": {"id": "resp_2"}}), "2 responses were created"),
        (parts([{"functionCall": {"name": "look_up", "args": {"word": "a"}}}],
               [{"functionCall": {"name": "look_up", "args": {"word": "a"}}},
                {"functionCall": {"name": "look_up", "args": {"word": "b"}}}]),
         "each piece repeats the calls before it"),
        (parts([{"text": "a"}], [{"text": "b"}], responseId="s", modelVersion="gemini-2"),
         "a second answer begins in it, of 'gemini-2' after 'gemini-3'"),
        (lines(spoke("a"), END, spoke("b")), "after the event that ends it"),
        (cohere("a", late="b"), "after the event that ends it"),
    ],
)  # fmt: skip
def test_each_contradiction_is_named(one: RoundTrip, what: str) -> None:
    assert broken(one).id == "api-malformed-stream" or what in broken(one).message


@pytest.mark.parametrize(
    "one",
    [
        chunks(delta(content="a"), delta("stop"), delta(content="")),
        chunks(call('{"word":', "look_up", "c"), call('"x"}', "", "c"), delta("tool_calls")),
        chunks(delta("stop", content="a"), delta("stop", content="b"), delta("stop", content="c")),
        chunks(call('{"word"', "look_up", "c"), call(':"x"}', "look_up"), delta("tool_calls")),
        chunks(call('{"word":"x"}', "look_up", "c"), delta("tool_calls")),
        trip(CHAT, ASK, sse(*({**BASE, "id": f"c{n}", "choices": [delta(role="assistant", content="a")]}
                              for n in range(3)), {**BASE, "choices": [delta("stop")]}, done=True)),
        trip(CHAT, ASK, sse({**BASE, "id": "", "model": "", "choices": [delta(role="assistant", content="")]},
                            {**BASE, "choices": [delta("stop", role="assistant", content="a")]}, done=True)),
        messages(began("tool_use", id="t", name="look_up", input={"word": "x"}),
                 grew("input_json_delta", partial_json='{"word":"x"}'), *stopped("tool_use")),
        messages(began("tool_use", id="t", name="look_up", input={}), *stopped("tool_use")),
        items(added(), piece(), added(1, "fc_2"), piece(1, "fc_2")),
        parts([{"text": "a"}], [{"text": "b"}], first="STOP"),
        parts([{"text": "a"}], [{"text": "b"}], responseId="s"),
        parts([{"functionCall": {"name": "look_up", "args": {}}}], [{"functionCall": {"name": "look_up", "args": {}}}]),
        lines(spoke("a"), END),
        cohere("a"),
    ],
)  # fmt: skip
def test_what_servers_are_known_to_do_is_not_a_contradiction(one: RoundTrip) -> None:
    assert ID not in ids(one)


def test_calls_after_a_finish_word_that_each_chunk_has_are_a_contradiction() -> None:
    pieces = [call('{"word":', "look_up", "c"), call('"x"}'), call(" ")]
    one = chunks(*({**piece, "finish_reason": "tool_calls"} for piece in pieces))

    assert "more of the answer comes after its finish word 'tool_calls'" in broken(one).message


def test_calls_that_were_run_all_the_same_make_it_an_info() -> None:
    first = chunks(call('{"word":', "look_up", "call_1"), call('"ta', "look_up"), call('pe"}', "look_up"),
                   delta("tool_calls"))  # fmt: skip
    ran = chat([HELLO, said(None, CALL), result("call_1", "a strip")], said("A strip."), index=1)

    assert only(ID, first, ran).severity == "info"
    assert only(ID, first, chat([HELLO, user("And?")], said("A strip."), index=1)).severity == "warning"


def test_a_text_in_two_blocks_is_reported() -> None:
    one = only("api-text-twice", anthropic([asked("hi")], [words(LONG), words(LONG)]))

    assert (one.layer, one.severity, one.tier) == ("api", "warning", "S")
    assert "hold the same text: 'A tape is" in one.message
    assert "api-text-twice" not in ids(anthropic([asked("hi")], [words(LONG), words(LONG + " No.")]))


def test_a_stream_whose_choices_do_not_begin_with_the_first() -> None:
    one = broken(trip(CHAT, ASK, sse({**BASE, "choices": [{"index": 1, **delta("stop", content="tape")}]}, done=True)))

    assert one.message == (
        "the stream contradicts itself: its first choice has the index 1: clients that read choice 0 get nothing"
    )
    assert ID not in ids(chunks(delta("stop", content="tape")))


def test_a_piece_after_the_end_of_its_block() -> None:
    end = {"type": "content_block_stop", "index": 0}
    late = "piece 0 of the answer comes after the event that ends it"

    assert late in broken(messages(began("text", text=""), end, grew("text_delta", text="tape"), *stopped())).message
    assert late in broken(items(added(), {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
                                piece(), last=False)).message  # fmt: skip
    assert ID not in ids(messages(began("text", text=""), grew("text_delta", text="tape"), *stopped()))


def test_an_event_under_another_name_than_its_type() -> None:
    good = sse({"type": "response.created", "response": {"id": "r"}}, names=True)
    event = json.dumps({"type": "response.output_text.delta", "output_index": 0, "delta": "a"})
    ask = {"model": "gpt-5", "stream": True, "input": "hi"}
    end = sse({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}, names=True)

    found = broken(trip(RESPONSES, ask, good + f"event: message\ndata: {event}\n\n".encode() + end))
    assert "an event is named 'message' and its data has the type 'response.output_text.delta'" in found.message
    plain = good + f"event: response.output_text.delta\ndata: {event}\n\n".encode() + end
    assert ID not in ids(trip(RESPONSES, ask, plain))


def ended(item: dict[str, Any], *before: dict[str, Any]) -> RoundTrip:
    """A stream that is completed with this item."""
    done = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}}
    return trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*before, done, names=True))


def test_a_final_item_that_differs_from_its_own_events() -> None:
    """Of Realtime; in Responses the framing shows it."""

    def whole(arguments: str) -> RoundTrip:
        said_so = {"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "fc_1",
                   "arguments": '{"word":"tape"}'}  # fmt: skip
        final = {"id": "r", "status": "completed", "output": [{**ITEM, "arguments": arguments}]}
        ask = {"model": "gpt-realtime", "input": [HELLO], "stream": True}
        return trip(
            "https://api.openai.com/v1/realtime",
            ask,
            sse(
                {"type": "response.created", "response": {"id": "r", "output": []}},
                {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
                piece(),
                said_so,
                {"type": "response.output_item.done", "output_index": 0, "item": {**ITEM, "arguments": arguments}},
                {"type": "response.done", "response": final},
                names=True,
            ),
        )

    assert "has other arguments of 'look_up' than the event before" in only(ID, whole('{"word":"reel"}')).message
    assert ID not in ids(whole('{"word":"tape"}'))
    assert ID not in ids(whole('{ "word": "tape" }'))


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
def test_a_completed_answer_with_half_an_item(status: str) -> None:
    spoken = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "tape"}]}
    body = {"id": "r", "status": "completed", "model": "gpt-5", "output": [{**spoken, "status": status}]}
    whole = trip(RESPONSES, {"model": "gpt-5", "input": "hi"}, body)

    assert only(ID, whole).message == f"the answer contradicts itself: it is completed, and its message says {status!r}"
    assert f"its message says {status!r}" in only(ID, ended({**spoken, "status": status})).message
    assert ID not in ids(ended({**spoken, "status": "completed"}))
    failed = {"type": "mcp_call", "id": "mc", "name": "x", "arguments": "{}", "status": status}
    assert ID not in ids(ended(failed))


def test_the_same_text_as_text_and_as_reasoning() -> None:
    twice = chunks(delta(content=LONG, reasoning_content=LONG), delta("stop"))

    assert only("api-text-twice", twice).message == (
        f"the answer holds the same text as its text and as its reasoning: {LONG[:60]!r}"
    )
    assert "api-text-twice" not in ids(chunks(delta(content=LONG, reasoning_content=LONG[:-1]), delta("stop")))
    assert "api-text-twice" not in ids(chunks(delta(content="Done.", reasoning_content="Done."), delta("stop")))


def test_a_text_that_begins_with_its_reasoning() -> None:
    def said(text: str, thought: str = LONG) -> RoundTrip:
        return chunks(delta(content=text, reasoning_content=f"{thought}\n"), delta("stop"))

    assert only("api-text-twice", said(f"{LONG}\n\nA strip.")).message == (
        f"the text of the answer begins with the whole of its reasoning: {LONG[:60]!r}"
    )
    for other in (f"{LONG}, and more.", f"A strip. {LONG} Yes.", LONG[:-5]):
        assert "api-text-twice" not in ids(said(other)), other
    assert "api-text-twice" not in ids(said("Look it up. A strip.", "Look it up."))


ROLE = "api-wrong-role"


def _swapped(one: RoundTrip, role: str) -> RoundTrip:
    """The same answer under another role."""
    response = one.response
    assert response is not None
    data = response.body
    for own in ("assistant", "model"):
        data = data.replace(f'"role": "{own}"'.encode(), f'"role": "{role}"'.encode())
    assert data != response.body or role in ("assistant", "model")
    return replace(one, response=replace(response, content=data, chunks=()))


@pytest.mark.parametrize("api", sorted(set(APIS) - {"responses"}))
def test_an_answer_in_another_role(api: str) -> None:
    answered = APIS[api]([asks("hi")], says("A strip."), 0)

    one = only(ROLE, _swapped(answered, "user"))
    assert (one.message, one.layer, one.severity, one.tier) == ("the answer has the role 'user'", "api", "warning", "P")
    assert ROLE not in ids(answered)
    assert ROLE not in ids(_swapped(answered, "Assistant"))


def test_a_role_in_a_stream_counts_where_it_is_said_first() -> None:
    assert ROLE in ids(chunks(delta(role="tool", content="tape"), delta("stop")))
    assert ROLE not in ids(chunks(delta(role="assistant", content="tape"), delta("stop", role="user")))
    assert ROLE not in ids(chunks(delta(content="tape"), delta("stop", role="")))


PARTED = ["One ", "strip ", "of ", "tape ", "holds ", "all ", "that ", "was ", "ever ", "said."]


@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        ([piece for piece in PARTED for _ in range(2)], "each piece comes twice"),
        ([*PARTED, *PARTED[:4], " And"], None),
        ([*PARTED, *PARTED, "And more."], "a text begins again from the start after 47 characters"),
        ([*PARTED, *PARTED, *PARTED], None),
        (["ha "] * 12, None),
        (["court ", *["court court "] * 11, "and ", "more."], None),
    ],
    ids=["doubled", "alike", "again", "a loop", "laughs", "a loop that ended"],
)
def test_pieces_that_come_again(pieces: list[str], says: str | None) -> None:
    one = chunks(*(delta(content=piece) for piece in pieces), delta("stop"))

    if says is None:
        assert ID not in ids(one)
    else:
        assert says in only(ID, one).message


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (["It is a ", "strip that is w", "strip that is w", "ound."], True),
        (["It is a ", *["strip that is w"] * 4, "ound."], False),
        (["Say ", " cobalt", " cobalt", " twice."], False),
        (["| --- | --- |", "| --- | --- |", "| a | b |"], False),
    ],
    ids=["once more", "a loop", "a word", "a table"],
)
def test_a_piece_that_comes_twice_in_a_row(pieces: list[str], *, found: bool) -> None:
    streams = texts_of(pieces)
    for api in ("chat", "anthropic", "gemini", "ollama"):
        one = streams[api]
        said = [each.message for each in judged(one) if each.id == "api-stream-out-of-order"]
        assert any("comes twice in a row" in each for each in said) is found, api


def test_choices_that_share_an_index() -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": said("A strip.")}

    def answered(*choices: dict[str, Any]) -> RoundTrip:
        return trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "n": 2}, {**BASE, "choices": list(choices)})

    assert "2 choices share an index" in only(ID, answered(choice, choice)).message
    assert ID not in ids(answered(choice, {**choice, "index": 1}))


def test_an_answer_inside_another_api_is_held_against_its_own() -> None:
    asks_claude = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [HELLO]}
    answer = {"id": "m", "type": "message", "role": "user", "model": "claude", "stop_reason": "end_turn",
              "content": [words("A strip.")], "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4/invoke"

    assert "api-wrong-role" in ids(trip(url, asks_claude, answer))
    assert "api-wrong-role" not in ids(trip(url, asks_claude, {**answer, "role": "assistant"}))


def test_a_text_that_comes_twice_in_one_piece() -> None:
    assert "one behind the other" in only("api-text-twice", anthropic([asked("hi")], [words(LONG + LONG)])).message
    assert "api-text-twice" not in ids(anthropic([asked("hi")], [words("ab" * 80)]))


def test_a_later_piece_names_the_call_otherwise() -> None:
    named = chunks(call('{"wo', "look_up", "call_1"), call('rd":"tape"}', "null"), delta("tool_calls"))
    whole = chunks(call("", "look", "call_1"), call("", "_up"), call('{"word":"tape"}'), delta("tool_calls"))

    assert "is named 'look_up', and 'null' in a later piece" in broken(named).message
    assert ID not in ids(whole), "a name may come in pieces"


@pytest.mark.parametrize(
    ("kind", "status", "wrong"),
    [("completed", "in_progress", True), ("completed", "completed", False), ("incomplete", "incomplete", False)],
)
def test_the_last_event_is_called_after_the_status_of_its_response(kind: str, status: str, wrong: bool) -> None:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}]}  # fmt: skip
    response = {"id": "r", "object": "response", "created_at": 1, "model": "gpt-5", "output": [item]}
    events = ({"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
              {"type": f"response.{kind}", "response": {**response, "status": status}})  # fmt: skip
    one = trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*events))

    found = [said.message for said in judged(one) if said.id == ID and "of the status" in said.message]
    assert bool(found) == wrong


def said_under(began_as: str, piece_of: str, ended_as: str) -> RoundTrip:
    """A text whose item is named in its beginning, in its pieces and at its end."""

    def message(item: str, text: str) -> dict[str, Any]:
        return {"type": "message", "id": item, "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}] if text else []}  # fmt: skip

    return items(
        {"type": "response.output_item.added", "output_index": 0, "item": message(began_as, "")},
        {
            "type": "response.output_text.delta",
            "output_index": 0,
            "content_index": 0,
            "item_id": piece_of,
            "delta": "A",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": message(ended_as, "A")},
    )


def test_a_text_under_the_id_of_no_item_is_lost_to_clients_that_go_by_it() -> None:
    assert "the item msg_1 is called msg_9 in its own pieces" in broken(said_under("msg_1", "msg_9", "msg_1")).message
    assert ID not in ids(said_under("msg_1", "msg_1", "msg_1"))
    assert ID not in ids(said_under("a", "b", "c")), "a gateway that gives each event another id"


def test_a_call_under_another_id_is_named_once_and_not_as_a_lost_text() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": added()["item"]}
    found = contradictions(Exchange(items(added(), piece(item="fc_9"), piece(item="fc_9"), done)))

    assert [one for one in found if "in its own pieces" in one] == [
        "the item fc_1 is called fc_9 in its own pieces: clients that go by the id lose the call"
    ]


def test_a_citation_of_a_place_that_the_text_does_not_have() -> None:
    def cited(end: int) -> RoundTrip:
        place = {"start_index": 0, "end_index": end, "url": "https://example.com", "title": "A"}
        message = {"role": "assistant", "content": "A strip.", "annotations": [
            {"type": "url_citation", "url_citation": place}]}  # fmt: skip
        body = {"id": "c", "object": "chat.completion", "model": "gpt-5",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
        return trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, body)

    assert "a citation is of the characters 0 to 90" in broken(cited(90)).message
    assert ID not in ids(cited(8))


def test_one_call_in_the_old_field_and_in_the_new_one_is_one_call() -> None:
    """A server that fills both for clients of any age; clients that read both run the call twice."""
    old = {"name": CALL[1], "arguments": CALL[2]}
    both, other = (
        said(None, CALL) | {"function_call": old},
        said(None, CALL) | {"function_call": old | {"name": "find"}},
    )
    history = [HELLO, said(None, CALL), result("call_1", "a strip")]
    trips = chat([HELLO], both), chat(history, said("A strip."), index=1)

    assert [one.severity for one in judged(*trips) if one.id == ID] == ["info"], "the client ran it once"
    assert not [one for one in judged(*trips) if one.severity != "info"]
    assert (
        "the call of 'look_up' is in `tool_calls` and again in `function_call`" in broken(chat([HELLO], both)).message
    )
    assert ID not in ids(chat([HELLO], other))
    assert ID not in ids(chat([HELLO], said(None, CALL) | {"function_call": None}))
    streamed = chunks(
        call(CALL[2], "look_up", "c"),
        delta(function_call={"name": "look_up", "arguments": CALL[2]}),
        delta("tool_calls"),
    )
    assert "again in `function_call`" in broken(streamed).message


@pytest.mark.parametrize("streamed", [True, False])
def test_a_blocked_prompt_that_is_answered_all_the_same(streamed: bool) -> None:
    def answered(reason: object) -> RoundTrip:
        body = {"candidates": [{"content": {"parts": [{"text": "A strip."}]}, "finishReason": "STOP"}],
                "promptFeedback": {"blockReason": reason}}  # fmt: skip
        asked = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        whole = GEMINI.partition("?")[0].replace("streamGenerate", "generate")
        return trip(GEMINI, asked, sse(body)) if streamed else trip(whole, asked, body)

    assert "the prompt is blocked (SAFETY), and an answer to it comes" in broken(answered("SAFETY")).message
    assert ID not in ids(answered("BLOCK_REASON_UNSPECIFIED"))
    assert ID not in ids(answered(None))


def sharing(*ids_of_calls: str, number: int = 0) -> RoundTrip:
    """A Converse stream with calls that all have one number."""
    events = [frame("messageStart", {"role": "assistant"})]
    for name in ids_of_calls:
        start = {"toolUse": {"toolUseId": name, "name": "look_up"}}
        piece = {"toolUse": {"input": f'{{"word":"{name}"}}'}}
        events += [
            frame("contentBlockStart", {"contentBlockIndex": number, "start": start}),
            frame("contentBlockDelta", {"contentBlockIndex": number, "delta": piece}),
            frame("contentBlockStop", {"contentBlockIndex": number}),
        ]
    usage = {"inputTokens": 9, "outputTokens": 40, "totalTokens": 49}
    events += [frame("messageStop", {"stopReason": "tool_use"}), frame("metadata", {"usage": usage})]
    tools = [{"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}]
    asked_of = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "toolConfig": {"tools": tools}}
    return trip(f"{CONVERSE}-stream", asked_of, b"".join(events), content_type="application/vnd.amazon.eventstream")


def test_two_calls_of_converse_that_share_a_block_are_two() -> None:
    one = sharing("t1", "t2")
    emission = read(one).emission

    assert emission and [call.arguments for call in emission.calls] == [{"word": "t1"}, {"word": "t2"}]
    assert (
        "the calls t1 and t2 share block 0: clients keep one of them" in only("api-stream-contradiction", one).message
    )
    assert "api-stream-contradiction" not in ids(sharing("t1"))


def test_two_calls_of_anthropic_that_share_a_block_are_two() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "m", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    events: list[Any] = [{"type": "message_start", "message": message}]
    for name in ("t1", "t2"):
        piece = {"type": "input_json_delta", "partial_json": f'{{"word":"{name}"}}'}
        block = {"type": "tool_use", "id": name, "name": "look_up", "input": {}}
        events += [
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": piece},
            {"type": "content_block_stop", "index": 0},
        ]
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 40}})
    body = {"model": "claude-sonnet-4-5", "stream": True, "messages": [asked("hi")]}
    emission = read(trip(MESSAGES, body, sse(*events, {"type": "message_stop"}, names=True))).emission

    assert emission and [call.arguments for call in emission.calls] == [{"word": "t1"}, {"word": "t2"}]
