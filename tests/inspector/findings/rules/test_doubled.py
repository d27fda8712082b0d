"""Histories that are sent twice, in every API, and repetitions that are no fault."""

import pytest
from judged import ids, lines
from told import APIS, Piece, asks, calls, gives, held, run, says

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


def test_a_run_of_two_pieces_is_no_copy() -> None:
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
    assert continued(call, given) == []
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
