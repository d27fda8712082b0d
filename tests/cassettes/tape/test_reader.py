from pathlib import Path

import orjson
import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, FormatError, Recorder


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        for number in range(4):
            recorder.write(round_trip(b'{"n":%d}' % number))
    return path


def test_a_torn_tail_is_reported_and_skipped(tape: Path) -> None:
    tape.write_bytes(tape.read_bytes()[:-20])

    cassette = Cassette.load(tape)

    assert len(cassette) == 3
    [problem] = cassette.problems
    assert "line 5" in problem


def test_lines_after_an_unreadable_one_are_read(tape: Path) -> None:
    lines = tape.read_bytes().split(b"\n")
    lines[2] = b"\xff garbage"
    tape.write_bytes(b"\n".join(lines))

    cassette = Cassette.load(tape)

    assert [trip.index for trip in cassette] == [0, 2, 3]
    assert len(cassette.problems) == 1


def test_a_line_that_breaks_the_format_hides_no_other(tape: Path) -> None:
    with tape.open("ab") as file:
        file.write(b'{"n":4,"started_at":"yesterday","request":{}}\n[1]\n"x"\n')

    cassette = Cassette.load(tape)

    assert [trip.index for trip in cassette] == [0, 1, 2, 3]
    assert any("round trip 4" in problem for problem in cassette.problems)


def test_a_newer_minor_version_is_read_and_its_fields_are_kept(tape: Path) -> None:
    head, *lines = [orjson.loads(line) for line in tape.read_bytes().splitlines()]
    head["turntape"] = "1.7"
    lines[0]["mood"] = "good"
    tape.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in (head, *lines)))

    assert Cassette.load(tape)[0].extra == {"mood": "good"}


def test_a_newer_major_version_is_refused_in_one_sentence(tape: Path) -> None:
    tape.write_bytes(tape.read_bytes().replace(b'"turntape":"1.0"', b'"turntape":"2.0"'))

    with pytest.raises(FormatError, match=r"has cassette format 2\.0 and this turntape reads 1\.x; update turntape"):
        Cassette.load(tape)


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b"{}", b"hello\n", b"\x28\xb5\x2f\xfd broken"])
def test_what_is_no_cassette_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)

    with pytest.raises(FormatError, match="x'"):
        Cassette.load(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(CassetteError, match="cannot read the cassette"):
            Cassette.load(path)


def test_a_damaged_compressed_file_keeps_what_stands_before(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl.zst"
    with Recorder(path) as recorder:
        for number in range(50):
            recorder.write(round_trip(b'{"n":%d,"x":"%s"}' % (number, bytes(str(hash(number)), "ascii") * 50)))
    data = path.read_bytes()

    path.write_bytes(data[: len(data) // 2])
    half = Cassette.load(path)

    assert 5 < len(half) < 50
    assert [trip.index for trip in half] == list(range(len(half)))


def test_a_delta_without_its_base_is_a_problem_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip(b"x" * 1000))
        recorder.write(round_trip(b"x" * 1000 + b"y"))
    head, _, second, *_ = path.read_bytes().split(b"\n")
    path.write_bytes(head + b"\n" + second + b"\n")

    cassette = Cassette.load(path)

    assert list(cassette) == []
    assert "refers to round trip 0" in cassette.problems[0]
