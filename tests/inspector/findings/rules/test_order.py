"""Pieces of a history that come in another order than they were said."""

import pytest
from dialogues import APIS, Piece, asks, run, says
from judged import lines

QUESTION, ANSWER = "Which words describe the recording of a voice?", "It is a strip of film that holds the recording."
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
