"""Where two runs differ: the first layer that differs is named; values that always differ do not count."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import HELLO, chat, result, said, user
from round_trips import MESSAGES, exchanged

from turntape.cassettes.tape.model import Failure, Frame, Request, RoundTrip
from turntape.inspector.compare.run_diff import Comparison, Divergence, compare, words
from turntape.inspector.views.text.compare_text import compare_text
from turntape.inspector.views.text.terminal_text import plain, width_of

RECORDING = "a strip that holds a recording"


def run(
    *,
    call: str = "call_7Fa1b2c3d4e5",
    word: str = "tape",
    found: str = RECORDING,
    answer: str = "It holds a recording.",
    finish: str | None = None,
    system: str = "Be brief.",
    status: int = 200,
    **fields: Any,
) -> list[RoundTrip]:
    first = said(None, (call, "look_up", json.dumps({"word": word})))
    history = [{"role": "system", "content": system}, HELLO]
    ended = [*history, first, result(call, found)]
    error = {"error": {"message": "slow down", "type": "rate_limit"}} if status != 200 else None
    return [
        chat(history, first, index=0, **fields),
        chat(ended, None if error else said(answer), finish=finish, index=1, status=status, error=error, **fields),
    ]


def divergence(a: Iterable[RoundTrip], b: Iterable[RoundTrip], **options: Any) -> Divergence:
    first = compare(list(a), list(b), **options).first
    assert first is not None and first.divergence is not None
    return first.divergence


def shown(reported: Comparison, width: int = 80) -> str:
    return "\n".join(plain(line) for line in compare_text(reported, width))


@pytest.mark.parametrize(
    ("changed", "layer", "part", "turn", "pointer"),
    [
        ({"system": "Be long."}, "client", "request", 1, "/messages/0/content"),
        ({"found": "a strip that holds music"}, "client", "request", 2, "/messages/3/content"),
        ({"temperature": 0.5}, "client", "request", 1, "/temperature"),
        ({"model": "gpt-4.1"}, "client", "request", 1, "/model"),
        ({"word": "tap"}, "model", "emission", 1, "/tool_calls/0/arguments/word"),
        ({"answer": "It holds music."}, "model", "emission", 2, "/text"),
        ({"finish": "length"}, "api", "finish", 2, "/finish_raw"),
        ({"status": 429}, "api", "finish", 2, "/status"),
        ({"finish": "content_filter", "answer": ""}, "api", "finish", 2, "/finish_raw"),
    ],
)
def test_the_first_layer_that_differs_is_named_with_its_place(
    changed: dict[str, Any], layer: str, part: str, turn: int, pointer: str
) -> None:
    found = divergence(run(), run(**changed))

    assert (found.layer, found.part, found.turn, found.changes[0].pointer) == (layer, part, turn, pointer)
    back = divergence(run(**changed), run())
    assert (back.layer, back.part, back.turn) == (layer, part, turn)


def test_what_the_first_difference_brings_about_is_not_blamed() -> None:
    found = divergence(run(), run(word="tap", found="water", answer="It holds water.", finish="length"))

    assert (found.layer, found.turn) == ("model", 1)


@pytest.mark.parametrize(
    "changed",
    [
        {"call": "call_0Zz9y8x7w6v5"},
        {"user": "u-2", "metadata": {"run": "2"}, "prompt_cache_key": "k2", "safety_identifier": "s"},
    ],
)
def test_ids_and_names_of_who_asks_do_not_count(changed: dict[str, Any]) -> None:
    assert compare(run(), run(**changed)).first is None


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Today is 2026-11-21.", "Today is 2027-01-02.", True),
        ("Current time: 10:31 UTC", "Current time: 23:59 UTC", True),
        (
            "session id: 0b0e7a3e-1d2c-4f5a-8b9c-0123456789ab",
            "session id: 9f8e7d6c-5b4a-4321-8765-ba9876543210",
            True,
        ),
        ("The war began on 1914-07-28.", "The war began on 1939-09-01.", False),
    ],
)
def test_today_does_not_count_and_other_dates_do(a: str, b: str, same: bool) -> None:
    assert (compare(run(system=a), run(system=b)).first is None) is same


def test_a_client_that_answers_under_another_id_than_before_is_seen() -> None:
    def with_id(answered: str) -> list[RoundTrip]:
        first = said(None, ("call_a1b2c3d4e5", "look_up", '{"word":"tape"}'))
        return [
            chat([HELLO], first, index=0),
            chat([HELLO, first, result(answered, RECORDING)], said("x"), index=1),
        ]

    assert compare(with_id("call_a1b2c3d4e5"), with_id("call_a1b2c3d4e5")).first is None
    found = divergence(with_id("call_a1b2c3d4e5"), with_id("made_by_client_01"))
    assert (found.layer, found.changes[0].pointer) == ("client", "/messages/2/tool_call_id")
    assert found.changes[0].a == "⟨call 1 of turn 1⟩"


def test_two_ids_that_change_places_are_seen() -> None:
    def crossed(swap: bool) -> list[RoundTrip]:
        calls = [("call_a1b2c3d4e5", "look_up", '{"word":"a"}'), ("call_b1b2c3d4e5", "look_up", '{"word":"b"}')]
        first = said(None, *calls)
        ids = [call[0] for call in calls][:: -1 if swap else 1]
        results = [result(ids[0], "one"), result(ids[1], "two")]
        return [chat([HELLO], first), chat([HELLO, first, *results], said("x"), index=1)]

    assert divergence(crossed(False), crossed(True)).layer == "client"


def test_signatures_do_not_count_and_reasoning_counts_unless_it_is_left_out() -> None:
    def thinking(thought: str, signature: str, text: str = "Done.") -> list[RoundTrip]:
        block = {"type": "thinking", "thinking": thought, "signature": signature}
        call = {"type": "tool_use", "id": f"toolu_{signature}", "name": "look_up", "input": {}}
        asked: dict[str, Any] = {"model": "claude-x", "max_tokens": 9, "messages": [HELLO]}
        usage = {"input_tokens": 1, "output_tokens": 1}
        answer = {"type": "message", "role": "assistant", "model": "claude-x", "usage": usage}
        first = {**answer, "content": [block, call], "stop_reason": "tool_use"}
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "r"}]
        again = [HELLO, {"role": "assistant", "content": [block, call]}, {"role": "user", "content": results}]
        last = {**answer, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        trips = [exchanged(MESSAGES, asked, first), exchanged(MESSAGES, {**asked, "messages": again}, last)]
        return [replace(trip, index=i, started_at=float(i)) for i, trip in enumerate(trips)]

    a = thinking("hmm", "Sig0123456789")
    assert compare(a, thinking("hmm", "Sig9876543210")).first is None
    found = divergence(a, thinking("well", "Sig9876543210"))
    assert (found.layer, found.turn, found.changes[0].pointer) == ("model", 1, "/reasoning")
    assert compare(a, thinking("well", "Sig9876543210"), reasoning=False).first is None
    assert divergence(a, thinking("well", "Sig98765", text="No."), reasoning=False).turn == 2


def test_a_setting_of_reasoning_counts_even_where_reasoning_does_not() -> None:
    found = divergence(run(reasoning={"effort": "low"}), run(reasoning={"effort": "high"}), reasoning=False)

    assert (found.layer, found.changes[0].pointer) == ("client", "/reasoning/effort")


def test_odd_and_deep_json_is_compared() -> None:
    deep = orjson.loads("[" * 900 + "]" * 900)

    def with_input(value: object) -> list[RoundTrip]:
        body = b'{"model":"gpt-5","input":[{"type":["message"]}],"extra":' + json.dumps(value).encode() + b"}"
        return [replace(exchanged("https://api.openai.com/v1/responses", body, b"{}"), index=0)]

    assert compare(with_input(deep), with_input(deep)).first is None
    assert compare(with_input({"a": deep}), with_input({"b": deep})).first is not None


def test_a_run_that_is_longer_where_the_other_stops_is_the_clients() -> None:
    longer = run()
    history = orjson.loads(longer[1].request.body)["messages"]
    longer.append(chat([*history, said("It holds a recording."), user("and?")], said("no more"), index=2))

    found = divergence(run(), longer)
    assert (found.layer, found.part, found.turn, found.a) == ("client", "stop", 3, None)
    assert "B continues and A stops" in found.says
    assert "A continues and B stops" in divergence(longer, run()).says


def test_how_much_of_a_cut_answer_had_arrived_does_not_count() -> None:
    def cut(text: str) -> list[RoundTrip]:
        body = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()
        trip = chat([HELLO], said("x"), failure=Failure("cut", "the upstream closed"))
        assert trip.response is not None
        headers = (("content-type", "text/event-stream"),)
        return [replace(trip, response=replace(trip.response, content=body, headers=headers, chunks=()))]

    assert compare(cut("It ho"), cut("It holds")).first is None
    whole = [chat([HELLO], said("It holds a recording."))]
    assert divergence(cut("It ho"), whole).layer == "api"


def test_parallel_threads_are_paired_by_what_they_ask_whatever_their_order() -> None:
    def two(*order: str) -> list[RoundTrip]:
        return [chat([user(task)], said(f"done: {task}"), index=i) for i, task in enumerate(order)]

    assert compare(two("count the ships", "name the ports"), two("name the ports", "count the ships")).first is None
    reported = compare(two("count the ships"), two("count the ships", "name the ports"))
    assert reported.first is not None and reported.first.divergence is not None
    assert reported.first.divergence.says == "only B has this thread (main)"


def test_the_text_says_places_and_words_at_any_width() -> None:
    reported = compare(
        run(), run(found="a strip that keeps a very " + "long " * 300 + "recording"), ("base", "日本" * 40)
    )
    text = shown(reported)

    assert "= turn 1 is the same" in text
    assert "request /messages/3/content" in text
    assert "▶ client  diverged first, at turn 2" in text
    assert "a tool result" in text
    for width in (40, 80, 120):
        assert max(width_of(line) for line in shown(reported, width).splitlines()) <= width


def test_nothing_from_the_wire_drives_the_terminal() -> None:
    assert "\x1b" not in shown(compare(run(), run(answer="\x1b[2J\x1b]0;x\x07")))


def test_the_words_that_differ_are_shown_with_a_few_around_them() -> None:
    old = "The quick brown fox jumps over the lazy dog and runs away into the dark wood."
    new = old.replace("lazy dog", "sleeping cat")

    assert words(old, new) == [
        ("… jumps over the lazy dog and runs away …", "… jumps over the sleeping cat and runs away …")
    ]
    assert words("a b", "a  b") == [("a b", "a  b")]
    [(a, b)] = words("x " * 5000 + "end one", "x " * 5000 + "end two")
    assert a.startswith("… x x") and a.endswith("x end one") and b.endswith("x end two") and len(a) < 60
    [(a, b)] = words("one " + "then more " * 500, "two")
    assert a.startswith("one then more then") and a.endswith(" then …") and len(a) <= 203 and b == "two"


def test_a_comparison_for_a_script() -> None:
    reported = compare(run(), run(word="tap")).as_json()

    value = json.loads(orjson.dumps(reported))
    assert (value["same"], value["first"]["layer"], value["first"]["turn"]) == (False, "model", 1)
    [change] = value["first"]["differences"]
    assert (change["pointer"], change["a"], change["b"]) == ("/tool_calls/0/arguments/word", "tape", "tap")
    assert json.loads(orjson.dumps(compare(run(), run()).as_json()))["first"] is None


def test_a_failed_attempt_in_one_run_alone_is_the_apis() -> None:
    tried = run()
    again = [
        tried[0],
        replace(run(status=429)[1], index=1),
        replace(tried[1], index=2, started_at=tried[1].started_at + 5),
    ]

    found = divergence(tried, again)
    assert (found.layer, found.turn, found.changes[0].pointer) == ("api", 2, "/status")


def test_a_client_that_tries_again_where_the_other_gives_up_is_reported() -> None:
    gave_up = run(status=429)
    again = [*gave_up, replace(run()[1], index=2, started_at=gave_up[1].started_at + 5)]

    found = divergence(gave_up, again)
    assert (found.layer, found.part, found.turn) == ("client", "stop", 2)
    assert "B retries turn 2 and A does not" in found.says


def test_every_turn_of_a_websocket_session_is_compared() -> None:
    def session(*answers: str) -> list[RoundTrip]:
        frames: list[Frame] = []
        for number, text in enumerate(answers):
            create = {"type": "response.create", "model": "gpt-5", "input": f"question {number}"}
            item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed"}
            output = [{**item, "content": [{"type": "output_text", "text": text, "annotations": []}]}]
            answer = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "gpt-5"}
            ended = {"type": "response.completed", "response": {**answer, "output": output}}
            frames += [Frame("client", 2 * number, orjson.dumps(create), True)]
            frames += [Frame("server", 2 * number + 1, orjson.dumps(ended), True)]
        return [RoundTrip(Request("GET", "https://api.openai.com/v1/responses"), None, 1.0, 0, frames=tuple(frames))]

    assert compare(session("one", "two"), session("one", "two")).first is None
    found = divergence(session("one", "two"), session("one", "three"))
    assert (found.layer, found.changes[0].a, found.changes[0].b) == ("model", "two", "three")


@pytest.mark.parametrize("body", [b"", b"no JSON \xff", b"[1,2]", b"null", b'"text"'])
def test_a_body_that_is_not_an_object_is_compared_as_it_is(body: bytes) -> None:
    def sent(content: bytes) -> list[RoundTrip]:
        [trip] = [chat([HELLO], said("x"))]
        return [replace(trip, request=replace(trip.request, content=content))]

    assert compare(sent(body), sent(body)).first is None
    assert divergence(sent(body), sent(b'{"messages":[]}')).layer == "client"


def test_a_damaged_run_with_a_number_twice_is_compared() -> None:
    def threads(*answers: str) -> list[RoundTrip]:
        return [chat([user(f"question {n}")], said(text), index=0) for n, text in enumerate(answers)]

    pairs = compare(threads("one", "two"), threads("won", "too")).pairs

    values = [pair.divergence.changes[0] for pair in pairs if pair.divergence is not None]
    assert [(change.a, change.b) for change in values] == [("one", "won"), ("two", "too")]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"system": "Be long."}, "the request differs: a text at /messages/0/content"),
        ({"found": "water"}, "the request differs: a tool result at /messages/3"),
        ({"reasoning_effort": "high"}, "the request differs: reasoning_effort"),
    ],
)
def test_the_part_of_the_request_that_differs_is_named(changed: dict[str, Any], says: str) -> None:
    (first, *_) = [pair.divergence for pair in compare(run(), run(**changed)).pairs if pair.divergence is not None]

    assert first.says == says


def test_a_field_beside_the_content_of_a_message_is_named_by_the_message() -> None:
    ann, bob = ([chat([{"role": "user", "content": "Hi.", "name": name}], said("Ok."))] for name in ("ann", "bob"))

    assert divergence(ann, bob).says == "the request differs: the user message at /messages/0"
