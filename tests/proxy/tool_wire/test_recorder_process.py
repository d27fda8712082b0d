"""Which cassette a wrapper without a run writes."""

from pathlib import Path

import pytest

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.errors import CassetteError
from turntape.proxy.tool_wire.recorder_process import opened


def path_of(output: Path) -> Path:
    with opened(output) as recorder:
        return recorder.path


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_gets_a_new_cassette_for_each_server(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "tapes" / "mine"
    if exists:
        folder.mkdir(parents=True)

    paths = [path_of(folder) for _ in range(2)]

    assert {path.parent for path in paths} == {folder}
    assert len(set(paths)) == 2
    assert all(path.name.startswith("mcp-") and path.name.endswith(".cassette.jsonl") for path in paths)


def test_a_file_is_continued_by_the_next_server(tmp_path: Path) -> None:
    path = tmp_path / "all.cassette.jsonl"

    assert [path_of(path) for _ in range(2)] == [path, path]
    assert Cassette.load(path).problems == []


def test_two_servers_at_once_get_a_file_each(tmp_path: Path) -> None:
    path = tmp_path / "all.cassette.jsonl"
    with opened(path), opened(path) as second, opened(path) as third:
        names = [recorder.path.name for recorder in (second, third)]

    assert names == ["all-2.cassette.jsonl", "all-3.cassette.jsonl"]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")

    with pytest.raises((CassetteError, OSError)):
        opened(tmp_path / "x" / "y.cassette.jsonl")


def test_a_compressed_file_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "all.cassette.jsonl.zst"
    with Recorder(path), opened(path) as second:
        assert second.path.name == "all-2.cassette.jsonl.zst"
