"""`turntape git-setup`: what git shows of a cassette afterwards, with the real git."""

import shutil
import subprocess
from pathlib import Path

import pytest

from turntape.proxy.cli import main

EXAMPLE = Path(__file__).parents[4] / "docs" / "example.cassette.jsonl"
CASSETTE = "run.cassette.jsonl"
LINES = [
    "*.cassette.jsonl diff=turntape linguist-generated",
    "*.cassette.jsonl.zst diff=turntape linguist-generated",
]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    git("init", "--quiet")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.com")
    shutil.copy(EXAMPLE, tmp_path / CASSETTE)
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    return tmp_path


def shorten(folder: Path) -> None:
    """Leave the last line of the recording out."""
    lines = (folder / CASSETTE).read_bytes().splitlines(keepends=True)
    (folder / CASSETTE).write_bytes(b"".join(lines[:-1]))


def test_a_diff_shows_what_the_agent_did(repository: Path) -> None:
    assert main(["git-setup"]) == 0

    shorten(repository)

    changed = [line for line in git("diff").splitlines() if line[:1] == "-"]
    assert "-turn 7" in changed
    assert not [line for line in changed if line.startswith('-{"')]


def test_a_pull_request_has_the_trajectory_as_a_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "below").mkdir()
    (repository / "below" / "new.cassette.jsonl").write_bytes((repository / CASSETTE).read_bytes())
    (repository / "broken.cassette.jsonl").write_text("not a cassette\n")

    assert main(["git-setup", "--pull-requests"]) == 0

    written = repository / "run.trajectory.txt"
    assert written.read_text().startswith("thread t1\n\nturn 1\n")
    assert (repository / "below" / "new.trajectory.txt").read_text() == written.read_text()
    said = capsys.readouterr().out
    assert "broken.cassette.jsonl: " in said
    assert "2 cassettes: the trajectory is in NAME.trajectory.txt beside each" in said


def test_a_file_that_is_not_a_cassette_is_shown_as_it_is(repository: Path) -> None:
    main(["git-setup"])

    (repository / CASSETTE).write_text("not a cassette\n")

    assert "+not a cassette" in git("diff").splitlines()


def test_the_lines_are_added_once_below_what_was_there(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.png binary")
    (repository / "below").mkdir()

    assert main(["git-setup"]) == main(["git-setup"]) == 0

    assert (repository / ".gitattributes").read_text().splitlines() == ["*.png binary", *LINES]


def test_a_line_of_the_users_own_is_kept(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.cassette.jsonl diff=turntape\n")

    main(["git-setup"])

    assert (repository / ".gitattributes").read_text().splitlines() == ["*.cassette.jsonl diff=turntape", LINES[1]]


@pytest.mark.parametrize("before", [None, "*.png binary\n"])
def test_undo_leaves_nothing_behind(before: str | None, repository: Path) -> None:
    attributes = repository / ".gitattributes"
    if before is not None:
        attributes.write_text(before)
    main(["git-setup"])

    assert main(["git-setup", "--undo"]) == main(["git-setup", "--undo"]) == 0

    assert (attributes.read_text() if attributes.exists() else None) == before
    assert "turntape" not in git("config", "--local", "--list")


def test_outside_of_a_repository_the_message_says_where_to_run_it(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")

    assert main(["git-setup"]) == 2

    assert "not a git repository" in capsys.readouterr().err


def test_without_git_the_message_says_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert main(["git-setup"]) == 2

    assert "git cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["-orun.cassette.jsonl", "--svg=a.cassette.jsonl", "$(touch x).cassette.jsonl"])
def test_a_name_that_looks_like_an_option_or_a_command_is_a_name(repository: Path, name: str) -> None:
    shutil.copy(EXAMPLE, repository / name)
    git("add", ".")
    git("commit", "--quiet", "--message", "two")
    assert main(["git-setup"]) == 0
    (repository / name).write_bytes(b"".join(EXAMPLE.read_bytes().splitlines(keepends=True)[:-1]))

    assert "-turn 7" in git("diff").splitlines()
    assert not (repository / "x").exists()


@pytest.mark.parametrize("name", [".gitattributes", "run.trajectory.txt"])
def test_a_link_in_a_repository_of_somebody_else_leads_to_no_other_file(
    repository: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (repository / "mine").write_text("mine")
    (repository / name).symlink_to("mine")

    main(["git-setup", "--pull-requests"])

    assert (repository / "mine").read_text() == "mine"
    said = capsys.readouterr()
    assert f"{name}' is a symbolic link, and what it leads to would be overwritten" in said.out + said.err
