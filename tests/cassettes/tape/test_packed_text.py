"""The text of a compressed file comes in parts, and parts of it come again without all before them."""

from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from recordings import bodies, growing, record, single

from turntape.cassettes import Cassette, RoundTrip, Tail
from turntape.cassettes.tape import packed_text, trip_lines
from turntape.cassettes.tape.compression import MAGIC, compressor
from turntape.cassettes.tape.model import Request, Response
from turntape.cassettes.tape.packed_text import OpenLine, PackedLines, PackedText, Spot


def frames(*texts: bytes) -> bytes:
    """One frame for each text, in blocks of about 1,000 bytes."""
    out = b""
    for text in texts:
        pack = compressor()
        for at in range(0, len(text), 1000):
            out += pack.compress(text[at : at + 1000]) + pack.flush(pack.FLUSH_BLOCK)
        out += pack.flush(pack.FLUSH_FRAME)
    return out


def words(size: int, seed: int = 0) -> bytes:
    return bytes(Random(seed).choices(b"abcdefgh\n", k=size))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_text, "STEP", 3000)
    monkeypatch.setattr("turntape.cassettes.tape.compression._BETWEEN_STARTS", 1000)


def test_lines_are_those_of_the_text_wherever_frames_and_steps_end() -> None:
    text = words(20_000) + b"x" * 9000 + b"\n" + words(5000, 1) + b"the rest"
    file, problems = BytesIO(frames(text[:7000], text[7000:7300], text[7300:])), list[str]()
    lines, given, spots = PackedLines(file, problems), list[bytes](), list[Spot | None]()
    again = PackedText(file)

    while True:
        spots.append(lines.spot)
        if not (line := lines.readline()):
            break
        given.append(line)

    assert given == text.splitlines(keepends=True) and problems == []
    for line, at in list(zip(given, spots, strict=False))[1:]:
        assert at is not None and again.part(at, len(line)) == line
    assert {at.frame for at in spots if at} != {0}, "a later part begins at a later frame"


def test_a_part_that_is_longer_than_what_is_kept_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_text, "MOST_KEPT", 2000)
    text = words(30_000)
    again = PackedText(BytesIO(frames(text)))

    assert again.part(Spot(0, 100), 20_000) == text[100:20_100]
    assert again.part(Spot(0, 100), 300) == text[100:400] == again.part(Spot(0, 100), 300)
    assert again.part(Spot(0, 29_000), 5000) == text[29_000:]


def test_a_damaged_frame_costs_its_own_lines() -> None:
    first, second = words(9000), words(9000, 1)
    data = bytearray(frames(first, second))
    data[3000] ^= 0xFF
    problems: list[str] = []
    lines = PackedLines(BytesIO(bytes(data)), problems)

    given = b"".join(iter(lines.readline, b""))

    assert given.endswith(second) and "is damaged" in problems[0]


def test_a_torn_end_is_said() -> None:
    data, problems = frames(words(9000)), list[str]()
    lines = PackedLines(BytesIO(data[:3000]), problems)

    given = b"".join(iter(lines.readline, b""))

    assert words(9000).startswith(given) and len(given) > 1000
    assert problems == ["the compressed recording ends in the middle of a block; it was cut there"]


def test_a_line_that_comes_in_pieces_is_joined() -> None:
    line = OpenLine()

    found = [line.lines(text) for text in (b"a", b"b", b"c\n\nd\ne", b"\n")]

    assert found == [[], [], [b"abc", b"", b"d"], [b"e"]] and not line
    assert line.lines(b"f") == [] and line and line.take() == b"f"


def test_long_lines_of_a_compressed_recording_are_not_kept_and_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trip_lines, "_PACKED", 0)
    monkeypatch.setattr("turntape.cassettes.recording.frames.MOST_OF_A_FRAME", 2000)
    path = tmp_path / "run.cassette.jsonl.zst"
    record(path, growing(6) + single(3, 6) + growing(6, "b"))
    packed: list[bytes] = []
    monkeypatch.setattr(trip_lines.AsideLines, "_unpacked", staticmethod(packed.append))
    tail = Tail(path, longest=0)
    polled = bodies(tail.poll())
    loaded = Cassette.load(path, longest=0)

    assert path.read_bytes().count(MAGIC) > 2, "the recorder begins frames"
    assert polled == bodies(list(Cassette.load(path))) == bodies(list(loaded))
    assert bodies([tail.round_trip(number) for number in reversed(range(15))]) == polled[::-1]
    assert bodies([loaded.round_trip(number) for number in reversed(range(15))]) == polled[::-1]
    assert packed == []


def test_a_block_of_the_file_is_given_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of the file may be many answers: they must not be in memory together."""
    path = tmp_path / "run.cassette.jsonl.zst"
    record(path, [RoundTrip(Request("POST", "https://a.local/"), Response(200, content=b"x" * 5000), 1.0)] * 40)
    monkeypatch.setattr("turntape.cassettes.tape.reader.BLOCK", path.stat().st_size)
    tail = Tail(path, longest=0)
    news = tail.news()
    next(news)

    assert len(tail._lines.trips) < 20
    assert 1 + len(list(news)) == 40
