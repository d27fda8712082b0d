"""From options to the settings of a recording."""

import argparse
import os
from decimal import Decimal
from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli.option_groups import add_recording
from turntape.proxy.cli.recording_options import cassette_path, require_posix, settings_of


def options(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_recording(parser, 7)
    parser.add_argument("--color", default="auto")
    return parser.parse_args(argv)


def test_each_option_has_its_place_in_the_settings() -> None:
    settings = settings_of(
        options(
            "-o", "f", "--port", "5", "--upstream", "a=http://b", "--intercept", "c", "--upstream-proxy", "none",
            "--client-cert", "d.pem", "--route", "forward", "--max-turns", "2", "--max-cost", "3", "--stop-on", "e,f",
            "--break-on", "turn=1", "--break-answers", "g", "--color", "never",
        ),
        Path("f"),
        console=True,
    )  # fmt: skip

    assert (settings.path, settings.made, settings.port, settings.console) == (Path("f"), False, 5, True)
    assert (settings.upstreams, settings.intercept, settings.route) == ({"a": "http://b"}, ("c",), "forward")
    assert (settings.upstream_proxy, settings.client_cert, settings.color) == ("none", Path("d.pem"), "never")
    assert (settings.limits.max_turns, settings.limits.max_cost) == (2, Decimal(3))
    assert settings.limits.stop_on == ("e", "f")
    assert [one.value for one in settings.break_on] == ["1"]
    assert settings.break_answers == Path("g")
    assert settings.prove is False


def test_without_o_a_new_file_is_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    path = cassette_path(options(), "fork")

    assert path.name.startswith("fork-") and path.exists()
    assert settings_of(options(), path, console=False).made is True
    assert cassette_path(options("-o", "f"), "fork") == Path("f")
    assert not Path("f").exists()


def test_a_wrong_store_is_refused_before_there_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(TurntapeError, match="^'ftp://x' is not a store"):
        cassette_path(options("--ship", "ftp://x"), "run")

    assert not list(tmp_path.iterdir())


def test_a_command_that_starts_another_says_where_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    require_posix("run")
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(TurntapeError, match="^`turntape run` starts a command, which needs Linux or macOS; on this"):
        require_posix("run")
