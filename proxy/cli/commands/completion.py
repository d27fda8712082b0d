"""`turntape completion SHELL`: the completion script of a shell."""

import argparse

from ...exit_codes import OK
from ..command import Command
from ..option_groups import add_output

SHELLS = ("bash", "zsh", "fish")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to write a script for")
    add_output(parser, "FILE", "write to FILE (default: stdout)")


def main(options: argparse.Namespace) -> int:
    from importlib import import_module

    from turntape.inspector.findings.docs import classes

    from ..completion.words import commands
    from ..text_output import writing

    script: str = import_module(f"..completion.{options.shell}", __package__).script(
        commands(sorted(one.id for one in classes()))
    )
    with writing(options.output) as out:
        out.write(script)
    return OK


COMMAND = Command(
    usage="turntape completion bash|zsh|fish",
    description="Print the completion script of a shell. For bash: source <(turntape completion bash). For zsh the "
    "same, after compinit. For fish: turntape completion fish | source. Put that line into the shell's start file, or "
    "write the script to where the shell looks for it.",
    examples=("source <(turntape completion bash)",),
    add=add,
    main=main,
)
