"""Where a command writes its result."""

import io
from pathlib import Path

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
    for write in (private, private_bytes, lambda path: write_text(path, "x")):
        with pytest.raises(
            TurntapeError, match="^cannot write '.*none/x': No such file or directory; check the folder"
        ):
            write(tmp_path / "none" / "x")
