"""The examples in the help of each command."""

import re
import shlex

import pytest

from turntape.proxy.cli import command
from turntape.proxy.cli.examples import EXAMPLES, examples_text
from turntape.proxy.cli.registry import COMMANDS, entry, load


def test_each_command_has_examples() -> None:
    assert [one.name for one in COMMANDS] == list(EXAMPLES)
    assert examples_text("no-such-command") == ""


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_each_example_is_understood_and_fits_on_a_line(line: str) -> None:
    words = shlex.split(re.sub(r"^source <\((.*)\)$", r"\1", line), comments=True)
    found = entry(words[1])

    assert words[0] == "turntape" and found is not None and line in EXAMPLES[found.name]
    command.parse(found.name, load(found), words[2:])
    assert len(line) <= 78


def test_the_help_of_a_command_ends_with_its_examples_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    found = entry("price")
    assert found is not None
    with pytest.raises(SystemExit):
        command.parse("price", load(found), ["--help"])
    text = capsys.readouterr().out

    assert "\nexamples:\n  turntape price run.cassette.jsonl\n" in text
    assert text.index("examples:") < text.index("exit codes:")
