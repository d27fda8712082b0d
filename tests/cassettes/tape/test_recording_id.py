"""The id of a recording is that of its header."""

from turntape.cassettes.tape.recording_id import recording_id
from turntape.inspector.fleet.store.names import recording_of


def test_a_recording_has_one_id_everywhere() -> None:
    header = {"turntape": "1.1", "started_at": "2026-11-22T10:00:00.000000Z", "salt": "abc"}

    assert recording_id(header) == recording_of("2026-11-22T10:00:00.000000Z", "abc")
    assert recording_id(header) != recording_id({**header, "salt": "abd"})
    assert len(recording_id({})) == 32
