"""Finds the command that the arguments name and runs it. Each command imports what it needs when it runs."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from ..exit_codes import INTERNAL, INTERRUPTED, OK, USAGE
from ..launch.terminal import ascii_only
from .command import Parser, parse
from .overview import overview, version
from .registry import COMMANDS, Entry, entry, load, nearest

EXTRAS = {
    "mitmproxy": "proxy",
    "uvicorn": "proxy",
    "httptools": "proxy",
    "h2": "proxy",
    "brotli": "proxy",
    "certifi": "proxy",
    "cryptography": "proxy",
    "hyperframe": "proxy",
    "OpenSSL": "proxy",
    "wsproto": "proxy",
    "zstandard": "proxy",
    "textual": "tui",
    "rich": "tui",
    "PIL": "pictures",
    "yaml": "import",
    "opentelemetry": "spans",
    "mcp": "mcp",
    "obstore": "fleet",
    "pyarrow": "fleet",
    "duckdb": "fleet",
}
"""The optional part of turntape that installs each module."""


OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF})
"""Errors that can only come from writing to an open file."""


_MORE_MEMORY = "allow more with `ulimit -v` and `ulimit -u`, or give the container more memory"
OUR_LIMITS = {
    errno.EMFILE: "allow more with `ulimit -n`",
    errno.ENFILE: "close programs that hold many files open",
    errno.ENOMEM: _MORE_MEMORY,
    errno.EAGAIN: _MORE_MEMORY,
}
"""Errors that are about no file: what to do about them."""


WITHOUT_SETTINGS = frozenset({"completion", "doctor", "mcp"})
"""Commands that work with settings that cannot be read; `mcp` has no time to read them."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code. Raises `SystemExit` for --help and usage errors."""
    ascii_ = ascii_only(os.environ)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Text of an agent may not fit the terminal's encoding.
            plain = ascii_ and stream.isatty()
            stream.reconfigure(encoding="ascii" if plain else None, errors=_ascii_signs() if plain else "replace")
    debug = False
    try:
        chosen, rest, debug = _command_line(arguments)
        command = load(chosen)
        options = parse(chosen.name, command, rest, debug=debug)
        debug = options.debug
        if "redact_entropy" in options:
            from .option_groups import use_redaction

            use_redaction(options)
        if chosen.name not in WITHOUT_SETTINGS:
            _check_settings()
        from turntape.inspector.analysis.known_prices import keeping_prices

        with keeping_prices():
            code = command.main(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # `turntape show F | head`: the reader has closed the pipe. Without this Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as exc:
        if debug:
            raise
        return _report(exc)
    return code


def _ascii_signs() -> str:
    """The name of an error handler that writes each sign of the views as an ASCII character."""
    import codecs

    from turntape.inspector.views.vocabulary.ascii_signs import in_ascii

    def replaced(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return in_ascii(error.object[error.start : error.end]), error.end

    codecs.register_error("turntape-ascii", replaced)
    return "turntape-ascii"


def _check_settings() -> None:
    """Raises CassetteError when the settings of the working directory are wrong, once and before anything is done."""
    from turntape.cassettes.settings import read_settings

    read_settings()


def _command_line(argv: Sequence[str]) -> tuple[Entry, list[str], bool]:
    """The command, its arguments, and whether --debug was given before it. Exits for --help, --version and errors."""
    parser = Parser(prog="turntape", add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("name", nargs="?")
    place = next((i for i, argument in enumerate(argv) if not argument.startswith("-")), len(argv))
    options: argparse.Namespace = parser.parse_args(list(argv[: place + 1]))
    if options.version:
        sys.stdout.write(f"turntape {version()}\n")
        parser.exit()
    if options.help or options.name is None:
        sys.stdout.write(overview(sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
        parser.exit(0 if options.help else USAGE)
    chosen = entry(options.name)
    if chosen is None:
        near = nearest(options.name)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(one.name for one in COMMANDS)}"
        parser.error(f"{options.name!r} is not a command; {hint}")
    return chosen, list(argv[place + 1 :]), options.debug


def _report(exc: Exception) -> int:
    """Write one line on stderr for any failure; the exit code separates what the user can fix from our bugs."""
    from turntape.cassettes.errors import TurntapeError

    if isinstance(exc, ModuleNotFoundError) and (extra := EXTRAS.get((exc.name or "").split(".")[0])):
        return _fail(f"this needs {exc.name}, which is not installed; pip install 'turntape[{extra}]'", INTERNAL)
    if isinstance(exc, TurntapeError):
        return _fail(str(exc), USAGE)
    if isinstance(exc, OSError):
        if isinstance(exc, FileNotFoundError) and not exc.filename and _is_nowhere():
            return _fail("the working directory was removed; change to another one", USAGE)
        if exc.filename and exc.errno not in OUR_LIMITS:
            return _fail(f"cannot use {exc.filename!r}: {exc.strerror}; check its name and its permissions", USAGE)
        if exc.errno in OUR_LIMITS:
            return _fail(f"this process is at a limit: {exc.strerror}; {OUR_LIMITS[exc.errno]}", USAGE)
        if exc.errno in OUTPUT_ERRORS:
            return _fail(f"cannot write the output: {exc.strerror}; write it to another place", USAGE)
        return _fail(str(exc.strerror or exc), USAGE)
    if isinstance(exc, MemoryError) or isinstance(exc, RuntimeError) and "start new thread" in str(exc):
        what = "no memory is left" if isinstance(exc, MemoryError) else "no thread can be started"
        return _fail(f"this process is at a limit: {what}; {_MORE_MEMORY}", USAGE)
    return _fail(f"internal error, {type(exc).__name__}: {exc}; `turntape --debug …` shows where", INTERNAL)


def _is_nowhere() -> bool:
    """True when the working directory was removed."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib takes time to import
    except FileNotFoundError:
        return True
    return False


def _fail(message: str, code: int) -> int:
    with suppress(OSError):  # where nothing can be said, the exit code must still say it
        sys.stderr.write(f"turntape: {message}\n")
        sys.stderr.flush()
    return code
