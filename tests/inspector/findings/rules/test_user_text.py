"""What the user said must stay in the history, in whatever words."""

from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import APIS, Piece, asks, run, says
from dialogues import calls as looks_up
from dialogues import gives as finds
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


def signed(*history: dict[str, Any], **more: Any) -> list[str]:
    """A short call, after which this comes in the place of the question."""
    call = calls(**more)
    first = gemini([turn("user", {"text": "what is a tape?"})], [call])
    return lost(first, gemini([*history, turn("model", call), turn("user", gives())], [{"text": "x"}], 1))


def test_a_short_answer_links_two_requests_when_its_signature_came_back() -> None:
    on = turn("user", {"text": "Go on."})

    assert signed(on) == []
    assert len(signed(on, thoughtSignature="c2lnbmVk")) == 1


def test_a_request_that_asks_nothing_at_all_lost_its_question() -> None:
    [line] = signed()

    assert line.startswith(f"#1 {LOST} (client, warning, S): the request contains none of the user's words")
    assert ", P): " in signed(thoughtSignature="c2lnbmVk")[0]
    assert signed(turn("user", gives("an earlier result"))) == []


@pytest.mark.parametrize(("size", "shown"), [(40, "y" * 40), (41, "y" * 39 + "…")])
def test_forty_characters_of_what_replaces_a_question_are_shown(size: int, shown: str) -> None:
    [line] = lost(*follows(user("y" * size), CALLED, GIVEN))

    assert f"and only {shown!r} replaces it |" in line


@pytest.mark.parametrize(("size", "shown"), [(60, "y" * 60), (61, "y" * 59 + "…")])
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


CHANGED = "client-user-text-changed"
REFUND = "Please refund order 88213, which arrived with a broken lamp."
SEND = "Please send order 88213 again, and bill the customer for it."
LAMP = "the order with the broken lamp, at the customer's door"
STEPS = [looks_up(LAMP), finds("a lamp")]
LAST = says("It is a lamp.")


def changed(*history: Piece, ask: str = REFUND, answer: Piece = STEPS[0], api: str = "chat") -> list[str]:
    return lines(*run(api, ([asks(ask)], answer), (history, LAST)), only=CHANGED)


@pytest.mark.parametrize("api", APIS)
def test_a_message_that_is_rewritten_in_its_place_is_found_in_every_api(api: str) -> None:
    [line] = changed(asks(SEND), *STEPS, api=api)

    assert line.startswith(
        f"#1 {CHANGED} (client, warning, P): the client rewrote a message of the user: {REFUND!r} became {SEND!r} | #0 "
    )
    assert changed(asks(REFUND), *STEPS, api=api) == []


def test_the_words_around_the_change_are_shown() -> None:
    new = REFUND.replace("a broken lamp", "a blue chair and a table")

    assert "'ich arrived with a broken lamp.' became 'ich arrived with a blue chair and a table.'" in " ".join(
        changed(asks(new), *STEPS)
    )


def test_a_rewritten_message_is_the_only_finding_about_it() -> None:
    both = run("chat", ([asks(REFUND)], STEPS[0]), ([asks(SEND), *STEPS], LAST))

    assert [one.partition(" (")[0] for one in lines(*both, only="client-")] == [f"#1 {CHANGED}"]


@pytest.mark.parametrize(
    "text",
    [
        REFUND.replace("88213", "88214"),
        f"{REFUND} Be brief.",
        f"Note: {REFUND}",
        REFUND[:20],
        REFUND.upper(),
        f"{REFUND}<state>\nThe time is 10:01.</state>",
    ],
    ids=["a number", "more behind", "more in front", "a part", "case", "a block"],
)
def test_a_text_with_a_newer_state_or_more_words_is_not_rewritten(text: str) -> None:
    assert changed(asks(text), *STEPS) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is Monday, 3 March. Go on with the lamp.", "It is Tuesday, 4 April. Go on with the lamp."),
        ("Look. <env cwd='a'>\nfiles: a</env> Go on.", "Look. <env cwd='b'>\nfiles: b, c</env> Go on."),
        ("Fix this:\n```py\na = b\n``` Go on.", "Fix this:\n```py\nc = d\n``` Go on."),
    ],
    ids=["dates", "tags", "code"],
)
def test_what_clients_keep_up_to_date_is_not_compared(old: str, new: str) -> None:
    assert changed(asks(new), *STEPS, ask=old) == []
    assert changed(asks(new.replace("Go on", "Come back")), *STEPS, ask=old) != []


def test_a_part_of_a_long_text_may_be_a_field_of_a_template() -> None:
    form = "word " * 100

    assert changed(asks(f"{form}state: idle"), *STEPS, ask=f"{form}state: busy") == []
    short = "word " * 70
    assert changed(asks(f"{short}state: idle"), *STEPS, ask=f"{short}state: busy") != []
    most = "text " * 75
    assert changed(asks(f"{form}{most}"), *STEPS, ask=f"{form}{'other' * 75}") != []


def test_a_long_text_for_a_short_one_may_hold_what_the_client_found() -> None:
    assert changed(asks("Some other words. " * 20), *STEPS) == []
    assert changed(asks(SEND + "Other words. " * 10), *STEPS) != []
    assert changed(asks(SEND + "Other words. " * 16), *STEPS) == []
    assert changed(asks(SEND + "Other words. " * 20), *STEPS, ask=f"{REFUND} {SEND} " * 3) != []


def test_only_a_model_at_work_needs_the_same_message() -> None:
    answer = says("Shall I refund the order with the broken lamp, or send the lamp again to its buyer?")

    assert changed(asks(SEND), answer, asks("Yes."), answer=answer) == []
    assert changed(asks(SEND), *STEPS, asks("Yes.")) == []


def test_a_history_that_changed_otherwise_may_be_shortened() -> None:
    opened = [asks(REFUND), looks_up("one"), finds("a lamp")]
    turns = [(opened, STEPS[0]), ([asks(SEND), looks_up("one"), finds("cleared"), *STEPS], LAST)]

    assert lines(*run("chat", *turns), only=CHANGED) == []
    turns[1] = ([asks(SEND), *opened[1:], *STEPS], LAST)
    assert len(lines(*run("chat", *turns), only=CHANGED)) == 1


def test_a_place_is_reported_once() -> None:
    third = [
        asks("Please close order 88213 and thank the customer for the patience."),
        *STEPS,
        looks_up("x"),
        finds("y"),
    ]
    turns = [([asks(REFUND)], STEPS[0]), ([asks(SEND), *STEPS], looks_up("x")), (third, LAST)]

    assert len(lines(*run("chat", *turns), only=CHANGED)) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_message_that_is_cut_off_inside_a_sentence(api: str) -> None:
    long = "Please refund order 88213 and mind these points: " + "each point must be observed in every case, " * 5
    assert len(changed(asks(long[:60]), *STEPS, ask=long, api=api)) == 1
    assert changed(asks(long[: len(long) - 99]), *STEPS, ask=long, api=api) == []
    assert changed(asks(f"{REFUND}"), *STEPS, ask=f"{REFUND}\n<files>\n{'a.py, ' * 40}</files>", api=api) == []
    assert changed(asks(f"{REFUND}"), *STEPS, ask=f"{REFUND} {'Mind each point. ' * 10}", api=api) == []


@pytest.mark.parametrize(("kept", "found"), [("Which words describe the recor", True),
                                             ("Which words describe the recording of a voice on", False),
                                             ("Which words describe the recording of a voice", False)])  # fmt: skip
def test_a_short_message_that_is_cut_off_inside_a_word(kept: str, found: bool) -> None:
    reported = ids(*follows(user(kept), CALLED, GIVEN, ask=ASK))

    assert ("client-user-text-changed" in reported) is found
