"""What is in the file is read, and what is damaged is reported and hides nothing else."""

import os
from pathlib import Path

import orjson
import pytest
from factories import round_trip
from recordings import bodies, growing, loaded, record, single, text_line

from turntape.cassettes import Cassette, CassetteError, FormatError, Recorder, RoundTrip, Tail
from turntape.cassettes.tape import reader
from turntape.cassettes.tape.compression import MAGIC, Decompression, compressor
from turntape.cassettes.tape.format import VERSION
from turntape.cassettes.tape.reader import read_header


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
    tape.write_bytes(tape.read_bytes().replace(b'"turntape":"1.2"', b'"turntape":"2.0"'))

    with pytest.raises(FormatError, match=r"has cassette format 2\.0 and this turntape reads 1\.x; update turntape"):
        Cassette.load(tape)


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b"{}", b"hello\n", b"\x28\xb5\x2f\xfd broken"])
def test_what_is_not_a_cassette_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)

    with pytest.raises(FormatError, match="x'"):
        Cassette.load(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(CassetteError, match="cannot read the cassette"):
            Cassette.load(path)


def test_a_damaged_compressed_file_keeps_what_is_before(tmp_path: Path) -> None:
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

    assert [(trip.index, trip.request.body) for trip in cassette] == [(1, b"")]
    assert "refers to round trip 0" in cassette.problems[0]


def test_a_tail_gives_what_was_added_since(path: Path) -> None:
    tail = Tail(path)
    assert tail.poll() == []
    trips = growing(4)
    record(path, trips[:2])
    assert [trip.index for trip in tail.poll()] == [0, 1]
    record(path, trips[2:], append=True)

    assert [trip.index for trip in tail.poll()] == [2, 3]
    assert tail.poll() == []


def test_a_tail_waits_for_the_rest_of_a_line(tmp_path: Path) -> None:
    whole, partly = tmp_path / "a.cassette.jsonl", tmp_path / "b.cassette.jsonl"
    record(whole, growing(2))
    data = whole.read_bytes()
    tail = Tail(partly)
    partly.write_bytes(data[:-50])

    assert [trip.index for trip in tail.poll()] == [0]
    partly.write_bytes(data)
    assert [trip.index for trip in tail.poll()] == [1]


STEP = 7
"""Damage at every byte takes half a minute; this hits every kind of place, and other ones each time."""


def sessions(path: Path) -> tuple[list[RoundTrip], list[int]]:
    """Three recordings in one file, and where each ends."""
    trips: list[RoundTrip] = []
    ends: list[int] = []
    for number in range(3):
        some = single(6, 100 * number)
        record(path, some, append=number > 0)
        trips += some
        ends.append(path.stat().st_size)
    return trips, ends


def test_a_compressed_file_that_ends_in_a_block_says_so(packed: Path) -> None:
    record(packed, growing(3))
    packed.write_bytes(packed.read_bytes()[:-40])

    cassette = Cassette.load(packed)

    assert len(list(cassette)) == 2
    assert cassette.problems == ["the compressed recording ends in the middle of a block; it was cut there"]


def test_a_byte_damaged_anywhere_costs_no_more_than_its_own_recording(packed: Path) -> None:
    """A frame is one recording. The line after it may be lost too: nobody knows where the damage ends."""
    trips, ends = sessions(packed)
    data = packed.read_bytes()
    refused = 0
    ends_of_frames = [place for end in ends for place in range(end - 4, end)]
    for place in [*range(0, len(data), STEP), *ends_of_frames]:
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        path = packed.with_name(f"{place}.{packed.name}")
        path.write_bytes(damaged)
        session = sum(place >= end for end in ends)
        kept = [trip for number, trip in enumerate(trips) if number // 6 != session and number != 6 * (session + 1)]
        try:
            cassette = Cassette.load(path)
        except FormatError:
            # The header is in the first block.
            assert session == 0
            refused += 1
            continue

        read = bodies(list(cassette))

        assert set(bodies(kept)) <= set(read)
        assert len(read) == len(trips) or cassette.problems
        more = single(1, 900)
        record(path, more, append=True)
        assert set(read) | set(bodies(more)) <= set(bodies(list(Cassette.load(path))))
    assert refused < len(data) / STEP / 10


def test_a_damaged_length_that_reaches_beyond_the_end_hides_no_later_recording(packed: Path) -> None:
    """Read as a torn tail, it would hide everything after it, and the next append would lose it."""
    trips, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    steps = Decompression()
    _, last_block = steps.feed(bytes(data[: ends[0] - 4]))
    data[last_block : last_block + 3] = (100_000 << 3 | 2 << 1).to_bytes(3, "little")
    packed.write_bytes(data)

    cassette = Cassette.load(packed)

    assert bodies(list(cassette))[-12:] == bodies(trips)[-12:]
    assert any("damaged" in problem for problem in cassette.problems)
    record(packed, single(1), append=True)
    assert len(list(Cassette.load(packed))) == len(list(cassette)) + 1


def test_a_compressed_file_that_is_damaged_from_its_start_is_refused(packed: Path) -> None:
    record(packed, single(3))
    packed.write_bytes(MAGIC + b"\xff" * 60)

    with pytest.raises(FormatError, match="damaged from its start"):
        Cassette.load(packed)


def test_a_recording_whose_header_is_damaged_says_so_although_others_follow(packed: Path) -> None:
    _, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    data[8:40] = b"\xff" * 32
    packed.write_bytes(data)
    assert len(data) > ends[0] + 40

    with pytest.raises(FormatError, match="damaged from its start; restore it from a copy"):
        Cassette.load(packed)


def test_a_tail_reads_on_behind_damage_whatever_pieces_it_gets(packed: Path, tmp_path: Path) -> None:
    trips, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    data[ends[0] + 4 : ends[0] + 8] = b"\xff\xff\xff\xff"
    growing_file = tmp_path / "growing"
    for step in (1, 2, 3, 5, 97):
        tail = Tail(growing_file)
        growing_file.write_bytes(b"")
        read: list[RoundTrip] = []
        for size in range(0, len(data) + step, step):
            growing_file.write_bytes(data[:size])
            read += tail.poll()

        assert bodies(read) == bodies(trips[:6] + trips[12:])
        assert len(tail.problems) == 1


@pytest.mark.parametrize("version", ["1", "1.0", "1.99", "0.9"])
def test_a_version_up_to_ours_is_read(version: str) -> None:
    line = orjson.dumps({"turntape": version, "salt": "s"})

    assert read_header(line, None) == {"turntape": version, "salt": "s"}


@pytest.mark.parametrize(
    "line",
    [
        b'{"turntape":1}', b'{"turntape":"x.1"}', b'{"turntape":""}', b'{"a":1}', b"[1]", b'"1.0"', b"", b"{",
        '{"turntape":"².0"}'.encode(), b'{"turntape":"%s.0"}' % (b"9" * 5000),
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_header_is_refused(line: bytes) -> None:
    with pytest.raises(FormatError, match="^the cassette is not a turntape cassette: its first line is not a header"):
        read_header(line, None)


def test_a_header_behind_a_byte_order_mark_is_read() -> None:
    assert read_header(b'\xef\xbb\xbf{"turntape":"1.1"}', None) == {"turntape": "1.1"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1",
            "is a pointer of Git LFS .*: git lfs pull$",
        ),
        (
            b"<<<<<<< HEAD",
            "has a merge conflict in its first line; keep one side with `git checkout --ours a/b` or "
            "`git checkout --theirs a/b`, or record again$",
        ),
    ],
)
def test_a_file_that_git_did_not_finish_is_said_to_be_one(line: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=f"^'a/b' {said}"):
        read_header(line, Path("a/b"))


def test_a_conflict_in_a_file_whose_name_needs_quotes_gives_a_command_that_runs() -> None:
    with pytest.raises(FormatError, match="git checkout --ours 'a b'` or `git checkout --theirs 'a b'`"):
        read_header(b"<<<<<<< HEAD", Path("a b"))


def test_a_conflict_in_a_cassette_without_a_file_names_none() -> None:
    with pytest.raises(FormatError, match="git checkout --ours FILE`"):
        read_header(b"<<<<<<< HEAD", None)


def test_a_newer_version_is_refused_with_the_name_of_the_file() -> None:
    with pytest.raises(FormatError, match=r"^'a/b' has cassette format 2\.1 and this turntape reads 1\.x"):
        read_header(b'{"turntape":"2.1"}', Path("a/b"))


def test_a_round_trip_that_cannot_be_read_is_left_out_and_refused_by_its_place(tmp_path: Path) -> None:
    cassette = loaded(tmp_path, text_line(0), text_line(1, started_at="never"), text_line(2))

    assert len(cassette) == 3
    assert [trip.index for trip in cassette[0:3]] == [0, 2]
    assert [trip.index for trip in cassette] == [0, 2]
    with pytest.raises(CassetteError, match="^round trip 1 cannot be read; see the problems of the cassette$"):
        _ = cassette[1]
    with pytest.raises(IndexError):
        _ = cassette[3]


def test_a_cassette_in_memory_is_what_it_was_given() -> None:
    trips = growing(3)
    cassette = Cassette.from_round_trips(iter(trips))

    assert (list(cassette), len(cassette), cassette[1], cassette[1:]) == (trips, 3, trips[1], trips[1:])
    assert (cassette.labels, cassette.problems, cassette.salt, cassette.path) == ({}, [], None, None)
    assert (cassette.torn, cassette.following, cassette.header) == (False, 0, {})


def test_a_cassette_knows_its_file(tape: Path) -> None:
    cassette = Cassette.load(str(tape))

    assert (cassette.path, cassette.torn, cassette.following) == (tape, False, 4)
    assert cassette.salt == cassette.header["salt"]
    with tape.open("ab") as file:
        file.write(b"{")
    assert Cassette.load(tape).torn


def test_a_salt_that_is_not_text_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0","salt":5}\n')

    assert Cassette.load(path).salt is None


def test_an_empty_file_and_a_missing_one_have_errors_of_their_own(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()

    with pytest.raises(FormatError, match="empty' is empty: it holds no recording; record again$"):
        Cassette.load(empty)
    with pytest.raises(CassetteError, match="cannot read the cassette .*: No such file or directory; check the name$"):
        Cassette.load(tmp_path / "missing")


@pytest.mark.parametrize("block", [1, 2, 7, 100, 1 << 20])
def test_a_tail_reads_block_by_block(block: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", block)
    trips = growing(6)
    record(path, trips[:4])
    tail = Tail(path)

    read = tail.poll()
    assert (bodies(read), tail.torn, tail.problems) == (bodies(trips[:4]), False, [])
    assert tail.header is not None and tail.header["turntape"] == VERSION
    record(path, trips[4:], append=True)
    with Recorder(path, append=True) as recorder:
        recorder.label(5, {"turn": 6})
    assert bodies(list(tail.news())) == bodies(trips[4:])
    assert tail.labels == {5: {"turn": 6}}
    assert bodies([tail.round_trip(0), tail.round_trip(5)]) == bodies([trips[0], trips[5]])


def test_a_tail_holds_little_at_a_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 500)
    record(path, single(20))
    tail = Tail(path)

    news = tail.news()

    assert next(news).index == 0
    assert tail._offset < path.stat().st_size / 2
    assert len(list(news)) == 19


def test_a_tail_names_the_round_trip_that_it_cannot_give(tape: Path) -> None:
    tail = Tail(tape)
    with pytest.raises(CassetteError, match="^round trip 0 of .* can no longer be read; open it again$"):
        tail.round_trip(0)
    assert len(tail.poll()) == 4

    assert tail.round_trip(3).index == 3
    with pytest.raises(CassetteError, match="^round trip 4 of "):
        tail.round_trip(4)


def test_a_tail_counts_lines_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.0"}\n' + text_line(0) + b"[1]\n" + text_line(1, started_at="never"))
    tail = Tail(path)

    assert [trip.index for trip in tail.poll()] == [0]
    assert tail.problems[0] == "line 3 is not a JSON object and was skipped"
    assert tail.problems[1].startswith("round trip 1 cannot be read: ")


@pytest.mark.parametrize("missing", [0, 1, 5, 100])
def test_a_tail_is_torn_while_the_last_line_is_not_whole(missing: int, tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, growing(2))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - missing])
    tail = Tail(path)

    assert len(tail.poll()) == (1 if missing else 2)
    assert tail.torn == bool(missing)
    path.write_bytes(data)
    assert len(tail.poll()) == (1 if missing else 0)
    assert not tail.torn


def test_a_compressed_tail_is_torn_while_its_text_ends_in_a_line(packed: Path) -> None:
    stream = compressor()
    text = b'{"turntape":"1.0"}\n' + text_line(0)
    packed.write_bytes(stream.compress(text[:-9]) + stream.flush(stream.FLUSH_BLOCK))
    tail = Tail(packed)

    assert (tail.poll(), tail.torn) == ([], True)
    with packed.open("ab") as file:
        file.write(stream.compress(text[-9:]) + stream.flush(stream.FLUSH_FRAME))
    assert (len(tail.poll()), tail.torn) == (1, False)


def test_a_tail_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"hello\n")

    with pytest.raises(FormatError, match="x' is not a turntape cassette"):
        Tail(path).poll()
    with pytest.raises(CassetteError, match="^cannot read the cassette .*: Is a directory; check the name$"):
        Tail(tmp_path).poll()
    assert Tail(tmp_path / "missing").poll() == []


def test_a_damaged_file_that_is_torn_too_has_one_problem(packed: Path) -> None:
    _, ends = sessions(packed)
    data = bytearray(packed.read_bytes())
    data[ends[0] + 4 : ends[0] + 8] = b"\xff\xff\xff\xff"
    packed.write_bytes(data[:-5])

    cassette = Cassette.load(packed)

    assert len(cassette.problems) == 1 and "the compressed recording is damaged" in cassette.problems[0]
    assert len(list(cassette)) == 6 + 5


def test_what_comes_after_the_held_bodies_were_dropped_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    given = growing(4)
    record(path, given[:2])
    tail = Tail(path)
    assert bodies(tail.poll()) == bodies(given[:2])

    tail.forget()
    record(path, given[2:], append=True)
    assert bodies(tail.poll()) == bodies(given[2:])
    assert tail.held == 4 and tail.share == 1.0
    assert bodies([trip for trip in tail.again(1) if trip]) == bodies(given[1:])


def test_a_block_counts_as_polled_as_far_as_its_round_trips_were_given_out(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    record(path, growing(4))
    tail = Tail(path)

    shares = [tail.share, *(tail.share for _ in tail.news()), tail.share]
    assert shares == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]


def test_a_program_that_makes_the_labels_need_not_hold_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())
        recorder.label(0, {"turn": 1})
    tails = Tail(path), Tail(path, keep_labels=False)

    assert [len(tail.poll()) for tail in tails] == [1, 1]
    assert [tail.labels for tail in tails] == [{0: {"turn": 1}}, {}]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_with_what_to_do(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    both = os.open(pipe, os.O_RDWR)  # so that opening it to read does not wait for a writer
    try:
        with pytest.raises(CassetteError, match="pipe' is a pipe or a device; save it in a file first$"):
            Tail(pipe).poll()
    finally:
        os.close(both)
