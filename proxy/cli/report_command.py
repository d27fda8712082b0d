"""`turntape report F -o run.html`: a run as one self-contained page."""

import argparse
import os
import sys
from pathlib import Path

from .exit_codes import OK


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.run.run_index import Run
    from turntape.inspector.views.report import report

    run = Run.load(options.file)
    path = Path(options.out or _beside(options.file))
    if path.exists() and path.samefile(options.file):
        raise TurntapeError(f"{str(path)!r} is the cassette itself; choose another name with --out")
    # Private like the cassette: what was said is in it.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.writelines(report(run, options.title or Path(options.file).name))
    sys.stdout.write(f"{path}\n")
    return OK


def _beside(file: str) -> str:
    """`run.cassette.jsonl` becomes `run.html`, in the folder where we are."""
    name = Path(file).name
    for ending in (".zst", ".jsonl", ".cassette"):
        name = name.removesuffix(ending)
    return f"{name}.html"
