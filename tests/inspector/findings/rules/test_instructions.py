"""A system prompt that disappears in the middle of a run."""

from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import (
    anthropic,
    asked,
    calls,
    gemini,
    given,
    gives,
    ids,
    item_call,
    item_output,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)
from round_trips import GEMINI

from turntape.cassettes.tape.model import RoundTrip

NAME = "client-system-prompt-lost"
PROMPT = "You look words up. Quote the dictionary."
SYSTEM = {"role": "system", "content": PROMPT}
CALLED = said(None, CALL)
GIVEN = result("call_1", "a strip")


def with_gemini(*, again: bool) -> list[RoundTrip]:
    asking = turn("user", {"text": "what is a tape?"})
    history = [asking, turn("model", calls()), turn("user", gives())]
    made = [gemini([asking], [calls()]), gemini(history, [{"text": "A strip."}], 1)]
    held = {"systemInstruction": {"parts": [{"text": PROMPT}]}}
    return [with_fields(one, held) if n == 0 or again else one for n, one in enumerate(made)]


def with_fields(one: RoundTrip, fields: dict[str, Any]) -> RoundTrip:
    body = orjson.loads(one.request.body) | fields
    assert one.response is not None
    return trip(GEMINI, body, orjson.loads(one.response.body), one.index)


def loops(*, again: bool) -> dict[str, list[RoundTrip]]:
    """A call and its result under a system prompt, which the second request holds again or does not."""
    kept: list[dict[str, Any]] = [SYSTEM] if again else []
    ask = asked("what is a tape?")
    back = [ask, spoke(use()), asked(given())]
    items = [user("what is a tape?"), item_call(), item_output()]
    said_: dict[str, Any] = {"system": PROMPT}
    fields: dict[str, Any] = {"instructions": PROMPT}
    return {
        "chat": [chat([SYSTEM, HELLO], CALLED), chat([*kept, HELLO, CALLED, GIVEN], said("x"), index=1)],
        "anthropic": [anthropic([ask], [use()], **said_), anthropic(back, [words("x")], 1, **(said_ if again else {}))],
        "responses": [
            responses(items[:1], [item_call()], **fields),
            responses(items, [], 1, **(fields if again else {})),
        ],
        "gemini": with_gemini(again=again),
    }


@pytest.mark.parametrize("api", loops(again=True))
def test_a_lost_system_prompt_is_reported_in_every_api(api: str) -> None:
    one = only(NAME, *loops(again=False)[api])

    assert (one.layer, one.severity, one.tier, one.at) == ("client", "warning", "S", 1)


@pytest.mark.parametrize("api", loops(again=True))
def test_a_system_prompt_that_stays_is_not(api: str) -> None:
    assert NAME not in ids(*loops(again=True)[api])


def test_the_message_quotes_the_prompt() -> None:
    assert lines(*loops(again=False)["chat"], only=NAME) == [
        f"#1 {NAME} (client, warning, S): the request continues #0 without its system prompt of 40 characters: "
        f"{PROMPT!r} | #0 request /messages/0/content, #1 request"
    ]


def test_another_prompt_is_not_a_lost_one() -> None:
    other = {"role": "system", "content": "You are brief."}

    assert NAME not in ids(
        chat([SYSTEM, HELLO], CALLED), chat([other, HELLO, CALLED, GIVEN], said("A strip."), index=1)
    )


def test_a_run_without_a_prompt_loses_none() -> None:
    assert NAME not in ids(chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], said("A strip."), index=1))


def test_an_empty_prompt_is_not_a_prompt() -> None:
    empty = {"role": "system", "content": " \n"}

    assert NAME not in ids(chat([empty, HELLO], CALLED), chat([HELLO, CALLED, GIVEN], said("A strip."), index=1))


def continued(first: dict[str, Any], **second: Any) -> list[str]:
    """Turns that the API holds: the first with these fields, the second with a result and those."""
    items = [*first.pop("before", []), user("what is a tape?")]
    opened = responses(items, [item_call()], **first)
    return lines(opened, responses([item_output()], [], 1, previous_response_id="resp_0", **second), only=NAME)


def test_an_api_that_holds_the_conversation_forgets_the_field_for_instructions() -> None:
    assert continued({"instructions": PROMPT}) == [
        f"#1 {NAME} (client, warning, S): the request continues #0 without its system prompt of {len(PROMPT)} "
        f"characters: {PROMPT!r} | #0 request /instructions, #1 request"
    ]
    assert continued({"instructions": PROMPT}, instructions=PROMPT) == []
    assert continued({"before": [SYSTEM]}) == []
    assert continued({}) == []


LONG = "You handle tickets of a shop. Look up each order first. Never invent data, and ask when you are unsure. " * 2


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (LONG[:70], True),
        (LONG[:30], False),
        (LONG[:29], False),
        (LONG[:72], True),
        (LONG[: len(LONG) - 100], True),
        (LONG[: len(LONG) - 99], True),
        (LONG[: len(LONG) - 93], True),
        (LONG[: len(LONG) - 12], True),
        (LONG[: len(LONG) - 9], False),
        (LONG, False),
        ("Be brief.", False),
    ],
    ids=[
        "in a word",
        "a sentence and a blank",
        "a sentence",
        "words",
        "100 are missing",
        "99 in a word",
        "93",
        "12",
        "9, a word",
        "whole",
        "another",
    ],
)
def test_a_system_prompt_that_is_cut_off_inside_a_sentence(kept: str, found: bool) -> None:
    cut = [chat([{"role": "system", "content": LONG}, HELLO], CALLED),
           chat([{"role": "system", "content": kept}, HELLO, CALLED, GIVEN], said("x"), index=1)]  # fmt: skip

    reported = lines(*cut, only=NAME)
    assert bool(reported) is found
    if kept == LONG[:70]:
        assert reported == [
            f"#1 {NAME} (client, warning, S): the system prompt of #0 is cut off inside a sentence: "
            f"{len(LONG) - 70} of its {len(LONG)} characters are missing, and it ends with {LONG[30:70]!r} | "
            "#0 request system, #1 request system"
        ]


CHOSEN = 'You look words up in the dictionary that the user has chosen.\nQuote it.\nBe brief.\nBe kind, "always".'


@pytest.mark.parametrize(
    ("now", "reported"),
    [
        (CHOSEN[10:], "has lost its beginning: 10 of its"),
        (f"{CHOSEN}{CHOSEN}", "is now said twice"),
        (CHOSEN.replace('"', "&quot;"), "is now HTML-escaped"),
        (str(CHOSEN.encode()), "is now as Python writes bytes"),
        ("".join(CHOSEN.split()), "lost its spaces"),
        (CHOSEN.replace("\n", " "), "lost its line breaks"),
        (CHOSEN.replace("kind", "polite"), None),
        (f"{CHOSEN}\nThe time is 10:01.", None),
        (CHOSEN, None),
    ],
)
def test_a_prompt_that_a_program_damaged(now: str, reported: str | None) -> None:
    one, two = ({"role": "system", "content": text} for text in (CHOSEN, now))
    found = lines(chat([one, HELLO], CALLED), chat([two, HELLO, CALLED, GIVEN], said("x"), index=1), only=NAME)
    assert [reported is not None and reported in line for line in found] == ([True] if reported else [])


def as_the_users() -> dict[str, list[RoundTrip]]:
    """The loops in which the second request holds the system prompt as a message of the user."""
    ask = asked("what is a tape?")
    back = [asked(PROMPT), ask, spoke(use()), asked(given())]
    items = [user("what is a tape?"), item_call(), item_output()]
    asking, prompt = turn("user", {"text": "what is a tape?"}), turn("user", {"text": PROMPT})
    held = {"systemInstruction": {"parts": [{"text": PROMPT}]}}
    history = [prompt, asking, turn("model", calls()), turn("user", gives())]
    return {
        "chat": [chat([SYSTEM, HELLO], CALLED), chat([user(PROMPT), HELLO, CALLED, GIVEN], said("x"), index=1)],
        "anthropic": [anthropic([ask], [use()], system=PROMPT), anthropic(back, [words("x")], 1)],
        "responses": [
            responses(items[:1], [item_call()], instructions=PROMPT),
            responses([user(PROMPT), *items], [], 1),
        ],
        "gemini": [with_fields(gemini([asking], [calls()]), held), gemini(history, [{"text": "A strip."}], 1)],
    }


@pytest.mark.parametrize("api", as_the_users())
def test_a_system_prompt_that_comes_as_the_users_message_has_lost_its_role(api: str) -> None:
    one = only(NAME, *as_the_users()[api])

    assert (one.layer, one.severity, one.at) == ("client", "warning", 1)
    assert one.message == f"the system prompt of #0 comes as a message of the user: {PROMPT!r}"


def test_another_model_may_know_no_system_prompt() -> None:
    first, second = as_the_users()["chat"]
    assert second.response is not None
    body = orjson.loads(second.request.body) | {"model": "o1-mini"}
    other = trip(second.request.url, body, orjson.loads(second.response.body), 1)

    assert NAME not in ids(first, other)


def test_a_user_who_said_the_prompt_before_says_it_again() -> None:
    trips = [chat([SYSTEM, user(PROMPT)], CALLED), chat([user(PROMPT), CALLED, GIVEN], said("x"), index=1)]

    assert NAME not in ids(*trips)


POET = "Speak as a poet of old. Every line that is written must rhyme."
MODES = "You look words up, but now in an encyclopedia. Never quote it."
"""Another version of `PROMPT`."""


def replaced(now: str = POET, **second: Any) -> dict[str, list[RoundTrip]]:
    """A call and its result, each under a separate system prompt."""
    ask = asked("what is a tape?")
    back = [ask, spoke(use()), asked(given())]
    items = [user("what is a tape?"), item_call(), item_output()]
    made = with_gemini(again=True)
    return {
        "chat": [
            chat([SYSTEM, HELLO], CALLED),
            chat([{"role": "system", "content": now}, HELLO, CALLED, GIVEN], said("x"), index=1, **second),
        ],
        "anthropic": [anthropic([ask], [use()], system=PROMPT), anthropic(back, [words("x")], 1, system=now)],
        "responses": [
            responses(items[:1], [item_call()], instructions=PROMPT),
            responses(items, [], 1, instructions=now),
        ],
        "gemini": [made[0], with_fields(made[1], {"systemInstruction": {"parts": [{"text": now}]}})],
    }


@pytest.mark.parametrize("api", replaced())
def test_another_prompt_between_a_call_and_its_result_is_reported_in_every_api(api: str) -> None:
    one = only(NAME, *replaced()[api])

    assert (one.layer, one.severity, one.tier, one.at) == ("client", "warning", "S", 1)
    assert "another system prompt is in the place of that of #0, between a call and its result: " in one.message


@pytest.mark.parametrize("api", replaced())
def test_a_new_version_of_the_prompt_is_not_another_one(api: str) -> None:
    assert NAME not in ids(*replaced(MODES)[api])


@pytest.mark.parametrize("second", [{"tools": None}, {"model": "gpt-5-mini"}])
def test_another_prompt_with_other_tools_or_another_model_is_another_agent(second: dict[str, Any]) -> None:
    assert NAME not in ids(*replaced(**second)["chat"])


def test_another_prompt_for_the_next_question_is_a_choice_of_the_client() -> None:
    answer = said("It is a strip of plastic that holds the recording of a voice.")
    poet = {"role": "system", "content": POET}

    assert NAME not in ids(
        chat([SYSTEM, HELLO], answer), chat([poet, HELLO, answer, user("and a reel?")], said("x"), index=1)
    )


def test_another_prompt_leaves_the_first_one_in_a_message() -> None:
    poet = {"role": "system", "content": POET}
    asked_ = user(f"{PROMPT} {HELLO['content']}")

    assert NAME not in ids(chat([SYSTEM, asked_], CALLED), chat([poet, asked_, CALLED, GIVEN], said("x"), index=1))
