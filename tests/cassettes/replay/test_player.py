"""Which recording answers a request, step by step."""

import gzip
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
from turntape.cassettes.matching.fingerprints import Fingerprint
from turntape.cassettes.matching.profiles import Profile
from turntape.cassettes.matching.request_index import Group, RequestIndex
from turntape.cassettes.replay import player as player_module
from turntape.cassettes.replay.player import Miss, Played

URL = "https://api.anthropic.com/v1/messages"


def trip(body: object, answer: bytes = b"{}") -> RoundTrip:
    sent = json.dumps(body).encode()
    return RoundTrip(Request("POST", URL, content=sent), Response(200, content=answer), 0.0)


def answer(player: Player, body: bytes, url: str = URL, headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    found = player.answer("POST", url, headers, body).response
    assert found is not None
    return found.body


def test_one_request_more_of_a_sequence_says_how_it_differs_from_the_last_one() -> None:
    player = Player([trip({"a": 1}), trip({"a": 2})], matching=Matching(profile="sequence"))
    answer(player, b'{"a":1}')
    answer(player, b'{"a":5}')

    with pytest.raises(Miss, match="sends one request more") as other:
        answer(player, b'{"a":3}')
    with pytest.raises(Miss, match="is requested again") as same:
        answer(player, b'{"a":1}')

    document: Any = other.value.document(404)
    assert (document["error"]["param"], document["turntape"]["differences"]) == (
        "/a",
        [{"pointer": "/a", "kind": "changed", "recorded": 2, "given": 3}],
    )
    assert (same.value.differences, other.value.ignorable, other.value.coverable) == ([], {}, {})


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


@pytest.mark.parametrize("profile", ["strict", "sequence"])
@pytest.mark.parametrize("again", [b'{"a": "2e5f0d7c-9a51-4a44-8f0e-0c39d7f5a001"}', b'{"a":"1"}'])
def test_a_request_whose_recordings_were_played_gets_the_first_again(profile: Any, again: bytes) -> None:
    asked = {"a": "2e5f0d7c-9a51-4a44-8f0e-0c39d7f5a9aa" if b"-" in again else "1"}
    trips = [trip(asked, b"1"), trip(asked, b"2")]
    player = Player(trips, matching=Matching(profile, repeats=True))

    assert [answer(player, again) for _ in range(4)] == [b"1", b"2", b"1", b"1"]
    with pytest.raises(Miss):
        [answer(once, again) for once in [Player(trips, matching=Matching(profile))] for _ in range(3)]
    with pytest.raises(Miss):
        answer(player, again, "/v1/other")


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


def test_a_recording_without_its_address_answers_an_equal_request_to_any() -> None:
    addressed = trip({"a": 1})
    nowhere = replace(addressed, request=replace(addressed.request, url="**REDACTED**"))
    for body in (b'{"a":1}', b'{"a": 1}'):
        assert answer(Player([nowhere]), body) == b"{}"
    with pytest.raises(Miss):
        answer(Player([nowhere]), b'{"a":2}')
    with pytest.raises(Miss):
        answer(Player([addressed]), b'{"a":1}', "https://api.openai.com/v1/responses")
    assert Player([nowhere, addressed]).answer("POST", URL, (), b'{"a":1}').request.url == URL


@pytest.mark.parametrize("profile", ["strict", "sequence"])
def test_a_recording_without_its_address_follows_the_api_that_is_asked(profile: Profile) -> None:
    def body(described: str) -> dict[str, object]:
        function = {"name": "add", "description": described, "parameters": {}}
        return {"model": "m", "messages": [], "tools": [{"type": "function", "function": function}]}

    addressed = trip(body("Adds.\n\n        Args"))
    nowhere = replace(addressed, request=replace(addressed.request, url="**REDACTED**"))
    url = "https://api.openai.com/v1/chat/completions"

    player = Player([nowhere], matching=Matching(profile=profile))
    played = player.play("POST", url, (), json.dumps(body("Adds.\n\nArgs")).encode())
    assert played.match.grade == "exact"
    if profile == "strict":
        with pytest.raises(Miss, match="chat/completions"):
            Player([nowhere]).answer("POST", url, (), json.dumps(body("Subtracts.")).encode())


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


@pytest.mark.parametrize(("route", "first"), [("import", b"1"), ("", b"2")])
def test_in_an_imported_recording_what_is_ignored_does_not_choose_among_equal_requests(
    route: str, first: bytes
) -> None:
    """As with the matcher of the suite that recorded it; among recordings of ours, the equal one comes first."""
    trips = [trip({"a": 1, "seed": 1}, b"1"), trip({"a": 1, "seed": 2}, b"2"), trip({"a": 1, "seed": 2}, b"3")]
    trips = [replace(one, route=route or one.route) for one in trips]
    player = Player(trips, matching=Matching(ignore=("/seed",)))
    body = b'{"a": 1, "seed": 2}'
    assert [answer(player, body) for _ in range(3)] == ([b"1", b"2", b"3"] if route else [b"2", b"3", b"1"])
    assert answer(Player(trips, matching=Matching(ignore=("/seed",))), body) == first
    assert answer(Player(trips), body) == b"2"


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
    assert "played for a different request, turn 1, #0: same turn, small" in str(
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
    assert str(player.report().first) == "first to diverge: api, turn 1, #0: a fault was injected, 529 at turn 1"


def test_a_retry_that_was_not_recorded_is_left_unplayed() -> None:
    player = Player([trip(messages(USER), b"yes")], faults=Fault(1, "529"))

    play(player, messages(USER))

    assert player.unplayed == [0]


def test_a_player_without_faults_has_none() -> None:
    assert not Player([trip({"a": 1})]).faulty


def test_a_request_that_no_recording_resembles_names_none() -> None:
    miss = missed_at(Player([trip({"a": 1})]), "/v1/embeddings")

    assert (miss.nearest, miss.turn, miss.path, miss.method) == (None, None, "/embeddings", "POST")
    assert "no recorded round trip (1 in all) has this method and path" in str(miss)


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
    assert report.first is not None and report.first.words == f"{player.turns[1]} was not requested"


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
        ([{"a": 1}, {"a": 1}], "#0 was requested again"),
        ([{"a": 1}, {"zz": [1]}], "after #0, POST /messages was requested, but it was not recorded"),
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


@pytest.mark.parametrize("method", ["POST", "post"])
def test_a_byte_equal_replay_builds_no_index(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(player_module, "RequestIndex")
    player = Player([RoundTrip(Request(method, URL, content=b"{}"), Response(200), 0.0)])

    assert player.play("POST", URL, (), b"{}").match.grade == "exact"


def test_the_request_body_of_a_played_recording_is_read_from_the_cassette() -> None:
    player = Player([trip({"a": 1}), trip({"b": 1})])

    request = play(player, {"b": 1}).trip.request

    assert callable(request.content)
    assert request.body == b'{"b": 1}'


def says(text: str) -> dict[str, object]:
    return messages({"role": "user", "content": text})


def test_a_recording_that_was_played_answers_no_other_changed_request() -> None:
    player = Player([trip(says("red")), trip(says("blue"))], matching=Matching("ordered"))

    assert [play(player, says(text)).match.turn.index for text in ("red one", "red two")] == [0, 1]
    assert missed(player, says("red three")).nearest_played


def test_a_recording_that_another_thread_takes_first_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player([trip(says("red")), trip(says("blue"))], matching=Matching("ordered"))
    nearest = RequestIndex.nearest

    def late(index: RequestIndex, group: Group, given: Fingerprint, free: Sequence[int]) -> int | None:
        place = nearest(index, group, given, free)
        if len(player.unplayed) == 2:
            play(player, says("red"))
        return place

    monkeypatch.setattr(RequestIndex, "nearest", late)

    assert play(player, says("red one")).match.turn.index == 1
    assert [match.turn.index for match in player.matches] == [0, 1]


def test_the_nearest_recording_shares_most_at_both_ends_and_counts_no_byte_twice() -> None:
    short, whole = {"p": "x" * 6}, {"p": "x" * 3 + "y" + "x" * 6}

    for order in ([short, whole], [whole, short]):
        miss = missed(Player([trip(body) for body in order]), {"p": "x" * 10})
        assert miss.nearest is not None and miss.nearest.request.body == json.dumps(whole).encode()


def test_the_first_of_two_recordings_that_are_as_near_is_named() -> None:
    miss = missed(Player([trip({"a": 1}), trip({"a": 1})]), {"a": 2})

    assert miss.nearest is not None and miss.nearest.index == 0


def test_the_nearest_recording_keeps_the_number_that_it_has() -> None:
    numbered = [replace(trip({"a": [1]}), index=5), replace(trip({"b": [1]}), index=0)]

    nearest = [missed(Player(numbered), {name: [2]}).nearest for name in "ab"]

    assert [found.index for found in nearest if found is not None] == [5, 0]


def test_a_miss_says_what_was_ignored() -> None:
    miss = missed(Player([trip({"a": 1, "metadata": {"user_id": "x"}})]), {"a": 2, "metadata": {"user_id": "y"}})

    assert [d.pointer for d in miss.differences] == ["/a"]
    assert [d.pointer for d in miss.ignored] == ["/metadata/user_id"]


def test_a_turn_that_a_fault_answers_was_requested() -> None:
    player = Player([trip(messages(USER)), trip(messages(USER, SAID, USER))], faults=Fault(1, "529"))
    play(player, messages(USER))

    assert player.report().unplayed == (player.turns[1],)


def test_a_slow_answer_is_the_answer_of_its_turn() -> None:
    player = Player([trip(messages(USER))], faults=Fault(1, "slow"))
    play(player, messages(USER))

    assert player.unplayed == []
    assert "requested again" in str(missed(player, messages(USER)))


def test_a_report_names_the_turns_that_were_requested_in_another_order() -> None:
    player = Player([trip({"a": 1}), trip({"b": 1})])
    for body in ({"b": 1}, {"a": 1}):
        play(player, body)

    report = player.report()

    assert len(report.reordered) == 1 and report.unplayed == ()
    assert report.first is not None and report.first.turn == report.reordered[0].turn
    assert str(report.first) == f"first to diverge: client, {report.reordered[0]}"


def test_a_report_names_another_order_before_what_was_not_asked_for() -> None:
    player = Player([trip({name: 1}) for name in "abc"])
    for name in "ba":
        play(player, {name: 1})

    report = player.report()

    assert report.unplayed == (player.turns[2],)
    assert report.first is not None and report.first.words == str(report.reordered[0])


def test_what_was_not_asked_for_is_a_divergence_of_the_client() -> None:
    player = Player([trip({"a": 1})])

    assert str(player.report().first) == "first to diverge: client, turn 1, #0 was not requested"


def test_a_changed_request_whose_turn_was_played_afterwards_is_extra() -> None:
    player = Player([trip(messages(USER))])
    miss = missed(player, says("b"))
    play(player, messages(USER))

    report = player.report()

    assert (report.changed, report.extra) == ((), (miss,))


def test_a_request_that_was_not_recorded_is_extra_although_its_nearest_recording_waits() -> None:
    player = Player([trip(messages(USER))])
    miss = missed(player, messages(USER, SAID, USER))

    report = player.report()

    assert (report.changed, report.extra) == ((), (miss,))
    assert report.first is not None and report.first.pointer == "/messages/1"
    assert report.first.words.startswith("turn 1, #0: /messages/1 is new")


def test_the_first_divergence_at_an_endpoint_without_recordings() -> None:
    player = Player([trip({"a": 1})])
    missed_at(player, "/v1/embeddings")

    assert str(player.report().first) == (
        "first to diverge: client, POST /embeddings was requested, but it was not recorded"
    )


@pytest.mark.parametrize("kind", ["fault", "tolerated", "miss"])
def test_only_the_first_divergence_is_named(kind: str) -> None:
    first, second = messages(USER, temperature=1), messages(USER, SAID, USER, temperature=1)
    matching = Matching(rules={"temperature": "warn"}) if kind == "tolerated" else None
    faults = [Fault(1, "529"), Fault(2, "529")] if kind == "fault" else None
    player = Player([trip(first), trip(second)], matching=matching, faults=faults)

    for body in (first, second):
        if kind == "miss":
            missed(player, {**body, "temperature": 2})
        else:
            play(player, {**body, "temperature": 2} if kind == "tolerated" else body)

    found = player.report().first
    assert found is not None and found.turn == player.turns[0]


def test_a_message_that_was_missed_is_reported_with_the_requests() -> None:
    """The replay of a WebSocket session finds its messages itself."""
    within = Player([trip(messages({"role": "user", "content": "hi"}))])
    changed = missed(within, messages({"role": "user", "content": "ho"}))
    other = missed_at(within, "https://api.openai.com/v1/elsewhere")
    player = Player([])

    player.add_message_miss(changed)
    player.add_message_miss(other)

    report = player.report()
    assert player.misses == [changed, other]
    assert (report.changed, report.extra) == ((changed,), (other,))
    assert report.first is not None and report.first.layer == "client"
    assert "/messages/0/content" in str(report.first)


HERE, THERE = "Working directory: /home/ana/proj", "Working directory: /srv/ci/checkout"
OLD_ID, NEW_ID = "aaaaaaaa-1111-4222-8333-444444444444", "bbbbbbbb-1111-4222-8333-444444444444"


def texts(*said: str) -> list[dict[str, object]]:
    """A history: the user's words and the answers, in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]


def moved(**settings: Any) -> Player:
    """A run of two turns in one folder; the model names a file in it, and the result an id."""
    said = b'{"text": "cat /home/ana/proj/a.txt"}'
    return Player(
        [
            trip(messages(*texts(HERE)), said),
            trip(
                messages(*texts(HERE, "cat /home/ana/proj/a.txt", f"order {OLD_ID}")),
                b'{"text": "%s"}' % OLD_ID.encode(),
            ),
        ],
        **settings,
    )


def test_a_run_in_another_folder_is_answered_in_its_own_words() -> None:
    player = moved()

    first = play(player, messages(*texts(THERE)))
    second = play(player, messages(*texts(THERE, "cat /srv/ci/checkout/a.txt", f"order {NEW_ID}")))

    assert [json.loads(found.trip.response.body)["text"] for found in (first, second) if found.trip.response] == [
        "cat /srv/ci/checkout/a.txt",
        NEW_ID,
    ]
    assert [[str(one) for one in found.match.mapped] for found in (first, second)] == [
        ["the working directory /home/ana/proj is /srv/ci/checkout in this run"],
        [f"the UUID {OLD_ID} is {NEW_ID} in this run"],
    ]
    report = player.report()
    assert report.clean and [match.grade for match in report.played] == ["exact", "exact"]
    assert str(report).splitlines()[0] == "2 answers played, all as recorded"
    assert str(report).splitlines()[1:] == [f"mapped: {one}" for one in report.mapped]


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ((f"{THERE} now",), "/messages/0/content"),
        ((THERE, "cat /srv/ci/checkout/b.txt", f"order {NEW_ID}"), "/messages/1/content"),
        ((THERE, "cat /srv/ci/checkout/a.txt", f"the order {NEW_ID}"), "/messages/2/content"),
        ((HERE, "cat /home/ana/proj/a.txt", f"order {NEW_ID} {NEW_ID}"), "/messages/2/content"),
    ],
)
def test_a_change_is_a_miss_in_another_folder_too(said: tuple[str, ...], pointer: str) -> None:
    player = moved()
    if len(said) > 1:
        play(player, messages(*texts(said[0])))

    with pytest.raises(Miss) as missed:
        play(player, messages(*texts(*said)))

    assert [one.pointer for one in missed.value.differences] == [pointer]


SPACES = "/home/ana/My Project/\u00e4 b"


@pytest.mark.parametrize(
    ("recorded", "given"), [(SPACES, "/srv/ci"), ("/srv/ci", SPACES), (SPACES, f"/srv/ci/{SPACES[10:]}")]
)
@pytest.mark.parametrize("named", ["Working directory: {}\n", "<cwd>{}</cwd>", "My files are in {}/src and {}/tests."])
def test_a_folder_with_spaces_in_its_path_may_be_another_one(recorded: str, given: str, named: str) -> None:
    def history(folder: str, path: str) -> dict[str, object]:
        said = texts(named.format(folder, folder), path, f"in {path}: see file://{quote(path)}")
        said[1]["content"] = [{"type": "tool_use", "id": "a", "name": "read", "input": json.dumps({"path": path})}]
        return messages(*said)

    first = messages(*texts(named.format(recorded, recorded)))
    model = json.dumps({"arguments": json.dumps({"path": f"{recorded}/a b.txt"})}).encode()
    player = Player([trip(first, model), trip(history(recorded, f"{recorded}/a b.txt"), b"{}")])
    if named.startswith("My"):  # no words call it the working directory, but a tool server's process is in it
        player.bindings.learn_folder(recorded, given)

    found = play(player, messages(*texts(named.format(given, given))))
    play(player, history(given, f"{given}/a b.txt"))

    assert found.trip.response is not None
    assert json.loads(json.loads(found.trip.response.body)["arguments"]) == {"path": f"{given}/a b.txt"}
    assert player.report().clean
    assert [(one.recorded, one.given) for one in player.bindings.mapped()] == [(recorded, given)]


def test_one_recorded_value_has_one_value_in_a_run() -> None:
    first = messages(*texts(f"id {OLD_ID}"))
    player = Player([trip(first, b"1"), trip(messages(*texts(f"again {OLD_ID}")), b"2")])

    play(player, messages(*texts(f"id {NEW_ID}")))
    with pytest.raises(Miss, match="/messages/0/content was"):
        play(player, messages(*texts(f"again {OLD_ID[:-1]}5")))

    assert play(player, messages(*texts(f"again {NEW_ID}"))).match.grade == "exact"
    with pytest.raises(Miss, match="recorded once"):
        play(player, messages(*texts(f"again {NEW_ID}")))


def test_a_value_that_the_model_chose_is_compared() -> None:
    player = Player([trip(messages(*texts("a", f"delete {OLD_ID}", "b")), b"1")])

    with pytest.raises(Miss, match="/messages/1/content was"):
        play(player, messages(*texts("a", f"delete {NEW_ID}", "b")))


def test_a_tolerated_turn_says_the_folder_too() -> None:
    player = moved(matching=Matching("ordered"))

    first = play(player, messages(*texts(f"Be brief. {THERE}")))
    second = play(player, messages(*texts(f"Be brief. {THERE}", "cat /srv/ci/checkout/a.txt", f"order {NEW_ID}")))

    assert first.trip.response is not None and b"/srv/ci/checkout/a.txt" in first.trip.response.body
    assert [match.differences[0].pointer for match in (first.match, second.match)] == ["/messages/0/content"] * 2
    assert [len(match.differences) for match in (first.match, second.match)] == [1, 1]


def test_without_mapping_every_value_is_compared() -> None:
    with pytest.raises(Miss, match="/messages/0/content was"):
        play(moved(matching=Matching(map_values=False)), messages(*texts(THERE)))


def test_a_miss_is_reported_when_it_happens() -> None:
    heard: list[Miss] = []
    player = moved(on_miss=heard.append)

    play(player, messages(*texts(HERE)))
    assert heard == []
    with pytest.raises(Miss):
        play(player, messages(*texts("other")))

    assert heard == player.misses


def test_the_order_of_the_tools_does_not_count() -> None:
    one, other = ({"name": name, "input_schema": {"required": ["b", "a"]}} for name in ("one", "other"))
    player = Player([trip({"tools": [one, other]}, b"yes"), trip({"tools": [one, other]}, b"again")])

    assert answer(player, json.dumps({"tools": [other, one]}).encode()) == b"yes"
    with pytest.raises(ReplayMiss, match="/tools/0/input_schema"):
        answer(player, json.dumps({"tools": [{**one, "input_schema": {"required": ["a", "b"]}}, other]}).encode())
    with pytest.raises(ReplayMiss):
        answer(player, json.dumps({"tools": [one]}).encode())
