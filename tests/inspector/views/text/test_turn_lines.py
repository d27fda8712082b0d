"""The lines of a turn in the text of a run."""

import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import chat, result, said, user
from round_trips import CHAT, MESSAGES, exchanged

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.labels import LabelledRoundTrip, label_all
from turntape.inspector.views.text.terminal_text import Line, plain, width_of
from turntape.inspector.views.text.turn_lines import (
    Many,
    call_text,
    dispatch_line,
    emission_lines,
    finding_lines,
    finish_line,
    new_lines,
    other_line,
    seconds,
    title_line,
    tokens_line,
    tokens_text,
)
from turntape.inspector.wire.values import ToolCall

CALL = ("call_1", "find", '{"city":"Oslo","near":[1,true]}')
ONE = Many(threads=False, runs=False)


def labelled(*trips: RoundTrip) -> list[LabelledRoundTrip]:
    return label_all([replace(trip, index=place, started_at=100.0 + 60 * place) for place, trip in enumerate(trips)])


def texts(lines: Any) -> list[str]:
    return [plain(line).rstrip() for line in lines]


def styles(line: Line) -> dict[str, str]:
    return {text.strip(): style for text, style in line if text.strip()}


def emitted(**message: Any) -> LabelledRoundTrip:
    (one,) = labelled(chat([user("Hi.")], {"role": "assistant", "content": None, **message}))
    return one


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (12_345, "12,345"), (None, "?"), ("7", "?")])
def test_a_count_has_all_its_digits(count: object, text: str) -> None:
    assert tokens_text(count) == text


@pytest.mark.parametrize(
    ("took", "text"), [(0, "0 ms"), (999.4, "999 ms"), (1000, "1.0 s"), (61_500, "61.5 s"), (None, ""), ("1", "")]
)
def test_a_duration_has_the_unit_that_it_is_read_in(took: object, text: str) -> None:
    assert seconds(took) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ToolCall("send", "c", {"to": "a@b.c", "now": True}, ""), 'send(to="a@b.c", now=true)'),
        (ToolCall("send", "c", {}, "{}"), "send()"),
        (ToolCall("send", "c", None, '{"to": '), 'send({"to": )'),
        (ToolCall("send", "c", [1, 2], "[1,2]"), "send([1,2])"),
    ],
)
def test_a_call_is_written_as_in_code_and_as_it_came_where_it_cannot_be(call: ToolCall, text: str) -> None:
    assert call_text(call) == text


@pytest.mark.parametrize(
    ("status", "said", "style"), [(200, "→ 200", "dim"), (399, "→ 399", "dim"), (400, "→ 400", "bad")]
)
def test_a_round_trip_outside_of_generation_is_one_line(status: int, said: str, style: str) -> None:
    trip = exchanged("https://api.openai.com/v1/models", "", {"data": []}, method="GET", status=status)
    (one,) = labelled(trip)
    line = other_line(one.label)

    assert plain(line).startswith(f"#0 GET https://api.openai.com/v1/models {said} (") and styles(line)[said] == style
    (lost,) = labelled(replace(trip, response=None, failure=Failure("refused", "no")))
    assert "→ no answer (" in plain(other_line(lost.label)) and styles(other_line(lost.label))["→ no answer"] == "bad"


def test_the_title_names_thread_and_run_where_there_are_several() -> None:
    (one,) = labelled(replace(chat([user("Hi.")], said("Hello.")), run="night"))
    alone = plain(title_line(one.label, False, ONE))
    several = plain(title_line(one.label, False, Many(threads=True, runs=True), "$0.12"))

    assert alone.startswith("Turn 1  ") and alone.endswith("#0")
    assert " of " not in alone and "night" not in alone and "so far" not in alone
    assert several.startswith(f"Turn 1 of {one.label['thread']}") and "  run night" in several
    assert "  so far $0.12  " in several and f"  {one.label['protocol']}  " in several
    assert "unpriced" in plain(title_line({**one.label, "cost_usd": None}, True, ONE))
    retried = {**one.label, "attempt": 3, "response_model": None, "request_model": None}
    assert plain(title_line(retried, False, ONE)).startswith("Turn 1·3  ")
    assert "unknown model" in plain(title_line(retried, False, ONE))


def test_what_the_model_said_comes_in_the_order_in_which_it_is_read() -> None:
    call = {"id": CALL[0], "type": "function", "function": {"name": CALL[1], "arguments": CALL[2]}}
    broken = {"id": "call_2", "type": "function", "function": {"name": "find", "arguments": '{"city": '}}
    one = emitted(content="I look.", reasoning_content="Where is it?", tool_calls=[call, broken])
    lines = list(emission_lines(one, 100))

    assert [text[11:].strip() for text in texts(lines)] == [
        "thinks Where is it?",
        "I look.",
        '→ find(city="Oslo", near=[1,true])',
        '→ find({"city": )',
    ]
    assert texts(lines)[0].startswith("  ◆ model")
    assert styles(lines[2])['find(city="Oslo", near=[1,true])'] == "plain"
    assert styles(lines[3])['find({"city": )'] == "bad"
    assert max(width_of(plain(line)) for line in emission_lines(emitted(content="word " * 99), 60)) <= 60


def test_a_refusal_and_an_answer_without_anything_are_named() -> None:
    assert "refuses I cannot." in texts(emission_lines(emitted(refusal="I cannot."), 100))[0]
    (empty,) = emission_lines(emitted(content=""), 100)
    assert plain(empty).rstrip().endswith("empty") and styles(empty)["empty"] == "warn"


def test_the_end_of_an_answer_says_its_own_word_where_that_is_another() -> None:
    whole = finish_line(emitted(content="Hi."))
    assert plain(whole)[4:11].strip() == "api"
    assert "complete (said 'stop')" in plain(whole) and "HTTP" not in plain(whole)
    (refused,) = labelled(
        exchanged(CHAT, {"model": "gpt-5", "messages": [user("Hi.")]}, {"error": {"message": "too fast"}}, status=429)
    )
    line = finish_line(refused)
    assert "HTTP 429" in plain(line) and "too fast" in plain(line) and styles(line)["HTTP 429"] == "bad"


@pytest.mark.parametrize(
    ("who", "style", "words"),
    [("server", "bad", "server closed first"), ("client", "warn", "client closed first"), (None, "bad", "cut")],
)
def test_an_answer_that_broke_off_says_who_closed_and_where(who: Any, style: str, words: str) -> None:
    trip = exchanged(CHAT, {"model": "gpt-5", "messages": [user("Hi.")], "stream": True}, b"data: {}\n\n")
    (one,) = labelled(replace(trip, failure=Failure("cut", "it broke"), closed_first=who))
    line = finish_line(one)

    assert styles(line)[f"{words} after 10 bytes"] == style
    (none,) = labelled(replace(trip, response=None, failure=Failure("refused", "no")))
    assert "refused after 0 bytes" in plain(finish_line(none))


def test_tokens_that_were_sent_before_are_apart_from_new_ones() -> None:
    def used(trip: RoundTrip, **usage: Any) -> RoundTrip:
        answer = {**json.loads(trip.response.body if trip.response else b""), "usage": usage}
        return exchanged(CHAT, json.loads(trip.request.body), answer)

    first = chat([user("Hi.")], said("Hello."), usage=None)
    second = chat([user("Hi."), said("Hello."), user("And?")], said("Well."), usage=None)
    details = {"prompt_tokens_details": {"cached_tokens": 900}, "completion_tokens_details": {"reasoning_tokens": 7}}
    one, two = labelled(
        used(first, prompt_tokens=1000, completion_tokens=5, total_tokens=1005),
        used(second, prompt_tokens=1200, completion_tokens=30, total_tokens=1230, **details),
    )

    assert plain(tokens_line(one)).strip() == "1,000 in, 5 out"
    assert plain(tokens_line(two)).strip() == (
        "1,200 in (200 new, 1,000 sent before), 900 cache read, 30 out (7 reasoning)"
    )
    assert plain(tokens_line(labelled(first)[0])).strip() == "tokens unknown"


def test_only_what_the_client_added_is_new_and_results_have_the_name_of_their_call() -> None:
    first = chat([user("Hi.")], said("I look.", CALL))
    second = chat([user("Hi."), said("I look.", CALL), result("call_1", "It is cold.")], said("Cold."))
    one, two = labelled(first, second)

    assert texts(new_lines(one, {}, 100)) == ["    user: Hi."]
    assert texts(new_lines(two, {}, 100)) == ["    ← find It is cold."]
    alone = labelled(chat([user("Hi."), result("call_9", "x")], said("Ok.")))[0]
    assert "    ← find x" in texts(new_lines(alone, {"call_9": "find"}, 100))
    assert "    ← call_9 x" in texts(new_lines(alone, {}, 100))


def test_of_many_new_messages_the_last_six_are_shown() -> None:
    def lines(count: int) -> list[str]:
        (one,) = labelled(chat([user(f"Message {n}.") for n in range(count)], said("Ok.")))
        return texts(new_lines(one, {}, 100))

    assert lines(6) == [f"    user: Message {n}." for n in range(6)]
    assert lines(8) == ["    … 2 more", *(f"    user: Message {n}." for n in range(2, 8))]


def test_a_result_with_an_error_has_another_look() -> None:
    blocks = [{"type": "tool_use", "id": "t1", "name": "find", "input": {}}]
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
              "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 9}}  # fmt: skip

    def asked(*messages: Any) -> RoundTrip:
        return exchanged(MESSAGES, {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}, answer)

    def returned(*, wrong: bool) -> Any:
        block = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": wrong}
        return [user("Hi."), {"role": "assistant", "content": blocks}, {"role": "user", "content": [block]}]

    for wrong, style, words in ((True, "bad", ", 1 with an error"), (False, "dim", "")):
        one, two = labelled(asked(user("Hi.")), asked(*returned(wrong=wrong)))
        (line,) = new_lines(two, {}, 100)
        assert styles(line)["no"] == style
        assert plain(dispatch_line(one.label)).rstrip().endswith(f"1 result{words}")


def test_a_finding_has_its_message_what_to_do_and_where_it_is_seen() -> None:
    finding = {"severity": "error", "layer": "api", "id": "x-y", "message": "word " * 30, "fix": "Ask again! " * 12,
               "evidence": ["#1 request", "#2 response"]}  # fmt: skip
    lines = texts(finding_lines({"findings": [finding]}, 60))
    fixed = texts(finding_lines({"findings": [finding]}, 60, fix=True))

    assert lines[0].startswith("  ✗ api · x-y: word") and lines[-1] == "    #1 request · #2 response"
    assert " ".join(" ".join(lines[:-1]).split()) == "✗ api · x-y: " + ("word " * 30).strip()
    assert max(map(len, fixed)) <= 60 and len(fixed) > len(lines)
    what = [line for line in fixed if "sk again!" in line or line.startswith("         ")]
    assert what[0].startswith("    fix  Ask") and all(line[:9].isspace() and line[9] != " " for line in what[1:])
    assert " ".join(line[9:] for line in what) == ("Ask again! " * 12).strip()
    assert texts(finding_lines({"findings": [{**finding, "fix": None}]}, 60, fix=True)) == lines
