"""Words are found in all that was sent and received, each text once."""

from dataclasses import replace
from pathlib import Path

import pytest
from conversations import chat, said, user
from recordings import record
from viewing import EXAMPLE

from turntape.cassettes import Cassette
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.sent_search import SentSearch


def found(run: Run, word: str) -> dict[int, str]:
    """Number of each round trip that has the word, and where."""
    search = SentSearch(run, [word])
    assert list(search.read_on())[-1] == 1.0 and search.complete
    return {key[0]: where for key, where in search.hits[word].items()}


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("never commit", {0: "request /system/0/text", 7: "request /system/0/text"}),
        ("coding-agent/2.3", {0: "request header user-agent"}),
        ("content_block_delta", {0: "event 3 /type"}),
        ("ephemeral", {0: "request /system/0/cache_control/type"}),
        ("v1/messages", {0: "URL"}),
        ("no such word", {}),
    ],
)
def test_a_text_that_is_sent_again_and_again_counts_once(word: str, where: dict[int, str]) -> None:
    assert found(Run.load(EXAMPLE), word) == where


def run_of(*trips: RoundTrip) -> Run:
    return Run.of([replace(trip, index=at) for at, trip in enumerate(trips)])


def test_an_answer_that_is_sent_back_counts_where_it_was_given() -> None:
    answer = said("the reel\nturns", ("c1", "spool", '{"what":"left \\"reel\\""}'))
    first, second = [user("go")], [user("go"), answer, user("on")]

    assert found(run_of(chat(first, answer), chat(second, said("done"))), "reel") == {
        0: "response /choices/0/message/content"
    }


@pytest.mark.parametrize("word", ['a "b"', "straße", "x/y", "a\\b"])
def test_words_that_json_escapes_are_found(word: str) -> None:
    run = run_of(chat([user("go")], said("ok"), extra={"note": f"<{word}>"}))

    assert found(run, word) == {0: "request /extra/note"}


def test_names_of_fields_numbers_and_bodies_that_are_not_json_are_searched() -> None:
    trip = chat([user("go")], said("ok"), rare_field=[{"seed": 4711}])
    assert trip.response is not None
    page = replace(trip, response=replace(trip.response, content=b"<html>bad gateway</html>"))

    run = run_of(trip, page)
    assert found(run, "rare_field") == {0: "request /rare_field"}
    assert found(run, "4711") == {0: "request /rare_field/0/seed"}
    assert found(run, "bad gateway") == {1: "response body"}


def test_a_search_continues_with_what_was_recorded_meanwhile(tmp_path: Path) -> None:
    path, trips = tmp_path / "run.cassette.jsonl", list(Cassette.load(EXAMPLE))
    record(path, trips[:1])
    run = Run(path)
    search = SentSearch(run, ["local time 10:41"])
    assert list(search.read_on()) == [] and search.complete
    record(path, trips[1:8], append=True)
    for rows in run.read():
        run.rows.put(rows)

    assert not search.complete
    assert list(search.read_on())[-1] == 1.0
    assert [key[0] for key in search.hits["local time 10:41"]] == [7]
