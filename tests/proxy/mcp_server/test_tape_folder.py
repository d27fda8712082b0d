"""Which files an agent may read, and what an address names."""

import os
from pathlib import Path

import pytest
from conversations import HELLO, chat, loop, said

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.recording.recorder import Recorder
from turntape.proxy.mcp_server import tape_folder
from turntape.proxy.mcp_server.tape_folder import Address, TapeFolder


def record(path: Path, *trips: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Recorder(path) as recorder:
        for trip in trips or loop():
            recorder.write(trip)  # type: ignore[arg-type]
    return path


@pytest.fixture
def tapes(tmp_path: Path) -> Path:
    """A folder with two cassettes, beside a file that is outside of it."""
    record(tmp_path / "secret.cassette.jsonl")
    folder = tmp_path / "tapes"
    old, new = record(folder / "old.cassette.jsonl"), record(folder / "deep" / "new.cassette.jsonl")
    os.utime(old, (1, 1))
    os.utime(new, (2, 2))
    return folder


def test_cassettes_are_listed_at_any_depth_newest_first(tapes: Path) -> None:
    (tapes / "notes.txt").write_text("no cassette")

    assert TapeFolder(tapes).names() == ["deep/new.cassette.jsonl", "old.cassette.jsonl"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.cassette.jsonl",
        "deep/../../secret.cassette.jsonl",
        "{outside}",
        "link.cassette.jsonl",
        "linked/secret.cassette.jsonl",
        "missing.cassette.jsonl",
        "notes.txt",
        "deep",
        "",
        "\0.cassette.jsonl",
    ],
)
def test_a_name_that_leads_out_or_to_no_cassette_is_refused(name: str, tapes: Path, tmp_path: Path) -> None:
    (tapes / "notes.txt").write_text("no cassette")
    (tapes / "link.cassette.jsonl").symlink_to(tmp_path / "secret.cassette.jsonl")
    (tapes / "linked").symlink_to(tmp_path, target_is_directory=True)
    folder = TapeFolder(tapes)
    name = name.format(outside=tmp_path / "secret.cassette.jsonl")

    with pytest.raises(TurntapeError, match="is not a cassette in this folder; list_runs names those that are"):
        folder.run(name)
    with pytest.raises(TurntapeError, match="is not a cassette"):
        folder.cassette(name)
    assert folder.names() == ["deep/new.cassette.jsonl", "old.cassette.jsonl"]


def test_a_link_within_the_folder_is_followed(tapes: Path) -> None:
    (tapes / "link.cassette.jsonl").symlink_to(tapes / "old.cassette.jsonl")

    assert len(TapeFolder(tapes).run("link.cassette.jsonl").rows.all) == 2


def test_a_file_is_not_a_folder(tapes: Path) -> None:
    with pytest.raises(TurntapeError, match="is not a folder"):
        TapeFolder(tapes / "old.cassette.jsonl")


def test_a_run_is_read_again_only_when_its_file_has_changed(tapes: Path) -> None:
    folder = TapeFolder(tapes)
    first = folder.run("old.cassette.jsonl")

    assert folder.run("old.cassette.jsonl") is first
    with Recorder(tapes / "old.cassette.jsonl", append=True) as recorder:
        recorder.write(chat([HELLO], said("More."), at=99))
    assert [len(first.rows.all), len(folder.run("old.cassette.jsonl").rows.all)] == [2, 3]


def test_only_the_runs_that_were_used_last_are_kept(tapes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_folder, "MOST_BYTES", 2 * (tapes / "old.cassette.jsonl").stat().st_size)
    folder = TapeFolder(tapes)
    first = folder.run("old.cassette.jsonl")

    second = folder.run("deep/new.cassette.jsonl")
    assert folder.run("old.cassette.jsonl") is first
    third = folder.run(record(tapes / "third.cassette.jsonl").name)

    assert folder.run("third.cassette.jsonl") is third
    assert folder.run("old.cassette.jsonl") is first
    assert folder.run("deep/new.cassette.jsonl") is not second


def test_a_compressed_file_counts_as_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [record(tmp_path / f"{name}.cassette.jsonl.zst").stat().st_size for name in "abc"]
    folder = TapeFolder(tmp_path)

    monkeypatch.setattr(tape_folder, "MOST_BYTES", sum(sizes) * tape_folder.COMPRESSED)
    assert len(folder.portion(0)[0]) == 3
    monkeypatch.setattr(tape_folder, "MOST_BYTES", sum(sizes))
    assert [len(folder.portion(skip)[0]) for skip in range(4)] == [1, 1, 1, 0]


@pytest.mark.parametrize("text", ["a#b.cassette.jsonl#12", "x#0", "x#3.1"])
def test_an_address_is_the_text_that_it_was_read_from(text: str) -> None:
    assert str(Address.parse(text)) == text


@pytest.mark.parametrize("text", ["", "x", "#3", "x#", "x#-1", "x#a", "x#3.", "x#²", "x#3.1.2", f"x#{'9' * 5000}"])
def test_another_text_is_not_an_address(text: str) -> None:
    with pytest.raises(TurntapeError, match=r"is not an address such as 'run\.cassette\.jsonl#12'"):
        Address.parse(text)


def test_an_address_finds_its_row(tapes: Path) -> None:
    folder = TapeFolder(tapes)
    _, run, place = folder.find("old.cassette.jsonl#1")

    assert (run.rows.all[place].index, run.rows.all[place].turn) == (1, 2)
    with pytest.raises(TurntapeError, match=r"'old\.cassette\.jsonl' has no round trip #7; it has #0 to #1"):
        folder.find("old.cassette.jsonl#7")
    with pytest.raises(TurntapeError, match="has no round trip #1"):
        folder.find("old.cassette.jsonl#1.1")
