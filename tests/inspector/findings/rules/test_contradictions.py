"""Streams that contradict themselves, in the events of each API."""

import json
from typing import Any

import pytest
from chat_streams import BASE
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import LOOK_UP, OLLAMA, RESPONSES, Said, anthropic, asked, ids, judged, only, trip, words
from round_trips import CHAT, sse
from rule_exceptions_contradictions import LONG, PARTS

from turntape.cassettes.tape.model import RoundTrip

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
    begun = [event["output_index"] for event in events if event["type"] == "response.output_item.added"]
    ended = [{"type": "response.output_item.done", "output_index": place, "item": ITEM} for place in sorted({*begun})]
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
        (
            chunks(call('{"word"', "look_up", "c"), call(":", "look_up"), call('"x"}', "look_up"), delta("tool_calls")),
            "the name 'look_up' of one call arrives 3 times",
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
