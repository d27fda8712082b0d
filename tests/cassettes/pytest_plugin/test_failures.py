from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Recorder
from turntape.cassettes.pytest_plugin.failures import damage
from turntape.cassettes.replay.session import Session


@pytest.mark.parametrize("cut", [False, True])
def test_a_damaged_cassette_is_said_to_be_damaged(tmp_path: Path, cut: bool) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip())
    header, trip, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + (trip[:40] if cut else trip))

    said = damage(Session(path, environ={}))

    assert said == (
        "the cassette is damaged: line 2 is not valid JSON and was skipped; the recording was cut there"
        if cut
        else None
    )
