"""What the counts of a recording teach of a model."""

import pytest
from conversations import chat, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Ledger, ledger_of
from turntape.inspector.run.labels import label_all

ROLE, FORM = 9, 12
"""Tokens around each message, and around a call."""
ODD = {"odd words of this result that come twice and are like no other": 50}
"""Texts with more tokens than words."""


def run(*results: tuple[str, ...]) -> Ledger:
    """A run of a model that counts a token for each word; each turn brings these results."""
    messages, total, trips = [user("find the tape")], 100, list[RoundTrip]()
    for number, texts in enumerate((*results, ())):
        calls = [(f"call_{number}_{n}", "look_up", '{"word":"tape"}') for n in range(len(texts))]
        spoken = len(texts) * FORM or 1
        answer = said(None, *calls) if calls else said("done")
        trips.append(chat(messages, answer, index=number, usage=(total, spoken + 1)))
        messages = [*messages, answer, *(result(call[0], text) for call, text in zip(calls, texts, strict=True))]
        total += spoken + ROLE + sum(ODD.get(text, len(text.split())) + ROLE for text in texts)
    return ledger_of(label_all(trips))


def newest(made: Ledger, count: int) -> list[int]:
    return [use.tokens.value for use in made.turns[-1].uses[-count:] if use.tokens]


def test_a_text_that_was_alone_once_has_the_same_tokens_beside_another() -> None:
    """By its shape it would have many fewer: no other words of this tokenizer have so many tokens."""
    odd = next(iter(ODD))
    made = run((odd,), *(("some words " * n,) for n in range(5, 50, 5)), (odd, "other words of another one " * 20))

    first, second = newest(made, 2)
    assert first == pytest.approx(ODD[odd] + ROLE, abs=4)
    assert second == pytest.approx(100 + ROLE, abs=4)


def test_what_is_around_a_result_and_around_an_answer_are_alike() -> None:
    made = run(*((text,) for text in ("ok", "some words here", "done", "nothing found", "ok then", "yes")))

    assert newest(made, 1) == [pytest.approx(1 + ROLE, abs=1)]
