"""Why a turn is in its thread: continuation, attempt, fork, subagent, handoff, side call, compaction."""

from dataclasses import replace

from conversations import CALL, HELLO, TOOLS, chat, loop, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

TASK = "Find every caller of parse_date in the billing package and list them."
SUMMARY = "Done so far: the failing test is known, parse_date swaps day and month, the fix is drafted in a branch."


def sort(*trips: RoundTrip) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


def edges(*trips: RoundTrip) -> list[tuple[str, str, int | None]]:
    return [(turn.thread, turn.edge.kind, turn.edge.of) for turn in sort(*trips)]


def sent(trip: RoundTrip, **headers: str) -> RoundTrip:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return replace(trip, request=replace(trip.request, headers=(*trip.request.headers, *pairs)))


def test_every_edge_says_why_and_how_sure_it_is() -> None:
    turns = sort(*loop())

    assert [turn.edge.kind for turn in turns] == ["main", "continuation"]
    assert turns[1].edge.reason == "its history begins with the whole of #0's"
    assert {turn.edge.tier for turn in turns} == {"P"}


def test_another_attempt_is_the_same_turn() -> None:
    failed = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    first, second = sort(failed, chat([HELLO], said("x"), index=1))

    assert (second.number, second.attempt, second.edge.kind, second.edge.of) == (1, 2, "attempt", 0)
    assert (first.number, first.attempt) == (1, 1)


def test_a_history_that_goes_another_way_is_a_fork() -> None:
    first = [HELLO, said(None, CALL), result("call_1", "a")]
    trips = (
        chat([HELLO], said(None, CALL)),
        chat(first, said("it is a tape"), index=1),
        chat([*first, said("it is a tape"), user("more")], said("no more"), index=2),
        chat([*first, said("it is a strip"), user("why")], said("because"), index=3),
    )

    assert edges(*trips)[2:] == [("t1", "continuation", 1), ("t2", "fork", 1)]


def test_a_subagent_is_known_by_its_task_in_a_call() -> None:
    spawn = ("call_7", "task", '{"prompt": "' + TASK + '"}')
    trips = (
        chat([HELLO], said(None, spawn)),
        chat([{"role": "system", "content": "You search code."}, user(TASK)], said(None, CALL), index=1),
        chat([HELLO, said(None, spawn), result("call_7", "three callers")], said("done"), index=2),
    )

    assert edges(*trips) == [("t1", "main", None), ("t2", "subagent", 0), ("t1", "continuation", 0)]


def test_an_agent_that_names_itself_is_taken_at_its_word() -> None:
    main = sent(chat([HELLO], said(None, CALL)), x_claude_code_session_id="s")
    agent = sent(
        chat([user("look around")], said("nothing"), index=1),
        x_claude_code_session_id="s",
        x_claude_code_agent_id="a1",
        x_claude_code_parent_agent_id="main",
    )
    compact = sent(
        chat([user("summarise"), said("x"), user("now")], said("y"), index=2),
        x_claude_code_session_id="s",
        x_claude_code_request_class="compaction",
    )

    assert edges(main, agent, compact) == [
        ("t1", "main", None),
        ("t2", "subagent", 0),
        ("t3", "compaction", 0),
    ]


def test_agents_of_two_sessions_with_one_history_come_apart() -> None:
    first, second = loop()
    trips = (
        sent(first, session_id="a"),
        sent(replace(first, index=1), session_id="b"),
        sent(replace(second, index=2), session_id="b"),
        sent(replace(second, index=3), session_id="a"),
    )

    assert [(turn.thread, turn.number) for turn in sort(*trips)] == [("t1", 1), ("t2", 1), ("t2", 2), ("t1", 2)]


def test_two_that_begin_alike_are_separated_by_what_they_answered() -> None:
    one, two = said(None, ("call_1", "look_up", "{}")), said(None, ("call_2", "look_up", "{}"))
    trips = (
        chat([HELLO], one),
        chat([HELLO], two, index=1),
        chat([HELLO, two, result("call_2", "b")], said("B"), index=2),
        chat([HELLO, one, result("call_1", "a")], said("A"), index=3),
    )

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t2", "t2", "t1"]


def test_where_the_answers_are_alike_too_the_trace_decides() -> None:
    first, second = loop()
    a, b = f"00-{'a' * 32}-{'1' * 16}-01", f"00-{'b' * 32}-{'2' * 16}-01"
    trips = (
        sent(first, traceparent=a),
        sent(replace(first, index=1), traceparent=b),
        sent(replace(second, index=2), traceparent=b.replace("2" * 16, "3" * 16)),
        sent(replace(second, index=3), traceparent=a),
    )

    assert [turn.thread for turn in sort(*trips)] == ["t1", "t2", "t2", "t1"]


def test_a_handoff_changes_the_tools_after_a_call_that_says_so() -> None:
    hand = ("call_9", "transfer_to_billing", "{}")
    other = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]
    trips = (
        chat([HELLO], said(None, hand)),
        chat([HELLO, said(None, hand), result("call_9", "ok")], said("hello"), index=1, tools=other),
    )

    assert edges(*trips)[1] == ("t1", "handoff", 0)


def test_a_title_is_a_side_call() -> None:
    trips = (
        chat([HELLO], said(None, CALL)),
        chat([user("Write a title of five words: hello")], said("A greeting"), index=1, tools=None, max_tokens=20),
        loop()[1],
    )

    assert [edge[:2] for edge in edges(*trips)] == [("t1", "main"), ("t2", "side_call"), ("t1", "continuation")]


def test_a_history_that_begins_with_a_summary_is_a_compaction() -> None:
    history = [HELLO, said(None, CALL), result("call_1", "a long listing")]
    trips = (
        chat([HELLO], said(None, CALL)),
        chat(history, said("it fails in parse_date"), index=1),
        chat([*history, said("it fails in parse_date"), user("Summarise.")], said(SUMMARY), index=2, tools=TOOLS),
        chat([user(f"{SUMMARY}\nGo on from there.")], said(None, ("call_5", "look_up", "{}")), index=3),
    )

    assert edges(*trips)[3][:2] == ("t2", "compaction")
    assert [done.label["edge"]["kind"] for done in label_all(trips)][3] == "compaction"  # type: ignore[index]


def test_a_response_that_is_continued_by_its_id_needs_no_history() -> None:
    def response(index: int, before: str | None) -> RoundTrip:
        trip = chat([HELLO], said("x"), index=index)
        body = b'{"model":"gpt-5","input":"go on"%s}' % (
            b',"previous_response_id":"%s"' % before.encode() if before else b""
        )
        answer = (
            b'{"id":"resp_%d","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message",'
            b'"id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok"}]}],'
            b'"usage":{"input_tokens":5,"output_tokens":1,"total_tokens":6}}' % index
        )
        assert trip.response is not None
        request = replace(trip.request, url="https://api.openai.com/v1/responses", content=body)
        return replace(trip, request=request, response=replace(trip.response, content=answer, chunks=()))

    trips = (response(0, None), response(1, "resp_0"), response(2, "resp_1"), response(3, "resp_0"))

    assert edges(*trips) == [
        ("t1", "main", None),
        ("t1", "continuation", 0),
        ("t1", "continuation", 1),
        ("t2", "fork", 0),
    ]
