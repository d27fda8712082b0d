"""Why a new thread begins: a subagent, a compaction, a side call."""

from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, loop, result, said, sent, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Edge, Turn
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.json_value import as_object
from turntape.inspector.wire.parse import read

TASK = "Find every caller of parse_date in the billing package and list them."
SUMMARY = "Done so far: the failing test is known, parse_date swaps day and month, the fix is drafted in a branch."


def sort(*trips: RoundTrip) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


def edges(*trips: RoundTrip) -> list[tuple[str, str, int | None]]:
    return [(turn.thread, turn.edge.kind, turn.edge.of) for turn in sort(*trips)]


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


def test_a_side_call_that_names_itself_hangs_below_the_main_thread() -> None:
    main = chat([HELLO], said(None, CALL))
    trips = (main, sent(chat([user("x")], said("y"), index=1), x_claude_code_request_class="auxiliary"))

    assert sort(*trips)[1].edge == Edge("side_call", 0, "t1", "its headers say that it is a side call")
    alone = sort(trips[1])[0]
    assert alone.edge == Edge("side_call", None, None, "its headers say that it is a side call")


def test_a_task_in_the_instructions_alone_makes_no_subagent() -> None:
    spawn = ("call_7", "task", '{"prompt": "' + TASK + '"}')
    system = [{"role": "system", "content": TASK}]

    assert edges(chat([HELLO], said(None, spawn)), chat(system, said("x"), index=1))[1] == ("t2", "main", None)


def test_a_side_call_has_at_most_three_parts() -> None:
    def second(count: int) -> str:
        messages = [user(f"title {n}") for n in range(count)]
        return edges(chat([HELLO], said(None, CALL)), chat(messages, said("x"), index=1, tools=None, max_tokens=9))[1][
            1
        ]

    assert [second(count) for count in (1, 3, 4)] == ["side_call", "side_call", "main"]


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


def summarised(after: str, **more: Any) -> list[RoundTrip]:
    """A thread with a history, which a side call without tools summarises; then a prompt that has the summary."""
    history = [HELLO, said(None, CALL), result("call_1", "a long listing")]
    return [
        chat([HELLO], said(None, CALL)),
        chat(history, said("it fails in parse_date"), index=1),
        chat([user(f"Summarise: {history}")], said(SUMMARY), index=2, tools=None),
        chat([user(after)], said("ok"), index=3, **more),
    ]


def test_a_summary_of_a_side_call_is_a_compaction_for_the_agent_with_its_tools() -> None:
    after = f"{SUMMARY}\nGo on from there."

    assert edges(*summarised(after))[3] == ("t3", "compaction", 2)
    judge = sort(*summarised(after, tools=None))[3]
    assert judge.edge == Edge("main", reason="its prompt quotes the answer of #2, but not its history")


def test_other_tools_are_another_agent_that_got_the_answer() -> None:
    other = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]

    assert edges(*summarised(SUMMARY, tools=other))[3] == ("t3", "main", None)


def test_an_answer_without_a_history_before_it_starts_no_compaction() -> None:
    """A chain that hands one answer to the next prompt, with and without tools."""
    for tools in (None, TOOLS):
        first = chat([user("Describe the state.")], said(SUMMARY), tools=tools)
        then = chat([user(f"Refine this: {SUMMARY}")], said("ok"), index=1, tools=tools)
        assert edges(first, then)[1] == ("t2", "main", None)


def test_a_chat_without_tools_is_compacted_under_its_own_instructions() -> None:
    system = {"role": "system", "content": "You are a clerk."}
    history = [system, HELLO, said("It is a strip of paper."), user("Summarise all that we said.")]
    other = {"role": "system", "content": "You are a judge."}

    for first, kind in ((system, "compaction"), (other, "main")):
        then = chat([first, user(f"Before: {SUMMARY}"), said("Noted."), user("and?")], said("x"), index=1, tools=None)
        assert edges(chat(history, said(SUMMARY), tools=None), then)[1][1] == kind
    with_tools = chat([system, user(f"Before: {SUMMARY}")], said("x"), index=1)
    assert edges(chat(history, said(SUMMARY), tools=None), with_tools)[1][1] == "main"


def test_a_small_request_that_quotes_an_answer_is_a_side_call() -> None:
    trips = summarised(f"A title for: {SUMMARY}", tools=None, max_tokens=20)

    assert edges(*trips)[3][1] == "side_call"


def test_an_answer_quoted_late_in_a_history_says_nothing() -> None:
    late = [user("a"), user("b"), user("c"), user(SUMMARY)]
    first = chat([user("Describe the state.")], said(SUMMARY), tools=None)

    assert sort(first, chat(late, said("x"), index=1, tools=None))[1].edge.reason == "no earlier thread leads to it"
    early = sort(first, chat(late[1:], said("x"), index=1, tools=None))[1]
    assert early.edge.reason == "its prompt quotes the answer of #0, but not its history"


ASKED = "Find out why the tests of the date parser fail since Monday."
NAMED = {"role": "system", "content": "Name this conversation."}


def kinds(*trips: RoundTrip) -> list[object]:
    """How each thread begins, by the labels; the turns say the same."""
    labels = label_all(trips)
    found = [as_object(done.label["edge"]) for done in labels]
    assert found == [done.turn.edge.as_json() for done in labels if done.turn is not None]
    return [edge["kind"] for edge in found]


@pytest.mark.parametrize(("asked", "task"), [(f"The user wrote: {ASKED}", ASKED), ("hi", "hi"), (ASKED, f"{ASKED}\n")])
def test_a_title_before_the_agent_begins_is_a_side_call_of_it(asked: str, task: str) -> None:
    title = chat([NAMED, user(asked)], said("Failing date tests"), tools=None, model="small")
    agent = chat([user(task)], said(None, CALL), index=1)
    other = chat([user(task), said(None, CALL), result("call_1", "ok")], said("done"), index=2)

    assert kinds(title, agent, other) == ["side_call", "main", "continuation"]


@pytest.mark.parametrize(
    ("asked", "answer", "tools"),
    [
        (ASKED, "1. Read the parser. 2. Run its tests. 3. Look for a change of the data. " * 4, None),  # a plan
        (ASKED, "Failing date tests", TOOLS),
        ("What is the capital of France?", "Paris", None),
    ],
)
def test_other_work_before_the_agent_begins_stays_main(asked: str, answer: str, tools: list[Any] | None) -> None:
    first = chat([NAMED, user(asked)], said(answer), tools=tools)

    assert kinds(first, chat([user(ASKED)], said(None, CALL), index=1)) == ["main", "main"]


def test_a_conversation_without_tools_before_the_agent_begins_stays_main() -> None:
    asked = [NAMED, user(ASKED)]
    first = chat(asked, said("Which tests do you mean?"), tools=None)
    second = chat([*asked, said("Which tests do you mean?"), user("all")], said("ok"), index=1, tools=None)

    assert kinds(first, second, chat([user(ASKED)], said(None, CALL), index=2)) == ["main", "continuation", "main"]


def test_a_title_of_another_run_stays_main() -> None:
    title = chat([NAMED, user(ASKED)], said("Failing date tests"), tools=None, run="a")

    assert kinds(title, chat([user(ASKED)], said(None, CALL), index=1, run="b")) == ["main", "main"]


def test_the_same_prompt_without_tools_stays_main() -> None:
    first = chat([NAMED, user(ASKED)], said("I cannot run them."), tools=None)

    assert kinds(first, chat([NAMED, user(ASKED)], said(None, CALL), index=1)) == ["main", "main"]
