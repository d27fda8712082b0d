"""The line that says how the recorded command ended."""

from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.redaction.scrub import scrub
from turntape.cassettes.tape.command_end import CommandEnd, command_end_line, read_command_end
from turntape.cassettes.tape.reader import Cassette, Tail

END = CommandEnd(1_795_000_000.25, exit=3)


@pytest.mark.parametrize("end", [END, CommandEnd(1_795_000_000.0, signal="SIGKILL")])
def test_the_line_is_read_as_it_was_written(end: CommandEnd, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())
        recorder.command_ended(end)
    tail = Tail(path)
    tail.poll()

    assert Cassette.load(path).command_end == tail.command_end == end
    assert len(Cassette.load(path)) == 1


def test_the_last_one_counts_and_none_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())
    assert Cassette.load(path).command_end is None

    for end in (CommandEnd(1.0, exit=1), END):
        with Recorder(path, append=True) as recorder:
            recorder.command_ended(end)
    assert Cassette.load(path).command_end == END


@pytest.mark.parametrize("prose", [False, True])
def test_a_scrubbed_recording_keeps_it(prose: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(round_trip())
        recorder.command_ended(END)
    scrub(path, path, prose=prose)

    assert Cassette.load(path).command_end == END


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"at": "now", "exit": 1}, "its at is 'now' and not an ISO 8601 time"),
        ({"at": "2026-11-30T06:00:00Z", "exit": "1"}, "its exit is '1' and not an integer"),
        ({"at": "2026-11-30T06:00:00Z"}, "its command_ended has neither exit nor signal"),
        (7, "its command_ended is 7 and not an object"),
    ],
)
def test_a_line_that_breaks_the_format_is_a_problem_of_the_file(fields: object, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=problem):
        read_command_end({"command_ended": fields})

    import orjson

    path = tmp_path / "a.cassette.jsonl"
    path.write_bytes(b'{"turntape":"1.2","salt":"00"}\n' + orjson.dumps({"command_ended": fields}) + b"\n")
    assert Cassette.load(path).problems == [f"line 2 cannot be read: {problem}"]


def test_the_line_holds_only_what_is_known() -> None:
    assert command_end_line(END) == b'{"command_ended":{"at":"2026-11-18T11:06:40.250000Z","exit":3}}\n'
