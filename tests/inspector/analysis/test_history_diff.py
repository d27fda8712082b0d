"""The history diff of answers that came in parts: a request with a continuation token repeats the whole history."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from conversations import START
from judged import turn as content
from long_threads import CUT, thread
from round_trips import GEMINI, exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.conversation import conversation_of, new_messages
from turntape.inspector.analysis.history_diff import diff_history
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
