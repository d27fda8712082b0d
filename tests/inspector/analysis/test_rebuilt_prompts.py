"""Agents without a message history: the prompt is written again for every turn, with the last answer's words in it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from conversations import chat, result, said, user
from judged import RESPONSES
from round_trips import GEMINI, MESSAGES, exchanged

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Edge, Turn
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

type Step = tuple[str, str, dict[str, Any], str]
"""A thought, a tool, its arguments, and what the tool returned."""

QUESTION = "Which river is longer, the Loire or the Rhone?"
STEPS: list[Step] = [
    ("I need the length of the Loire first.", "look_up", {"topic": "Loire"}, "The Loire: 1,006 km."),
    ("Now the same for the other river.", "look_up", {"topic": "Rhone"}, "The Rhone: 813 km."),
    ("Both lengths are known, I can answer.", "finish", {}, "Completed."),
]
AGENT = (
    "Produce next_thought, next_tool_name and next_tool_args, each after its marker, such as [[ ## next_thought ## ]]."
)
EXTRACT = "Produce reasoning and answer from the fields question and trajectory."


def fields(step: Step) -> str:
    """An answer of the agent, its fields behind markers."""
    thought, tool, arguments, _ = step
    return (
        f"[[ ## next_thought ## ]]\n{thought}\n\n[[ ## next_tool_name ## ]]\n{tool}\n\n"
        f"[[ ## next_tool_args ## ]]\n{json.dumps(arguments)}\n\n[[ ## completed ## ]]"
    )


def as_object(step: Step) -> str:
    """The same answer as a JSON object."""
    return json.dumps({"next_thought": step[0], "next_tool_name": step[1], "next_tool_args": step[2]})


def trajectory(steps: list[Step]) -> str:
    parts = [
        f"[[ ## thought_{n} ## ]]\n{thought}\n\n[[ ## tool_name_{n} ## ]]\n{tool}\n\n"
        f"[[ ## tool_args_{n} ## ]]\n{json.dumps(arguments)}\n\n[[ ## observation_{n} ## ]]\n{seen}"
        for n, (thought, tool, arguments, seen) in enumerate(steps)
    ]
    return "\n\n".join(parts)


def prompt(steps: list[Step], wanted: str, question: str = QUESTION) -> str:
    return (
        f"[[ ## question ## ]]\n{question}\n\n[[ ## trajectory ## ]]\n{trajectory(steps)}\n\n"
        f"Respond with the output fields, starting with `[[ ## {wanted} ## ]]`."
    )


def agent(
    steps: list[Step] = STEPS, write: Callable[[Step], str] = fields, question: str = QUESTION, **more: Any
) -> list[RoundTrip]:
    """The requests of an agent, one for each step."""
    return [
        chat(
            [{"role": "system", "content": AGENT}, user(prompt(steps[:n], "next_thought", question))],
            said(write(step)),
            index=n,
            tools=None,
            **more,
        )
        for n, step in enumerate(steps)
    ]


def extraction(index: int, steps: list[Step] = STEPS, model: str = "gpt-5") -> RoundTrip:
    """The request that takes the answer out of the trajectory, under other instructions."""
    messages = [{"role": "system", "content": EXTRACT}, user(prompt(steps, "reasoning"))]
    answer = "[[ ## reasoning ## ]]\nThe trajectory has both lengths.\n\n[[ ## answer ## ]]\nThe Loire is longer."
    return chat(messages, said(answer), index=index, tools=None, model=model)


def ask(text: str, answer: str, index: int, system: str = "", **more: Any) -> RoundTrip:
    """One request with a single prompt."""
    first = [{"role": "system", "content": system}] if system else []
    return chat([*first, user(text)], said(answer), index=index, tools=None, **more)


def sort(trips: list[RoundTrip]) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


def places(trips: list[RoundTrip]) -> list[tuple[str, int]]:
    return [(turn.thread, turn.number) for turn in sort(trips)]


@pytest.mark.parametrize("write", [fields, as_object])
def test_a_prompt_of_fields_that_grows_is_one_thread(write: Callable[[Step], str]) -> None:
    turns = sort([*agent(write=write), extraction(3)])

    assert [(turn.thread, turn.number, turn.history, turn.edge.kind, turn.edge.of) for turn in turns] == [
        ("t1", 1, "first", "main", None),
        ("t1", 2, "changed", "rebuilt", 0),
        ("t1", 3, "changed", "rebuilt", 1),
        ("t1", 4, "changed", "rebuilt", 2),
    ]
    assert turns[2].edge == Edge("rebuilt", 1, "t1", "its prompt is #1's with the words of the answer added", "S")
    assert turns[3].edge == Edge(
        "rebuilt", 2, "t1", "its prompt begins with the steps of #2's and has the words of the answer", "H"
    )
    assert [turn.shared for turn in turns] == [0, 1, 1, 0]
    assert turns[1].usage_before is not None and turns[1].messages_before == 2


SCRATCHPAD = (
    "Answer as well as you can. Use Thought, Action, Observation.\n\nQuestion: which river is longer?\nThought:"
)
ACTION = " I should look up the Loire.\nAction: look_up\nAction Input: the length of the Loire"
GROWN = f"{SCRATCHPAD}{ACTION}\nObservation: 1,006 km\nThought: "
COMPLETIONS = "https://api.openai.com/v1/completions"


def completion(index: int, text: str, answer: str) -> RoundTrip:
    choice = {"index": 0, "text": answer, "finish_reason": "stop"}
    body = {"id": f"c{index}", "object": "text_completion", "model": "m", "choices": [choice]}
    return replace(exchanged(COMPLETIONS, {"model": "m", "prompt": [text]}, body), index=index)


def message(index: int, text: str, answer: str) -> RoundTrip:
    asked = {"model": "m", "max_tokens": 9, "messages": [user(text)]}
    body = {"id": f"m{index}", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": answer}], "usage": {}}  # fmt: skip
    return replace(exchanged(MESSAGES, asked, body), index=index)


def generated(index: int, text: str, answer: str) -> RoundTrip:
    parts = {"role": "model", "parts": [{"text": answer}]}
    body = {"candidates": [{"content": parts, "finishReason": "STOP"}]}
    asked = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    return replace(exchanged(GEMINI, asked, body), index=index)


def response(index: int, text: str, answer: str) -> RoundTrip:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": answer}]}  # fmt: skip
    body = {"id": f"resp_{index}", "object": "response", "status": "completed", "model": "m", "output": [item]}
    return replace(exchanged(RESPONSES, {"model": "m", "input": text}, body), index=index)


@pytest.mark.parametrize("send", [completion, message, generated, response])
def test_a_scratchpad_at_the_end_of_a_prompt_is_one_thread_in_every_api(
    send: Callable[[int, str, str], RoundTrip],
) -> None:
    trips = [send(0, SCRATCHPAD, ACTION), send(1, GROWN, " I know it.\nFinal Answer: the Loire")]

    assert [(turn.thread, turn.edge.kind) for turn in sort(trips)] == [("t1", "main"), ("t1", "rebuilt")]


def test_a_scratchpad_before_the_end_of_a_prompt_is_one_thread() -> None:
    """A reminder follows the scratchpad, and white space differs."""
    blob = 'Thought: look\nAction:\n```\n{"action": "look_up", "action_input": "Loire"}\n```'
    end = "\n (reminder: respond in a JSON blob)"
    trips = [
        ask(f"Which is longer?\n\n\n{end}", blob, 0),
        ask(f"Which is longer?\n\n{blob}\nObservation: 1,006 km\nThought:{end}", "The Loire.", 1),
    ]

    assert places(trips) == [("t1", 1), ("t1", 2)]


def test_examples_before_the_prompt_do_not_hide_the_thread() -> None:
    shown = [user("What is 2 + 2?"), said("four, which is a small number")]
    trips = [
        chat([*shown, user(SCRATCHPAD)], said(ACTION), tools=None),
        chat([*shown, user(GROWN)], said("the Loire"), index=1, tools=None),
    ]

    assert places(trips) == [("t1", 1), ("t1", 2)]


def test_agents_that_run_at_once_are_separated_by_their_questions() -> None:
    other = [("I need the length of the Loire first.", "look_up", {"topic": "Loire"}, "1,006 km."), *STEPS[1:]]
    one, two = agent(), agent(other, question="How long is the Loire?")
    mixed = [replace(trip, index=n) for n, trip in enumerate((one[0], two[0], two[1], one[1], one[2], two[2]))]

    assert [thread for thread, _ in places(mixed)] == ["t1", "t2", "t2", "t1", "t1", "t2"]


def test_samples_of_one_question_are_separated_by_what_was_answered() -> None:
    other = [("Let me begin with the Rhone instead.", "look_up", {"topic": "Rhone"}, "813 km."), STEPS[2]]
    one, two = agent(), agent(other)
    mixed = [replace(trip, index=n) for n, trip in enumerate((one[0], two[0], one[1], two[1]))]

    assert [thread for thread, _ in places(mixed)] == ["t1", "t2", "t1", "t2"]


def test_a_judge_that_quotes_an_answer_is_a_thread_of_its_own() -> None:
    answer = "The Loire is longer than the Rhone by about 193 kilometres."
    question = ask(QUESTION, answer, 0)
    judges = [
        ask(f"Rate this answer from 1 to 10.\nQuestion: {QUESTION}\nAnswer: {answer}", "8", 1),
        ask(f"{QUESTION}\n\nProposed answer: {answer}\nIs it right?", "yes", 1, "You are a strict judge."),
        ask(f"Question: {QUESTION}\nAnswer: {answer}\nVerdict:", "right", 1),
    ]

    for judge in judges:
        assert places([question, judge])[1] == ("t2", 1), judge.request.body
        assert sort([question, judge])[1].edge == Edge(
            "main", reason="its prompt quotes the answer of #0, but not its history"
        )


def test_a_judge_of_an_agents_answer_is_a_thread_of_its_own() -> None:
    """It has the question and the answer, but not the steps between them."""
    run = [*agent(), extraction(3)]
    text = (
        f"[[ ## question ## ]]\n{QUESTION}\n\n[[ ## answer ## ]]\nThe trajectory has both lengths. The Loire is longer."
    )

    assert places([*run, ask(text, "right", 4, AGENT)])[4] == ("t2", 1)


def test_a_request_with_other_instructions_continues_only_a_thread_whose_steps_it_has() -> None:
    first = agent()[:1]

    assert places([*first, extraction(1, STEPS[:1])])[1] == ("t2", 1)
    assert places([*agent(), extraction(3, model="gpt-5-mini")])[3] == ("t2", 1)
    assert places([*agent(), extraction(3, [*STEPS[1:]])])[3] == ("t2", 1)


def test_other_tools_make_another_agent() -> None:
    trips = [chat([user(SCRATCHPAD)], said(ACTION), tools=None), chat([user(GROWN)], said("the Loire"), index=1)]

    assert places(trips)[1] == ("t2", 1)


@pytest.mark.parametrize(
    ("answer", "thread"),
    [("yes", "t2"), ("It is the longer of them all!", "t2"), ("It is the longer of them all!!", "t1")],
)
def test_a_short_answer_joins_nothing(answer: str, thread: str) -> None:
    """23 and 24 characters without white space: 24 are needed."""
    trips = [ask("Which is longer?", answer, 0), ask(f"Which is longer? {answer}. How much?", "193 km", 1)]

    assert places(trips)[1][0] == thread


def test_short_parts_of_an_answer_count_together() -> None:
    steps: list[Step] = [("Search it.", "look_up", {"topic": "Loire"}, "1,006 km."), STEPS[2]]

    assert places(agent(steps)) == [("t1", 1), ("t1", 2)]
    steps = [("Go on.", "look_up", {}, "1,006 km."), STEPS[2]]
    assert places(agent(steps)) == [("t1", 1), ("t2", 1)]


def test_a_short_answer_is_enough_in_a_thread_of_rebuilt_prompts() -> None:
    front = "A friendly conversation.\nHuman: Hi, I am Ada.\nAI:"
    hello = "Hello Ada, it is nice to meet you."
    second = f"{front} {hello}\nHuman: What is my name?\nAI:"
    third = f"{second} It is Ada.\nHuman: Are you sure?\nAI:"

    assert places([ask(front, hello, 0), ask(second, "It is Ada.", 1), ask(third, "Yes.", 2)]) == [
        ("t1", 1),
        ("t1", 2),
        ("t1", 3),
    ]
    fourth = f"{third} Yes.\nHuman: Good.\nAI:"
    assert places([ask(front, hello, 0), ask(second, "It is Ada.", 1), ask(third, "Yes.", 2), ask(fourth, "!", 3)])[
        3
    ] == ("t2", 1)


def test_words_that_the_prompt_already_had_prove_nothing() -> None:
    template = "Say what you think, then the verdict of the jury in one word: guilty or free."
    answer = "what you think, then the verdict of the jury"
    trips = [ask(template, answer, 0), ask(f"{template} The next case.", "free", 1)]

    assert places(trips)[1] == ("t2", 1)
    in_system = [ask("Case 1.", answer, 0, template), ask(f"Case 1. {answer}", "free", 1, template)]
    assert places(in_system)[1] == ("t2", 1)


def test_a_prompt_that_lost_something_is_another_thread() -> None:
    trips = [ask(SCRATCHPAD, ACTION, 0), ask(GROWN.replace("as well as you can", "now"), "the Loire", 1)]

    assert places(trips)[1] == ("t2", 1)


def test_an_answer_with_calls_or_without_success_is_not_looked_for() -> None:
    call = said(ACTION, ("call_1", "look_up", "{}"))
    failed = chat(
        [user(SCRATCHPAD)], status=529, error={"error": {"message": "no", "type": "server_error"}}, tools=None
    )

    assert places([chat([user(SCRATCHPAD)], call, tools=None), ask(GROWN, "x", 1)])[1] == ("t2", 1)
    assert places([failed, ask(GROWN, "x", 1)])[1] == ("t2", 1)
    refused = chat([user(SCRATCHPAD)], failure=Failure("refused", "connection refused"), tools=None)
    assert places([refused, ask(GROWN, "x", 1)])[1] == ("t2", 1)


def test_an_attempt_after_a_failure_keeps_the_thread() -> None:
    one = agent()
    failed = chat(
        [{"role": "system", "content": AGENT}, user(prompt(STEPS[:1], "next_thought"))],
        status=529,
        error={"error": {"message": "overloaded", "type": "server_error"}},
        index=1,
        tools=None,
    )
    trips = [one[0], failed, replace(one[1], index=2), replace(one[2], index=3), extraction(4)]

    assert [(t.thread, t.number, t.attempt) for t in sort(trips)] == [
        ("t1", 1, 1),
        ("t1", 2, 1),
        ("t1", 2, 2),
        ("t1", 3, 1),
        ("t1", 4, 1),
    ]


def test_a_scratchpad_in_a_prefilled_answer_is_one_thread() -> None:
    begun = f"{ACTION}\nObservation: 1,006 km\nThought:"
    second = " And the Rhone.\nAction: look_up\nAction Input: the length of the Rhone"
    trips = [
        ask("Which is longer?", ACTION, 0),
        chat([user("Which is longer?"), said(begun)], said(second), index=1, tools=None),
        chat([user("Which is longer?"), said(f"{begun}{second}\nObservation: 813 km")], said("x"), index=2, tools=None),
    ]

    assert [(turn.thread, turn.edge.kind) for turn in sort(trips)] == [
        ("t1", "main"),
        ("t1", "continuation"),
        ("t1", "rebuilt"),
    ]


def test_results_and_files_are_not_the_prompt() -> None:
    """A word that only a tool's result has is not in the prompt."""
    history = [user("Go on."), said(None, ("call_1", "look_up", "{}")), result("call_1", ACTION)]
    trips = [ask("Go on.", ACTION, 0), chat(history, said("x"), index=1, tools=None)]

    assert sort(trips)[1].edge.kind != "rebuilt"


def test_a_thread_that_went_on_with_calls_is_not_continued_by_its_older_answer() -> None:
    then = chat(
        [user(SCRATCHPAD), said(ACTION), user("Now call.")], said(None, ("c1", "look_up", "{}")), index=1, tools=None
    )
    trips = [ask(SCRATCHPAD, ACTION, 0), then, ask(GROWN, "x", 2)]

    assert places(trips) == [("t1", 1), ("t1", 2), ("t2", 1)]


def test_runs_do_not_mix() -> None:
    assert places([ask(SCRATCHPAD, ACTION, 0, run="a"), ask(GROWN, "x", 1, run="b")])[1] == ("t2", 1)


def test_the_latest_threads_are_searched() -> None:
    first = ask(SCRATCHPAD, ACTION, 0)
    others = [ask(f"Case {n}.", f"The answer to case number {n} is long enough.", n) for n in range(1, 65)]
    last = ask(GROWN, "x", 65)

    assert places([first, *others[:-1], last])[-1] == ("t1", 2)
    assert places([first, *others, last])[-1][1] == 1


def test_of_a_long_answer_the_first_lines_are_searched() -> None:
    lines = [f"step {n}" for n in range(64)]
    answer = "\n".join(lines) + "\nthe one line that comes back in the prompt"
    asked = ask("Plan it.", answer, 0)

    assert places([asked, ask("Plan it. the one line that comes back in the prompt", "x", 1)])[1] == ("t2", 1)
    assert places([asked, ask(f"Plan it. {' '.join(lines[-6:])}", "x", 1)])[1] == ("t1", 2)


def test_a_healthy_agent_with_rebuilt_prompts_has_no_finding() -> None:
    labels = [done.label for done in label_all([*agent(), extraction(3)], hints=True)]

    assert [label["findings"] for label in labels] == [[], [], [], []]
    echoes: list[Any] = [label["client"]["echo"] for label in labels[:-1]]  # type: ignore[index]
    assert [echo["state"] for echo in echoes] == ["respelled"] * 3
