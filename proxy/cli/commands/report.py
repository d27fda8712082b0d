"""`turntape report F … -o run.html`: a run as one self-contained page."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK
from ..command import Command
from ..option_groups import CASSETTES, add_output_file

if TYPE_CHECKING:
    from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", nargs="+", help=f"{CASSETTES}; one page for each")
    add_output_file(
        parser,
        "FILE",
        "the page to write, or a folder for the pages of several cassettes (default: F's name with .html, here)",
    )
    parser.add_argument("--title", help="the page's title (default: F's name; `run` with --redact-text)")
    parser.add_argument(
        "--redact-text",
        action="store_true",
        help="replace all prose and code by neutral text of equal length, for sending the page to somebody else; "
        "names of tools and models, figures and findings stay",
    )


def main(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.run.run_index import Run
    from turntape.inspector.views.report import report

    from ..cassette_files import cassettes
    from ..text_output import private, refuse_source
    from ..waiting import Waiting

    files = cassettes(options.file)
    pages = _pages(files, options.output)
    for page in pages:
        refuse_source(page, files)
        if pages.count(page) > 1:
            raise TurntapeError(f"several of the cassettes would become {str(page)!r}; give them one by one with -o")
    for name, page in zip(files, pages, strict=True):
        with Waiting(f"reading {name}") as waiting:
            run = Run.load(name)
            waiting.say(f"writing {page}")
            # Private like the cassette: it holds the same conversation.
            with private(page) as file:
                title = options.title or ("run" if options.redact_text else Path(name).name)
                file.writelines(report(run, title, redacted=options.redact_text))
        sys.stdout.write(f"{page}\n")
    return OK


def _pages(files: list[str], output: str | None) -> "list[Path]":
    """The page of each cassette. Raises TurntapeError when several cassettes are to become one file."""
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.tape.named_file import not_a_link

    if output is not None and not Path(output).is_dir():
        if len(files) > 1:
            raise TurntapeError(f"{len(files)} cassettes need a folder, and {output!r} is not one; create it first")
        return [Path(output)]
    return [not_a_link(Path(output or "") / _page_name(name)) for name in files]


def _page_name(file: str) -> str:
    """`run.cassette.jsonl` becomes `run.html`."""
    name = file.replace("\\", "/").rpartition("/")[2]
    for ending in (".zst", ".jsonl", ".cassette"):
        name = name.removesuffix(ending)
    return f"{name}.html"


COMMAND = Command(
    usage="turntape report F ... [-o run.html]",
    description="Write a run as one HTML page that needs no network: turns by thread, findings, the growth of tokens "
    "and cost, each turn with what was new in it. It opens in any browser. `?` shows its keys.",
    examples=(
        "turntape report run.cassette.jsonl -o run.html",
        "turntape report run.cassette.jsonl -o run.html --redact-text",
    ),
    add=add,
    main=main,
)
