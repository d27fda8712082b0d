"""Options that several commands share, so that each means the same everywhere."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import argument_types as types

RECORD_PORT = 8484
REPLAY_PORT = 8485
ONE_CASSETTE = "a cassette (.jsonl or .jsonl.zst), or a pattern or folder with exactly one"
CASSETTES = "a cassette, a pattern such as 'runs/*', or a folder"


def add_output(parser: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """`-o/--output`; `--out` is its old name."""
    parser.add_argument("-o", "--output", "--out", metavar=metavar, help=help)


def add_output_file(parser: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """As `add_output`, of a command that does not write to standard output."""
    parser.add_argument("-o", "--output", "--out", type=types.file_name, metavar=metavar, help=help)


def add_format(parser: argparse.ArgumentParser, choices: Sequence[str], *, json: str | None = None) -> None:
    """`--format`, with the first choice as default; with `json`, its help text, also `--json` as a short form."""
    parser.add_argument(
        "--format", choices=tuple(choices), default=choices[0], help=f"format of the output (default: {choices[0]})"
    )
    if json is not None:
        parser.add_argument("--json", dest="format", action="store_const", const="json", help=json)


def add_at(parser: argparse.ArgumentParser) -> None:
    """`--at`: the store with the shipped runs."""
    parser.add_argument(
        "--at", metavar="STORE", help="s3://BUCKET/PREFIX, gs://…, az://… or a folder (default: TURNTAPE_AT)"
    )


def add_width(parser: argparse.ArgumentParser) -> None:
    """`--width` for commands that print text."""
    parser.add_argument("--width", type=types.width, metavar="N", help="columns (default: those of the terminal)")


def add_upstreams(parser: argparse.ArgumentParser) -> None:
    """Where the APIs are and how they are reached."""
    group = parser.add_argument_group("where the APIs are")
    group.add_argument(
        "--upstream",
        type=types.upstream,
        action="append",
        default=[],
        metavar="NAME=URL",
        help="send requests for this API to URL, on both routes; '*=URL' for all APIs; repeatable",
    )
    group.add_argument(
        "--intercept",
        action="append",
        default=[],
        metavar="HOST",
        help="decrypt and record this host too; '*' for all; repeatable",
    )
    group.add_argument(
        "--upstream-proxy",
        metavar="URL",
        help="send everything through this HTTP proxy; 'none' for none (default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY)",
    )
    group.add_argument(
        "--client-cert",
        type=Path,
        metavar="PEM",
        help="certificate and key for upstreams that ask for one; or a folder of HOST.pem",
    )


def add_redaction(parser: argparse.ArgumentParser) -> None:
    """What is a secret, or is not, beside what the rules find: `use_redaction` is called before the command runs."""
    group = parser.add_argument_group("finding more secrets, or fewer (docs/secrets.md)")
    group.add_argument("--redact-entropy", action="store_true", help="treat words that look random as secrets")
    group.add_argument(
        "--redact-function", metavar="MODULE:FUNCTION", help="a function that gets a text and returns its secrets"
    )
    group.add_argument(
        "--redact-keep",
        metavar="REGEX",
        action="append",
        default=[],
        help="a value that this matches as a whole is not a secret; repeatable",
    )


def use_redaction(options: argparse.Namespace) -> None:
    """Let these options hold for this process and all that it starts."""
    import os

    from turntape.cassettes.settings import ENTROPY, FUNCTION, KEEP

    if options.redact_entropy:
        os.environ[ENTROPY] = "1"
    if options.redact_function:
        os.environ[FUNCTION] = options.redact_function
    if options.redact_keep:
        os.environ[KEEP] = "\n".join([*filter(None, [os.environ.get(KEEP)]), *options.redact_keep])


def add_recording(parser: argparse.ArgumentParser, port: int, kind: str = "run") -> None:
    """What a recording needs: file, port, upstreams, limits, breakpoints."""
    default = str(port) if port else "a free one"
    add_output_file(parser, "F", f"the cassette to write (default: {kind}-<time>.cassette.jsonl here)")
    parser.add_argument(
        "--port", type=types.port, default=port, metavar="N", help=f"listen on port N (default: {default})"
    )
    add_upstreams(parser)
    parser.add_argument(
        "--route",
        choices=("both", "base_url", "forward"),
        default="both",
        help="offer only base URLs, or only the forward proxy (default: both)",
    )
    limits = parser.add_argument_group("stopping a runaway run (docs/guard-rails.md)")
    limits.add_argument("--max-turns", type=types.turn_count, metavar="N", help="answer with an error after N turns")
    limits.add_argument("--max-cost", type=types.dollars, metavar="USD", help="stop the run at this cost")
    limits.add_argument(
        "--stop-on",
        action="append",
        default=[],
        metavar="FINDING[,...]",
        help="stop the run at this finding, by id or pattern: 'client-*'; repeatable",
    )
    add_redaction(parser)
    live = parser.add_argument_group("sending it on (docs/gateway.md)")
    live.add_argument(
        "--otlp",
        metavar="URL",
        help="send each turn as an OpenTelemetry span to this collector, over HTTP, such as http://127.0.0.1:4318",
    )
    live.add_argument(
        "--otlp-content", action="store_true", help="send prompts, answers, arguments and results with the spans"
    )
    live.add_argument(
        "--ship", metavar="STORE", help="when a file is complete, ship it to s3://…, gs://…, az://… or a folder"
    )
    live.add_argument(
        "--label",
        dest="ship_label",
        type=types.ship_label,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="with --ship: a label of the rows; repeatable",
    )
    live.add_argument("--rows-only", action="store_true", help="with --ship: ship no bytes, only the rows")
    live.add_argument(
        "--spool",
        type=Path,
        metavar="DIR",
        help="with --ship: where files wait that could not be shipped (default: ~/.turntape/spool); "
        "`record` also writes its own files there",
    )
    held = parser.add_argument_group("holding answers (docs/breakpoints.md)")
    held.add_argument(
        "--break-on",
        type=types.break_condition,
        action="append",
        default=[],
        metavar="WHAT",
        help="hold an answer before the client sees it, and ask: tool=NAME, finding=ID, turn=N; repeatable",
    )
    held.add_argument(
        "--break-answers",
        type=Path,
        metavar="FILE",
        help="read what to do with held answers from FILE, one line each, instead of the terminal",
    )


def add_listening(parser: argparse.ArgumentParser) -> None:
    """Where a server listens, and what its clients must know."""
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="listen on this address; for any but loopback, clients need a token, which is printed "
        "(default: 127.0.0.1)",
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="require the token in FILE, on loopback too (default: a new one where one is needed)",
    )


def token_of(options: argparse.Namespace) -> str | None:
    """The token that clients of `--host` need; None when they need none. Raises TurntapeError for a bad file."""
    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.routes.admission import checked_token, is_local, new_token

    if options.token_file is None:
        return None if is_local(options.host) else new_token()
    name = str(options.token_file)
    try:
        text = options.token_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
        raise TurntapeError(
            f"cannot read the token in {name!r}: {reason}; write one with: openssl rand -hex 20"
        ) from exc
    return checked_token(text, repr(name))


def add_replaying(parser: argparse.ArgumentParser, pace: str | None, note: str = "") -> None:
    """How recorded round trips are replayed; `turntape.toml` may say the same in `[replay]`."""
    group = parser.add_argument_group(f"how it is replayed (docs/testing.md){note}")
    group.add_argument(
        "--pace",
        type=types.pace,
        nargs="?",
        const="recorded",
        default=pace,
        metavar="N",
        help="send the chunks at the recorded pace, N times faster, or with a longest wait: max=0.5 or 10,max=0.5",
    )
    group.add_argument(
        "--profile",
        choices=("strict", "ordered"),
        help="answer only equal requests, or match by turn order and report what differs (default: strict)",
    )
    group.add_argument(
        "--rule",
        type=types.matching_rule,
        action="append",
        default=[],
        metavar="FIELD=RULE",
        help="fail, warn or ignore when this differs: system, tools, messages, tool_results, a setting by name, or a "
        "JSON pointer; repeatable",
    )
    group.add_argument(
        "--ignore", action="append", default=[], metavar="POINTER", help="ignore this JSON pointer; repeatable"
    )
    group.add_argument(
        "--ignore-text",
        action="append",
        default=[],
        metavar="REGEX",
        help="ignore text that this regular expression matches; repeatable",
    )
    group.add_argument(
        "--faults",
        metavar="FILE",
        help="inject the faults of this TOML file into the answers; `none` for none "
        "(default: the .faults.toml file next to F, if there is one)",
    )


def replay_arguments(options: argparse.Namespace) -> list[str]:
    """The options of `add_replaying` that were given, as arguments for `turntape replay`."""
    given: list[str] = []
    for name in ("pace", "profile", "faults"):
        if (value := getattr(options, name)) is not None:
            given.append(f"--{name}={value}")
    given += [f"--rule={name}={rule}" for name, rule in options.rule]
    given += [f"--ignore={pointer}" for pointer in options.ignore]
    given += [f"--ignore-text={pattern}" for pattern in options.ignore_text]
    return given
