import re
from dataclasses import replace
from pathlib import Path

import pytest
from conversations import HELLO, chat, loop, result, said, user
from inline_snapshot import snapshot
from judged import anthropic, asked, responses, spoke, trip, words
from made_pictures import in_a_part, of_a_tool
from recordings import record
from sockets import completed, create, session
from viewing import EXAMPLE

from turntape.cassettes.tape.model import Failure, Response, RoundTrip
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.views.text.run_text import show_text
from turntape.inspector.views.text.terminal_text import width_of


def shown(*trips: object, **options: object) -> str:
    return "\n".join(show_text(Cassette.from_round_trips(trips), **options))  # type: ignore[arg-type]


def test_a_run_is_read_from_top_to_bottom() -> None:
    assert shown(*loop(), width=80) == snapshot("""\
a run
$0.00061 · 2 turns · 250 tokens in · 2026-05-28 20:26:40 UTC · gpt-5-2025-08-07

Turn 1  $0.00022  so far $0.00022  gpt-5-2025-08-07  openai-chat  250 ms  #0
    user: what is a tape?
  ◆ model  → look_up(word="tape")
  ■ api    tool_calls
  ▶ client dispatched  1 result
    100 in, 10 out

Turn 2  $0.00039  so far $0.00061  gpt-5-2025-08-07  openai-chat  250 ms  #1
    ← look_up a strip that holds a recording
  ◆ model  It holds a recording.
  ■ api    complete (said 'stop')
  ▶ client ended
    150 in (50 new, 100 sent before), 20 out\
""")


def test_the_name_of_a_run_is_said_once_unless_there_are_several() -> None:
    one = [replace(trip, run="nightly") for trip in loop()]
    other = [replace(trip, run="morning", index=trip.index + 2, started_at=trip.started_at + 60) for trip in loop()]

    assert shown(*one).count("run nightly") == 1
    assert [shown(*one, *other).count(f"run {name}") for name in ("nightly", "morning")] == [2, 2]
    assert "2 runs" in shown(*one, *other)
    assert "run nightly" in shown(*one, turn=2)


def test_a_turn_of_a_session_is_not_called_a_post() -> None:
    text = shown(session(create(1_000), completed(900_000)), turn=1)

    assert "WebSocket https://api.openai.com/v1/responses" in text and "POST" not in text


def test_a_failed_turn_is_marked_with_what_had_arrived() -> None:
    text = shown(chat([HELLO], failure=Failure("refused", "connection refused")))

    assert "■ api    error" in text
    assert "after 0 bytes" in text
    assert "✗ api · api-unreachable" in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = said("word " * 200, ("call_9", "look_up", '{"word":"' + "日本" * 100 + '"}'))

    for text in (shown(chat([HELLO], long), width=width), shown(chat([HELLO], long), width=width, turn=1)):
        assert max(width_of(line) for line in text.splitlines()) <= width


def test_one_turn_is_shown_whole_and_one_that_is_not_there_is_nothing() -> None:
    text = shown(*loop(), turn=2)

    assert "a strip that holds a recording" in text
    assert "look_up(word)" in text
    assert shown(*loop(), turn=9) == ""


def test_nothing_from_the_wire_drives_the_terminal() -> None:
    text = shown(chat([HELLO], said("\x1b[2J\x1b]0;owned\x07")), colour=False)

    assert "\x1b" not in text


def test_what_the_apis_own_tools_gave_is_shown_beside_their_calls() -> None:
    ask = {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "wiki", "arguments": '{"q":1}'}
    trip = responses(
        [{"role": "user", "content": "hi"}],
        [
            {"type": "mcp_list_tools", "id": "l", "server_label": "wiki", "tools": [{"name": "ask"}]},
            {**ask, "output": "a mountain"},
            {**ask, "id": "mcp_2", "error": "gone"},
        ],
    )

    assert shown(trip, colour=False).splitlines()[5:9] == [
        "  ◆ model  ⚙ ask(q=1)",
        "           ⚙ ask(q=1)",
        "             ← a mountain",
        "             ← gone",
    ]
    lines = [line.strip() for line in shown(trip, turn=1, colour=False).splitlines()]
    assert "[other] tools of wiki: ask" in lines
    assert lines[lines.index("← ask  mcp_1") + 1] == "a mountain"


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("turn", [None, 3])
def test_the_cost_of_a_turn_is_shown_whole_at_any_width(turn: int | None, width: int) -> None:
    text = "\n".join(show_text(Cassette.load(EXAMPLE), turn=turn, thread="t1", width=width))

    figures = [part for line in text.splitlines() for part in line.split() if part.startswith("$")]
    assert "$0.021" in figures
    assert not [figure for figure in figures if "…" in figure]
    assert "13.9 s  #6" in text
    assert max(width_of(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("size", [1, 10, 27, 28, 60, 200])
def test_the_id_of_a_call_follows_its_arguments(size: int) -> None:
    trip = chat([HELLO], said(None, ("call_9", "look_up", '{"word":"' + "x" * size + '"}')))

    lines = shown(trip, turn=1, width=60).splitlines()

    [end] = [line for line in lines if line.endswith("call_9")]
    before = lines[: lines.index(end) + 1]
    call = "".join(line.strip() for line in before[before.index("answer") + 1 :]).replace(" ", "")
    assert call == f'→look_up(word="{"x" * size}")call_9'


def test_bytes_that_had_arrived_are_counted() -> None:
    one = chat([HELLO], failure=Failure("cut", "closed"))
    partial = replace(one, response=Response(200, content=b"x"))

    assert "after 0 bytes" in shown(one)
    assert "after 1 byte" in shown(partial)


@pytest.mark.parametrize(("kept", "words"), [(1, "partly dispatched  1 result"), (0, "not dispatched")])
def test_what_the_client_did_is_said_in_words(kept: int, words: str) -> None:
    calls = [("call_1", "look_up", "{}"), ("call_2", "look_up", "{}")]
    results = [result(name, "x") for name, *_ in calls[:kept]]
    after = chat([HELLO, said(None, *calls), *results, user("go on")], said("ok"), index=1)

    text = shown(chat([HELLO], said(None, *calls)), after)
    assert f"▶ client {words}" in text


def test_the_source_of_a_cost_is_named_where_the_api_stated_it() -> None:
    answer = {"model": "gpt-5", "choices": [{"index": 0, "message": said("so"), "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.25}

    assert "Turn 1  $0.250 (stated by the API)" in shown(chat([HELLO], error=answer | {"usage": usage}))
    assert "stated" not in shown(*loop())


def test_a_turn_in_full_says_what_to_do_about_a_finding() -> None:
    lost = chat([HELLO], failure=Failure("refused", "connection refused"))

    assert "\n    fix  Check the address" in shown(lost, turn=1)
    assert "fix  " not in shown(lost)


def test_a_retried_turn_is_one_turn() -> None:
    overloaded = {"error": {"message": "Overloaded", "type": "overloaded_error"}}

    text = shown(chat([HELLO], status=529, error=overloaded), chat([HELLO], said("so"), index=1))
    assert text.splitlines()[1].startswith("$0.00022 · 1 turn · 100 tokens in · 1 more attempt · ")


def test_a_rebuilt_prompt_is_not_called_a_changed_history() -> None:
    answer = "Thought: I should look up the length of the Loire.\nAction: look_up"
    trips = [
        chat([user("Which is longer?")], said(answer), tools=None),
        chat([user(f"Which is longer? {answer}\nObservation: 1,006 km")], said("x"), index=1, tools=None),
    ]
    text = "\n".join(show_text(trips))

    assert "the prompt was rebuilt, with the last answer in it" in text and "history was changed" not in text


def test_the_cost_so_far_is_at_least_that_of_the_turns_with_a_known_price() -> None:
    asked = [user("go"), said("yes"), user("more")]
    trips = [chat(asked[:1], said("yes"), model="some-model-of-ours"), chat(asked, said("no"), index=1)]
    trips.append(chat([*asked, said("no"), user("again")], said("done"), index=2))
    text = "\n".join(show_text(trips))

    assert "Turn 1  unpriced  some-model" in text
    assert re.findall(r"so far (\S+)", text) == ["≥$0.00022", "≥$0.00045"]
    assert re.findall(r"so far (\S+)", "\n".join(show_text(trips[1:]))) == ["$0.00022", "$0.00045"]


def test_a_recording_without_anything_says_what_to_do(tmp_path: Path) -> None:
    record(tmp_path / "none.jsonl", [])
    record(tmp_path / "some.jsonl", [chat([user("go")], said("yes"))])
    empty, some = (
        " ".join(show_text(Cassette.load(tmp_path / f"{name}.jsonl"), width=60)) for name in ("none", "some")
    )

    assert "nothing was recorded in this file: `turntape doctor -- COMMAND` says why" in empty
    assert "nothing was recorded" not in some


BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/eu.amazon.nova-pro-v1%3A0/converse"
APART = {
    "https://api.anthropic.com/v1/messages": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Use metres."}],
        "messages": [HELLO],
    },
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent": {
        "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Use metres."}]},
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
    },
    BEDROCK: {
        "system": [{"text": "Be brief."}, {"text": "Use metres."}],
        "messages": [{"role": "user", "content": [{"text": "hello"}]}],
    },
    "https://api.openai.com/v1/responses": {
        "model": "gpt-5.1",
        "instructions": "Be brief. Use metres.",
        "input": "hello",
    },
    "http://localhost:11434/api/generate": {
        "model": "qwen3",
        "system": "Be brief. Use metres.",
        "prompt": "hello",
    },
    "https://api.cohere.com/v1/chat": {
        "model": "command-r",
        "preamble": "Be brief. Use metres.",
        "message": "hello",
    },
}
"""Requests of the APIs that have the system prompt apart from the messages."""


@pytest.mark.parametrize("url", APART)
def test_a_system_prompt_apart_from_the_messages_is_shown(url: str) -> None:
    text = shown(trip(url, APART[url], {}))

    assert "    system: Be brief. Use metres.\n    user: " in text


def test_a_system_prompt_is_shown_once_and_again_when_it_has_changed() -> None:
    asks = ["one"], ["one", "two"], ["one", "two", "three"]
    prompts = "Be brief.", "Be brief.", "Be long."
    trips = [
        anthropic(
            [message for text in texts for message in (asked(text), spoke(words("yes")))][:-1],
            [words("yes")],
            index,
            system=prompt,
        )
        for index, (texts, prompt) in enumerate(zip(asks, prompts, strict=True))
    ]

    text = shown(*trips)

    assert text.count("system: Be brief.") == 1
    assert text.index("system: Be brief.") < text.index("user: one")
    assert text.index("Turn 3") < text.index("system, changed: Be long.") < text.index("user: three")


def test_a_system_message_and_a_retry_show_no_system_prompt_again() -> None:
    refused = anthropic([asked("one")], None, 0, error="overloaded", status=529, system="Be brief.")
    again = anthropic([asked("one")], [words("yes")], 1, system="Be brief.")

    assert shown(refused, again).count("Be brief.") == 1
    assert shown(chat([{"role": "system", "content": "Be brief."}, HELLO], said("yes"))).count("Be brief.") == 1


@pytest.mark.parametrize("trip", [in_a_part(), of_a_tool()], ids=["part", "tool"])
@pytest.mark.parametrize("turn", [None, 1])
def test_pictures_of_an_answer_are_named(trip: RoundTrip, turn: int | None) -> None:
    assert shown(trip, turn=turn).count("[png, 1 × 1 pixels, 70 B]") == 1


def test_a_result_of_a_history_that_the_api_holds_names_its_tool() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up", "arguments": "{}"}
    first = responses([{"role": "user", "content": "hi"}], [call], 0)
    output = {"type": "function_call_output", "call_id": "call_1", "output": "a strip"}
    second = responses([output], [], 1, previous_response_id="resp_0")

    assert "← look_up a strip" in shown(first, second)
    assert "← call_1 a strip" in shown(second)
