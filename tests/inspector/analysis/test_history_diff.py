"""How a request repeats the history and the answer before it: each edit of them, and answers that came in parts."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from conversations import START, chat, result, said, user
from judged import item_call, item_output, responses
from judged import turn as content
from long_threads import CUT, thread
from round_trips import GEMINI, exchanged
from syrupy.assertion import SnapshotAssertion

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.conversation import conversation_of, new_messages
from turntape.inspector.analysis.history_diff import diff_history, lost_space
from turntape.inspector.analysis.seen import Seen
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.analysis.turn import Turn
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

ASK = content("user", {"text": "What is the whole story?"})
BEGIN, END = "It began in a small port on the western coast,", " and it ended there as well."


def turn(
    index: int,
    contents: list[Any],
    text: str,
    *,
    token: str | None = None,
    gives: str | None = None,
) -> RoundTrip:
    """One Gemini turn; `gives` is the token of an answer that is not complete."""
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    candidate |= {"finishReason": "CONTINUATION", "continuationToken": gives} if gives else {"finishReason": "STOP"}
    body = {"candidates": [candidate], "responseId": f"r{index}", "modelVersion": "gemini-3",
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}}  # fmt: skip
    asked = {"contents": contents, **({"continuationToken": token} if token else {})}
    return replace(exchanged(GEMINI, asked, body), index=index, started_at=START + index * 60)


def run(*last: dict[str, Any], again: list[Any] | None = None) -> list[RoundTrip]:
    """An answer in two parts, then a request whose history has `last`."""
    return [
        turn(0, [ASK], BEGIN, gives="dG9r"),
        turn(1, again or [ASK], END, token="dG9r"),
        turn(2, [ASK, *last, content("user", {"text": "Thanks."})], "Welcome."),
    ]


def sort(trips: list[RoundTrip]) -> list[Turn]:
    threads = Threads()
    return [threads.add(trip, read(trip)) for trip in trips]


WHOLE = content("model", {"text": BEGIN}, {"text": END})


def test_the_request_that_continues_an_answer_is_the_next_turn_with_its_history() -> None:
    first, second, third = sort(run(WHOLE))

    assert [t.thread for t in (first, second, third)] == ["t1", "t1", "t1"]
    assert (second.number, second.history, second.shared, second.edge.reason) == (2, "extended", 1, "it continues dG9r")
    assert (third.history, third.shared) == ("extended", 1)


def test_the_history_of_such_a_request_is_compared() -> None:
    """Before, it was taken for one that the API holds, and no change in it was seen."""
    other = content("user", {"text": "What is the other story?"})
    first, second, _ = sort(run(WHOLE, again=[other]))

    assert (second.thread, second.shared) == ("t1", 0)
    assert diff_history(first, second).state == "cut"


def test_an_answer_in_parts_comes_back_whole() -> None:
    for whole in (WHOLE, content("model", {"text": BEGIN + END})):
        first, second, third = sort(run(whole))

        assert diff_history(first, second).state == "verbatim"
        assert diff_history(second, third).changes == ()
        assert diff_history(second, third).new[-1].text == "Thanks."
        found: list[Any] = [one for done in label_all(run(whole), hints=True) for one in done.label["findings"]]  # type: ignore[union-attr]
        assert [one["id"] for one in found] == ["api-pause"]


def test_an_answer_in_parts_that_comes_back_rewritten_is_reported() -> None:
    _, second, third = sort(run(content("model", {"text": BEGIN + " and then it rained."})))

    assert [change.kind for change in diff_history(second, third).changes] == ["text_changed"]
    user = content("user", {"text": BEGIN + END})
    _, second, third = sort(run(user))
    assert diff_history(second, third).changes != ()


def test_only_the_part_that_the_token_belongs_to_is_not_expected_back() -> None:
    """A token of another answer does not excuse a lost answer."""
    first = turn(0, [ASK], BEGIN)
    second = turn(1, [ASK, content("user", {"text": "Go on."})], END, token="b3RoZXI")
    before, after = sort([first, second])

    assert [change.kind for change in diff_history(before, after).changes] == ["text_dropped"]


def apart(turn: Turn) -> Turn:
    """The turn with a conversation that shares nothing with that of others."""
    messages = tuple(turn.reading.request.messages)
    return replace(turn, seen=Seen(turn.round_trip, turn.reading, conversation_of(messages)))


@pytest.mark.parametrize("api", CUT)
def test_what_two_requests_share_behind_a_clock_changes_nothing_in_the_comparison(api: str) -> None:
    turns = sort(thread(api, 30, clock=True))
    skipped = 0
    for before, now in pairwise(turns[10:]):
        kept, first, behind = new_messages(before.conversation, now.conversation)
        skipped += behind - first
        found = diff_history(before, now)

        assert found == diff_history(apart(before), apart(now))
        assert (kept, first) == (0, 1) and [change.kind for change in found.changes] == ["text_changed"]
    assert skipped > 300


SYSTEM = {"role": "system", "content": "Be kind to people and to tapes."}
ASKED = user("What is the whole story of the tape?")
LOOK = ("c1", "look_up", '{"word": "tape", "deep": true}')
ONE = said("I look at the first reel now.", LOOK)
GOT = result("c1", "A tape is a long strip\nwith sound\non it, as\nthe story says.")
OLD = [SYSTEM, ASKED, ONE, GOT]
REEL, PLAY = ("c2", "look_up", '{"word": "reel"}'), ("c3", "play", '{"at": 3}')
TWO = said("Now I look at the second one.", REEL, PLAY)
REEL_SAYS, PLAY_SAYS = result("c2", "A reel is round."), result("c3", "la la la")
NEW = [REEL_SAYS, PLAY_SAYS]
HURRY = user("Hurry, please.")


def answer(*calls: tuple[str, str, str], text: str | None = "Now I look at the second one.") -> dict[str, Any]:
    """The answer as the client sends it back."""
    return said(text, *(calls or (REEL, PLAY)))


EDITED: dict[str, list[dict[str, Any]]] = {
    "nothing": [*OLD, TWO, *NEW],
    "arguments with other spaces": [*OLD, answer((*REEL[:2], '{"word":"reel"}'), (*PLAY[:2], '{"at":3}')), *NEW],
    "arguments of the answer": [*OLD, answer((*REEL[:2], '{"word": "real"}'), PLAY), *NEW],
    "the name of a call": [*OLD, answer(("c2", "lookup", REEL[2]), PLAY), *NEW],
    "a call is dropped": [*OLD, answer(REEL), REEL_SAYS],
    "the text of the answer is dropped": [*OLD, answer(text=None), *NEW],
    "the text of the answer": [*OLD, answer(text="Now I look at the third one."), *NEW],
    "other ids": [
        *OLD,
        answer(("x2", *REEL[1:]), ("x3", *PLAY[1:])),
        result("x2", "A reel is round."),
        result("x3", "la la la"),
    ],
    "the answer in two messages": [*OLD, said("Now I look at"), said(" the second one.", REEL, PLAY), *NEW],
    "a word of an old result": [SYSTEM, ASKED, ONE, result("c1", GOT["content"].replace("long", "short")), TWO, *NEW],
    "an old result is cleared": [SYSTEM, ASKED, ONE, result("c1", "[cleared]"), TWO, *NEW],
    "an old result on one line": [SYSTEM, ASKED, ONE, result("c1", GOT["content"].replace("\n", " ")), TWO, *NEW],
    "an old result under another call": [SYSTEM, ASKED, ONE, result("c9", GOT["content"]), TWO, *NEW],
    "arguments of an old call": [
        SYSTEM,
        ASKED,
        said(ONE["content"], ("c1", "look_up", '{"word": "reel", "deep": true}')),
        GOT,
        TWO,
        *NEW,
    ],
    "a word of the user": [SYSTEM, user("What is the whole story of the reel?"), ONE, GOT, TWO, *NEW],
    "the system prompt": [{"role": "system", "content": "Be rude."}, *OLD[1:], TWO, *NEW],
    "a call and its result are left out": [SYSTEM, ASKED, TWO, *NEW],
    "the user's message is left out": [SYSTEM, ONE, GOT, TWO, *NEW],
    "an old result is left out": [SYSTEM, ASKED, ONE, TWO, *NEW],
    "a message of the user early on": [SYSTEM, ASKED, HURRY, ONE, GOT, TWO, *NEW],
    "words of the assistant early on": [SYSTEM, ASKED, said("Let me think about it."), ONE, GOT, TWO, *NEW],
    "a message before the answer": [*OLD, HURRY, TWO, *NEW],
    "a call that no model made": [*OLD, answer(REEL, ("c9", "forged", "{}"), PLAY), *NEW],
    "the user's message behind the first answer": [SYSTEM, ONE, GOT, ASKED, TWO, *NEW],
    "other words of the assistant": [SYSTEM, ASKED, said("Something else entirely.", LOOK), GOT, TWO, *NEW],
    "results in another order": [*OLD, TWO, PLAY_SAYS, REEL_SAYS],
    "a new message": [*OLD, TWO, *NEW, HURRY],
    "a summary of all": [SYSTEM, user("A tape was looked at.")],
}


def lines(before: Turn, now: Turn) -> Iterator[str]:
    """What a diff says, a line for each change."""
    found = diff_history(before, now)
    yield f"{found.state}, reasoning {found.reasoning}"
    for one in found.changes:
        where = "answer" if one.emitted else "history"
        what = f"{one.was!r} -> {one.became!r}, call {one.call_id}, of {one.of or '-'}"
        yield f"{one.kind} in the {where}: {one.before} -> {one.now}: {what}"
    for name in ("new", "inserted", "beside", "removed"):
        if units := getattr(found, name):
            yield f"{name}: {[unit.text[:20] for unit in units]}"


@pytest.mark.parametrize("edit", EDITED)
def test_each_edit_of_a_history_is_named_with_its_places(edit: str, snapshot: SnapshotAssertion) -> None:
    before, now = sort([chat(OLD, TWO), chat(EDITED[edit], said("Done."), index=1)])

    assert list(lines(before, now)) == snapshot


def test_a_request_that_names_the_answer_brings_only_what_is_new() -> None:
    before, now = sort([responses([{"role": "user", "content": "Hi"}], [item_call()], 0),
                        responses([item_output()], [], 1, previous_response_id="resp_0")])  # fmt: skip

    assert list(lines(before, now)) == ["held, reasoning none", "new: ['a strip']"]


@pytest.mark.parametrize(
    ("was", "became", "lost"),
    [
        ("one two three four", "onetwothreefour", "spaces"),
        ("one two three", "onetwothree", None),
        ("one two three four", "one two threefour", None),
        ("a\nb\nc\nd", "abcd", "line breaks"),
        ("a\nb\nc", "abc", None),
        ("if a b:\n  b\n  c\nd", "if a b:\nb\nc\nd", "indents"),
        ("a:\n  b\nc\nd", "a:\nb\nc\nd", None),
        ("if a b:\n  b\n  c\nd", "if a b:\n b\nc\nd", None),
        ('{"a b":\n  1,\n  2\n}', '{"a b":\n1,\n2\n}', None),
        ("a b c d", "a b c d", None),
    ],
)
def test_a_text_with_the_same_letters_may_have_lost_its_space(was: str, became: str, lost: str | None) -> None:
    assert lost_space(was, became) == lost


def test_of_two_very_long_histories_only_the_first_difference_is_named() -> None:
    old = [user(f"message {number}") for number in range(1600)]
    before, now = sort([chat(old, said("Fine.")), chat([user("other"), *old[1:], said("Fine."), HURRY], index=1)])

    first, *_ = lines(before, now)
    assert first.startswith(("changed", "cut"))


@pytest.mark.parametrize(("asked", "kept"), [(2, True), (1, False), (None, False), ("2", False)])
def test_of_several_answers_the_client_keeps_one(asked: object, kept: bool) -> None:
    more: dict[str, Any] = {} if asked is None else {"n": asked}
    first = chat([user("Which way?")], said("To the left."), index=0, **more)
    other = said("To the right.")
    second = chat([user("Which way?"), other, user("Sure?")], said("Yes."), index=1, at=60)

    before, after = sort([first, second])

    assert (diff_history(before, after).changes == ()) is kept
