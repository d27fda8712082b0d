"""The command line is understood, and what is wrong with it is said in one line."""

import re

import pytest

from turntape.proxy.cli.arguments import COMMANDS, overview, parse


def test_the_first_screen_fits_a_small_terminal_and_names_every_command() -> None:
    lines = overview(colour=False).splitlines()

    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert all(any(line.startswith(f"  {c.name} ") for line in lines) for c in COMMANDS)


def test_colours_change_nothing_but_colours() -> None:
    assert re.sub(r"\x1b\[\d*m", "", overview(colour=True)) == overview(colour=False)


def test_behind_two_dashes_everything_is_the_commands() -> None:
    options = parse(["run", "--out", "f", "--", "python", "agent.py", "--port", "1", "--", "x"])

    assert (options.out, options.port) == ("f", 0)
    assert options.command == ["python", "agent.py", "--port", "1", "--", "x"]


def test_a_command_may_stand_without_dashes() -> None:
    assert parse(["run", "--live", "sh", "-c", "exit 1"]).command == ["sh", "-c", "exit 1"]


def test_upstreams_are_name_and_url() -> None:
    options = parse(["record", "--upstream", "openai=http://a/v1", "--upstream", "*=http://b"])

    assert options.upstream == [("openai", "http://a/v1"), ("*", "http://b")]


@pytest.mark.parametrize(("argv", "pace"), [([], "instant"), (["--pace"], "recorded"), (["--pace", "2"], "2")])
def test_a_replay_is_instant_unless_a_pace_is_asked_for(argv: list[str], pace: object) -> None:
    assert parse(["replay", "f", *argv]).pace == pace


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["rnu"], "'rnu' is not a command"),
        (["run"], "no command to run"),
        (["run", "x", "--", "y"], "'x' stands before `--`"),
        (["run", "--upstream", "openai", "--", "x"], "'openai' is not NAME=URL"),
        (["run", "--upstream", "openai=ftp://a/v1", "--", "x"], "'openai=ftp://a/v1' is not NAME=URL"),
        (["record", "--upstream", "openai=http://"], "'openai=http://' is not NAME=URL"),
        (["record", "--port", "seven"], "'seven' is not a port"),
        (["replay", "f", "--pace", "0"], "'0' is not instant"),
        (["show"], "required"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse(argv)

    shown = capsys.readouterr()
    assert exit_.value.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_every_command_has_help_within_80_columns(command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse([command.name, "--help"])

    shown = capsys.readouterr().out
    assert command.usage in shown
    assert "exit codes:" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_how_to_replay_is_handed_on_to_the_server_as_it_was_given() -> None:
    from turntape.proxy.cli.replay_command import how_given

    given = [
        "--pace=2,max=0.5",
        "--profile=ordered",
        "--faults=f.toml",
        "--rule=/a/b=warn",
        "--ignore=/x",
        "--ignore-text=-a",
    ]
    options = parse(["run", "--replay", "f", *given, "--", "true"])

    assert how_given(options) == given
    assert how_given(parse(["run", "--replay", "f", "--", "true"])) == []
