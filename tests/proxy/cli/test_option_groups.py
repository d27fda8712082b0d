"""Options that several commands share."""

import argparse
from decimal import Decimal
from pathlib import Path

import pytest

from turntape.proxy.cli import main
from turntape.proxy.cli.option_groups import (
    RECORD_PORT,
    REPLAY_PORT,
    add_format,
    add_output,
    add_recording,
    add_replaying,
    add_width,
    replay_arguments,
)


def recording(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_recording(parser, 7)
    return parser.parse_args(argv)


def replaying(*argv: str, pace: str | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_replaying(parser, pace)
    return parser.parse_args(argv)


def test_a_recording_has_defaults() -> None:
    options = recording()

    assert (options.output, options.port, options.route) == (None, 7, "both")
    assert (options.upstream, options.intercept, options.stop_on, options.break_on) == ([], [], [], [])
    assert (options.upstream_proxy, options.client_cert, options.break_answers) == (None, None, None)
    assert (options.max_turns, options.max_cost) == (None, None)


def test_a_recording_takes_its_options() -> None:
    options = recording(
        "-o", "f", "--port", "0", "--upstream", "openai=http://a/v1", "--upstream", "*=http://b", "--intercept", "c",
        "--upstream-proxy", "none", "--client-cert", "d.pem", "--route", "forward", "--max-turns", "2",
        "--max-cost", "$0.5", "--stop-on", "client-*", "--break-on", "turn=1", "--break-answers", "e",
    )  # fmt: skip

    assert (options.output, options.port, options.route) == ("f", 0, "forward")
    assert options.upstream == [("openai", "http://a/v1"), ("*", "http://b")]
    assert (options.intercept, options.upstream_proxy, options.client_cert) == (["c"], "none", Path("d.pem"))
    assert (options.max_turns, options.max_cost, options.stop_on) == (2, Decimal("0.5"), ["client-*"])
    assert [(one.kind, one.value) for one in options.break_on] == [("turn", "1")]
    assert options.break_answers == Path("e")


def test_the_ports_differ_so_that_both_can_run() -> None:
    assert (RECORD_PORT, REPLAY_PORT) == (8484, 8485)


@pytest.mark.parametrize("flag", ["-o", "--output", "--out"])
def test_output_has_a_short_and_an_old_name(flag: str) -> None:
    parser = argparse.ArgumentParser()
    add_output(parser, "FILE", "")

    assert parser.parse_args([flag, "f"]).output == "f"
    assert parser.parse_args([]).output is None


def test_format_defaults_to_the_first_choice_and_json_is_a_short_form() -> None:
    parser = argparse.ArgumentParser()
    add_format(parser, ("text", "json"), json="")

    assert parser.parse_args([]).format == "text"
    assert parser.parse_args(["--json"]).format == parser.parse_args(["--format", "json"]).format == "json"
    with pytest.raises(SystemExit):
        parser.parse_args(["--format", "yaml"])


def test_json_is_offered_only_where_there_is_json() -> None:
    parser = argparse.ArgumentParser()
    add_format(parser, ("text", "junit"))

    with pytest.raises(SystemExit):
        parser.parse_args(["--json"])


def test_width_is_a_number_of_columns() -> None:
    parser = argparse.ArgumentParser()
    add_width(parser)

    assert (parser.parse_args([]).width, parser.parse_args(["--width", "60"]).width) == (None, 60)


@pytest.mark.parametrize(("argv", "pace"), [([], "instant"), (["--pace"], "recorded"), (["--pace", "2"], "2")])
def test_a_replay_is_instant_unless_a_pace_is_given(argv: list[str], pace: str) -> None:
    assert replaying(*argv, pace="instant").pace == pace


def test_replay_options_are_passed_on_as_they_were_given() -> None:
    given = [
        "--pace=2,max=0.5",
        "--profile=ordered",
        "--faults=f.toml",
        "--rule=/a/b=warn",
        "--ignore=/x",
        "--ignore-text=-a",
    ]

    assert replay_arguments(replaying(*given)) == given
    assert replay_arguments(replaying()) == []


@pytest.mark.parametrize(
    "command",
    [["run", "-o", "-", "--", "true"], ["report", "F", "-o", "-"], ["scrub", "F", "-o", "-"], ["demo", "-o", "-"]],
)
def test_a_command_that_writes_no_standard_output_refuses_its_name(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(command)

    assert ended.value.code == 2
    assert "this cannot be written to standard output (-); name a file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
