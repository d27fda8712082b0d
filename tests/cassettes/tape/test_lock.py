"""Whether somebody still writes a cassette."""

from pathlib import Path

from turntape.cassettes import Recorder
from turntape.cassettes.tape.lock import being_written


def test_a_cassette_is_written_until_its_recorder_closes_it(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path):
        assert being_written(path)

    assert not being_written(path)

    with Recorder(path, append=True):
        assert being_written(path)


def test_what_is_not_begun_may_be_written_yet(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    assert being_written(path)

    path.touch()
    assert being_written(path)
