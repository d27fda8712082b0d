"""`turntape ca show|remove`."""

from pathlib import Path

import pytest

from turntape.proxy.capture.authority import CERTIFICATE, KEY, PERMANENT, make_authority
from turntape.proxy.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_show_makes_the_authority_and_says_what_it_is_good_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ca", "show"]) == 0
    said = capsys.readouterr().out

    assert str(home / CERTIFICATE) in said and str(home / KEY) in said
    assert "by its name constraints: " in said and "api.openai.com" in said and "127.0.0.0/8" in said
    assert main(["ca", "show"]) == 0
    assert capsys.readouterr().out == said


def test_an_authority_without_constraints_is_called_what_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    make_authority(home, PERMANENT)

    main(["ca", "show"])

    assert "every host, because it has no name constraints" in capsys.readouterr().out


def test_remove_deletes_the_key_and_says_what_it_cannot_do(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["ca", "show"])
    (home / "roots-abc.pem").write_text("")
    (home / "mine.txt").write_text("")
    capsys.readouterr()

    assert main(["ca", "remove"]) == 0

    assert "Java keystore" in capsys.readouterr().out
    assert sorted(path.name for path in home.iterdir()) == ["lock", "mine.txt"]
    assert main(["ca", "remove"]) == 0
    assert "there is no permanent certificate authority" in capsys.readouterr().out
