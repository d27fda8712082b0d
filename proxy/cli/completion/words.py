"""What can be completed: the commands, their options, and the values of each."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Literal, cast

from turntape.cassettes.frozen import frozen

from ..command import Tail, parser_of
from ..registry import load_all

FILES = frozenset({"F", "FILE", "OUT", "PEM", "A", "B"})
FOLDERS = frozenset({"DIR", "FOLDER", "TESTS"})
FINDINGS = frozenset({"ID", "ID|LAYER", "FINDING[,...]"})
FREE = frozenset(
    {
        "3x|200%",
        "ADDRESS",
        "AGE",
        "FIELD=RULE",
        "HOST",
        "K",
        "MODULE:FUNCTION",
        "N",
        "NAME",
        "NAME=URL",
        "NAME=VALUE",
        "PLACES",
        "POINTER",
        "REGEX",
        "RECORDING",
        "RUN",
        "SIZE",
        "SIZE|TIME",
        "SOCKET",
        "SQL|NAME",
        "STORE",
        "T",
        "TIME",
        "URL",
        "USD",
        "WHAT",
        "WHAT=VALUE",
    }
    | {"PID"}
)
"""Placeholders in help texts, by what can be completed for them. `FREE` values cannot be completed."""


@frozen
class Values:
    """What can follow: one of the `words`, a file, a folder, or something that cannot be completed."""

    kind: Literal["words", "files", "folders", "free"]
    words: tuple[str, ...] = ()


@frozen
class Option:
    flags: tuple[str, ...]
    """Such as `-o`, `--output`; old names are left out."""
    help: str
    """One line."""
    values: Values | None
    """None for an option without a value, or with an optional one."""
    repeatable: bool = False


@frozen
class Completed:
    """One command."""

    name: str
    summary: str
    options: tuple[Option, ...]
    positionals: Values | None
    """What its arguments are; None when it has none."""
    tail: Tail


def commands(findings: Sequence[str]) -> Iterator[Completed]:
    """Every command; `findings` are the ids to complete for options that take findings."""
    for one, command in load_all():
        actions = _actions(parser_of(one.name, command))
        options = tuple(_option(action, findings) for action in actions if action.option_strings and _shown(action))
        places = [action for action in actions if not action.option_strings and _shown(action)]
        values = _values(places[0], findings) if places else None
        yield Completed(one.name, one.summary, options, values, command.tail)


def all_actions() -> Iterator[argparse.Action]:
    """Every argument of every command that is shown in a help text."""
    for one, command in load_all():
        yield from filter(_shown, _actions(parser_of(one.name, command)))


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    # argparse has no public list of its arguments.
    return cast(list[argparse.Action], vars(parser)["_actions"])


def _shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS


def _option(action: argparse.Action, findings: Sequence[str]) -> Option:
    short = [flag for flag in action.option_strings if not flag.startswith("--")][:1]
    long = [flag for flag in action.option_strings if flag.startswith("--")][:1]
    values = None if action.nargs in (0, "?") else _values(action, findings)
    repeatable = "repeatable" in (action.help or "")
    return Option((*short, *long), " ".join((action.help or "").split()), values, repeatable)


def _values(action: argparse.Action, findings: Sequence[str]) -> Values:
    if action.choices is not None:
        return Values("words", tuple(str(choice) for choice in action.choices))
    metavar = str(action.metavar)
    if metavar in FINDINGS:
        return Values("words", tuple(findings))
    return Values("files" if metavar in FILES else "folders" if metavar in FOLDERS else "free")
