"""`turntape explain` as a user runs it."""

import json
from pathlib import Path

import pytest

from turntape.proxy.cli import main


def test_one_class_and_all_of_a_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "api-pause"]) == 0
    assert capsys.readouterr().out.startswith("api-pause\n")

    assert main(["explain", "model", "--width", "80"]) == 0
    out = capsys.readouterr().out
    assert "model-refusal" in out and "client-" not in out


def test_an_unknown_id_is_a_usage_error_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "api-pawse"]) == 2
    assert "the nearest is 'api-pause'" in capsys.readouterr().err


def test_for_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert len(rows) > 90
    assert {row["layer"] for row in rows} == {"model", "api", "client", "tool"}
    assert all(row["says"] and row["fix"] for row in rows)


def test_colours_are_for_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "api-pause"])
    assert "\x1b" not in capsys.readouterr().out
    main(["explain", "api-pause", "--color", "always"])
    assert "\x1b[" in capsys.readouterr().out


def test_the_result_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "api-pause", "--format", "json", "-o", str(tmp_path / "out")]) == 0

    assert json.loads((tmp_path / "out").read_text())["id"] == "api-pause"
    assert capsys.readouterr().out == ""


def test_a_former_id_is_explained_under_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "api-invalid-request"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("request-rejected\n") and "former ids  api-invalid-request\n" in out

    assert main(["explain", "api-invalid-request", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "request-rejected"
