"""Lines are sorted by kind, damage is reported with its number, and bodies are found through chains of deltas."""

import random
import shlex
from pathlib import Path

import orjson
import pytest
from factories import round_trip
from recordings import bodies, growing, loaded, record, text_line

from turntape.cassettes import Cassette, CassetteError, RoundTrip
from turntape.cassettes.tape.lines import MOST_PROBLEMS, Lines, fits
from turntape.cassettes.tape.trip_lines import TripLines


def test_a_damaged_line_costs_its_round_trip_and_the_bodies_that_refer_to_it(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, growing(4))
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"n":1,"started_at":"2026'
    path.write_bytes(b"\n".join(lines))
    new = growing(3, "b")

    record(path, new, append=True)

    cassette = Cassette.load(path)
    read = list(cassette)
    assert [trip.index for trip in read] == [0, 2, 3, 4, 5, 6]
    assert bodies(read)[1:] == [b"", b"", *bodies(new)]
    missing = ("a body is missing: it refers to round trip 1, which is not in the file before it",)
    assert [trip.faults for trip in read] == [(), missing, missing, (), (), ()]
    assert [problem.split(";")[0] for problem in cassette.problems] == [
        "line 3 is not valid JSON and was skipped",
        "the body of round trip 2 refers to round trip 1, which is not in the file before it",
    ]
    assert (cassette[1].request.body, cassette[1].response) == (b"", read[1].response)


def delta(base: object, prefix: int = 0, suffix: int = 0) -> dict[str, object]:
    return {"base": base, "prefix": prefix, "suffix": suffix, "text": "q"}


def line(number: int, body: dict[str, object]) -> bytes:
    request = {"method": "POST", "url": "https://a.example", "body": body}
    return orjson.dumps({"n": number, "started_at": "2026-01-01T00:00:00Z", "request": request}) + b"\n"


@pytest.mark.parametrize(
    "lines",
    [
        [line(0, delta(0, 3))],
        [line(0, delta(1, 3)), line(1, delta(0, 3))],
        [line(1, delta(2)), line(2, {"text": "x" * 300})],
    ],
    ids=["itself", "each other", "a later one"],
)
def test_a_body_that_refers_to_none_before_it_is_missing(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0"}\n' + b"".join(lines))
    cassette = Cassette.load(path)

    missing = [trip.request.body for trip in cassette if trip.faults]

    assert missing and not any(missing) and len(cassette.problems) == 1


@pytest.mark.parametrize(
    "lines",
    [
        [line(0, {"text": "x" * 300}), line(1, delta(0, 200, 101))],
        [line(0, {"text": "x"}), line(1, delta(0, 1, 1))],
        [line(0, {"text": "x" * 300}), line(1, delta(0, 2**62))],
    ],
    ids=["more than there is", "more of a small one", "far more"],
)
def test_a_delta_that_cannot_be_is_a_problem_and_never_a_loop(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0"}\n' + b"".join(lines))
    cassette = Cassette.load(path)

    broken = [trip.index for trip in cassette]

    assert len(broken) < len(lines) and cassette.problems
    for place in range(len(lines)):
        if cassette[place].index not in broken:
            with pytest.raises(CassetteError):
                _ = cassette[place].request.body


def test_recordings_that_were_joined_by_hand_keep_their_own_bodies(tmp_path: Path) -> None:
    """`cat a b`: numbers are there twice, and a delta means the nearest body before it."""
    one, two = tmp_path / "1.cassette.jsonl", tmp_path / "2.cassette.jsonl"
    first, second = growing(3, "first"), growing(3, "second")
    record(one, first)
    record(two, second)
    joined = tmp_path / "joined.cassette.jsonl"
    joined.write_bytes(one.read_bytes() + two.read_bytes())

    cassette = Cassette.load(joined)

    assert bodies(list(cassette)) == bodies(first + second)
    assert bodies([cassette[place] for place in range(6)]) == bodies(first + second)
    assert any("line 6 is a second round trip 0" in problem for problem in cassette.problems)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"n":1', "line 3 is not valid JSON and was skipped; the recording was cut there"),
        (b"[1]\n", "line 3 is not a JSON object and was skipped"),
        (text_line(1, n="1"), "line 3 has n '1', which is not a number, and was skipped"),
        (text_line(1, n=-1), "line 3 has n -1, which is not a number, and was skipped"),
        (text_line(1, n=True), "line 3 has n True, which is not a number, and was skipped"),
        (b'{"label":null,"of":{}}\n', "line 3 has label None, which is not a number, and was skipped"),
        (b'{"label":0,"of":[]}\n', "line 3 is a label without an object and was skipped"),
        (b'{"label":0}\n', "line 3 is a label without an object and was skipped"),
        (text_line(0), "line 3 is a second round trip 0; labels for it may mean the first"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_its_number(line: bytes, problem: str, tmp_path: Path) -> None:
    cassette = loaded(tmp_path, text_line(0), line)

    assert cassette.problems == [problem]
    assert [trip.index for trip in cassette][:1] == [0]


def test_a_merge_conflict_is_named_once_and_both_sides_are_read(tmp_path: Path) -> None:
    sides = [b"<<<<<<< HEAD\n", text_line(0), b"||||||| 2f3\n", b"=======\n", text_line(1), b">>>>>>> theirs\n"]

    cassette = loaded(tmp_path, *sides)

    assert [trip.index for trip in cassette] == [0, 1]
    name = shlex.quote(str(cassette.path))
    assert cassette.problems == [
        f"line 2 begins a merge conflict, and both sides are read; keep one side with `git checkout --ours {name}` or "
        f"`git checkout --theirs {name}`, or record again"
    ]


@pytest.mark.parametrize("line", [b"=======\n", b">>>>>>> theirs\n", b"||||||| 2f3\n", b"<<<<\n"])
def test_signs_of_a_conflict_that_none_begins_are_damage(line: bytes, tmp_path: Path) -> None:
    assert loaded(tmp_path, line).problems == ["line 2 is not valid JSON and was skipped; the recording was cut there"]


def test_lines_without_a_number_are_left_to_newer_versions(tmp_path: Path) -> None:
    cassette = loaded(tmp_path, b'{"note":1}\n', b"  \n", b"\n", text_line(0))

    assert ([trip.index for trip in cassette], cassette.problems) == ([0], [])


def test_a_label_may_come_before_and_after_its_round_trip(tmp_path: Path) -> None:
    labels = [b'{"label":%d,"of":{"turn":%d}}\n' % pair for pair in ((0, 1), (7, 2), (0, 3), (2, 4))]

    cassette = loaded(tmp_path, labels[0], text_line(0), text_line(3), *labels[1:])

    assert cassette.labels == {0: {"turn": 3}, 7: {"turn": 2}, 2: {"turn": 4}}
    assert cassette.following == 8
    assert loaded(tmp_path, text_line(3), text_line(1)).following == 4
    assert loaded(tmp_path).following == 0


@pytest.mark.parametrize(
    ("prefix", "suffix", "size", "holds"),
    [(0, 0, 0, True), (4, 6, 10, True), (5, 6, 10, False), (-1, 0, 10, False), (0, -1, 10, False), (11, -1, 10, False)],
)
def test_a_delta_takes_no_more_than_there_is(prefix: int, suffix: int, size: int, holds: bool) -> None:
    if holds:
        fits(prefix, suffix, size, 3)
    else:
        with pytest.raises(
            CassetteError, match="^the body of round trip 3 takes more of an earlier one than that has$"
        ):
            fits(prefix, suffix, size, 3)


def edited(count: int) -> list[RoundTrip]:
    """Bodies that are changed at their start, in the middle and at their end, so that chains of deltas cross."""
    chance = random.Random(5)
    body = chance.randbytes(3000).hex().encode()
    trips: list[RoundTrip] = []
    for _ in range(count):
        at = chance.choice([0, len(body), chance.randrange(len(body))])
        cut = chance.randrange(0, 60)
        body = body[:at] + chance.randbytes(30).hex().encode() + body[at + cut :]
        trips.append(round_trip(body))
    return trips


def test_every_body_is_found_from_anywhere_through_chains_of_deltas(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    trips = edited(40)
    record(path, trips)
    wanted = bodies(trips)
    assert path.read_bytes().count(b'"base"') > 35

    cassette = Cassette.load(path)
    assert bodies([cassette[39], cassette[0], cassette[-2]]) == [wanted[39], wanted[0], wanted[38]]
    for place in range(40):
        assert Cassette.load(path)[place].request.body == wanted[place]
    assert bodies(cassette[::-3]) == wanted[::-3]
    assert bodies(list(cassette)) == wanted


def test_each_line_is_read_once_for_a_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are not held are read from the file."""
    path = tmp_path / "run.cassette.jsonl"
    trips = edited(40)
    record(path, trips)
    cassette = Cassette.load(path, longest=1)
    read: list[int] = []
    of_line = TripLines.__getitem__
    monkeypatch.setattr(TripLines, "__getitem__", lambda self, place: read.append(place) or of_line(self, place))

    assert cassette[39].request.body == bodies(trips)[39]
    assert read.pop(0) == 39  # the round trip
    assert len(read) == len(set(read)) > 20


@pytest.mark.parametrize(("prefix", "suffix"), [(0, 0), (3, 0), (0, 3), (3, 4), (10, 0), (0, 10), (4, 6)])
def test_a_delta_of_a_small_body_is_read_both_ways(prefix: int, suffix: int, tmp_path: Path) -> None:
    """A body that is too small for the window, and a delta of a delta."""
    base: dict[str, object] = {"text": "0123456789"}
    first = {"base": 0, "prefix": prefix, "suffix": suffix, "text": "ab"}
    second = {"base": 1, "prefix": 1, "suffix": 1, "b64": "eHl6"}
    cassette = loaded(tmp_path, text_line(0, base), text_line(1, first), text_line(2, second))
    one = "0123456789"[:prefix] + "ab" + "0123456789"[10 - suffix :]
    two = f"{one[0]}xyz{one[-1]}"

    assert bodies([cassette[2], cassette[1]]) == [two.encode(), one.encode()]
    assert bodies(list(cassette)) == [b"0123456789", one.encode(), two.encode()]
    assert cassette.problems == []


def test_a_delta_of_a_body_that_is_empty_is_read(tmp_path: Path) -> None:
    cassette = loaded(tmp_path, text_line(0), text_line(1, {"base": 0, "prefix": 0, "suffix": 0, "text": "x"}))

    assert cassette[1].request.body == b"x"
    assert bodies(list(cassette)) == [b"", b"x"]


def test_a_delta_of_a_request_that_is_not_an_object_is_a_problem(tmp_path: Path) -> None:
    cassette = loaded(
        tmp_path, text_line(0, request=[1]), text_line(1, {"base": 0, "prefix": 0, "suffix": 0, "text": "x"})
    )

    assert [trip.index for trip in cassette] == [1]
    assert cassette.problems == ["round trip 0 cannot be read: its request is [1] and not an object"]


def test_a_delta_that_takes_too_much_of_a_body_in_the_window_is_a_problem(tmp_path: Path) -> None:
    base: dict[str, object] = {"text": "x" * 300}
    delta: dict[str, object] = {"base": 0, "prefix": 200, "suffix": 101, "text": "q"}
    cassette = loaded(tmp_path, text_line(0, base), text_line(1, delta))
    problem = "the body of round trip 1 takes more of an earlier one than that has"

    assert [trip.index for trip in cassette] == [0]
    assert cassette.problems == [f"round trip 1 cannot be read: {problem}"]


def test_a_delta_of_a_missing_body_takes_nothing_from_another(tmp_path: Path) -> None:
    bodies_before = [text_line(number, {"text": letter * 300}) for number, letter in enumerate("abc")]
    delta = text_line(3, {"base": 9, "prefix": 200, "suffix": 0, "text": "q"})
    cassette = loaded(tmp_path, *bodies_before, delta)

    assert [trip.request.body for trip in cassette] == [b"a" * 300, b"b" * 300, b"c" * 300, b""]
    assert ["refers to round trip 9" in problem for problem in cassette.problems] == [True]


def test_a_damaged_body_is_reported_once_when_it_is_used(tmp_path: Path) -> None:
    cassette = loaded(
        tmp_path, text_line(0, {"b64": "!"}), text_line(1, {"base": 0, "prefix": 9, "suffix": 0, "text": ""})
    )
    first, second = cassette[0], cassette[1]
    assert cassette.problems == []

    for _ in range(2):
        with pytest.raises(CassetteError, match="^a body of round trip 0 cannot be read: the base64 '!' is damaged"):
            _ = first.request.body
        with pytest.raises(CassetteError, match="^a body of round trip 1 cannot be read: "):
            _ = second.request.body

    assert len(cassette.problems) == 2


def test_a_file_with_a_problem_in_each_line_lists_the_first_ones() -> None:
    """Or a small compressed file would take gigabytes of sentences."""
    lines = Lines()
    for number in range(1000):
        lines.add(b"x", number)

    assert len(lines.problems) == MOST_PROBLEMS + 1
    assert lines.problems[0].startswith("line 0 is not valid JSON")
    assert lines.problems[-1] == "there are more problems; they are not listed"
