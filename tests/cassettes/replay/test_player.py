"""Which recording answers a request, step by step."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes import (
    Cassette,
    CassetteError,
    Fault,
    Matching,
    Player,
    ReplayMiss,
    Request,
    Response,
    RoundTrip,
)
from turntape.cassettes.replay.player import Miss, Played

URL = "https://api.anthropic.com/v1/messages"


def trip(body: object, answer: bytes = b"{}") -> RoundTrip:
    sent = json.dumps(body).encode()
    return RoundTrip(Request("POST", URL, content=sent), Response(200, content=answer), 0.0)


def answer(player: Player, body: bytes, url: str = URL, headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    found = player.answer("POST", url, headers, body).response
    assert found is not None
    return found.body


@pytest.mark.parametrize(
    "path", ["/messages", "/v1/messages", "/v1/v1/messages", "/anthropic/v1/messages", "/s/a/anthropic/messages"]
)
def test_every_form_of_the_base_url_finds_the_recording(path: str) -> None:
    assert answer(Player([trip({"a": 1}, b"yes")]), b'{"a":1}', path) == b"yes"


def test_key_order_and_content_encoding_do_not_count() -> None:
    player = Player([trip({"a": 1, "b": 2}, b"yes")])

    assert answer(player, gzip.compress(b'{"b":2,"a":1}'), headers=(("content-encoding", "gzip"),)) == b"yes"


def test_equal_requests_are_answered_in_order_and_never_once_more() -> None:
    player = Player([trip({"a": 1}, b"1"), trip({"a": 1}, b"2")])

    assert [answer(player, b'{"a":1}'), answer(player, b'{"a":1}')] == [b"1", b"2"]
    with pytest.raises(ReplayMiss, match="recorded 2 times"):
        answer(player, b'{"a":1}')


def test_a_miss_names_the_nearest_recording_and_the_pointer() -> None:
    player = Player([trip({"messages": ["x" * 99, "b"]}), trip({"messages": ["q"]})])

    with pytest.raises(ReplayMiss, match=r"#0, where /messages/1"):
        answer(player, json.dumps({"messages": ["x" * 99, "c"]}).encode())


def test_fifty_threads_get_their_own_answers() -> None:
    player = Player([trip({"n": n}, str(n).encode()) for n in range(50)])

    with ThreadPoolExecutor(50) as pool:
        got = list(pool.map(lambda n: answer(player, b'{"n":%d}' % n), range(50)))

    assert got == [str(n).encode() for n in range(50)]
    assert player.unplayed == []


USER, SAID = {"role": "user", "content": "a"}, {"role": "assistant", "content": "yes"}


def messages(*items: object, **fields: object) -> dict[str, object]:
    return {"model": "m", "messages": list(items), **fields}


def play(player: Player, body: object) -> Played:
    return player.play("POST", URL, (), json.dumps(body).encode())


def missed(player: Player, body: object) -> Miss:
    with pytest.raises(Miss) as found:
        play(player, body)
    return found.value


def test_a_source_can_be_a_file_a_cassette_or_round_trips(tmp_path: Path) -> None:
    cassette = Cassette.from_round_trips([trip({"a": 1}, b"yes")])

    assert Player(cassette).cassette is cassette
    assert answer(Player(iter([trip({"a": 1}, b"yes")])), b'{"a":1}') == b"yes"
    with pytest.raises(CassetteError):
        Player(tmp_path / "missing.jsonl")


def test_the_method_counts_and_its_case_does_not() -> None:
    player = Player([trip({"a": 1}, b"yes")])

    with pytest.raises(ReplayMiss):
        player.answer("PUT", URL, (), b'{"a": 1}')
    assert player.answer("post", URL, (), b'{"a": 1}').response


def test_a_byte_equal_request_is_exact() -> None:
    played = play(Player([trip({"a": 1})]), {"a": 1})

    assert (played.match.grade, played.match.turn.index, played.match.ignored, played.faulted) == ("exact", 0, (), None)


def test_a_request_that_differs_in_what_is_ignored_is_exact_and_says_so() -> None:
    player = Player([trip({"a": 1, "metadata": {"user_id": "x"}})])

    match = play(player, {"a": 1, "metadata": {"user_id": "y"}}).match

    assert match.grade == "exact"
    assert [d.pointer for d in match.ignored] == ["/metadata/user_id"]


def test_a_request_with_keys_in_another_order_ignores_nothing() -> None:
    assert play(Player([trip({"a": 1, "b": 2})]), {"b": 2, "a": 1}).match.ignored == ()


def test_equal_requests_by_bytes_and_by_meaning_use_one_recording_each() -> None:
    player = Player([trip({"a": 1}, b"1"), trip({"a": 1, "metadata": {"user_id": "x"}}, b"2")])

    assert answer(player, b'{"a": 1}') == b"1"
    assert answer(player, b'{"a": 1}') == b"2"
    assert "recorded 2 times" in str(missed(player, {"a": 1}))


def test_a_request_that_differs_is_answered_only_where_the_rules_allow_it() -> None:
    recorded, asked = trip(messages(USER, temperature=1), b"yes"), messages(USER, temperature=2)

    assert missed(Player([recorded]), asked).likeness == "same turn, small change"
    player = Player([recorded], matching=Matching(rules={"temperature": "warn"}))
    match = play(player, asked).match
    assert (match.grade, [str(d) for d in match.differences]) == (
        "same turn, small change",
        ["/temperature was 1 and is 2"],
    )
    assert player.unplayed == []
    assert "played for a request that differs, turn 1, #0: same turn, small" in str(
        missed(player, messages(USER, temperature=1))
    )


def test_the_recording_that_shares_most_answers_a_changed_request() -> None:
    def at(text: str) -> dict[str, object]:
        return messages({"role": "user", "content": text}, {"role": "user", "content": "same"})

    player = Player([trip(at("red one"), b"1"), trip(at("blue two"), b"2")], matching=Matching("ordered"))

    assert play(player, at("blue three")).trip.request.body == json.dumps(at("blue two")).encode()
    assert play(player, at("anything")).match.turn.index == 0


def test_a_rewritten_history_is_the_same_turn_if_half_of_it_is_left() -> None:
    other = {"role": "assistant", "content": "no"}
    recorded = trip(messages(USER, SAID), b"yes")

    assert play(Player([recorded], matching=Matching("ordered")), messages(USER, other)).match.turn.index == 0
    changed = messages({"role": "user", "content": "b"}, other)
    assert missed(Player([recorded], matching=Matching("ordered")), changed).nearest is not None


def test_a_fault_leaves_the_recording_for_the_retry() -> None:
    player = Player([trip(messages(USER), b"yes")], faults=Fault(1, "529", times=2))

    first, second, third = (play(player, messages(USER)) for _ in range(3))

    assert player.faulty
    assert [played.trip.response.status for played in (first, second, third) if played.trip.response] == [529, 529, 200]
    assert first.match.fault and second.faulted and third.faulted is None and third.match.fault is None
    assert player.unplayed == []
    assert str(player.report().first) == "first to diverge: api, turn 1, #0: a fault was put there, 529 at turn 1"


def test_a_retry_that_was_not_recorded_is_left_unplayed() -> None:
    player = Player([trip(messages(USER), b"yes")], faults=Fault(1, "529"))

    play(player, messages(USER))

    assert player.unplayed == [0]


def test_a_player_without_faults_has_none() -> None:
    assert not Player([trip({"a": 1})]).faulty


def test_a_request_that_no_recording_resembles_names_none() -> None:
    miss = missed_at(Player([trip({"a": 1})]), "/v1/embeddings")

    assert (miss.nearest, miss.turn, miss.path, miss.method) == (None, None, "/embeddings", "POST")
    assert "none of the 1 recorded has this method and path" in str(miss)


def missed_at(player: Player, url: str) -> Miss:
    with pytest.raises(Miss) as found:
        player.play("POST", url, (), b"{}")
    return found.value


def test_a_miss_names_the_recording_of_its_turn_and_whether_it_was_played() -> None:
    first, second, changed = messages(USER), messages(USER, SAID, USER), messages({"role": "user", "content": "b"})
    player = Player([trip(first), trip(second)])

    free = missed(player, messages(USER, SAID, {"role": "user", "content": "b"}))
    play(player, first)
    played = missed(player, changed)
    play(player, second)

    assert (free.turn, free.nearest_played, free.likeness) == (player.turns[1], False, "same turn, other prompt")
    assert (played.turn, played.nearest_played, played.likeness) == (player.turns[0], True, "miss")
    assert [miss.after for miss in player.misses] == [None, player.turns[0]]


def test_a_miss_outside_the_recorded_turns_prefers_a_recording_that_was_not_played() -> None:
    player = Player([trip(messages(USER)), trip(messages(USER))])
    play(player, messages(USER))

    miss = missed(player, messages(USER, SAID, USER))

    assert (miss.turn, miss.nearest_played, miss.likeness) == (player.turns[1], False, "miss")


def test_the_number_in_the_cassette_is_that_of_the_nearest_recording() -> None:
    nearest = missed(Player([trip({"a": 1}), trip({"a": [2, 3]})]), {"a": [2, 4]}).nearest

    assert nearest is not None and nearest.index == 1


def test_a_report_of_a_replay_as_recorded_is_clean() -> None:
    player = Player([trip({"a": 1}), trip({"b": 1})])
    for body in ({"a": 1}, {"b": 1}):
        play(player, body)

    report = player.report()

    assert report.clean and report.first is None and report.unplayed == ()
    assert [match.turn.index for match in report.played] == [0, 1]
    assert player.matches == list(report.played)


def test_a_report_names_what_was_not_asked_for() -> None:
    player = Player([trip({"a": 1}), trip({"b": 1})])
    play(player, {"a": 1})

    report = player.report()

    assert report.unplayed == (player.turns[1],)
    assert report.first is not None and report.first.words == f"{player.turns[1]} was not asked for"


def test_a_report_separates_changed_requests_from_extra_ones() -> None:
    player = Player([trip(messages(USER))])
    missed(player, messages({"role": "user", "content": "b"}))
    missed_at(player, "/v1/embeddings")

    report = player.report()

    assert [miss.path for miss in report.changed] == ["/messages"]
    assert [miss.path for miss in report.extra] == ["/embeddings"]
    assert str(report.first) == f'first to diverge: client, {player.turns[0]}: /messages/0/content was "a" and is "b"'


@pytest.mark.parametrize(
    ("bodies", "words"),
    [
        ([{"a": 1}, {"a": 1}], "#0 was asked for once more"),
        ([{"a": 1}, {"zz": [1]}], "after #0, POST /messages was asked for, and was not recorded"),
    ],
)
def test_the_first_divergence_of_an_extra_request(bodies: list[Any], words: str) -> None:
    player = Player([trip({"a": 1})])
    play(player, bodies[0])
    missed(player, bodies[1])

    first = player.report().first

    assert first is not None and first.layer == "client"
    assert first.words.replace("turn 1, ", "") == words


def test_the_first_divergence_of_a_tolerated_request_names_its_place() -> None:
    player = Player([trip(messages(USER, temperature=1))], matching=Matching("ordered"))
    play(player, messages(USER, temperature=2))

    assert str(player.report().first) == "first to diverge: client, turn 1, #0: /temperature was 1 and is 2"


def test_a_recorded_method_is_found_in_any_case() -> None:
    lower = RoundTrip(Request("post", URL, content=b"{}"), Response(200), 0.0)

    assert Player([lower]).answer("POST", URL, (), b"{}").response
