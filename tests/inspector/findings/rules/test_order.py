"""Pieces of a history that come in another order than they were said."""

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from dialogues import APIS, Piece, asks, calls, gives, run, says
from judged import calls as calls_of
from judged import gemini, lines, turn
from judged import gives as gives_of

ASKED = turn("user", {"text": "What is a tape, and what is a reel?"})
QUESTION, ANSWER = "Which words describe the recording of a voice?", "It is a strip of film that holds the recording."
NOTE = "The state of the editor: nothing is open in it."
OPENED = [asks(QUESTION), says(ANSWER), asks("And a reel?")]


def ordered(api: str, answer: Piece, *history: Piece) -> list[str]:
    both = run(api, ([asks(QUESTION)], answer), (history, says("A reel is a wheel that holds the film.")))
    return [line.partition(" | ")[0] for line in lines(*both, only="client-history-reordered")]


@pytest.mark.parametrize("api", APIS)
def test_a_new_message_in_front_of_the_answer_that_it_follows(api: str) -> None:
    assert ordered(api, OPENED[1], OPENED[0], OPENED[2], OPENED[1]) == [
        "#1 client-history-reordered (client, warning, P): the new message of the user comes before the answer of #0: "
        "'And a reel?'"
    ]
    assert ordered(api, OPENED[1], *OPENED) == []
    assert ordered(api, OPENED[1], *OPENED[:2]) == []


def test_a_new_result_with_the_words_of_an_old_one_has_not_moved() -> None:
    """A window leaves the first call and its result behind; the second call is the same and has the same result."""
    first, again = said(None, CALL), said(None, ("call_2", *CALL[1:]))
    kept = [said("It is a strip."), user("And what is a reel? Look both up.")]
    trips = (
        chat([HELLO, first, result("call_1", "a strip"), *kept], again),
        chat([*kept, again, result("call_2", "a strip")], said("It is a wheel."), index=1),
    )

    assert lines(*trips, only="client-history-reordered") == []


@pytest.mark.parametrize("api", APIS)
def test_a_question_behind_the_answer_to_it_is_more_than_an_info(api: str) -> None:
    def moved(*history: Piece) -> list[str]:
        both = run(api, ([asks(QUESTION), asks(NOTE)], calls("tape")), (history, says(ANSWER)))
        return [line.partition(")")[0] for line in lines(*both, only="client-history-reordered")]

    loop = (calls("tape"), gives("a strip"))

    assert moved(*loop, asks(QUESTION), asks(NOTE)) == ["#1 client-history-reordered (client, warning, P"]
    assert moved(asks(NOTE), asks(QUESTION), *loop) == ["#1 client-history-reordered (client, info, P"]
    assert moved(asks(QUESTION), *loop, asks(NOTE)) in ([], ["#1 client-history-reordered (client, info, P"])


def test_a_result_in_front_of_its_call_names_both_places() -> None:
    called, given = said(None, CALL), result("call_1", "a strip")
    early = chat([HELLO, given, called, user("And?")], said("It is a strip."), index=1)
    healthy = chat([HELLO, called, given], said("It is a strip."), index=1)

    assert lines(chat([HELLO], called), early, only="client-history-reordered") == [
        "#1 client-history-reordered (client, warning, P): the result of call_1 comes before its call | "
        "#1 request /messages/1, #1 request /messages/2/tool_calls/0"
    ]
    assert lines(early, only="client-history-reordered") != [], "the first request of a thread as well"
    assert lines(chat([HELLO], called), healthy, only="client-history-reordered") == []


def test_several_pieces_that_moved_are_one_finding() -> None:
    one, two = [asks("One?"), says("It is one strip.")], [asks("Two?"), says("It is two strips.")]
    loop = [asks(QUESTION), calls("tape"), gives("a strip")]
    both = run("chat", ([*one, *two, loop[0]], loop[1]), ([*two, *one, *loop], says(ANSWER)))

    assert lines(*both, only="client-history-reordered") == [
        "#1 client-history-reordered (client, warning, P): 2 pieces of the history have moved, the first: 'Two?' | "
        "#0 request /messages/2/content, #1 request /messages/0/content"
    ]


def test_an_image_of_the_user_that_is_shown_again_is_an_info() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    text = {"type": "text", "text": "What is it?"}
    call = said(None, CALL)

    def shown(*history: object) -> list[str]:
        trips = chat([{"role": "user", "content": [text, image]}], call), chat([*history], said("A strip."), index=1)  # type: ignore[list-item]
        return [line.partition(":")[0] for line in lines(*trips, only="client-history-reordered")]

    again = {"role": "user", "content": [{"type": "text", "text": "Only use the result."}, image]}
    assert shown(call, result("call_1", "a strip"), again) == ["#1 client-history-reordered (client, info, P)"]


def test_calls_of_one_tool_without_ids_must_keep_their_order() -> None:
    """Without ids, only the places say which result is whose."""
    both = [calls_of("tape"), calls_of("reel")]
    given = turn("user", gives_of("a strip"), gives_of("a wheel"))
    opened = gemini([ASKED], both)

    kept = gemini([ASKED, turn("model", *both), given], [{"text": "x"}], 1)
    swapped = gemini([ASKED, turn("model", *reversed(both)), given], [{"text": "x"}], 1)

    assert lines(opened, kept, only="client-history-reordered") == []
    assert [line[:50] for line in lines(opened, swapped, only="client-history-reordered")] == [
        "#1 client-history-reordered (client, warning, P): "
    ]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("step", [[says(ANSWER), asks("And a can?")], [calls("tape"), gives("a strip of film")]])
def test_a_new_message_in_front_of_an_answer_with_more_behind_it(api: str, step: list[Piece]) -> None:
    assert ordered(api, step[0], OPENED[0], OPENED[2], *step) == [
        "#1 client-history-reordered (client, warning, P): the new message of the user comes before the answer of #0: "
        "'And a reel?'"
    ]
    assert ordered(api, step[0], OPENED[0], *step, OPENED[2]) == []
    assert ordered(api, step[0], asks(NOTE), OPENED[0], *step) == []


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_joins_the_one_behind_the_next_question(api: str) -> None:
    """The second question was sent while the first was being answered, and both answers come behind it."""
    second = says("A reel is a wheel that holds the film.")
    both = (([asks(QUESTION)], says(ANSWER)), ([asks(QUESTION), OPENED[2]], second))

    def third(*history: Piece) -> list[str]:
        found = lines(*run(api, *both, (history, says("A box."))), only="client-")
        return [line.partition(" | ")[0] for line in found if line.startswith("#2") and ", info," not in line]

    late = third(asks(QUESTION), OPENED[2], says(ANSWER), second, asks("And a can?"))
    assert late == [
        "#2 client-history-reordered (client, warning, P): the answer of #0 was left out of #1 and now comes behind "
        f"the message that follows it: {ANSWER[:60]!r}"
    ]
    strange = third(asks(QUESTION), OPENED[2], says("Nobody has ever seen one."), second, asks("And a can?"))
    assert "#2 client-forged-answer" in [line.partition(" (")[0] for line in strange]
