"""The id of a recording."""

from turntape.cassettes.tape.recording_id import recording_id

HEADER = {"started_at": "2026-11-22T10:00:00.000000Z", "salt": "abc"}


def test_an_id_is_32_digits_of_the_sha_256_of_time_and_salt() -> None:
    # printf '2026-11-22T10:00:00.000000Z\nabc' | sha256sum
    assert recording_id(HEADER) == "5eae610f105e7cdebab30917f55ea30b"


def test_other_recordings_have_other_ids() -> None:
    others = [HEADER | {"salt": "abd"}, HEADER | {"started_at": "2026-11-22T10:00:00.000001Z"}, {}]

    assert len({recording_id(one) for one in (HEADER, *others)}) == 4


def test_other_fields_of_the_header_change_nothing() -> None:
    assert recording_id(HEADER | {"run": "night"}) == recording_id(HEADER)
