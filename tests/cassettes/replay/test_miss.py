"""What the error for a request that no recording answers says, and with which mark it would be answered."""

from collections.abc import Callable
from typing import Any

import pytest
from factories import round_trip

from turntape.cassettes.matching.grades import Grade
from turntape.cassettes.matching.json_diff import Difference
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.tape.turn_names import TurnName

WHAT = "no recorded round trip answers POST /v1/x"
NEAREST = round_trip(index=7)
TURN, SAME = TurnName(3, 7), "same turn, other prompt"
FIRST, SECOND = "5f7b7f62-34a2-4a41-9d7e-1f3b2f8d0c11", "0c9d1e8a-77b3-4f5e-8a6b-9d2c3b4a5f60"
FRESH = Difference("/messages/0/content", "changed", f"Job {FIRST}.", f"Job {SECOND}.")
TIME = Difference("/messages/0/content", "changed", "Answer within 30 seconds.", "Answer within 60 seconds.")
WORD = Difference("/messages/0/content", "changed", "Write to Acme today.", "Write to Globex today.")
EPOCH = Difference("/metadata/at", "changed", 1_780_000_000, 1_780_000_999)
FILE = Difference(
    "/messages/0/content/1/image_url", "changed", "data:image/png;base64,AAAA", "data:image/png;base64,BBBB"
)


type Made = Callable[[], Miss]


def miss(*found: Difference, like: Grade = SAME, **given: Any) -> Made:
    return lambda: Miss("POST", "/v1/x", NEAREST, list(found), 0, 9, **{"turn": TURN, "likeness": like, **given})


def asked_again(played: int, **given: Any) -> Made:
    return lambda: Miss("POST", "/v1/x", None, [], played, 9, **{"turn": TURN, **given})


MODEL = Difference("/model", "changed", "a", "b")
NEAR, AGAIN = ": the nearest is turn 3, #7, where", "; record again if the change is intended"
REPEATED = "and is requested again; record again if the agent now repeats it"
OTHER = ": it is not a recorded turn; the nearest is turn 3, #7"
MEANT = "; record again if the request is intended"
IGNORE = "ignore it with @pytest.mark.turntape"
LOOKS_NEW = f"; everything that differs looks new in each run: {IGNORE}"
MAY_BE_NEW = f"{AGAIN}; everything that differs may be new in each run: {IGNORE}"
NOTHING = ": no recorded round trip (9 in all) has this method and path; record again, or check the base URL"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (asked_again(0), NOTHING),
        (asked_again(1), f": it was recorded once (turn 3, #7) {REPEATED}"),
        (asked_again(2, turn=None), f": it was recorded 2 times {REPEATED}"),
        (
            asked_again(1, taken_by="edited"),
            ": its recording (turn 3, #7) was already played for a different request, edited",
        ),
        (
            asked_again(1, turn=None, taken_by="edited"),
            ": its recording was already played for a different request, edited",
        ),
        (miss(MODEL), f'{NEAR} /model was "a" and is "b"{AGAIN}'),
        (miss(MODEL, turn=None), f': the nearest is #7, where /model was "a" and is "b"{AGAIN}'),
        (miss(MODEL, Difference("/n", "added")), f'{NEAR} /model was "a" and is "b" (and 1 more: /n){AGAIN}'),
        (miss(), f"{NEAR} the body was null and is null{AGAIN}"),
        (miss(WORD, like="miss"), f"{OTHER}, where {WORD}{MEANT}"),
        (miss(FRESH, like="miss", nearest_played=True), f"{OTHER}, played already, where {FRESH}{MEANT}"),
        (miss(FRESH), f'{NEAR} {FRESH}{LOOKS_NEW}(ignore_text=["uuid"])'),
        (miss(FRESH, like="miss"), f'{NEAR} {FRESH}{LOOKS_NEW}(ignore_text=["uuid"])'),
        (miss(TIME), f'{NEAR} {TIME}{MAY_BE_NEW}(ignore_text=["duration"])'),
        (miss(EPOCH), f'{NEAR} {EPOCH}{LOOKS_NEW}(ignore=["/metadata/at"])'),
        (
            miss(FRESH, EPOCH),
            f'{NEAR} {FRESH} (and 1 more: /metadata/at){LOOKS_NEW}(ignore=["/metadata/at"], ignore_text=["uuid"])',
        ),
    ],
)
def test_a_miss_says_what_differs_and_what_to_do(made: Made, said: str) -> None:
    assert str(made()) == WHAT + said


def test_a_long_list_of_differences_is_cut() -> None:
    def more(count: int) -> str:
        said = str(
            miss(*(Difference(f"/x{n}", "added", given=n) for n in range(count + 1)), Difference("", "changed"))()
        )
        return said.partition(" (and ")[2].partition(")")[0]

    assert more(9) == "10 more: /x1, /x2, /x3, /x4, /x5, /x6, /x7, /x8, /x9, /"
    assert more(10) == "11 more: /x1, /x2, /x3, /x4, /x5, /x6, /x7, /x8, /x9, /x10, …"


@pytest.mark.parametrize(
    ("made", "again", "same"),
    [
        (asked_again(1), True, False),
        (asked_again(2, taken_by="edited"), False, False),
        (miss(WORD), False, True),
        (miss(WORD, like="miss"), False, False),
    ],
)
def test_a_request_that_is_sent_again_does_not_differ(made: Made, again: bool, same: bool) -> None:
    one = made()

    assert (one.is_asked_again, one.is_same_turn) == (again, same)
    assert (one.grade, one.after, one.refused) == ("miss", None, None)


@pytest.mark.parametrize(
    ("made", "ignorable", "coverable"),
    [
        (miss(FRESH), {"ignore_text": ["uuid"]}, {"ignore_text": ["uuid"]}),
        (miss(FRESH, like="miss", nearest_played=True), {}, {}),
        (miss(EPOCH), {"ignore": ["/metadata/at"]}, {"ignore": ["/metadata/at"]}),
        (miss(EPOCH, like="miss", nearest_played=True), {}, {}),
        # No name covers the word, so its neighbours do.
        (miss(WORD), {}, {"ignore_text": [r"Write to \w+"]}),
        (miss(FRESH, WORD), {}, {"ignore_text": ["uuid", r"Write to \w+"]}),
        (miss(FRESH, FRESH, WORD), {}, {"ignore_text": ["uuid", r"Write to \w+"]}),
        (miss(FRESH, EPOCH), both := {"ignore": ["/metadata/at"], "ignore_text": ["uuid"]}, both),
        # The place of a setting, whichever item of a list it is in.
        (miss(Difference("/temperature", "changed", 0, 1)), {}, {"ignore": ["/temperature"]}),
        (miss(Difference("/stop/0", "removed", "a")), {}, {"ignore": ["/stop/*"]}),
        (miss(Difference("/stop", "changed", ["a"], "b")), {}, {"ignore": ["/stop"]}),
        (miss(Difference("/stop", "changed", "a", ["b"])), {}, {"ignore": ["/stop"]}),
        (
            miss(Difference("/tools/0/x/12/y", "added"), Difference("/tools/1/x/3/y", "added")),
            {},
            {"ignore": ["/tools/*/x/*/y"]},
        ),
        (miss(Difference("/file", "changed", FILE.recorded, FILE.given)), {}, {"ignore": ["/file"]}),
        # Another model, another way to answer, and messages that are new, gone or another file.
        (miss(WORD, Difference("/model", "changed", "a-1", "b-2")), {}, {}),
        (miss(WORD, Difference("/stream", "added", None, True)), {}, {}),
        (miss(WORD, Difference("/messages/1", "added", None, {"role": "user"})), {}, {}),
        (miss(WORD, Difference("/tool_results/0/outputs", "removed", [])), {}, {}),
        (miss(WORD, FILE), {}, {}),
        (miss(WORD, Difference("/messages/1/content", "changed", "a b c d e f", "Q")), {}, {}),
        (miss(), {}, {}),
    ],
)
def test_the_mark_with_which_a_request_is_answered(
    made: Made, ignorable: dict[str, list[str]], coverable: dict[str, list[str]]
) -> None:
    one = made()

    assert (one.ignorable, one.coverable) == (ignorable, coverable)
    assert one.volatile == ignorable.get("ignore_text", [])


@pytest.mark.parametrize(("made", "meant"), [(miss(FRESH), False), (miss(TIME), True), (miss(FRESH, TIME), True)])
def test_a_length_of_time_may_have_been_changed_by_a_person(made: Made, meant: bool) -> None:
    assert made().may_be_meant == meant


def test_the_body_of_a_miss_is_an_error_of_every_api() -> None:
    one = miss(WORD, Difference("/n", "added", given=1), turn=TurnName(3, 7, "t2"))()

    assert one.document(599) == {
        "type": "error",
        "object": "error",
        "error": {
            "type": "turntape_replay_miss",
            "code": 599,
            "status": "INVALID_ARGUMENT",
            "message": str(one),
            "param": "/messages/0/content",
        },
        "message": str(one),
        "turntape": {
            "nearest": 7,
            "turn": 3,
            "thread": "t2",
            "likeness": SAME,
            "differences": [
                {
                    "pointer": "/messages/0/content",
                    "kind": "changed",
                    "recorded": WORD.recorded,
                    "given": WORD.given,
                    "words": [["Acme", "Globex"]],
                },
                {"pointer": "/n", "kind": "added", "recorded": None, "given": 1},
            ],
        },
    }


def test_the_body_of_a_miss_without_a_recording_says_so() -> None:
    one = Miss("POST", "/v1/x", None, [], 0, 9)
    document: Any = one.document(599)

    assert document["error"]["param"] is None
    assert document["turntape"] == {
        "nearest": None, "turn": None, "thread": None, "likeness": "miss", "differences": []
    }  # fmt: skip
    many: Any = miss(*(Difference(f"/x{n}", "added", given=n) for n in range(12)))().document(599)
    assert len(many["turntape"]["differences"]) == 10
