"""A line to a round trip and back: what breaks the format is named, and hides nothing else."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, Chunk, Failure, Frame, Recorder, Response, RoundTrip, Tail
from turntape.cassettes.tape.format import read_round_trip, round_trip_line, stamp, unstamp
from turntape.cassettes.tape.json_fields import Json, restored
from turntape.inspector.run.labels import label_all

HEADER = b'{"turntape":"1.0"}\n'
NOT_UTF8 = "caf\udce9"
"""How a byte that is not UTF-8 appears in a header."""


def line_of(**fields: Any) -> bytes:
    line = {"n": 0, "started_at": "2026-01-01T00:00:00Z", "request": {"method": "POST", "url": "https://a.example/v1"}}
    return orjson.dumps(line | fields) + b"\n"


def written(tmp_path: Path, *lines: bytes) -> Path:
    path = tmp_path / "run.cassette.jsonl"
    path.write_bytes(HEADER + b"".join(lines))
    return path


def there_and_back(trip: RoundTrip) -> RoundTrip:
    line: Json = orjson.loads(round_trip_line(0, trip, trip.request.body, None))
    return read_round_trip(line, restored)


@pytest.mark.parametrize(
    "trip",
    [
        round_trip(headers=(("x-title", NOT_UTF8), (NOT_UTF8, "v"), ("x-title", "café"))),
        round_trip(url=f"https://a.example/{NOT_UTF8}?q={NOT_UTF8}"),
        round_trip(run=NOT_UTF8, upstream=NOT_UTF8, client=NOT_UTF8, faults=(NOT_UTF8, "plain")),
        round_trip(answer=None, failure=Failure("cut", NOT_UTF8)),
        replace(round_trip(), response=Response(200, NOT_UTF8, (("a", NOT_UTF8),), trailers=(("b", NOT_UTF8),))),
        round_trip(NOT_UTF8.encode("utf-8", "surrogateescape"), b"\xff\x00"),
        round_trip(frames=(Frame("client", -3, b"\xff", True), Frame("server", 0, b"", False))),
    ],
    ids=["headers", "url", "names", "failure", "reason and trailers", "bodies", "frames"],
)
def test_what_is_not_utf8_comes_back_byte_for_byte(trip: RoundTrip, tmp_path: Path) -> None:
    assert there_and_back(trip) == replace(trip, index=0)

    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(trip)
    assert recorder.problem is None
    assert len(list(Cassette.load(path))) == 1


REQUEST: Json = {"method": "POST", "url": "https://a.example/v1"}
MALFORMED: dict[str, dict[str, Any]] = {
    "started_at": {"started_at": "yesterday"},
    "started_at is": {"started_at": 5},
    "started_at is '0000": {"started_at": "0000-01-01T00:00:00Z"},
    "no started_at": {"started_at": ...},
    "run": {"run": 3},
    "route": {"route": ["forward"]},
    "upstream": {"upstream": {}},
    "client": {"client": True},
    "request_at": {"request_at": "soon"},
    "first_byte_at": {"first_byte_at": True},
    "ended_at": {"ended_at": 1.5},
    "closed_first": {"closed_first": 0},
    "failure is": {"failure": "x"},
    "no kind": {"failure": {}},
    "failure.message": {"failure": {"kind": "cut", "message": 3}},
    "faults is": {"faults": "cut"},
    "faults is 3": {"faults": [3]},
    "frames is": {"frames": {"from": "client"}},
    "frames is 1": {"frames": [1]},
    "no from": {"frames": [{"text": "x"}]},
    "from 'us'": {"frames": [{"from": "us", "text": "x"}]},
    "frames has neither": {"frames": [{"from": "client"}]},
    "at is": {"frames": [{"from": "client", "at": "0", "text": "x"}]},
    "no request": {"request": ...},
    "request is": {"request": []},
    "no method": {"request": {"url": "u"}},
    "request.url": {"request": {"method": "POST", "url": 3}},
    "request.headers is": {"request": {**REQUEST, "headers": {"ab": "c"}}},
    "not a pair": {"request": {**REQUEST, "headers": [["a"]]}},
    "request.headers is 1": {"request": {**REQUEST, "headers": [["a", 1]]}},
    "'ab'": {"request": {**REQUEST, "headers": ["ab"]}},
    "request.http": {"request": {**REQUEST, "http": 1.1}},
    "request.encoding": {"request": {**REQUEST, "encoding": ["gzip"]}},
    "request.body is": {"request": {**REQUEST, "body": "abc"}},
    "request.body has neither": {"request": {**REQUEST, "body": {"txt": "abc"}}},
    "base64": {"request": {**REQUEST, "body": {"b64": "AAA"}}},
    "body.base": {"request": {**REQUEST, "body": {"base": "z", "prefix": 0, "suffix": 0, "text": ""}}},
    "body.suffix": {"request": {**REQUEST, "body": {"base": 7, "prefix": 0, "suffix": -1, "text": ""}}},
    "no prefix": {"request": {**REQUEST, "body": {"base": 7, "suffix": 0, "text": ""}}},
    "body.prefix": {"request": {**REQUEST, "body": {"base": 7, "prefix": 1e30, "suffix": 0, "text": ""}}},
    "response is": {"response": "x"},
    "no status": {"response": {}},
    "response.status": {"response": {"status": "200"}},
    "response.reason": {"response": {"status": 200, "reason": 3}},
    "response.trailers": {"response": {"status": 200, "trailers": 3}},
    "response.chunks": {"response": {"status": 200, "chunks": 3}},
    "chunk size": {"response": {"status": 200, "body": {"text": "abc"}, "chunks": [[-1, 0]]}},
    "chunk time": {"response": {"status": 200, "body": {"text": "abc"}, "chunks": [[3, None]]}},
    "response.body refers": {"response": {"status": 200, "body": {"base": 7, "prefix": 1, "suffix": 0, "text": ""}}},
}
"""What the problem says → the fields that are wrong; `...` for one that is missing."""


@pytest.mark.parametrize(("said", "fields"), MALFORMED.items(), ids=MALFORMED)
def test_a_malformed_field_is_named_and_hides_no_other_round_trip(
    said: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    line = orjson.loads(line_of(n=8))
    line = {key: value for key, value in (line | fields).items() if value is not ...}
    base, after = line_of(n=7), line_of(n=9, request={**REQUEST, "body": {"text": "x" * 300}})
    path = written(tmp_path, base, orjson.dumps(line) + b"\n", after)

    cassette = Cassette.load(path)

    assert [trip.index for trip in cassette] == [7, 9]
    [problem] = cassette.problems
    assert problem.startswith("round trip 8 cannot be read: ") and said.lower() in problem.lower()
    # A second look says nothing twice, random access raises what callers catch, and a tail says the same.
    assert [trip.index for trip in cassette] == [7, 9] and len(cassette.problems) == 1
    with pytest.raises(CassetteError):
        _ = cassette[1].request.body
    tail = Tail(path)
    assert [trip.index for trip in tail.poll()] == [7, 9] and tail.problems == [problem]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (line_of(n="0"), "line 2 has n '0'"),
        (line_of(n=True), "line 2 has n True"),
        (line_of(n=-1), "line 2 has n -1"),
        (line_of(n=1e30), "line 2 has n 1e+30"),
        (b'{"label":"x","of":{}}\n', "line 2 has label 'x'"),
        (b'{"label":0,"of":[]}\n', "line 2 is a label without an object"),
        (b"[1]\n", "line 2 is not a JSON object"),
        (b"[" * 5000 + b"\n", "line 2 is not valid JSON"),
        (b'{"n":0,"run":"\\ud800"}\n', "line 2 is not valid JSON"),
    ],
)
def test_a_line_of_no_kind_is_named_by_its_place(line: bytes, said: str, tmp_path: Path) -> None:
    cassette = Cassette.load(written(tmp_path, line, line_of(n=1)))

    assert [trip.index for trip in cassette] == [1]
    [problem] = cassette.problems
    assert problem.startswith(said)


def test_kinds_of_lines_that_a_newer_minor_version_may_have_are_not_a_problem(tmp_path: Path) -> None:
    cassette = Cassette.load(written(tmp_path, b'{"note":"x"}\n', b"\n", line_of()))

    assert (len(list(cassette)), cassette.problems) == (1, [])


def test_a_problem_shows_a_huge_value_clipped(tmp_path: Path) -> None:
    cassette = Cassette.load(written(tmp_path, line_of(request={**REQUEST, "body": "x" * 100_000})))

    assert list(cassette) == []
    assert len(cassette.problems[0]) < 200


def test_a_time_without_a_zone_is_utc() -> None:
    assert unstamp("2026-01-01T00:00:00") == unstamp("2026-01-01T00:00:00Z")


def test_a_time_that_cannot_be_written_again_is_not_read() -> None:
    """The nearest number of seconds is in the year 10000."""
    with pytest.raises(ValueError, match="out of range"):
        unstamp("9999-12-31T23:59:59.999999Z")
    assert stamp(unstamp("9999-12-31T23:59:59Z")) == "9999-12-31T23:59:59.000000Z"


def test_an_answer_that_was_changed_by_hand_is_played_whole() -> None:
    """Whoever edits a fixture edits its text, and not its chunks."""
    longer = Response(200, content=b"0123456789", chunks=(Chunk(3, 1), Chunk(3, 2)))
    shorter = Response(200, content=b"0123", chunks=(Chunk(3, 1), Chunk(3, 2)))

    assert longer.pieces == [(b"012", 1), (b"3456789", 2)]
    assert shorter.pieces == [(b"012", 1), (b"3", 2)]


PAGE = Path(__file__).parents[3] / "docs" / "cassette-format.md"


def test_the_example_is_read_byte_for_byte(tmp_path: Path) -> None:
    match = re.search(r"```jsonl\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    path = tmp_path / "example.cassette.jsonl"
    path.write_text(match[1])

    cassette = Cassette.load(path)
    first, second = cassette

    assert cassette.problems == []
    assert cassette.labels == {0: {"index": 0, "protocol": "openai-chat", "turn": 1}}
    assert first.response is not None
    assert sum(chunk.size for chunk in first.response.chunks) == len(first.response.body)
    assert second.request.body.startswith(first.request.body[:-2])
    assert second.request.body.endswith(b'"content":"Again."}]}')
    labels = [done.label for done in label_all(cassette)]
    assert [label["turn"] for label in labels] == [1, 2]


def test_every_field_that_is_written_is_on_the_page() -> None:
    trip = round_trip(
        run="r",
        route="forward",
        upstream="openai",
        client="c:1",
        request_at=1,
        first_byte_at=2,
        ended_at=3,
        closed_first="client",
        failure=Failure("cut", "x"),
        faults=("f",),
        frames=(Frame("client", 1, b"x", True),),
    )
    line = orjson.loads(round_trip_line(0, trip, trip.request.body, None))
    page = PAGE.read_text()

    assert [field for field in (*line, *line["request"], *line["response"]) if f"`{field}`" not in page] == []
