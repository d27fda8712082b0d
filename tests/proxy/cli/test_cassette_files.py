"""Which cassettes an argument names."""

import os
from pathlib import Path

import pytest
from conversations import loop

from turntape.cassettes import Recorder
from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli.cassette_files import cassettes, named, one_cassette, problem_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("runs/b.cassette.jsonl", "runs/a.cassette.jsonl.zst", "runs/deep/c.cassette.jsonl", "other.jsonl"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with Recorder(Path(name)) as recorder:
            for trip in loop():
                recorder.write(trip)
    Path("runs/notes.jsonl").write_text("{}\n")
    return tmp_path


def test_a_folder_gives_its_cassettes_at_any_depth_in_order() -> None:
    assert cassettes(["runs"]) == ["runs/a.cassette.jsonl.zst", "runs/b.cassette.jsonl", "runs/deep/c.cassette.jsonl"]


def test_a_pattern_gives_the_files_it_matches() -> None:
    assert cassettes(["runs/*.cassette.*"]) == ["runs/a.cassette.jsonl.zst", "runs/b.cassette.jsonl"]
    assert cassettes(["**/*.cassette.jsonl"]) == ["runs/b.cassette.jsonl", "runs/deep/c.cassette.jsonl"]
    assert cassettes(["r*/*", "runs"])[-1] == "runs/deep/c.cassette.jsonl"


def test_a_file_is_taken_under_any_name_and_each_file_once() -> None:
    assert cassettes(["other.jsonl", "other.jsonl", "./other.jsonl"]) == ["other.jsonl", "./other.jsonl"]
    assert cassettes(["runs/b.cassette.jsonl", "runs/deep", "runs/b*"]) == [
        "runs/b.cassette.jsonl",
        "runs/deep/c.cassette.jsonl",
    ]


def test_a_file_whose_name_is_a_pattern_is_that_file() -> None:
    Path("other.jsonl").rename("[a].jsonl")

    assert cassettes(["[a].jsonl"]) == ["[a].jsonl"]


def test_one_cassette_may_be_named_by_its_folder_or_a_pattern() -> None:
    assert one_cassette("runs/deep") == "runs/deep/c.cassette.jsonl"
    assert one_cassette("runs/b*") == "runs/b.cassette.jsonl"
    assert one_cassette("other.jsonl") == "other.jsonl"


def test_several_cassettes_where_one_is_needed_are_counted_and_named() -> None:
    with pytest.raises(TurntapeError, match="^'runs' names 3 cassettes .*a.cassette.*; give one of them$"):
        one_cassette("runs")
    Path("runs/d.cassette.jsonl").touch()
    with pytest.raises(TurntapeError, match="names 4 cassettes .* and 1 more"):
        one_cassette("runs")


def test_a_problem_is_reported_for_each_argument() -> None:
    Path("empty").mkdir()

    found = {one.name: one.problem for one in named(["empty", "none*", "missing", "other.jsonl"])}

    assert found == {
        "empty": "the folder 'empty' has no *.cassette.jsonl file; give a file, or the folder of the recordings",
        "none*": "no file matches 'none*'; check the pattern",
        "missing": "cannot read the cassette 'missing': No such file or directory; check the name",
        "other.jsonl": None,
    }
    with pytest.raises(TurntapeError, match="no file matches 'none\\*'"):
        cassettes(["other.jsonl", "none*"])


def test_a_similar_name_in_the_same_folder_is_suggested() -> None:
    assert (problem_of("runs/b.casete.jsonl") or "").endswith("did you mean 'runs/b.cassette.jsonl'?")


def test_a_folder_or_file_without_permission_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By an injected error, since root may read everything."""

    def refuse(path: object, *_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    assert [one.problem for one in named(["runs"])] == [
        "cannot read the cassette 'runs': Permission denied; check the permissions"
    ]
    monkeypatch.setattr(Path, "open", refuse)
    assert (
        problem_of("other.jsonl") == "cannot read the cassette 'other.jsonl': Permission denied; check the permissions"
    )


def test_what_looks_like_a_cassette_is_left_to_the_reader() -> None:
    Path("empty").touch()

    assert problem_of("runs/a.cassette.jsonl.zst") is None
    assert problem_of("runs/b.cassette.jsonl") is None
    assert problem_of("empty") is None
    assert problem_of("runs/notes.jsonl") is None


@pytest.mark.parametrize(
    ("content", "tool"),
    [
        ('{"log": {"version": "1.2", "entries": []}}', "HAR"),
        ("interactions:\n- request:\n    method: POST\n  response: {}\nversion: 1\n", "vcrpy"),
        ('{"version": 1, "interactions": [{"request": {}, "response": {}}]}', "vcrpy"),
        ("2100:9:websocket;0:~8:response;", "mitmproxy flows"),
    ],
)
def test_a_recording_of_another_tool_gets_the_line_that_converts_it(content: str, tool: str) -> None:
    Path("a b").write_text(content)

    assert problem_of("a b") == f"'a b' is a recording in the format of {tool}; convert it: turntape import 'a b'"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_cannot_be_read_twice_is_refused_without_opening_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for name in (str(tmp_path / "pipe"), "/dev/zero"):
        assert problem_of(name) == f"{name!r} is a pipe or a device; save it in a file first"
    assert problem_of(os.devnull) is None
