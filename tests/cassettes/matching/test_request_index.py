"""Which recordings are looked up for a request, and in which order."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from turntape.cassettes import Cassette, Matching, Redactor, Request, Response, RoundTrip
from turntape.cassettes.matching import request_index
from turntape.cassettes.matching.fingerprints import Fingerprint
from turntape.cassettes.matching.request_index import Group, Places, RequestIndex, ids_on_tape

BASE = "https://api.openai.com/v1/"
CHAT = "chat/completions"


def trip(body: object, answer: bytes = b"{}", path: str = CHAT, method: str = "POST") -> RoundTrip:
    sent = json.dumps(body).encode()
    return RoundTrip(Request(method, BASE + path, content=sent), Response(200, content=answer), 0.0)


def index_of(*trips: RoundTrip, matching: Matching | None = None) -> RequestIndex:
    return RequestIndex(Cassette.from_round_trips(trips), matching or Matching("ordered"), Redactor(salt="s"))


def given(index: RequestIndex, body: object, path: str = CHAT, method: str = "POST") -> Fingerprint:
    return index.given(method, path, (), json.dumps(body).encode())


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def chat(*items: object, **fields: object) -> dict[str, object]:
    return {"messages": list(items), **fields}


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        (b'{"id":"a1"}', {"a1"}),
        (b'{"id" : "a1", "call_id":\n"b2"}', {"a1", "b2"}),
        (b'data: {"tool_call_id":"c3"}\n\ndata: {"tool_use_id":"d4","toolUseId":"e5"}\n\n', {"c3", "d4", "e5"}),
        (b'{"idx":"a1","the_id":"b2"}', set[str]()),
        (b'{"id":"","call_id":7}', set[str]()),
        (b'{"id":"%s"}' % (b"x" * 256), {"x" * 256}),
        (b'{"id":"%s"}' % (b"x" * 257), set[str]()),
        (b'{"id":"a\\"b"}', set[str]()),
        (b'{"id":"a\xff"}', {"a\ufffd"}),
        (b'{"id":"a1"}{"id":"a1"}', {"a1"}),
    ],
)
def test_the_ids_of_an_answer_are_found_in_its_bytes(answer: bytes, ids: set[str]) -> None:
    assert ids_on_tape([trip({}, answer)]) == ids


def test_the_ids_of_all_answers_count_and_a_missing_answer_has_none() -> None:
    trips = [trip({}, b'{"id":"a1"}'), replace(trip({}), response=None), trip({}, b'{"id":"b2"}')]

    assert ids_on_tape(trips) == {"a1", "b2"}


def test_the_first_free_place_is_the_earliest_that_is_not_taken() -> None:
    places = Places()
    for place in (1, 3, 4):
        places.add(place)
    taken = bytearray(5)

    assert (places.all, places.first_free(taken), places.first_free(taken)) == ([1, 3, 4], 1, 1)
    taken[1] = 1
    assert places.first_free(taken) == 3
    taken[4] = 1
    assert places.first_free(taken) == 3
    taken[3] = 1
    assert places.first_free(taken) is None
    assert Places().first_free(taken) is None


def nearest(recorded: list[dict[str, object]], body: dict[str, object], free: list[int] | None = None) -> int:
    """The place of the recording that shares most with a request, of one group with all recordings."""
    index = index_of(*(trip(one) for one in recorded))
    group = Group()
    group.places.extend(range(len(recorded)))
    return group.nearest(given(index, body), free if free is not None else group.places, index.recorded)


def test_the_only_free_recording_is_the_nearest_and_none_is_read_for_that() -> None:
    def unread(place: int) -> Fingerprint:
        raise AssertionError(f"recording {place} was read")

    group = Group()
    group.places.extend([0, 1])

    assert group.nearest(given(index_of(), chat(user("a"))), [1], unread) == 1


def test_the_recording_with_most_items_in_common_is_the_nearest() -> None:
    one, two = chat(user("a"), user("b"), user("x")), chat(user("a"), user("c"), user("y"))

    assert nearest([one, two], chat(user("a"), user("c"), user("z"))) == 1
    assert nearest([two, one], chat(user("a"), user("c"), user("z"))) == 0


def test_an_item_counts_once_however_often_it_is_repeated() -> None:
    repeated, varied = chat(*[user("a")] * 3), chat(user("b"), user("c"))

    assert nearest([repeated, varied], chat(user("a"), user("a"), user("a"), user("b"), user("c"))) == 1
    assert nearest([repeated, chat(user("a"), user("b"))], chat(user("a"), user("b"))) == 1


def test_an_item_that_all_recordings_have_does_not_count() -> None:
    one, two = chat(user("all"), user("one word")), chat(user("all"), user("two words"))

    assert nearest([one, two], chat(user("all"), user("new words"))) == 1


def test_items_count_before_words() -> None:
    by_words, by_item = chat(user("q w e r t")), chat(user("same"))

    assert nearest([by_words, by_item], chat(user("same"), user("q w e r t y"))) == 1


def test_a_word_that_two_recordings_have_does_not_count() -> None:
    one, two, three = chat(user("red hat")), chat(user("red cat")), chat(user("blue dog"))

    assert nearest([one, two, three], chat(user("red red dog"))) == 2
    assert nearest([one, two, three], chat(user("red"))) == 0


def test_of_equally_near_recordings_the_first_is_the_nearest() -> None:
    assert nearest([chat(user("a")), chat(user("b")), chat(user("c"))], chat(user("d"))) == 0
    assert nearest([chat(user("a")), chat(user("b")), chat(user("c"))], chat(user("d")), [2, 1]) == 1


def test_recordings_of_an_equal_request_are_found_and_said_to_be_exact() -> None:
    index = index_of(trip({"a": 1, "user": "x"}), trip({"a": 1, "user": "y"}), trip({"a": 2}))

    found = [(places.all, exact) for places, exact in index.equal_to(given(index, {"user": "y", "a": 1}))]
    assert found == [([1], True), ([0, 1], False)]
    assert [(places.all, exact) for places, exact in index.equal_to(given(index, {"a": 1}))] == [([0, 1], False)]
    assert index.equal_to(given(index, {"a": 3})) == []


def test_the_method_and_the_path_are_part_of_what_is_looked_up() -> None:
    index = index_of(trip({"a": 1}, method="post"))

    assert len(index.equal_to(given(index, {"a": 1}))) == 2
    assert index.equal_to(given(index, {"a": 1}, method="PUT")) == []
    assert index.equal_to(given(index, {"a": 1}, path="messages")) == []


def test_a_recorded_secret_is_not_redacted_again() -> None:
    """The file has the redacted form, and a request with the same secret must find it."""
    secret = {"a": "sk-ant-api03-" + "Ab1_" * 24}
    clean = Redactor(salt="of the file").body(json.dumps(secret).encode())
    index = index_of(trip(json.loads(clean)))

    assert index.equal_to(given(index, secret))


def test_ids_that_the_recording_gave_are_compared_by_their_value() -> None:
    def called(name: str) -> dict[str, object]:
        calls = [{"id": name, "type": "function", "function": {"name": "f"}}]
        return chat(user("a"), {"role": "assistant", "tool_calls": calls})

    recorded = trip(called("c1"))
    own, other = index_of(recorded), index_of(trip({}, b'{"id":"c1"}'), recorded)

    assert own.equal_to(given(own, called("c2")))
    assert not other.equal_to(given(other, called("c2")))


def places_of(groups: list[Group]) -> list[list[int]]:
    return [group.places for group in groups]


def test_the_same_turn_comes_before_the_same_number_of_answers() -> None:
    index = index_of(
        trip(chat(user("a"))),
        trip(chat(user("a"), said("1"), user("b"))),
        trip(chat(user("a"), said("2"), user("b"))),
        trip(chat(user("c"), said("1"), user("d"))),
    )

    assert places_of(index.same_turn_as(given(index, chat(user("x"), said("1"), user("y"))))) == [[1, 3], [1, 2, 3]]
    assert places_of(index.same_turn_as(given(index, chat(user("x"), said("3"), user("y"))))) == [[1, 2, 3]]
    assert places_of(index.same_turn_as(given(index, chat(user("x"))))) == [[0], [0]]
    assert index.same_turn_as(given(index, chat(said("1"), said("2"), said("3")))) == []


def test_a_recording_of_the_same_turn_answers_whatever_else_differs() -> None:
    index = index_of(trip(chat(user("a"), user("b"), said("1"))), trip(chat(user("c"), said("1"))))
    asked = given(index, chat(user("x"), user("y"), said("1")))

    assert index.nearest(index.same_turn_as(asked)[0], asked, [0]) == 0
    assert index.nearest(index.same_turn_as(asked)[0], asked, [0, 1]) == 0


@pytest.mark.parametrize(
    ("recorded", "place"),
    [
        (chat(user("a"), said("old")), 0),
        (chat(user("a"), said("old"), user("b"), user("c")), None),
        (chat(user("a"), said("old"), user("x")), None),
        (chat(user("x"), said("old")), None),
    ],
)
def test_a_rewritten_history_is_the_same_turn_if_at_least_half_of_the_recorded_one_is_left(
    recorded: dict[str, object], place: int | None
) -> None:
    index = index_of(trip(recorded))
    asked = given(index, chat(user("a"), said("new"), user("z")))
    (group,) = index.same_turn_as(asked)

    assert index.nearest(group, asked, [0]) == place


def test_an_item_that_is_repeated_is_one_item_of_what_is_left() -> None:
    index = index_of(trip(chat(user("a"), user("a"), said("old"), user("c"))))
    asked = given(index, chat(user("a"), user("a"), said("new")))
    (group,) = index.same_turn_as(asked)

    assert index.nearest(group, asked, [0]) is None


def test_a_recording_without_a_history_is_not_a_rewritten_one() -> None:
    index = index_of(trip({"thread": "t1"}))
    asked = given(index, {"thread": "t2"})
    (group,) = index.same_turn_as(asked)

    assert index.nearest(group, asked, [0]) is None


def test_what_differs_is_graded_and_what_is_ignored_is_separate() -> None:
    index = index_of(trip({"temperature": 1, "user": "x"}), trip(chat(user("a"))))

    settings = index.graded(0, given(index, {"temperature": 2, "user": "y"}))
    assert settings.grade == "same turn, small change"
    assert [str(one) for one in settings.differences] == ["/temperature was 1 and is 2"]
    assert [str(one) for one in settings.ignored] == ['/user was "x" and is "y"']
    assert index.graded(0, given(index, {"temperature": 1, "user": "y"})).grade == "exact"
    assert index.graded(1, given(index, chat(user("b")))).grade == "same turn, other prompt"


def test_a_recording_is_of_the_same_turn_when_it_follows_the_same_answers() -> None:
    index = index_of(
        trip(chat(user("a"), said("1"))),
        trip(chat(user("a"), said("2"))),
        trip({}, path="models/gemini:generate"),
    )

    asked = given(index, chat(user("z"), said("1"), seed=3))
    assert [index.is_same_turn(asked, place) for place in range(3)] == [True, False, False]
    assert index.is_same_turn(given(index, {}, path="models/other:generate"), 2)
    assert not index.is_same_turn(given(index, {}, path="files/other:generate"), 2)
    assert not index.is_same_turn(given(index, chat(user("z"), said("1")), method="PUT"), 0)


def everything_is_free(place: int) -> bool:
    return True


def test_recordings_are_compared_from_the_same_turn_to_histories_of_another_length() -> None:
    index = index_of(
        trip(chat(*[user("a")] * 5)),
        trip(chat(user("b"), user("c"), said("1"))),
        trip(chat(user("b"))),
        trip(chat(user("c"), said("2"))),
        trip({}, path="models"),
    )
    asked = given(index, chat(user("z"), user("y"), said("1")))

    assert index.near(asked, everything_is_free) == [1, 3, 0, 2]
    assert index.near(asked, lambda place: place not in (1, 3)) == [0, 2, 1, 3]
    assert index.near(given(index, {}, path="files"), everything_is_free) == []
    assert index.near(given(index, {}, method="PUT"), everything_is_free) == []


def test_a_miss_is_compared_with_at_most_64_recordings_of_its_turn_and_64_others() -> None:
    same = [trip(chat(user(f"{n}"), said("1"))) for n in range(70)]
    others = [trip(chat(user(f"{n}"), said("2"))) for n in range(70)]
    index = index_of(*others, *same)

    near = index.near(given(index, chat(user("z"), said("1"))), everything_is_free)

    assert near == [*range(70, 134), *range(64)]


def test_the_recordings_of_other_models_in_the_path_are_near() -> None:
    index = index_of(trip({}, path="models/one:generate"), trip({"contents": [user("a")]}, path="models/two:generate"))

    assert index.near(given(index, {}, path="models/new:generate"), everything_is_free) == [0, 1]


def test_a_recorded_request_and_a_given_one_have_the_same_keys() -> None:
    body: Any = chat(user("a"), said("1"), system="s")
    index = index_of(trip(body))

    assert index.recorded(0).exact == given(index, body).exact
    assert index.recorded(0).items == given(index, body).items


def test_recordings_are_taken_apart_once_however_many_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    taken_apart: list[object] = []
    original = request_index.conversation

    def slow(fields: dict[str, object]) -> list[object]:
        taken_apart.append(fields)
        time.sleep(0.01)  # another thread runs meanwhile
        return original(fields)

    monkeypatch.setattr(request_index, "conversation", slow)
    index = index_of(*(trip(chat(user(text))) for text in ("one", "two", "three")))
    asked = [given(index, chat(user(text))) for text in ("one", "two", "three", "four")]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(index.same_but_for_values, asked))
    assert found == [[0], [1], [2], []]
    assert len(taken_apart) == 3


@pytest.mark.parametrize(("most", "again"), [(10_000, 0), (50, 1), (0, 2)])
def test_the_fingerprints_of_small_recordings_are_made_once(
    most: int, again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_index, "_KEPT", most)
    index = index_of(*(trip(chat(user(word))) for word in ("a", "b")))
    made: list[int] = []
    own = RequestIndex._fingerprint
    monkeypatch.setattr(RequestIndex, "_fingerprint", lambda self, trip: (made.append(1), own(self, trip))[1])

    found = [index.recorded(place).value for place in (0, 1)]

    assert found == [chat(user("a")), chat(user("b"))]
    assert len(made) == again


def test_a_kept_fingerprint_is_taken_apart_with_the_folders_that_became_known() -> None:
    said_so = "Working directory: /home/ana/my proj"
    bodies = [chat(user("read /home/ana/my proj/a.py")), chat(user(said_so), user("read /home/ana/my proj/a.py"))]
    index = index_of(*(trip(body) for body in bodies))
    before = index.recorded(0).apart
    given(index, bodies[1]).learn_folders()

    fresh = index._fingerprint(index._cassette[0]).apart

    assert fresh != before
    assert index.recorded(0).apart == fresh
