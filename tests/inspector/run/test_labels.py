import json
import sys
from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

import pytest
from conversations import CALL, HELLO, START, chat, loop, result, said, user
from round_trips import exchanged
from sockets import LIVE, REALTIME, SOCKET, completed, create, handshake, session

from turntape.cassettes.tape.carried import Carried
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector import RoundTripLabel
from turntape.inspector.run import labels
from turntape.inspector.run.labels import Labeller, label_all
from turntape.inspector.wire.per_message import PerMessage

KEYS = [
    "index",
    "run",
    "thread",
    "turn",
    "attempt",
    "edge",
    "protocol",
    "kind",
    "provider",
    "method",
    "url",
    "status",
    "streamed",
    "started_at",
    "first_byte_ms",
    "duration_ms",
    "request_model",
    "response_model",
    "tools_offered",
    "model",
    "api",
    "client",
    "tool_runs",
    "usage",
    "cost_usd",
    "cost_source",
    "unpriced_fees",
    "ledger",
    "findings",
]


def test_the_keys_of_a_label_are_always_present() -> None:
    other = RoundTrip(Request("GET", "https://api.openai.com/v1/models"), None, 1.0)

    for done in label_all([*loop(), replace(other, index=2)]):
        assert list(done.label) == KEYS


def test_a_turn_is_labelled_by_layer() -> None:
    first, second = [done.label for done in label_all(loop())]

    assert first["model"] == {
        "emitted": "calls",
        "text": "",
        "reasoning": "",
        "refusal": None,
        "tool_calls": [
            {"id": "call_1", "name": "look_up", "arguments": {"word": "tape"}, "arguments_raw": '{"word":"tape"}'}
        ],
        "server_calls": [],
        "server_results": [],
        "choices": None,
    }
    assert first["api"] == {
        "finish_raw": "tool_calls",
        "finish": "tool_calls",
        "effective": "tool_calls",
        "error": None,
    }
    assert first["client"] == {
        "results": [{"call_id": "call_1", "is_error": False, "ran": None}],
        "history": "first",
        "outcome": "dispatched",
        "proof": "request",
        "echo": {"state": "verbatim", "reasoning": "none", "changes": []},
    }
    assert second["client"] == {"results": [], "history": "extended", "outcome": "ended", "proof": None, "echo": None}
    assert first["usage"] == {"input": 100, "cache_read": 0, "cache_write": None, "output": 10, "reasoning": None}
    assert (first["tools_offered"], first["request_model"], first["response_model"]) == (
        ["look_up"],
        "gpt-5",
        "gpt-5-2025-08-07",
    )
    assert (first["first_byte_ms"], first["duration_ms"], first["started_at"]) == (
        200.0,
        250.0,
        "2026-05-28T20:26:40.000000Z",
    )


def test_a_turn_is_labelled_again_when_the_next_one_decides_its_client_layer() -> None:
    labeller = Labeller()
    first, second = loop()

    assert [(i, label["client"]["outcome"]) for i, label in labeller.add(first)] == [(0, "open")]  # type: ignore[index]
    assert [(i, label["client"]["outcome"]) for i, label in labeller.add(second)] == [  # type: ignore[index]
        (0, "dispatched"),
        (1, "ended"),
    ]


def test_a_round_trip_outside_generation_has_no_layers() -> None:
    [done] = label_all([RoundTrip(Request("GET", "https://api.openai.com/v1/models"), None, 1.0, index=0)])

    assert [done.label[key] for key in ("turn", "thread", "model", "api", "client", "usage")] == [None] * 6


@pytest.mark.parametrize(
    ("url", "answer", "call", "result"),
    [
        pytest.param(
            "https://api.anthropic.com/v1/messages",
            {
                "type": "message",
                "role": "assistant",
                "stop_reason": "end_turn",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {"url": "u"}},
                    {
                        "type": "web_fetch_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
                    },
                    {"type": "text", "text": "It cannot be read."},
                ],
            },
            ("srvtoolu_1", "web_fetch", {"url": "u"}),
            ("srvtoolu_1", True),
            id="anthropic",
        ),
        pytest.param(
            "https://api.openai.com/v1/responses",
            {
                "object": "response",
                "status": "completed",
                "output": [
                    {
                        "type": "mcp_call",
                        "id": "mcp_1",
                        "server_label": "s",
                        "name": "look_up",
                        "arguments": '{"word":"tape"}',
                        "output": "a strip",
                        "status": "completed",
                    }
                ],
            },
            ("mcp_1", "look_up", {"word": "tape"}),
            ("mcp_1", False),
            id="responses",
        ),
        pytest.param(
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
            {
                "candidates": [
                    {
                        "finishReason": "STOP",
                        "content": {
                            "role": "model",
                            "parts": [
                                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                                {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
                            ],
                        },
                    }
                ]
            },
            (None, "code_execution", {"language": "PYTHON", "code": "print(1)"}),
            (None, True),
            id="gemini",
        ),
    ],
)
def test_calls_of_the_apis_own_tools_are_apart_from_those_of_the_client(
    url: str, answer: dict[str, Any], call: tuple[object, ...], result: tuple[object, ...]
) -> None:
    asked = {"model": "m", "messages": [], "input": "look", "contents": [{"parts": [{"text": "look"}]}]}
    trip = exchanged(url, asked, answer)

    [done] = label_all([trip])
    model = RoundTripLabel.model_validate_json(json.dumps(done.label)).model

    assert model is not None
    assert model.tool_calls == []
    assert [(one.id, one.name, one.arguments) for one in model.server_calls] == [call]
    assert [(one.call_id, one.is_error) for one in model.server_results] == [result]
    assert all(one.text for one in model.server_results)


def test_arguments_that_do_not_parse_stay_as_they_are() -> None:
    [done] = label_all([chat([HELLO], said(None, ("c", "look_up", '{"word": tape}')))])
    [call] = cast(Any, done.label["model"])["tool_calls"]

    assert (call["arguments"], call["arguments_raw"]) == (None, '{"word": tape}')


def test_responses_over_a_websocket_are_turns() -> None:
    create = b'{"type":"response.create","model":"gpt-5","input":"hi"}'
    message = (
        b'{"type":"response.completed","sequence_number":1,"response":{"id":"resp_1","object":"response",'
        b'"status":"completed","model":"gpt-5","output":[{"type":"message","id":"m","role":"assistant",'
        b'"status":"completed","content":[{"type":"output_text","text":"hello","annotations":[]}]}]}}'
    )
    session = RoundTrip(
        Request("GET", "https://api.openai.com/v1/responses"),
        None,
        1.0,
        index=0,
        frames=(Frame("client", 1, create, True), Frame("server", 2, message, True)),
    )

    [done] = label_all([session])

    assert (done.label["protocol"], done.label["turn"]) == ("openai-responses", 1)
    assert dict[str, Any](done.label["model"])["text"] == "hello"  # type: ignore[call-overload]


def test_two_calls_alike_in_two_threads_keep_their_own_results() -> None:
    trips = [replace(trip, index=i) for i, trip in enumerate([*loop(), *loop()])]
    outcomes = [dict[str, Any](done.label["client"])["outcome"] for done in label_all(trips)]  # type: ignore[call-overload]

    assert outcomes == ["dispatched", "ended", "dispatched", "ended"]


def test_a_label_has_the_keys_of_the_published_model_in_their_order() -> None:
    assert list(RoundTripLabel.model_fields) == KEYS


def test_a_label_says_who_states_the_cost() -> None:
    [listed] = label_all([chat([HELLO], said("hi"))])
    [unknown] = label_all([chat([HELLO], said("hi"), model="acme-1")])
    choice = {"index": 0, "message": said("hi"), "finish_reason": "stop"}
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.25}
    [stated] = label_all([chat([HELLO], error={"model": "acme-1", "choices": [choice], "usage": counts})])

    assert [done.label["cost_source"] for done in (listed, unknown, stated)] == ["listed", None, "stated"]
    assert [done.label["cost_usd"] for done in (unknown, stated)] == [None, "0.25"]


def test_all_choices_are_in_the_label() -> None:
    body = {
        "model": "gpt-5",
        "choices": [
            {"index": 0, "message": said("one"), "finish_reason": "stop"},
            {"index": 1, "message": {**said("two"), "reasoning": "why"}, "finish_reason": "length"},
            {"index": 2, "message": said(None, ("c", "look_up", "{}")), "finish_reason": "tool_calls"},
        ],
    }
    [done] = label_all([chat([HELLO], error=body, n=3)])
    label = RoundTripLabel.model_validate_json(json.dumps(done.label))

    assert label.model is not None and label.model.choices is not None and label.api is not None
    assert [(one.index, one.text, one.reasoning, one.finish, one.finish_raw) for one in label.model.choices] == [
        (0, "one", "", "complete", "stop"),
        (1, "two", "why", "length", "length"),
        (2, "", "", "tool_calls", "tool_calls"),
    ]
    assert [[call.name for call in one.tool_calls] for one in label.model.choices] == [[], [], ["look_up"]]
    assert (label.model.text, label.api.finish, label.api.finish_raw) == ("one", "length", "length")


def test_a_round_trip_on_which_the_analysis_fails_is_shown_without_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    trips = loop()
    add = labels.Threads.add

    def fail_on_the_second(threads: Any, trip: RoundTrip, reading: Any) -> Any:
        if trip.index == 1:
            raise TypeError("unhashable type: 'list'")
        return add(threads, trip, reading)

    monkeypatch.setattr(labels.Threads, "add", fail_on_the_second)
    labeller = Labeller()

    done = dict(pair for trip in trips for pair in labeller.follow(trip))

    assert [done[n].label["turn"] is not None for n in range(len(trips))] == [n != 1 for n in range(len(trips))]
    (problem,) = labeller.problems
    assert problem.startswith("round trip #1 has no labels, because turntape failed on it (TypeError: unhashable")
    assert done[1].reading.problems == (problem,)


def test_a_failure_at_the_end_of_a_run_is_reported_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    labeller = Labeller()
    for trip in loop():
        labeller.add(trip)

    def fail(*_: object) -> None:
        raise KeyError("at the end")

    monkeypatch.setattr(labels, "dispatch", fail)

    assert labeller.close() == []
    assert ["KeyError" in problem for problem in labeller.problems] == [True]


def severities(*trips: RoundTrip) -> list[tuple[int, str, str]]:
    """Each finding: round trip, id, severity."""
    return [
        (done.round_trip.index, one["id"], one["severity"])
        for done in label_all(trips)
        for one in cast(list[dict[str, Any]], done.label["findings"])
    ]


def answered_over_http(index: int, **fields: Any) -> RoundTrip:
    answer = {"id": f"resp_{index}", "object": "response", "status": "completed", "model": "gpt-5",
              "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hey"}]}],
              "usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}}  # fmt: skip
    trip = exchanged(SOCKET, {"model": "gpt-5", "input": "hi", **fields}, answer)
    return replace(trip, index=index, started_at=START + index)


@pytest.mark.parametrize(
    ("url", "status", "finding", "layer"),
    [
        (SOCKET, 401, "access-refused", "client"),
        (SOCKET, 403, "access-refused", "client"),
        (SOCKET, 426, "request-rejected", "client"),
        (SOCKET, 429, "api-rate-limited", "api"),
        (SOCKET, 503, "api-overloaded", "api"),
        (REALTIME, 401, "access-refused", "client"),
        (LIVE, 403, "access-refused", "client"),
    ],
)
def test_a_handshake_that_was_refused_is_a_turn_and_a_failure(url: str, status: int, finding: str, layer: str) -> None:
    (done,) = label_all([handshake(url, status)])
    label = done.label
    found = cast(list[dict[str, Any]], label["findings"])[0]

    assert (label["turn"], label["method"], label["status"], label["streamed"]) == (1, "GET", status, False)
    assert cast(dict[str, Any], label["api"])["effective"] == "error"
    assert (found["id"], found["layer"]) == (finding, layer)
    assert found["evidence"][0] == f"#0 status {status}" and "(in the WebSocket handshake)" in found["message"]


def test_a_handshake_that_was_refused_is_an_info_once_http_was_answered() -> None:
    """Codex continues over HTTP after 426."""
    assert severities(handshake(status=426)) == [(0, "request-rejected", "error")]
    assert severities(handshake(status=426), answered_over_http(1)) == [(0, "request-rejected", "info")]


def test_a_handshake_that_was_refused_is_an_info_once_a_session_was_answered() -> None:
    opened = session(create(1), completed(2), index=1)

    assert severities(handshake(status=429), opened) == [(0, "api-rate-limited", "info")]


def test_a_handshake_within_a_run_is_made_good_by_any_answer_from_there() -> None:
    first, following = answered_over_http(0), answered_over_http(2, previous_response_id="resp_0")
    elsewhere = replace(following, request=replace(following.request, url="https://gateway.example/v1/responses"))

    assert severities(first, handshake(status=429, index=1), following) == [(1, "api-rate-limited", "info")]
    assert (1, "api-rate-limited", "warning") in severities(first, handshake(status=429, index=1), elsewhere)


def test_a_handshake_that_failed_and_was_not_tried_again_is_said_to_be_so() -> None:
    assert severities(handshake(status=429)) == [
        (0, "api-rate-limited", "warning"), (0, "client-no-retry-on-transient", "info"),
    ]  # fmt: skip


def full(*after: dict[str, Any]) -> list[tuple[str, str]]:
    """A loop whose third request does not fit into the window, and the request after it with this history."""
    calls = [said(None, (f"call_{n}", "look_up", f'{{"word":"{n}"}}')) for n in range(2)]
    results = [result(f"call_{n}", "a long text") for n in range(2)]
    second = [HELLO, calls[0], results[0]]
    too_long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    error = {"error": {"message": too_long, "type": "invalid_request_error", "code": "context_length_exceeded"}}
    trips = [
        chat([HELLO], calls[0]),
        chat(second, calls[1], index=1),
        chat([*second, calls[1], results[1]], status=400, error=error, index=2),
        *([chat([*second, *after], said("It is a strip."), index=3)] if after else []),
    ]
    return [
        (one["id"], one["severity"])
        for done in label_all(trips)
        for one in list[Any](done.label["findings"])  # pyright: ignore[reportArgumentType]
        if one["id"] == "api-context-full"
    ]


def test_a_full_window_is_made_good_by_a_shorter_history() -> None:
    shorter = [said(None, ("call_1", "look_up", '{"word":"1"}')), result("call_1", "[cleared]")]

    assert full() == [("api-context-full", "error")]
    assert full(*shorter) == [("api-context-full", "info")]


def test_another_failure_is_not_made_good_by_another_branch() -> None:
    calls = [said(None, (f"call_{n}", "look_up", f'{{"word":"{n}"}}')) for n in range(2)]
    second = [HELLO, calls[0], result("call_0", "a strip")]
    error = {"error": {"message": "no", "type": "server_error"}}
    third = [*second, calls[1], result("call_1", "a reel")]
    trips = [
        chat([HELLO], calls[0]),
        chat(second, calls[1], index=1),
        chat(third, status=500, error=error, index=2),
        chat([*third[:-1], result("call_1", "another")], said("It is a strip."), index=3),
    ]

    labelled = label_all(trips)
    assert [done.label["edge"]["kind"] for done in labelled][-1] == "fork"  # pyright: ignore[reportIndexIssue]
    findings = list[Any](labelled[2].label["findings"])  # pyright: ignore[reportArgumentType]
    assert {one["severity"] for one in findings if one["id"] == "api-overloaded"} == {"error"}


def long_run(turns: int, calls: int) -> list[RoundTrip]:
    """A run whose turns make some calls each, and each request repeats the whole history."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "go"},
    ]
    trips: list[RoundTrip] = []
    for turn in range(turns):
        function = {"name": "look", "arguments": json.dumps({"n": turn})}
        made = [{"id": f"call_{turn}_{n}", "type": "function", "function": function} for n in range(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        answer = {
            "id": f"x{turn}",
            "object": "chat.completion",
            "model": "gpt-5",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 10 + turn, "completion_tokens": 5, "total_tokens": 15 + turn},
        }
        body = {"model": "gpt-5", "messages": messages, "tools": [{"type": "function", "function": {"name": "look"}}]}
        trips.append(
            RoundTrip(
                Request("POST", "https://api.openai.com/v1/chat/completions", content=json.dumps(body).encode()),
                Response(200, headers=(("content-type", "application/json"),), content=json.dumps(answer).encode()),
                1000.0 + turn,
                index=turn,
            )
        )
        messages = [*messages, message]
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": f"result {turn}"} for call in made]
    return trips


def test_the_work_for_a_turn_does_not_grow_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: messages read, messages taken apart for pairing, and answers paired with their results."""
    from turntape.inspector.findings.tool_pairing import in_place
    from turntape.inspector.findings.tool_pairing.model import Entry
    from turntape.inspector.wire.protocols.openai_chat import request

    counted: dict[str, int] = {"read": 0, "paired": 0, "matched": 0}
    read, apart, match = request.read_message, Entry.of.__func__, in_place._AnswerMatch.match

    def counting(name: str, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            counted[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(request, "read_message", counting("read", read))
    monkeypatch.setattr(in_place._AnswerMatch, "match", counting("matched", match))
    from turntape.inspector.findings.tool_pairing import pair_tools

    monkeypatch.setattr(pair_tools, "_entries", PerMessage(counting("paired", lambda message: apart(Entry, message))))

    def work(turns: int) -> dict[str, int]:
        counted.update(read=0, paired=0, matched=0)
        labeller = Labeller()
        for trip in long_run(turns, 5):
            labeller.add(trip)
        labeller.close()
        return dict(counted)

    short, long = work(40), work(80)

    assert short["read"] > 40 and short["paired"] >= 40 and short["matched"] >= 39
    # Twice the turns are twice the work, and not four times.
    assert {name: long[name] / short[name] < 2.2 for name in short} == dict.fromkeys(short, True), (short, long)


def steps(turns: int) -> int:
    """How many calls and rounds of loops the labels of a run take, in all of Python."""
    trips, counted, watch, event = long_run(turns, 2), 0, sys.monitoring, sys.monitoring.events
    which = (event.PY_START, event.PY_RESUME, event.JUMP)

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    watch.use_tool_id(_TOOL, "steps")
    try:
        for one in which:
            watch.register_callback(_TOOL, one, count)
        watch.set_events(_TOOL, event.PY_START | event.PY_RESUME | event.JUMP)
        label_all(trips)
    finally:
        watch.set_events(_TOOL, event.NO_EVENTS)
        watch.free_tool_id(_TOOL)
    return counted


_TOOL = 4
"""A number of `sys.monitoring` that no known tool takes."""


def test_no_loop_goes_over_the_whole_history_at_each_turn() -> None:
    steps(3)  # imports, and the rules are loaded

    assert steps(120) / steps(30) < 4.3


def segments(trips: list[RoundTrip], at: int) -> tuple[list[RoundTrip], list[RoundTrip]]:
    """The round trips of two segments: the second begins with the last one of the first, carried."""
    first, second = trips[:at], trips[at:]
    one = Labeller()
    for trip in first:
        one.add(trip)
    turns = {turn.round_trip.index: turn for turn in one.open_turns()}
    held = [
        Carried("r", turn.thread, turn.number, turn.attempt, one.threads).mark(trip)
        for trip in first
        if (turn := turns.get(trip.index))
    ]
    return first, [*held, *second]


def rows(trips: list[RoundTrip], continued: Collection[int] = ()) -> list[dict[str, object]]:
    labeller = Labeller()
    labeller.continues(continued)
    labels = [one for trip in trips for one in labeller.add(trip)] + labeller.close()
    return [label for _, label in sorted(dict(labels).items())]


def test_labels_go_on_in_the_next_segment_and_nothing_is_counted_twice() -> None:
    first, second = loop()
    third = chat([user("another task")], said("Done."), index=2)
    whole = rows([first, second, third])

    one, two = segments([first, second, third], 1)
    found = [*rows(one, {0}), *rows(two)]

    assert [(label["thread"], label["turn"]) for label in found] == [("t1", 1), ("t1", 2), ("t2", 1)]
    assert [label["index"] for label in found] == [0, 1, 2]
    assert found[1:] == whole[1:]
    assert whole[0]["findings"] == found[0]["findings"] == []


def ids(label: dict[str, object]) -> list[object]:
    return [finding["id"] for finding in cast(list[dict[str, object]], label["findings"])]


def test_a_thread_that_continues_in_the_next_segment_has_not_ended() -> None:
    first, _ = loop()
    call, again = said(None, CALL), said(None, ("call_2", "look_up", '{"word":"reel"}'))
    last = chat([HELLO, call, result("call_1", "a strip")], again, index=1)

    assert "client-tool-calls-not-dispatched" in ids(rows([first, last])[1])
    assert ids(rows([first, last], {1})[1]) == []


def test_what_the_client_did_wrong_across_segments_is_a_finding_of_the_next_turn() -> None:
    asked = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{"word":"b"}'))
    first = chat([HELLO], asked)
    second = chat([HELLO, asked, result("c1", "x")], said("ok"), index=1)

    one, two = segments([first, second], 1)
    [before], [after] = rows(one, {0}), rows(two)

    assert ids(rows([first, second])[0]) == ["client-missing-tool-result"]
    assert (ids(before), ids(after)) == ([], ["client-missing-tool-result"])


def test_an_empty_stop_string_stops_no_rule() -> None:
    labeller = Labeller()

    labeller.add(chat([HELLO], said("A strip. It holds a recording."), stop=["", " ", "strip."]))

    assert labeller.problems == ()
