"""Answers that do not belong to their requests, in every API."""

from typing import Any

import orjson
import pytest
from dialogues import APIS, Piece, asks, calls, gives, run, says
from judged import (
    LOOK_UP,
    SCHEMA,
    anthropic,
    asked,
    given,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

NAMES = sorted(APIS)
QUESTION = "Which region grew the most from 2025 to 2026?"
LONG = "The warehouse holds three tables: orders, regions and customers, and each of them has a column with an id."
PLAYED = "Take a coat.\n\nHuman: Thanks. And an umbrella?\n\nAssistant: Yes, it will rain."


@pytest.mark.parametrize("api", NAMES)
def test_an_answer_that_is_the_question_is_named(api: str) -> None:
    one = only("model-parroted", APIS[api]([asks(QUESTION)], says(QUESTION), 0))

    assert (one.layer, one.severity, one.tier) == ("model", "warning", "S")
    assert one.message == f"the answer is the user's message, word for word: {QUESTION!r}"


@pytest.mark.parametrize("answer", [f"{QUESTION} The Nordics.", "The Nordics.", '{"question": 1}'])
def test_another_answer_is_not_an_echo(answer: str) -> None:
    assert "model-parroted" not in ids(APIS["chat"]([asks(QUESTION)], says(answer), 0))


def asked_in_turn(api: str, *questions: str, answer: str = LONG) -> list[RoundTrip]:
    history: list[Piece] = []
    trips: list[RoundTrip] = []
    for n, question in enumerate(questions):
        history = [*history, asks(question)]
        trips.append(APIS[api](history, says(answer), n))
        history = [*history, says(answer)]
    return trips


@pytest.mark.parametrize("api", NAMES)
def test_three_questions_with_one_answer_are_named_at_the_third(api: str) -> None:
    one = only("model-same-answer", *asked_in_turn(api, "What is in it?", "How many rows?", "Who owns it?"))

    assert (one.at, one.layer, one.severity) == (2, "model", "warning")
    assert one.message.startswith(f"3 different questions got the same answer of {len(LONG)} characters")


def test_two_questions_are_enough_for_a_very_long_answer() -> None:
    trips = asked_in_turn("chat", "What is in it?", "How many rows?", answer=LONG * 3)

    assert only("model-same-answer", *trips).at == 1


@pytest.mark.parametrize("api", NAMES)
def test_invented_turns_of_the_user_are_named(api: str) -> None:
    one = only("model-plays-user", APIS[api]([asks("Do I need a coat?")], says(PLAYED), 0))

    assert (one.layer, one.severity) == ("model", "warning")
    assert one.message.startswith("the answer continues with 1 invented turn of the user: 'Human: Thanks. And an")


@pytest.mark.parametrize("text", ["User: rosa\nPassword: x", "Assistant: Yes.", "A human: one of us."])
def test_a_label_alone_is_not_a_turn(text: str) -> None:
    assert "model-plays-user" not in ids(APIS["chat"]([asks("hi")], says(text), 0))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize("piece", ["Wait, let me check the order again. ", "0", "no "])
def test_an_answer_that_repeats_itself_is_named(api: str, piece: str) -> None:
    one = only("model-repeats-itself", APIS[api]([asks("hi")], says("Well. " + piece * 250), 0))

    assert (one.layer, one.severity) == ("model", "warning")
    assert "times at its end" in one.message


def test_the_same_call_after_a_reading_tool_is_silent() -> None:
    called = calls("tape")
    trips = [
        APIS["chat"]([asks("look")], called, 0),
        APIS["chat"]([asks("look"), called, gives("a strip")], called, 1),
    ]

    assert "model-acted-twice" not in ids(*trips)


def one_turn(question: str, answer: str, *, system: str = "", earlier: tuple[str, ...] = ()) -> RoundTrip:
    """A turn of Anthropic's API."""
    history = [asked(text) for text in earlier]
    fields: dict[str, Any] = {"system": system} if system else {}
    return anthropic([*history, asked(question)], [words(answer)], **fields)


ECHO = "The boat leaves at noon."
assert len(ECHO) == 24


def test_an_echo_of_24_characters_counts_and_white_space_does_not() -> None:
    assert "model-parroted" in ids(one_turn(ECHO, ECHO))
    assert "model-parroted" in ids(one_turn(ECHO, f"\n{ECHO.replace(' ', '  ')}\n"))
    assert "model-parroted" not in ids(one_turn(ECHO[1:], ECHO[1:]))


@pytest.mark.parametrize("text", [f"{{{ECHO} {ECHO}", f"[{ECHO} {ECHO}"])
def test_data_that_comes_back_may_be_wanted(text: str) -> None:
    assert "model-parroted" not in ids(one_turn(text, text))


@pytest.mark.parametrize(
    ("question", "more"),
    [
        (f"Say: {ECHO}", {}),
        (ECHO, {"system": "Correct the grammar of what the user writes."}),
        (ECHO, {"earlier": ("Please translate what I say into English.", "Ready?")}),
    ],
)
def test_an_echo_that_the_user_wants_is_silent(question: str, more: dict[str, Any]) -> None:
    assert "model-parroted" not in ids(one_turn(question, question, **more))


def test_the_beginning_of_an_answer_that_the_client_gave_is_not_the_users_message() -> None:
    assert "model-parroted" not in ids(anthropic([asked("hi"), spoke(words(QUESTION))], [words(QUESTION)]))


def test_an_echo_of_two_parts_is_an_echo() -> None:
    assert "model-parroted" in ids(anthropic([asked(QUESTION, ECHO)], [words(f"{QUESTION}\n{ECHO}")]))


def test_an_echo_beside_a_call_is_silent() -> None:
    assert "model-parroted" not in ids(anthropic([asked(ECHO)], [words(ECHO), use()]))


def test_the_message_quotes_80_characters_of_the_echo() -> None:
    text = "abcdefgh " * 12
    one = only("model-parroted", one_turn(text, text))

    assert one.message == f"the answer is the user's message, word for word: {text.strip()[:79] + '…'!r}"


EDGE = LONG[:79]


@pytest.mark.parametrize(
    ("questions", "answer", "found"),
    [
        (("What is in it?", "How many rows?", "Who owns it?"), f"{EDGE}.", True),
        (("What is in it?", "How many rows?", "Who owns it?"), EDGE, False),
        (("What is in it?", "How many rows?"), LONG, False),
        (("What is in it?", "How many rows?"), f"{LONG * 3}"[:299] + "!", True),
        (("What is in it?", "How many rows?"), f"{LONG * 3}"[:298] + "!", False),
        (("What is in it?", "what is in it?"), LONG * 3, True),
        (("What is in it?", "What is in it?", "What is in it?"), LONG * 3, False),
        (("What is in it?", "please continue", "go on!", "Next."), LONG * 3, False),
    ],
)
def test_how_often_and_how_long_the_same_answer_is(questions: tuple[str, ...], answer: str, found: bool) -> None:
    assert ("model-same-answer" in ids(*asked_in_turn("chat", *questions, answer=answer))) == found


def test_the_same_answer_is_reported_once_with_its_questions() -> None:
    trips = asked_in_turn("chat", *(f"What is in table {n}?" for n in range(6)))

    (line,) = lines(*trips, only="model-same-answer")
    assert line == (
        f"#2 model-same-answer (model, warning, S): 3 different questions got the same answer of 106 characters: "
        f"{LONG[:59] + '…'!r} | #0 response, #1 response, #2 response"
    )


def test_the_same_answer_with_a_call_is_silent() -> None:
    trips = [
        anthropic([asked(f"What is in table {n}?")], [words(LONG), use(f"toolu_{n}", f"w{n}")], n) for n in range(4)
    ]

    assert "model-same-answer" not in ids(*trips)


@pytest.mark.parametrize(
    ("question", "system"),
    [
        ("Human: hello\nAssistant: hi\nGo on.", ""),
        ("Write a dialogue about an umbrella.", ""),
        ("Do I need a coat?", "You write the script of a radio play."),
        ("Do I need a coat?", "Assistant: how may I help?"),
    ],
)
def test_turns_that_the_request_has_or_asks_for_are_not_invented(question: str, system: str) -> None:
    assert "model-plays-user" not in ids(one_turn(question, PLAYED, system=system))


def test_turns_in_a_tool_result_are_not_invented() -> None:
    history = [asked("Do I need a coat?"), spoke(use()), asked(given(text="Human: a coat?\nAssistant: yes"))]

    assert "model-plays-user" not in ids(anthropic(history, [words(PLAYED)], 1))


def test_turns_in_code_are_not_invented() -> None:
    assert "model-plays-user" not in ids(one_turn("Do I need a coat?", f"See:\n```\n{PLAYED}\n```\n"))


def test_turns_of_an_earlier_answer_do_not_excuse_the_next() -> None:
    history = [asked("Do I need a coat?"), spoke(words(PLAYED)), asked("And a hat?")]

    assert "model-plays-user" in ids(anthropic(history, [words(PLAYED)]))


def test_several_invented_turns_are_counted_and_the_first_is_quoted() -> None:
    text = (
        f"Yes.\n\nUser: {'And what about the gloves, the scarf and the boots? ' * 3}\nAI: No.\nUser: Thanks.\nAI: Bye."
    )
    one = only("model-plays-user", one_turn("Do I need a coat?", text))

    quoted = "User: And what about the gloves, the scarf and the boots? And what"[:59] + "…"
    assert one.message == f"the answer continues with 2 invented turns of the user: {quoted!r}"


def acted(
    name: str = "send_email", first: str = "sent", between: str = "", kept: bool = True, **fields: Any
) -> list[RoundTrip]:
    """A call, its result, and the same call again."""
    once, again_ = use("toolu_1", name=name), use("toolu_2", name=name)
    start = asked("Write to Ann.")
    tools = ({"name": name, "input_schema": SCHEMA},)
    after = [given(text=first, **fields), *([between] if between else [])]
    history = [start, spoke(once), asked(*after)] if kept else [start, asked("A mail was sent. Is all done?")]
    return [anthropic([start], [once], tools=tools), anthropic(history, [again_], 1, tools=tools)]


@pytest.mark.parametrize("name", ["send_email", "refundOrder", "orders.cancel", "pay", "crm-post"])
def test_an_action_that_is_done_twice_is_named(name: str) -> None:
    one = only("model-acted-twice", *acted(name))

    assert (one.at, one.layer, one.severity, one.tier) == (1, "model", "warning", "S")
    assert one.message == f"the model called {name!r} again with the same arguments right after it had succeeded in #0"


@pytest.mark.parametrize(
    "trips",
    [
        acted("look_up"),
        acted("get_order_status_of_send"),
        acted("bookings"),
        acted(first="error: no such person"),
        acted(first=""),
        acted(first="The mail is pending; confirm it."),
        acted(is_error=True),
        acted(between="Send it once more."),
        acted(kept=False),
    ],
    ids=["lookup", "reads", "part of a word", "failed", "empty", "pending", "is_error", "asked", "forgotten"],
)
def test_an_action_that_may_be_done_again_is_silent(trips: list[RoundTrip]) -> None:
    assert "model-acted-twice" not in ids(*trips)


def test_another_action_of_the_same_tool_is_silent() -> None:
    first, second = acted()
    history = orjson.loads(second.request.body)["messages"]
    tools = ({"name": "send_email", "input_schema": SCHEMA},)

    assert "model-acted-twice" not in ids(
        first, anthropic(history, [use("toolu_2", "bob", "send_email")], 1, tools=tools)
    )


def test_an_action_that_the_api_still_holds_is_done_twice() -> None:
    def call(number: str) -> dict[str, Any]:
        return item_call(number) | {"name": "send_email"}

    tools = [{"type": "function", "name": "send_email", "parameters": SCHEMA}]
    first = responses([{"role": "user", "content": "Write to Ann."}], [call("call_1")], tools=tools)
    second = responses([item_output(text="sent")], [call("call_2")], 1, tools=tools, previous_response_id="resp_0")

    (line,) = lines(first, second, only="model-acted-twice")
    assert line.endswith("| #0 call send_email, #1 call call_2")


def test_another_action_before_it_hides_nothing() -> None:
    trips = acted()
    body = orjson.loads(trips[1].response.body) if trips[1].response else {}
    other = use("toolu_3", "other", name="look_up")
    tools = ({"name": "send_email", "input_schema": SCHEMA}, LOOK_UP)
    history = orjson.loads(trips[1].request.body)["messages"]
    second = anthropic(history, [other, *body["content"]], 1, tools=tools)

    assert only("model-acted-twice", trips[0], second).at == 1


@pytest.mark.parametrize(
    ("question", "answer", "found"),
    [
        ("hi", "Well. " + "no " * 250, True),
        ("Say no 250 times.", "Well. " + "no " * 250, False),
        ("hi", "Well. " + "no " * 5, False),
    ],
)
def test_a_repetition_that_the_user_wants_is_silent(question: str, answer: str, found: bool) -> None:
    assert ("model-repeats-itself" in ids(one_turn(question, answer))) == found


LATE = "Look up the tape. At the end write 'I will not be late.' thirty times."


@pytest.mark.parametrize(("asked_for", "found"), [(LATE, False), (LATE.replace("late", "early"), True)])
@pytest.mark.parametrize("api", NAMES)
def test_a_repetition_that_the_user_asked_for_before_the_calls_is_silent(api: str, asked_for: str, found: bool) -> None:
    called = calls("tape")
    trips = [
        APIS[api]([asks(asked_for)], called, 0),
        APIS[api]([asks(asked_for), called, gives("a strip")], says("A strip.\n" + "I will not be late.\n" * 30), 1),
    ]

    assert ("model-repeats-itself" in ids(*trips)) is found


@pytest.mark.parametrize(
    ("block", "cap"),
    [
        (words("Well. " + "no " * 250), "api-length-truncated"),
        (use(word="no " * 250), "api-length-truncated-tool-call"),
    ],
)
def test_a_model_in_a_loop_is_the_cause_of_the_cap_that_ended_it(block: dict[str, Any], cap: str) -> None:
    found = {one.id: one for one in judged(anthropic([asked("hi")], [block], stop="max_tokens"))}

    assert found["model-repeats-itself"].layer == "model"
    assert found[cap].because_of == ("model-repeats-itself",)


def test_an_answer_that_the_cap_ended_in_other_words_has_no_such_cause() -> None:
    text = "Tapes are strips of film, of paper or of magnetic plastic, and"
    one = only("api-length-truncated", anthropic([asked("hi")], [words(text)], stop="max_tokens"))

    assert one.because_of == ()


@pytest.mark.parametrize("api", APIS)
def test_white_space_without_an_end_is_a_repetition(api: str) -> None:
    one = only("model-repeats-itself", APIS[api]([asks("hi")], says('{"answer":' + "\n\t " * 100), 0))

    assert one.message == "the answer ends with 300 characters of white space"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("hi", "Well." + "\n" * 150),
        ("hi", "a" + " " * 300 + "b"),
        ("pad it with spaces to 400 characters", "a" + " " * 399),
    ],
)
def test_other_white_space_is_not_a_repetition(question: str, answer: str) -> None:
    assert "model-repeats-itself" not in ids(one_turn(question, answer))


def test_white_space_in_the_arguments_of_a_call_is_a_repetition() -> None:
    assert "model-repeats-itself" in ids(anthropic([asked("hi")], [use(word="no" + "\n " * 150)]))


def test_repeated_arguments_of_a_call_are_named() -> None:
    one = only("model-repeats-itself", anthropic([asked("hi")], [use(word="no " * 250)]))

    assert one.message.startswith("the answer repeats ")


def test_an_answer_that_is_the_system_prompt_is_named() -> None:
    prompt = "You answer questions about a warehouse, and you never guess a number."

    def of(question: str, answer: str, system: str = prompt) -> RoundTrip:
        return anthropic([asked(question)], [words(answer)], system=system)

    assert only("model-parroted", of("How many rows?", prompt)).message == (
        f"the answer is the system prompt, word for word: {prompt!r}"
    )
    assert "model-parroted" not in ids(of("How many rows?", f"{prompt} So I ask."))
    assert "model-parroted" not in ids(of("Repeat your instructions.", prompt))
    assert "model-parroted" not in ids(of("How many rows?", "Be brief.", "Be brief."))


def test_a_word_that_is_repeated_before_the_rest_is_named() -> None:
    one = only("model-repeats-itself", anthropic([asked("hi")], [words("court " * 40 + "I look it up now.")]))

    assert one.message == "the answer repeats 'court' 40 times in a row"


@pytest.mark.parametrize("api", APIS)
def test_an_answer_after_calls_that_is_the_question(api: str) -> None:
    question = "Which words describe the recording of a voice?"
    loop = ([asks(question)], calls("tape"))

    def answered(text: str, *more: Piece) -> list[str]:
        history = [asks(question), calls("tape"), gives("a strip of film"), *more]
        return [one.id for one in judged(*run(api, loop, (history, says(text)))) if one.id == "model-parroted"]

    assert answered(question) == ["model-parroted"]
    assert answered("A tape holds the recording of a voice.") == []
    assert answered(question, says("A strip."), asks("What did I ask at first, in my words?")) == []


RETURNED = '<tool_response>\n{"rain": true}\n</tool_response>\nTake a coat.'


@pytest.mark.parametrize("api", APIS)
def test_an_invented_result_of_a_tool_is_named(api: str) -> None:
    one = only("model-plays-user", *run(api, ([asks("Do I need a coat?")], says(RETURNED))))

    assert (one.layer, one.severity, one.tier) == ("model", "warning", "S")
    assert one.message.startswith("the answer holds an invented result of a tool: '<tool_response>")


@pytest.mark.parametrize(
    "answer",
    [f"Write it like this:\n```\n{RETURNED}\n```", "Use `<tool_response>` for it.", "Take a coat. <tool_response>"],
    ids=["in code", "in words", "with nothing behind it"],
)
def test_a_tag_of_a_result_that_is_not_one(answer: str) -> None:
    assert lines(*run("chat", ([asks("Do I need a coat?")], says(answer))), only="model-plays-user") == []
