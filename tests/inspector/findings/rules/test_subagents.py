"""Answers of subagents that did not reach the agent that asked."""

import json
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, sent, user
from judged import (
    OLLAMA,
    anthropic,
    asked,
    calls,
    context_of,
    gemini,
    given,
    ids,
    lines,
    responses,
    spoke,
    trip,
    turn,
    words,
)

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.rules.subagents import answer_lost

LOST = "client-subagent-answer-lost"
TASK = "Find every caller of parse_date in the billing package and list them."
OTHER = "Find every test of the billing package that still uses the old parser."
ANSWER = "There are three callers: invoice.py, refund.py and report.py."
SYSTEM = {"role": "system", "content": "You search code."}
TASKS = [{"type": "function", "function": {"name": "task", "parameters": {"type": "object"}}}]


def spawn(*tasks: str) -> dict[str, Any]:
    return said(None, *((f"call_{n}", "task", json.dumps({"prompt": task})) for n, task in enumerate(tasks)))


def run(text: str, *, answer: str | None = ANSWER, task: str = TASK, **fields: Any) -> list[RoundTrip]:
    """A call of a subagent, the subagent's answer, and the result that the client sends for the call."""
    call = spawn(task)
    agent = chat([SYSTEM, user(f"Your task: {task}")], said(answer), index=1, **fields)
    return [chat([HELLO], call, tools=TASKS), agent, back(call, text)]


def back(call: dict[str, Any], *texts: str, index: int = 2) -> RoundTrip:
    results = [result(f"call_{n}", text) for n, text in enumerate(texts)]
    return chat([HELLO, call, *results], said("done"), index=index, tools=TASKS)


def test_an_answer_that_comes_back_empty_is_lost() -> None:
    assert lines(*run(""), only=LOST) == [
        "#0 client-subagent-answer-lost (client, error, S): the subagent of 'task' answered in 61 characters (#1) and "
        "the client sent an empty result for its task | #0 call call_0, #1 response, #2 request",
    ]


@pytest.mark.parametrize("text", ["", "  \n", "[]", "{}", "null", "None"])
def test_a_result_that_holds_nothing_is_empty(text: str) -> None:
    assert LOST in ids(*run(text))


@pytest.mark.parametrize("text", [ANSWER, "Three callers.", "error: the subagent failed"])
def test_a_result_that_says_something_is_not_judged(text: str) -> None:
    assert LOST not in ids(*run(text))


def test_a_subagent_that_gave_no_answer_has_lost_none() -> None:
    assert LOST not in ids(*run("", answer=""))
    assert LOST not in ids(*run("", status=500, error={"error": {"message": "no", "type": "server_error"}}))
    call = spawn(TASK)
    busy = chat([SYSTEM, user(TASK)], said(None, CALL), index=1)
    assert LOST not in ids(chat([HELLO], call, tools=TASKS), busy, back(call, ""))
    assert LOST not in ids(chat([HELLO], call, tools=TASKS), back(call, "", index=1))


def test_the_last_answer_of_a_subagent_counts() -> None:
    call = spawn(TASK)
    first = chat([SYSTEM, user(TASK)], said(None, CALL), index=1)
    history = [SYSTEM, user(TASK), said(None, CALL), result("call_1", "three files")]
    last = chat(history, said("Three."), index=2)
    [line] = lines(chat([HELLO], call, tools=TASKS), first, last, back(call, "", index=3), only=LOST)

    assert "answered in 6 characters (#2)" in line
    assert line.endswith("| #0 call call_0, #2 response, #3 request")


def test_each_call_is_held_against_its_own_subagent() -> None:
    call = spawn(TASK, OTHER)
    agents = [chat([SYSTEM, user(text)], said(f"About: {text}"), index=n) for n, text in ((1, OTHER), (2, TASK))]
    opening = chat([HELLO], call, tools=TASKS)

    assert lines(opening, *agents, back(call, "", "four tests", index=3), only=LOST) == [
        f"#0 client-subagent-answer-lost (client, error, S): the subagent of 'task' answered in {len(TASK) + 7} "
        "characters (#2) and the client sent an empty result for its task | #0 call call_0, #2 response, #3 request",
    ]
    [line] = lines(opening, *agents, back(call, "three callers", "", index=3), only=LOST)
    assert "#0 call call_1, #1 response" in line
    assert len(lines(opening, *agents, back(call, "", "", index=3), only=LOST)) == 2


def test_another_tool_that_gives_nothing_is_not_the_subagents() -> None:
    call = said(None, ("call_0", "task", json.dumps({"prompt": TASK})), ("call_1", "look_up", '{"word":"tape"}'))
    opening = chat([HELLO], call, tools=[*TASKS, *TOOLS])
    agent = chat([SYSTEM, user(TASK)], said(ANSWER), index=1)

    assert LOST not in ids(opening, agent, back(call, ANSWER, ""))


def test_a_call_that_no_subagent_works_on_does_not_hide_the_next_one() -> None:
    call = said(None, ("call_0", "look_up", '{"word":"tape"}'), ("call_1", "task", json.dumps({"prompt": TASK})))
    opening = chat([HELLO], call, tools=[*TASKS, *TOOLS])
    [line] = lines(opening, chat([SYSTEM, user(TASK)], said(ANSWER), index=1), back(call, "", ""), only=LOST)

    assert line.endswith("| #0 call call_1, #1 response, #2 request")


def test_a_subagent_of_another_thread_is_another_matter() -> None:
    call = spawn(TASK)
    agent = chat([SYSTEM, user(TASK)], said(ANSWER), index=1)
    stranger = chat([user("what is a strip?")], call, index=2, tools=TASKS)
    answered = chat([user("what is a strip?"), call, result("call_0", "")], said("x"), index=3, tools=TASKS)

    assert LOST in ids(chat([HELLO], call, tools=TASKS), agent, back(call, "", index=4))
    assert lines(chat([HELLO], call, tools=TASKS), agent, stranger, answered, only=LOST) == []


def test_an_agent_that_names_itself_needs_its_task_too() -> None:
    def named(one: RoundTrip, **headers: str) -> RoundTrip:
        return sent(one, x_claude_code_session_id="s", **headers)

    call = spawn(TASK)
    agent = {"x_claude_code_agent_id": "a1", "x_claude_code_parent_agent_id": "main"}

    def found(text: str) -> bool:
        one = named(chat([user(text)], said(ANSWER), index=1), **agent)
        return LOST in ids(named(chat([HELLO], call, tools=TASKS)), one, named(back(call, "")))

    assert found(f"{TASK} Be brief.")
    assert not found("look around")


def test_a_long_task_is_known_by_its_beginning() -> None:
    assert LOST in ids(*run("", task=TASK + "x" * 6000))


@pytest.mark.parametrize(("same", "found"), [(1_999, False), (2_000, True)])
def test_two_thousand_characters_of_a_task_decide(same: int, found: bool) -> None:
    task = (TASK + "x" * 2_000)[:same]
    call = spawn(f"{task}yz")
    first, last = (
        sent(one, x_claude_code_session_id="s") for one in (chat([HELLO], call, tools=TASKS), back(call, ""))
    )
    agent = sent(
        chat([user(f"{task}z")], said(ANSWER), index=1),
        x_claude_code_session_id="s",
        x_claude_code_agent_id="a1",
        x_claude_code_parent_agent_id="main",
    )

    assert (LOST in ids(first, agent, last)) is found


def test_nothing_is_lost_before_the_next_request() -> None:
    first, agent, _ = run("")

    assert LOST not in ids(first, agent)
    assert [*answer_lost.check(context_of(first))] == []


def anthropic_run(text: str, **more: Any) -> list[RoundTrip]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "task", "input": {"prompt": TASK}}
    tools = [{"name": "task", "input_schema": {"type": "object"}}]
    ask = asked("hi")
    return [
        anthropic([ask], [call], tools=tools),
        anthropic([asked(TASK)], [words(ANSWER)], 1, system="You search code."),
        anthropic([ask, spoke(call), asked(given(text=text, **more))], [words("done")], 2, tools=tools),
    ]


def gemini_run() -> list[RoundTrip]:
    ask, call = turn("user", {"text": "hi"}), {"functionCall": {"name": "look_up", "args": {"word": TASK}}}
    gave = turn("user", {"functionResponse": {"name": "look_up", "response": {"output": ""}}})
    return [
        gemini([ask], [call]),
        gemini([turn("user", {"text": TASK})], [{"text": ANSWER}], 1),
        gemini([ask, turn("model", call), gave], [{"text": "done"}], 2),
    ]


def test_without_ids_an_earlier_result_is_not_the_tasks() -> None:
    def gave(text: str) -> dict[str, Any]:
        return turn("user", {"functionResponse": {"name": "look_up", "response": {"output": text}}})

    history = [turn("user", {"text": "hi"}), turn("model", calls("tape")), gave("")]
    call = turn("model", {"functionCall": {"name": "look_up", "args": {"word": TASK}}})
    opening = gemini(history, call["parts"])
    agent = gemini([turn("user", {"text": TASK})], [{"text": ANSWER}], 1)

    def found(text: str) -> list[str]:
        return lines(opening, agent, gemini([*history, call, gave(text)], [{"text": "done"}], 2), only=LOST)

    assert found("three callers") == []
    assert len(found("")) == 1


def test_a_call_without_an_id_is_named_by_its_tool() -> None:
    [line] = lines(*ollama_run(), only=LOST)

    assert line.endswith("| #0 call task, #1 response, #2 request")


def responses_run(**fields: Any) -> list[RoundTrip]:
    ask = {"role": "user", "content": "hi"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up", "status": "completed",
            "arguments": json.dumps({"word": TASK})}  # fmt: skip
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
    gave = {"type": "function_call_output", "call_id": "call_1", "output": ""}
    history = [gave] if fields else [ask, call, gave]
    return [
        responses([ask], [call]),
        responses([{"role": "user", "content": TASK}], [text], 1),
        responses(history, [text], 2, **fields),
    ]


def ollama_run() -> list[RoundTrip]:
    call = {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "task", "arguments": {"prompt": TASK}}}]}  # fmt: skip

    def said_by(message: dict[str, Any], *messages: dict[str, Any], index: int) -> RoundTrip:
        body = {"model": "qwen3", "messages": list(messages), "stream": False, "tools": TASKS}
        return trip(OLLAMA, body, {"message": message, "done": True, "done_reason": "stop"}, index, upstream="ollama")

    gave = {"role": "tool", "tool_name": "task", "content": ""}
    text = {"role": "assistant", "content": ANSWER}
    return [
        said_by(call, HELLO, index=0),
        said_by(text, user(TASK), index=1),
        said_by(text, HELLO, call, gave, index=2),
    ]


@pytest.mark.parametrize(
    "trips",
    [anthropic_run(""), gemini_run(), responses_run(), responses_run(previous_response_id="resp_0"), ollama_run()],
)
def test_a_lost_answer_is_found_in_every_api(trips: list[RoundTrip]) -> None:
    [line] = lines(*trips, only=LOST)

    assert line.startswith("#0 client-subagent-answer-lost (client, error, S)")


def test_an_error_without_words_is_an_error() -> None:
    assert LOST not in ids(*anthropic_run("", is_error=True))
    assert LOST in ids(*anthropic_run("", is_error=False))
