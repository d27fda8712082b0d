"""What the user said must stay in the history, in whatever words."""

from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
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
    responses,
    spoke,
    turn,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

LOST = "client-user-text-lost"
CALLED = said(None, CALL)
GIVEN = result("call_1", "a strip")
DONE = said("It is a strip.")
ASK = user("Which words describe the recording of a voice on a thin strip?")
SYSTEM = {"role": "system", "content": "You look words up."}


def follows(*history: dict[str, Any], ask: dict[str, Any] = HELLO) -> list[RoundTrip]:
    return [chat([ask], CALLED), chat([*history], DONE, index=1)]


def lost(*trips: RoundTrip) -> list[str]:
    return lines(*trips, only=LOST)


def test_a_question_that_is_left_out_is_lost_and_is_the_only_finding_about_it() -> None:
    assert lines(*follows(CALLED, GIVEN), only="client-") == [
        f"#1 {LOST} (client, warning, P): the request contains none of the user's words: 1 text of #0 (15 characters) "
        "is missing, 'what is a tape?' | #0 request /messages/0/content, #1 request"
    ]
    assert lost(*follows(HELLO, CALLED, GIVEN)) == []


def test_a_word_that_asks_on_does_not_replace_a_question() -> None:
    assert lost(*follows(user("Continue."), CALLED, GIVEN)) == [
        f"#1 {LOST} (client, warning, S): the request contains none of the user's words: 1 text of #0 (15 characters) "
        "is missing, 'what is a tape?', and only 'Continue.' replaces it | #0 request /messages/0/content, #1 request"
    ]
    [line] = lost(*follows(CALLED, GIVEN, user("Continue.")))
    assert "and only 'Continue.' replaces it" in line


def test_several_texts_are_counted() -> None:
    opened = chat([HELLO, said("Of what kind?"), ASK], CALLED)

    [line] = lost(opened, chat([said("Of what kind?"), CALLED, GIVEN], DONE, index=1))
    assert "2 texts of #0 (77 characters) are missing, 'what is a tape?' | #0 request /messages/0/content, #0 " in line
    [line] = lost(opened, chat([user("Continue."), said("Of what kind?"), CALLED, GIVEN], DONE, index=1))
    assert "and only 'Continue.' replaces them" in line
    assert lost(opened, chat([said("Of what kind?"), ASK, CALLED, GIVEN], DONE, index=1)) == []
    assert lost(opened, chat([ASK, CALLED, GIVEN], DONE, index=1)) == []


def handed(*history: dict[str, Any], system: str = "You search.") -> list[RoundTrip]:
    """Another agent, with other tools, gets this history and the call that hands over."""
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "name": "transfer_to_search"}}
    search = {"type": "function", "function": {**TOOLS[0]["function"], "name": "search"}}
    call = said(None, ("call_1", "transfer_to_search", '{"word":"x"}'))
    second = [{"role": "system", "content": system}, *history[:-1], call, GIVEN, *history[-1:]]
    return [chat([SYSTEM, ASK], call, tools=[tool]), chat(second, DONE, index=1, tools=[search])]


def test_a_handoff_that_loses_the_question_is_the_clients() -> None:
    [line] = lost(*handed(user("Go on.")))

    assert "the request to the next agent contains none of the user's words" in line
    assert "and only 'Go on.' replaces it" in line
    assert lost(*handed(ASK, user("Go on."))) == []
    assert lost(*handed(user("Describe the recording on a strip."))) == []
    assert lost(*handed(user("Go on."), system="Find words that describe a recording on a strip.")) == []


def test_the_system_prompt_replaces_a_question_only_when_it_is_new() -> None:
    rules = {"role": "system", "content": "Find words that describe a recording on a strip."}

    assert lost(chat([rules, ASK], CALLED), chat([rules, CALLED, GIVEN], DONE, index=1)) != []
    assert lost(chat([SYSTEM, ASK], CALLED), chat([rules, CALLED, GIVEN], DONE, index=1)) == []


ANTHROPIC = [anthropic([asked("what is a tape?")], [use()]), anthropic([spoke(use()), asked(given())], [words("x")], 1)]
RESPONSES = [responses([HELLO], [item_call()]), responses([item_call(), item_output()], [], 1)]
LONG = calls("a strip on which a machine records what a person says, to be read back")
GEMINI = [
    gemini([turn("user", {"text": "what is a tape?"})], [LONG]),
    gemini([turn("model", LONG), turn("user", gives())], [{"text": "x"}], 1),
]


@pytest.mark.parametrize("run", [ANTHROPIC, RESPONSES, GEMINI], ids=["anthropic", "responses", "gemini"])
def test_a_question_is_lost_in_every_protocol(run: list[RoundTrip]) -> None:
    [line] = lost(*run)

    assert "1 text of #0 (15 characters) is missing" in line


@pytest.mark.parametrize(
    "run",
    [
        follows(user("x" * 200), CALLED, GIVEN, ask=ASK),
        follows(user("A recording of a voice."), CALLED, GIVEN, ask=ASK),
        follows(user("Say on."), CALLED, GIVEN, ask=user("Is it so?")),
        [chat([HELLO], CALLED), chat([CALLED, result("call_1", "WHAT is a tape")], DONE, index=1)],
        [responses([HELLO], [item_call()]), responses([item_output()], [], 1, previous_response_id="resp_0")],
        [chat([ASK], status=500, error={"error": {"message": "no"}}), chat([CALLED, GIVEN], DONE, index=1)],
    ],
    ids=["a long text", "its words", "no longer words", "in a result", "held", "after a failure"],
)
def test_a_question_that_something_may_replace_is_not_lost(run: list[RoundTrip]) -> None:
    assert LOST not in ids(*run)


def test_a_text_one_character_too_short_for_a_summary_is_none() -> None:
    assert lost(*follows(user("x" * 199), CALLED, GIVEN, ask=ASK)) != []


def test_a_new_question_after_a_complete_answer_is_not_a_lost_one() -> None:
    answer = said("It holds a recording of voices, which a machine reads from a thin strip.")
    opened = chat([HELLO], answer)

    assert lost(opened, chat([answer, user("Why?")], DONE, index=1)) == []
    assert lost(opened, chat([answer, result("call_7", "x")], DONE, index=1)) != []


def signed(**more: Any) -> list[str]:
    """A short call, after which the question is left out."""
    call = calls(**more)
    first = gemini([turn("user", {"text": "what is a tape?"})], [call])
    return lost(first, gemini([turn("model", call), turn("user", gives())], [{"text": "x"}], 1))


def test_a_short_answer_links_two_requests_when_its_signature_came_back() -> None:
    assert signed() == []
    assert len(signed(thoughtSignature="c2lnbmVk")) == 1


@pytest.mark.parametrize(("size", "shown"), [(40, "y" * 40), (41, "y" * 40)])
def test_forty_characters_of_what_replaces_a_question_are_shown(size: int, shown: str) -> None:
    [line] = lost(*follows(user("y" * size), CALLED, GIVEN))

    assert f"and only {shown!r} replaces it |" in line


@pytest.mark.parametrize(("size", "shown"), [(60, "y" * 60), (61, "y" * 60)])
def test_sixty_characters_of_a_lost_question_are_shown(size: int, shown: str) -> None:
    [line] = lost(*follows(CALLED, GIVEN, ask=user("y" * size)))

    assert f"({size} characters) is missing, {shown!r} |" in line


def test_three_places_of_lost_texts_are_shown() -> None:
    asks = [user(f"Question {name} about tapes?") for name in ("one", "two", "three", "four")]
    history = [piece for ask in asks for piece in (ask, said("Of what kind?"))][:-1]
    [line] = lost(chat(history, CALLED), chat([said("Of what kind?"), CALLED, GIVEN], DONE, index=1))

    assert "4 texts of #0" in line
    places = ", ".join(f"#0 request /messages/{n}/content" for n in (0, 2, 4))
    assert line.endswith(f"| {places}, #1 request")


def test_a_call_and_a_result_that_came_in_replace_no_question() -> None:
    other = said(None, ("call_9", "look_up", '{"word":"strip"}'))

    assert lost(*follows(other, result("call_9", "x" * 250), CALLED, GIVEN)) == [
        f"#1 {LOST} (client, warning, P): the request contains none of the user's words: 1 text of #0 (15 characters) "
        "is missing, 'what is a tape?' | #0 request /messages/0/content, #1 request"
    ]


def test_a_question_in_the_system_prompt_is_not_lost() -> None:
    def left_out(system: str) -> list[str]:
        first = anthropic([asked("what is a tape?")], [use()], system=system)
        return lost(first, anthropic([spoke(use()), asked(given())], [words("x")], 1, system=system))

    assert left_out("They asked: What is a tape?") == []
    assert len(left_out("They asked something.")) == 1


@pytest.mark.parametrize(("second", "count"), [("recording", 0), ("melody", 1)])
def test_the_words_of_all_parts_of_a_system_prompt_count(second: str, count: int) -> None:
    system = [words("describe"), words(second)]
    text = "Which words describe the recording of a voice on a thin strip?"
    first = anthropic([asked(text)], [use()])

    assert len(lost(first, anthropic([spoke(use()), asked(given())], [words("x")], 1, system=system))) == count
