"""The command line: `turntape …`. Only what a command needs is imported, and only when it runs."""

import io
import os
import sys
from collections.abc import Sequence

from .arguments import parse
from .exit_codes import INTERNAL, OK, USAGE

EXTRAS = {"mitmproxy": "proxy", "textual": "tui"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Raises `SystemExit` for --help and usage errors."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an agent's text may hold what the terminal's encoding cannot
    try:
        options = parse(arguments)
        debug = options.debug
        from importlib import import_module

        code: int = import_module(f".{options.module}", __package__).main(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # `turntape show F | head`: the reader has what it wanted. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except KeyboardInterrupt:
        return 130
    except Exception as exc:
        if debug:
            raise
        return _explain(exc)
    return code


def _explain(exc: Exception) -> int:
    """One line on stderr for any failure; what the user can mend is told from what we must."""
    from turntape.cassettes.errors import TurntapeError

    if isinstance(exc, ModuleNotFoundError) and (extra := EXTRAS.get((exc.name or "").split(".")[0])):
        return _fail(f"this needs {exc.name}, which is not installed; pip install 'turntape[{extra}]'", INTERNAL)
    if isinstance(exc, TurntapeError):
        return _fail(str(exc), USAGE)
    if isinstance(exc, OSError):
        what = f"{exc.filename}: {exc.strerror}" if exc.filename else str(exc.strerror or exc)
        return _fail(what, USAGE)
    return _fail(f"internal error, {type(exc).__name__}: {exc}; `turntape --debug …` shows where", INTERNAL)


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"turntape: {message}\n")
    return code
