"""docs/cli.md: every command with its options, written from the parsers."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .command import Command, parser_of
from .registry import Entry, load_all

_HEAD = """\
# Command line

Written by `python -m turntape.proxy.cli.reference_page` from the commands themselves; `make check` compares it.
`turntape COMMAND --help` prints the same. [settings.md](settings.md) lists settings and environment variables.

## Conventions

- **Cassettes.** An argument that names cassettes takes a file, a pattern in quotes (`'runs/**/*.cassette.jsonl'`), or a
  folder. A folder means its `*.cassette.jsonl` and `*.cassette.jsonl.zst` files at any depth. Where one cassette is
  needed, a folder or pattern with exactly one works too.
- **Output.** `-o FILE` (or `--output`) names the file to write. `--format` names the format; `--json` is short for
  `--format json`. `--out` is the old name of `-o`, and `export --as` of `export --format`; both still work.
- **Colours.** `--color auto|always|never`; `auto` means on a terminal, and respects `NO_COLOR` and `FORCE_COLOR`.
- **Errors** are one sentence on stderr. `--debug` shows the traceback instead.
- **Completion.** `source <(turntape completion bash)`, the same with `zsh` after `compinit`, or
  `turntape completion fish | source`.

## Exit codes

| code | meaning |
|---|---|
| 0 | all went well |
| 1 | something was found: a finding, an exceeded budget, a difference, a problem, a miss in a replay |
| 2 | usage: an option or a file is wrong |
| 3 | internal: a bug in turntape, or an optional part that is not installed |
| 4 | some traffic was not recorded (`record`, and `run` and `fork` when their command exits with 0) |
| 126, 127 | `run`, `fork`, `doctor`, `mcp`: the command cannot be executed, or was not found |
| 128 + N | `run`, `fork`: signal N ended the command |
| 130 | interrupted with Ctrl-C |

`run` and `fork` exit with the code of their command when it is not 0.
"""


_OLDER = ("--out", "--as")
"""Old names of options, which still work. The head of the page names them once."""


def render() -> str:
    """The whole page."""
    sections = list(load_all())
    index = "".join(f"| [`{one.name}`](#{one.name}) | {one.summary} |\n" for one, _ in sections)
    return f"{_HEAD}\n## Commands\n\n| command | what it does |\n|---|---|\n{index}" + "".join(
        section for one, command in sections for section in _section(one, command)
    )


def _section(one: Entry, command: Command) -> Iterator[str]:
    """A heading, what the command does, and a table of its arguments."""
    yield f"\n## {one.name}\n\n```\n{command.usage}\n```\n\n{command.description}\n\n"
    yield "```\n" + "".join(f"{line}\n" for line in command.examples) + "```\n\n"
    yield "| option | meaning |\n|---|---|\n"
    for action in vars(parser_of(one.name, command))["_actions"]:
        if action.help != argparse.SUPPRESS and action.dest not in ("help", "color", "debug"):
            yield f"| {_cell(_names(action))} | {_text(action.help or '')} |\n"


def _names(action: argparse.Action) -> str:
    """The names of an argument with its value, such as `-o`, `--output FILE`."""
    values = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"`{values}`"
    *names, last_name = [flag for flag in action.option_strings if flag not in _OLDER]
    flags = ", ".join(f"`{flag}`" for flag in names)
    last = last_name + ("" if action.nargs == 0 else f" [{values}]" if action.nargs == "?" else f" {values}")
    return f"{flags}, `{last}`" if flags else f"`{last}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text(help: str) -> str:
    """A help text as Markdown: nothing in it is markup, except `code`."""
    return _cell(help).replace("<", "&lt;").replace("*", "\\*")


def page(name: str = "cli.md") -> Path:
    """Where a page is in a checkout."""
    return Path(__file__).resolve().parents[2] / "docs" / name


def write_or_check(arguments: Sequence[str] | None, module: str, text: str, path: Path) -> int:
    """Write the page; with `--check`, return 1 when the file differs from `text`."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--check", action="store_true", help="do not write; exit 1 when the page is out of date")
    parser.add_argument("-o", "--output", type=Path, default=path, help=f"the file (default: docs/{path.name})")
    options = parser.parse_args(arguments)
    target: Path = options.output
    if not options.check:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.is_file() and target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target} is out of date: run python -m {module}\n")
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Write docs/cli.md, or check it."""
    return write_or_check(arguments, "turntape.proxy.cli.reference_page", render(), page())


if __name__ == "__main__":
    raise SystemExit(main())
