"""Where a command writes its result."""

import errno
import io
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli.text_output import private, private_bytes, refuse_source, write_text, writing


@pytest.mark.parametrize("output", [None, "-"])
def test_without_a_file_it_is_standard_output(output: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with writing(output) as out:
        out.write("x")
    assert capsys.readouterr().out == "x"

    given = io.StringIO()
    with writing(output, stdout=given) as out:
        assert out is given


def test_a_file_is_utf8_and_private(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("something longer than what is written")
    path.unlink()
    with writing(str(path)) as out:
        out.write("é\ud800")
    with private_bytes(tmp_path / "bytes") as file:
        file.write(b"\xff")

    assert path.read_bytes() == "é\\ud800".encode()
    assert [one.stat().st_mode & 0o777 for one in sorted(tmp_path.iterdir())] == [0o600, 0o600]


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("long")
    with private(path) as out:
        out.write("x")
    assert path.read_text() == "x"
    write_text(path, "y")
    assert path.read_text() == "y"


def test_text_for_others_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_text(tmp_path / "out", "x")

    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("x")
    link = tmp_path / "link"
    link.symlink_to(source)

    for output in (source, link):
        with (
            pytest.raises(TurntapeError, match="is the cassette itself; choose another name with -o"),
            writing(str(output), [str(tmp_path / "none"), str(source)]),
        ):
            pass
    refuse_source(tmp_path / "new", [str(source)])
    assert source.read_text() == "x"


def test_what_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    for write in (
        lambda path: private(path).__enter__(),
        lambda path: private_bytes(path).__enter__(),
        lambda path: write_text(path, "x"),
    ):
        with pytest.raises(
            TurntapeError, match="^cannot write '.*none/x': No such file or directory; check the folder"
        ):
            write(tmp_path / "none" / "x")


@pytest.mark.parametrize("opened", [private, private_bytes, writing])
def test_no_part_of_a_new_file_is_left_when_the_rest_cannot_be_written(opened: Any, tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("before")
    for path in (new, old):
        with pytest.raises(OSError, match="full"), opened(str(path)) as file:
            file.write("x" * 100_000 if opened is not private_bytes else b"x" * 100_000)
            raise OSError(errno.ENOSPC, "the disk is full")

    # The other one was there before, perhaps as a device or a link.
    assert sorted(tmp_path.iterdir()) == [old]


def test_a_limit_that_is_met_at_the_end_is_reported(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space left"), private("/dev/full") as file:
        file.write("x")
    assert Path("/dev/full").exists()
