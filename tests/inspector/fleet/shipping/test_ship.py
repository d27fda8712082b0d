"""`ship`: each round trip is in the store once, however often and by however many it is shipped."""

from pathlib import Path

import pytest
from shipped_tapes import LOOP, names, rows, tape

from turntape.inspector.fleet.errors import NotAStore
from turntape.inspector.fleet.shipping.outcome import ShippedFile
from turntape.inspector.fleet.shipping.ship import ShipOptions, ship


@pytest.fixture
def to(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def states(paths: list[Path], to: str, options: ShipOptions | None = None) -> list[str]:
    return [file.state for file in ship(paths, to, options).files]


def test_a_recording_is_shipped_with_its_rows(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")

    shipped = ship([path], to).files[0]

    found = rows(to)
    assert (shipped.state, shipped.rows) == ("new", LOOP)
    assert [row["n"] for row in found] == list(range(LOOP))
    assert {row["recording"] for row in found} == {shipped.recording}
    assert {row["cassette"] for row in found} == {shipped.content}
    assert names(to, "cassettes/v1") == [f"cassettes/v1/{str(shipped.content)[:2]}/{shipped.content}.jsonl.zst"]


def test_shipping_twice_changes_nothing(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    ship([path], to)
    before = rows(to)

    assert states([path], to, ShipOptions(labels={"branch": "other"})) == ["unchanged"]

    assert rows(to) == before


def test_the_compressed_form_is_the_same_recording(tmp_path: Path, to: str) -> None:
    from turntape.cassettes.tape.compression import compressor

    path = tape(tmp_path / "a.cassette.jsonl")
    stream = compressor()
    packed = tmp_path / "b.cassette.jsonl.zst"
    packed.write_bytes(stream.compress(path.read_bytes()) + stream.flush())

    assert states([path], to) == ["new"]
    assert states([packed], to) == ["unchanged"]


def test_a_recording_that_has_grown_replaces_its_rows(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl", trips=1)
    short = tmp_path / "short.cassette.jsonl"
    short.write_bytes(path.read_bytes())
    ship([path], to)
    tape(path, trips=1, append=True)

    assert states([path], to) == ["grown"]
    assert states([path], to) == ["unchanged"]
    assert states([short], to) == ["older"]
    assert [row["n"] for row in rows(to)] == list(range(LOOP))


def test_an_edited_copy_is_refused(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    copy = tmp_path / "copy.cassette.jsonl"
    copy.write_bytes(path.read_bytes().replace(b"look_up", b"look_at"))
    ship([path], to)
    before = rows(to)

    file = ship([copy], to).files[0]

    assert file.state == "edited"
    assert "is an edited copy of a recording" in str(file.problem)
    assert f"turntape forget --recording {file.recording}" in str(file.problem)
    assert rows(to) == before


def test_a_torn_last_line_is_left_out_until_it_is_whole(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])

    assert states([path], to) == ["new"]
    assert len(rows(to)) == LOOP - 1
    path.write_bytes(whole)
    assert states([path], to) == ["grown"]
    assert len(rows(to)) == LOOP


def test_a_recording_in_progress_is_left_alone(tmp_path: Path, to: str) -> None:
    from conversations import loop

    from turntape.cassettes import Recorder

    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path, durable=False) as recorder:
        recorder.write(loop()[0])
        file = ship([path], to).files[0]

    assert file.state == "recording"
    assert "is being recorded" in str(file.problem)
    assert states([path], to) == ["new"]


def test_what_is_not_a_recording_does_not_stop_the_others(tmp_path: Path, to: str) -> None:
    bad = tmp_path / "bad.cassette.jsonl"
    bad.write_text("no\n")
    empty = tmp_path / "empty.cassette.jsonl"
    empty.touch()
    good = tape(tmp_path / "good.cassette.jsonl")

    assert states([bad, empty, good], to) == ["unreadable", "unreadable", "new"]


def test_a_recording_of_nothing_is_not_shipped(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl", trips=0)

    assert states([path], to) == ["empty"]
    assert names(to, "rows/v1") == []


def test_rows_only_leaves_the_bytes_at_home_until_they_are_wanted(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")

    assert states([path], to, ShipOptions(rows_only=True)) == ["new"]
    assert names(to, "cassettes/v1") == []
    assert len(rows(to)) == LOOP
    assert states([path], to) == ["grown"]
    assert len(names(to, "cassettes/v1")) == 1
    assert states([path], to, ShipOptions(rows_only=True)) == ["unchanged"]


def test_texts_are_written_apart_and_only_on_request(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")
    ship([path], to)
    assert names(to, "content/v1") == []

    assert states([path], to, ShipOptions(content=True)) == ["grown"]

    texts = rows(to, "content/v1")
    assert [row["n"] for row in texts] == list(range(LOOP))
    assert texts[0]["sent"]
    assert states([path], to, ShipOptions(content=True)) == ["unchanged"]


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(tmp_path: Path, to: str) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")

    file = ship([path], to, ShipOptions(dry_run=True)).files[0]

    assert (file.state, file.rows) == ("new", LOOP)
    assert file.bytes > 1000
    assert not Path(to).exists()
    ship([path], to)
    assert states([path], to, ShipOptions(dry_run=True)) == ["unchanged"]


def test_what_no_store_can_take_does_not_wait_in_the_spool(tmp_path: Path) -> None:
    spool = tmp_path / "spool"

    with pytest.raises(NotAStore):
        ship([tape(tmp_path / "a")], "ftp://host/x", ShipOptions(spool=spool))

    assert not spool.exists()


def test_progress_is_reported_file_by_file(tmp_path: Path, to: str) -> None:
    paths = [tape(tmp_path / f"{n}.cassette.jsonl") for n in range(3)]
    seen: list[ShippedFile] = []

    shipped = ship(paths, to, progress=seen.append)

    assert sorted(file.path for file in seen) == paths
    assert [file.path for file in shipped.files] == paths


def test_labels_of_the_user_replace_those_of_the_ci(tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_COMMIT_SHA", "c0ffee")
    monkeypatch.setenv("CI_COMMIT_BRANCH", "main")

    ship([tape(tmp_path / "a.cassette.jsonl")], to, ShipOptions(labels={"branch": "mine", "team": "blue"}))

    row = rows(to)[0]
    assert (row["commit"], row["branch"]) == ("c0ffee", "mine")
    assert dict(row["labels"]) == {"ci": "gitlab", "team": "blue"}


def test_what_a_segment_carries_from_the_one_before_has_no_row(tmp_path: Path, to: str) -> None:
    from conversations import loop

    from turntape.cassettes import Recorder
    from turntape.cassettes.tape.carried import Carried

    path = tmp_path / "second.cassette.jsonl"
    first, second = loop()
    with Recorder(path, durable=False) as recorder:
        recorder.write(Carried(recording="first", thread="t1", turn=1, attempt=1, threads=1).mark(first))
        recorder.write(second)

    assert states([path], to) == ["new"]

    (row,) = rows(to)
    assert (row["n"], row["thread"], row["turn"]) == (1, "t1", 2)


def test_labels_of_single_files_are_added(tmp_path: Path, to: str) -> None:
    paths = [tape(tmp_path / f"{n}.cassette.jsonl") for n in range(2)]

    ship(paths, to, ShipOptions(labels={"task": "all", "user": "me"}), labels_of={paths[1]: {"task": "own"}})

    assert {(row["task"], row["user"]) for row in rows(to)} == {("all", "me"), ("own", "me")}
