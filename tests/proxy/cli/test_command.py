"""The command line is understood, and what is wrong with it is reported in one line."""

import argparse
import re
import shlex

import pytest

from turntape.proxy.cli import command, main
from turntape.proxy.cli.registry import COMMANDS, entry, load, load_all


def parse(*argv: str) -> argparse.Namespace:
    found = entry(argv[0])
    assert found is not None
    return command.parse(found.name, load(found), list(argv[1:]))


def test_everything_after_two_dashes_belongs_to_the_command() -> None:
    options = parse("run", "--out", "f", "--", "python", "agent.py", "--port", "1", "--", "x")

    assert (options.output, options.port) == ("f", 0)
    assert options.command == ["python", "agent.py", "--port", "1", "--", "x"]


def test_a_command_is_also_taken_without_dashes() -> None:
    assert parse("run", "--live", "sh", "-c", "exit 1").command == ["sh", "-c", "exit 1"]


def test_doctor_needs_no_command_and_show_has_none() -> None:
    assert parse("doctor").command == []
    assert not hasattr(parse("show", "f"), "command")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["rnu"], "'rnu' is not a command; did you mean 'run'?"),
        (["xyzzy"], "'xyzzy' is not a command; there are demo, run, record"),
        (["run"], "no command to run; write it after `--`: turntape run -- python agent.py"),
        (["fork", "f", "--at", "1"], "no command to run; write it after `--`: turntape fork F --at K -- python"),
        (["run", "x", "--", "y"], "'x' is before `--`, where only options are allowed"),
        (["run", "--upstream", "openai", "--", "x"], "'openai' is not NAME=URL"),
        (["show"], "required"),
        (["show", "f", "--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["show", "f", "--turn", "abc"], "'abc' is not a turn number; turns are numbered from 1"),
        (["--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["--vers"], "unrecognized arguments: --vers"),
        (["--deb", "show", "f"], "unrecognized arguments: --deb"),
        (["show", "f", "--deb"], "unrecognized arguments: --deb"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(argv)

    shown = capsys.readouterr()
    assert exit_.value.code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


@pytest.mark.parametrize("name", [one.name for one in COMMANDS])
def test_every_command_has_help_within_80_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([name, "--help"])

    shown = capsys.readouterr().out
    found = entry(name)
    assert found is not None
    assert exit_.value.code == 0
    assert load(found).usage in shown
    assert command.EXIT_CODES in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", [one.name for one in COMMANDS])
def test_every_command_has_examples_which_it_understands_and_which_fit_on_a_line(name: str) -> None:
    found = entry(name)
    assert found is not None
    examples = load(found).examples

    assert examples
    for line in examples:
        words = shlex.split(re.sub(r"^source <\((.*)\)$", r"\1", line), comments=True)
        assert words[:2] == ["turntape", name] and len(line) <= 78
        parse(*words[1:])


def test_the_help_of_a_command_ends_with_its_examples_and_the_exit_codes() -> None:
    found = entry("price")
    assert found is not None
    text = command.parser_of("price", load(found)).format_help()

    assert "\nexamples:\n  turntape price run.cassette.jsonl\n" in text
    assert text.index("examples:") < text.index("exit codes:")


@pytest.mark.parametrize("name", [one.name for one in COMMANDS])
def test_every_command_has_color_and_debug_with_the_same_meaning(name: str) -> None:
    found = entry(name)
    assert found is not None
    parser = command.parser_of(name, load(found))

    assert (parser.get_default("color"), parser.get_default("debug")) == ("auto", False)
    assert command.parser_of(name, load(found), debug=True).get_default("debug") is True


def test_a_command_with_a_result_writes_it_with_o_and_output() -> None:
    """`--out` is the old name. Servers and the viewer write no result."""
    without = set[str]()
    for one, found in load_all():
        parser = command.parser_of(one.name, found)
        flags = parser.format_help()
        if "  -o" not in flags:
            without.add(one.name)
        else:
            assert "--output" in flags and "--out " in flags.replace("--out,", "--out ")

    assert without == {"ca", "forget", "git-setup", "mcp-server", "replay", "ship", "view"}


def test_json_is_short_for_format_json() -> None:
    for name in ("show", "explain", "doctor"):
        arguments = ["f"] if name == "show" else []
        assert parse(name, *arguments).format == "text"
        assert parse(name, *arguments, "--json").format == parse(name, *arguments, "--format", "json").format == "json"
    assert parse("diff", "a", "b", "--json").format == "json"
    assert parse("export", "f", "--as", "har").format == parse("export", "f", "--format", "har").format == "har"
