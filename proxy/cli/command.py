"""What a command is, and how its parser is built."""

import argparse
from collections.abc import Callable
from typing import Literal, NoReturn, override

from turntape.cassettes.frozen import frozen

from ..exit_codes import USAGE

EXIT_CODES = """\
exit codes: 0 ok, 1 findings or mismatch, 2 usage, 3 internal, 4 not recorded;
run and fork: CMD's own
"""

type Tail = Literal["none", "optional", "required"]


@frozen
class Command:
    """One command: its help texts, its arguments and what it does."""

    usage: str
    description: str
    examples: tuple[str, ...]
    """Lines for a shell, the most common first."""
    add: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    main: Callable[[argparse.Namespace], int]
    """Runs the command and returns the exit code."""
    tail: Tail = "none"
    """Whether another command follows after `--`."""
    mixed: bool = False
    """True when options are allowed between the arguments."""


class Parser(argparse.ArgumentParser):
    """argparse with one-line errors."""

    @override
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}; see `{self.prog} --help`\n")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """80 columns on every terminal, so that help texts look the same everywhere."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=80)


def _examples_text(lines: tuple[str, ...]) -> str:
    return "".join(["examples:\n", *(f"  {line}\n" for line in lines), "\n"])


def parser_of(name: str, command: Command, *, debug: bool = False) -> Parser:
    """The parser of one command, with the options that all commands share."""
    from textwrap import fill

    parser = Parser(
        prog=f"turntape {name}",
        usage=command.usage,
        description=fill(command.description, 78),
        epilog=_examples_text(command.examples) + EXIT_CODES,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    command.add(parser)
    shared = parser.add_argument_group("for every command")
    shared.add_argument(
        "--color",
        "--colour",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, on a terminal; NO_COLOR is respected)",
    )
    shared.add_argument("--debug", action="store_true", default=debug, help="show tracebacks")
    return parser


def parse(name: str, command: Command, argv: list[str], *, debug: bool = False) -> argparse.Namespace:
    """The options of one command. Exits for --help and usage errors.

    A command with a tail gets it as `options.command`, a list of words.
    """
    parser = parser_of(name, command, debug=debug)
    tail: list[str] = []
    if "--" in argv and command.tail != "none":
        cut = argv.index("--")
        argv, tail = argv[:cut], argv[cut + 1 :]
    options = parser.parse_intermixed_args(argv) if command.mixed else parser.parse_args(argv)
    if command.tail != "none":
        before: list[str] = getattr(options, "command", [])
        if before and tail:
            parser.error(f"{before[0]!r} is before `--`, where only options are allowed")
        options.command = tail or before
        if not options.command and command.tail == "required":
            usage = command.usage.partition(" [")[0].partition(" -- ")[0]
            parser.error(f"no command to run; write it after `--`: {usage} -- python agent.py")
    return options
