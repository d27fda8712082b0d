"""Histories that are sent twice, in every API, and repetitions that are not a fault."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said
from dialogues import APIS, Piece, asks, calls, gives, held, run, says
from judged import anthropic, asked, ids, lines, responses, words

DOUBLED = "client-history-duplicated"
QUESTION = "Which words describe the recording of a voice on a thin strip?"
WORD = "a strip that holds a recording"
LONG = "a strip on which a machine records what a person says"
OPENED = [asks(QUESTION)]
LOOKED = [*OPENED, calls(LONG), gives(WORD)]
DONE = says("It is a tape, a strip that holds the recording of a voice for a machine to read.")


def sent_twice(api: str, *history: Piece) -> list[str]:
    return lines(*run(api, (OPENED, calls(LONG)), (history, DONE)), only=DOUBLED)


@pytest.mark.parametrize("api", APIS)
def test_a_history_that_is_sent_twice_is_found_in_every_api(api: str) -> None:
    [line] = sent_twice(api, *LOOKED, *LOOKED)

    assert line.startswith(
        f"#1 {DOUBLED} (client, warning, P): 3 pieces of the history are sent again, although it is in the request "
        f"already; the first: {QUESTION[:60]!r} | #0 request, #1 request /"
    )
    assert sent_twice(api, *LOOKED) == []


@pytest.mark.parametrize("api", APIS)
def test_the_copy_may_lack_the_last_result_or_have_more(api: str) -> None:
    assert sent_twice(api, *LOOKED, *LOOKED, asks("Well?")) != []
    longer = [*LOOKED, says("It is a strip, on which a machine records voices for people to hear.")]
    turns = [(OPENED, calls(LONG)), (LOOKED, longer[-1]), ([*LOOKED, *longer, asks("Well?")], DONE)]
    [line] = lines(*run(api, *turns), only=DOUBLED)
    assert line.startswith("#2 ")


def test_a_run_of_two_pieces_is_not_a_copy() -> None:
    assert sent_twice("gemini", *LOOKED, asks(QUESTION), calls(LONG)) == []
    assert sent_twice("gemini", *LOOKED, asks(QUESTION), calls(LONG), gives(WORD)) != []


def test_calls_that_repeat_without_a_question_are_the_models() -> None:
    again = [calls(LONG), gives(WORD)]

    assert sent_twice("gemini", *LOOKED, *again, *again) == []


def test_a_user_who_asks_again_and_gets_the_same_answers_is_fine() -> None:
    first, second = says("It is a thin strip that holds sound."), says("It is a strip that a machine reads.")
    round_ = [asks("what is a tape?"), first, asks("and what is a strip?"), second]
    histories = [[*round_, *round_, asks("why?")][: count * 2 + 1] for count in range(5)]
    turns = [(history, (first, second)[place % 2]) for place, history in enumerate(histories)]

    for api in APIS:
        assert lines(*run(api, *turns), only=DOUBLED) == []


def test_a_first_request_may_have_anything() -> None:
    for api in APIS:
        assert DOUBLED not in ids(*run(api, ([*LOOKED, *LOOKED], DONE)))


def test_it_is_said_once_for_a_thread() -> None:
    twice = [*LOOKED, *LOOKED]
    turns = [(OPENED, calls(LONG)), (twice, calls("reel")), ([*twice, calls("reel"), gives("x"), *twice], DONE)]

    assert len(lines(*run("gemini", *turns), only=DOUBLED)) == 1


def test_calls_with_ids_are_echoes_of_the_copy() -> None:
    reported = lines(*run("chat", (OPENED, calls(LONG)), ([*LOOKED, *LOOKED], DONE)), only="client-duplicate")

    assert [line.rpartition(" | ")[2] for line in reported] == [f"because of {DOUBLED}"] * len(reported)
    assert len(reported) >= 1


def continued(*pieces: Piece) -> list[str]:
    first = run("responses", (OPENED, calls("tape")))[0]
    return lines(first, held(pieces, DONE, 1, 0), only=DOUBLED)


def test_a_history_that_the_api_holds_is_not_to_be_sent() -> None:
    call, given = calls("tape"), gives(WORD)

    assert continued(asks(QUESTION), call, given) == [
        f"#1 {DOUBLED} (client, warning, P): 2 pieces of the history are sent again, although the API holds it under "
        f"resp_0; the first: {QUESTION[:60]!r} | #0 request, #1 request /input/0/content, #1 request /input/1"
    ]
    [again] = continued(call, given)
    assert "1 piece of the history is sent again" in again and "a call of 'look_up'" in again
    assert continued(asks(QUESTION), given) == []
    assert continued(given) == []


def test_another_answer_than_the_last_one_may_need_its_history() -> None:
    first, second = run("responses", (OPENED, calls("tape")), (LOOKED, says("Wait a moment.")))
    other = held([asks(QUESTION), calls("tape"), gives(WORD)], DONE, 2, 0)

    assert lines(first, second, other, only=DOUBLED) == []


def test_a_call_under_another_id_is_another_call() -> None:
    first = run("responses", (OPENED, calls("tape")))[0]
    more = held([asks(QUESTION), calls("tapes"), gives(WORD)], DONE, 1, 0)

    assert lines(first, more, only=DOUBLED) == []


SYSTEM = "You look words up and answer in one sentence. Quote the dictionary that you used, and its year."
REPEATED = "client-system-prompt-repeated"
MESSAGES = "client-user-message-repeated"


def system(count: int, text: str = SYSTEM) -> list[dict[str, Any]]:
    return [{"role": "system", "content": text}] * count


def test_a_system_prompt_that_is_sent_twice() -> None:
    assert len(SYSTEM) < 100
    prompt = SYSTEM * 2
    one = chat([*system(2, prompt), HELLO], said("It is a strip."))

    assert lines(one, only=REPEATED) == [
        f"#0 {REPEATED} (client, warning, P): the request holds the same system prompt 2 times, of 190 characters "
        f"each: {SYSTEM[:59] + '…'!r} | #0 request /messages/0/content, #0 request /messages/1/content"
    ]
    assert lines(chat([*system(1, prompt), HELLO], said("x")), only=REPEATED) == []
    assert ids(chat([*system(2), HELLO], said("x"))) == {REPEATED}
    assert lines(chat([*system(2, "Be brief."), HELLO], said("x")), only=REPEATED) == []
    assert lines(chat([*system(1, prompt), *system(1, prompt + "!"), HELLO], said("x")), only=REPEATED) == []


def test_a_system_prompt_that_grows_is_reported_for_each_number_of_copies() -> None:
    call, given = said(None, CALL), result("call_1", "a strip")
    second = [HELLO, call, given]
    turns = [
        chat([*system(1, SYSTEM * 2), HELLO], call),
        chat([*system(2, SYSTEM * 2), *second], said(None, ("call_2", "look_up", "{}")), index=1),
        chat(
            [*system(2, SYSTEM * 2), *second, said(None, ("call_2", "look_up", "{}")), result("call_2", "x")], index=2
        ),
    ]

    assert [line[:2] for line in lines(*turns, only=REPEATED)] == ["#1"]


def test_a_field_for_the_prompt_counts_with_the_messages() -> None:
    prompt = SYSTEM * 2
    one = responses([*system(1, prompt), HELLO], [], instructions=prompt)

    assert "2 times" in lines(one, only=REPEATED)[0]
    blocks = [{"type": "text", "text": prompt}] * 3
    assert "3 times" in lines(anthropic([asked("hi")], [words("x")], system=blocks), only=REPEATED)[0]


@pytest.mark.parametrize("api", APIS)
def test_messages_of_the_user_that_are_there_twice(api: str) -> None:
    twice = [asks("What is a tape?"), asks("What is a tape?"), DONE, asks("And a strip?"), asks("And a strip?")]

    [line] = lines(*run(api, (twice, DONE)), only=MESSAGES)
    assert line.startswith(
        f"#0 {MESSAGES} (client, warning, P): 2 messages of the user are in the request twice in a row, the first: "
        "'What is a tape?' | #0 request /"
    )
    assert lines(*run(api, (twice[1:], DONE)), only=MESSAGES) == []


@pytest.mark.parametrize("api", APIS)
def test_a_question_that_comes_again_after_each_result(api: str) -> None:
    history = [*LOOKED, OPENED[0], calls("reel"), gives("a reel"), OPENED[0]]

    [line] = lines(*run(api, (history, DONE)), only=MESSAGES)
    assert line.startswith(
        f"#0 {MESSAGES} (client, warning, P): the first message of the user comes again after 2 results: "
    )
    [once] = lines(*run(api, (history[:4], DONE)), only=MESSAGES)
    assert once.startswith(
        f"#0 {MESSAGES} (client, info, P): the first message of the user comes again after 1 result: "
    )
    assert lines(*run(api, ([asks("Hello."), *history[1:-1], asks("Hi.")], DONE)), only=MESSAGES) == []


def test_a_message_alone_repeats_nothing() -> None:
    ask = {"role": "user", "content": "What is the oldest kind of magnetic tape?"}
    first, second = responses([ask], []), responses([ask], [], 1, previous_response_id="resp_0")

    assert lines(first, second, only=MESSAGES) == []


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("gap", "severity"), [(4.0, "warning"), (16.0, "info")])
def test_a_retry_that_appends_the_message_once_more(api: str, gap: float, severity: str) -> None:
    opened = [*LOOKED, DONE, asks("And what is a reel?")]
    earlier = run(api, (OPENED, calls(LONG)), (LOOKED, DONE))
    first = APIS[api](opened, DONE, 2)
    response = first.response
    assert response is not None
    error = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    failed = replace(first, response=replace(response, status=503, content=error, chunks=()))

    def retried(*history: Piece) -> list[str]:
        again = replace(APIS[api]([*opened, *history], DONE, 3), started_at=first.started_at + gap)
        return lines(*earlier, failed, again, only=MESSAGES)

    [line] = retried(opened[-1])
    assert line.startswith(
        f"#3 {MESSAGES} (client, {severity}, P): the retry of #2 holds the last message of the user twice: "
    )
    assert retried() == []
    assert retried(asks("Are you there?")) == []


@pytest.mark.parametrize("api", APIS)
def test_a_retry_of_a_first_request_that_appends_the_message_once_more(api: str) -> None:
    first = APIS[api](OPENED, DONE, 0)
    assert first.response is not None
    failed = replace(first, response=replace(first.response, status=503, content=b"{}", chunks=()))
    again = replace(APIS[api]([*OPENED, OPENED[-1]], DONE, 1), started_at=first.started_at + 4)

    [line] = lines(failed, again, only=MESSAGES)
    assert line.startswith(
        f"#1 {MESSAGES} (client, warning, P): the retry of #0 holds the last message of the user twice"
    )
    assert lines(first, again, only=MESSAGES) != [line]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["What is a tape?"] * 2, True),
        (["Be brief.", *["What is a tape?"] * 2], True),
        (["Why not?"] * 2, False),
        (["What is a tape?", "What is a reel?"], False),
        ([*["What is a tape?"] * 2, "Be brief."], False),
    ],
)
def test_a_first_request_that_holds_its_message_twice(api: str, texts: list[str], found: bool) -> None:
    once = run(api, ([asks(text) for text in texts], says("A strip of film.")))
    reported = lines(*once, only="client-user-message-repeated")
    assert ["the first request holds the user's message twice: 'What is a tape?'" in line for line in reported] == (
        [True] if found else []
    )
