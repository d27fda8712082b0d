"""What can be completed, read from the parsers."""

from turntape.proxy.cli.completion.words import (
    FILES,
    FINDINGS,
    FOLDERS,
    FREE,
    Completed,
    Option,
    Values,
    all_actions,
    commands,
)
from turntape.proxy.cli.registry import COMMANDS


def command(name: str) -> Completed:
    return next(one for one in commands(["api-pause", "client-loop"]) if one.name == name)


def option(name: str, flag: str) -> Option:
    return next(one for one in command(name).options if flag in one.flags)


def test_every_placeholder_is_classified_once() -> None:
    """A new placeholder in a help text fails here until it is in one of the sets."""
    kinds = (FILES, FOLDERS, FINDINGS, FREE)
    used = {
        str(action.metavar)
        for action in all_actions()
        if action.nargs != 0 and action.choices is None and action.metavar is not None
    }

    for placeholder in used:
        assert sum(placeholder in kind for kind in kinds) == 1, placeholder


def test_every_command_is_there_with_its_summary() -> None:
    assert [(one.name, one.summary) for one in commands([])] == [(one.name, one.summary) for one in COMMANDS]


def test_old_names_and_hidden_options_are_left_out() -> None:
    assert option("show", "--output").flags == ("-o", "--output")
    assert option("show", "--color").flags == ("--color",)
    flags = {flag for one in command("view").options for flag in one.flags}
    assert not {"--out", "--colour", "--while", "--command-output"} & flags


def test_the_values_of_an_option_are_its_choices_files_folders_or_findings() -> None:
    assert option("show", "--format").values == Values("words", ("text", "json"))
    assert option("show", "--output").values == Values("files")
    assert option("import", "--out-dir").values == Values("folders")
    assert option("check", "--only").values == Values("words", ("api-pause", "client-loop"))
    assert option("show", "--turn").values == Values("free")
    assert option("show", "--hints").values is None
    assert option("replay", "--pace").values is None


def test_the_arguments_of_a_command_are_completed_too() -> None:
    assert command("show").positionals == Values("files")
    assert command("completion").positionals == Values("words", ("bash", "zsh", "fish"))
    assert command("explain").positionals == Values("words", ("api-pause", "client-loop"))
    assert command("record").positionals is None
    assert [command(name).tail for name in ("show", "doctor", "run")] == ["none", "optional", "required"]


def test_an_option_that_can_be_given_twice_says_so() -> None:
    assert option("run", "--upstream").repeatable
    assert not option("run", "--port").repeatable
