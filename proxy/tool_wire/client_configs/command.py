"""`turntape mcp wrap FILE` and `turntape mcp unwrap FILE`."""

import argparse
import sys
from pathlib import Path

from turntape.cassettes.errors import TurntapeError

from ...exit_codes import OK, USAGE
from .rewriting import Rewritten, rewrite
from .wrapper import for_files


def main(options: argparse.Namespace) -> int:
    """Run `options.action`, which is `wrap` or `unwrap`, on `options.files`; returns the exit code.

    With `options.dry_run` no file is written. A file with an error is left as it is; the others are still done.
    """
    if not options.files:
        sys.stderr.write(f"turntape mcp: no file to {options.action}; name the configuration file of a client\n")
        return USAGE
    wrapper = for_files(options.output) if options.action == "wrap" else None
    code = OK
    for name in options.files:
        try:
            done = rewrite(Path(name), wrapper, dry_run=options.dry_run)
        except TurntapeError as exc:
            sys.stderr.write(f"turntape: {exc}\n")
            code = USAGE
            continue
        sys.stdout.write("".join(f"{line}\n" for line in _lines(name, done, options.action, options.dry_run)))
    return code


def _lines(name: str, done: Rewritten, action: str, dry_run: bool) -> list[str]:
    if not done.changed:
        return [f"{name}: nothing to do, {_servers(done.as_they_were)} already {action}ped"]
    if not dry_run:
        return [f"{name}: {action}ped {', '.join(done.changed)}; restart the client that reads it"]
    import difflib

    lines = difflib.unified_diff(done.before.splitlines(), done.after.splitlines(), name, name, lineterm="", n=1)
    return [f"{name}: would {action} {', '.join(done.changed)}", *lines]


def _servers(names: tuple[str, ...]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
