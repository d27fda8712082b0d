"""The command line as a table of commands, and the parsers made from it. Imports nothing heavy."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, override

from ..breakpoints.condition import Condition
from ..breakpoints.condition import parse as parse_condition
from .exit_codes import USAGE

if TYPE_CHECKING:
    from decimal import Decimal

RECORD_PORT = 8484
REPLAY_PORT = 8485
THEMES = ("dark", "light", "high-contrast", "no-colour")


class Parser(argparse.ArgumentParser):
    """argparse with one-line errors."""

    @override
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}; `{self.prog} --help` shows how\n")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    module: str
    """The module of this package whose `main(options) -> int` runs it."""
    usage: str
    summary: str
    """One line for the first screen."""
    description: str
    add: Callable[[argparse.ArgumentParser], None]
    has_tail: bool = False
    """True when a command of the user's stands behind `--`."""
    tail_optional: bool = False


def _upstream(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if not name or not equals or not url.lower().startswith(("http://", "https://")) or url.endswith("://"):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=URL, such as openai=http://localhost:8000/v1")
    return name, url


def _turn(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a turn, from 1")
    return int(text)


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _turns(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of turns from 1")
    return int(text)


def _dollars(text: str) -> "Decimal":
    from decimal import Decimal, InvalidOperation

    try:
        if (amount := Decimal(text.removeprefix("$"))).is_finite() and amount > 0:
            return amount
    except InvalidOperation:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not an amount in dollars, such as 0.50")


def _break_on(text: str) -> Condition:
    try:
        return parse_condition(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc


def _pace(text: str) -> str:
    from turntape.cassettes.replay.pace import Pace

    try:
        Pace.of(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc
    return text


def _rule(text: str) -> tuple[str, str]:
    name, _, rule = text.rpartition("=")
    if not name or rule not in ("fail", "warn", "ignore"):
        raise argparse.ArgumentTypeError(f"{text!r} is not FIELD=fail, FIELD=warn or FIELD=ignore, such as system=warn")
    return name, rule


def _replaying(parser: argparse.ArgumentParser, pace: str | None, shown: str) -> None:
    """How recorded round trips are played; `turntape.toml` may say the same in `[replay]`."""
    how = parser.add_argument_group(f"how it is replayed (docs/testing.md){shown}")
    how.add_argument(
        "--pace",
        type=_pace,
        nargs="?",
        const="recorded",
        default=pace,
        metavar="N",
        help="send the chunks at the recorded pace, N times faster, or with a longest wait: max=0.5 or 10,max=0.5",
    )
    how.add_argument(
        "--profile",
        choices=("strict", "ordered"),
        help="answer only equal requests, or by turn order and tell what differs (default: strict)",
    )
    how.add_argument(
        "--rule",
        type=_rule,
        action="append",
        default=[],
        metavar="FIELD=RULE",
        help="fail, warn or ignore when this differs: system, tools, messages, tool_results, a setting by name, or a "
        "JSON pointer; repeatable",
    )
    how.add_argument(
        "--ignore", action="append", default=[], metavar="POINTER", help="this JSON pointer does not count; repeatable"
    )
    how.add_argument(
        "--ignore-text",
        action="append",
        default=[],
        metavar="REGEX",
        help="text that this finds does not count; repeatable",
    )
    how.add_argument(
        "--faults",
        metavar="FILE",
        help="put the faults of this TOML file into the answers; `none` for none "
        "(default: those of F's name with .faults.toml beside it)",
    )


def _places(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("where the APIs are")
    where.add_argument(
        "--upstream",
        type=_upstream,
        action="append",
        default=[],
        metavar="NAME=URL",
        help="where an API is, on both routes; '*=URL' for all of them; repeatable",
    )
    where.add_argument(
        "--intercept",
        action="append",
        default=[],
        metavar="HOST",
        help="decrypt and record this host too; '*' for all; repeatable",
    )
    where.add_argument(
        "--upstream-proxy",
        metavar="URL",
        help="go on through this HTTP proxy; 'none' for none (default: HTTPS_PROXY and kin)",
    )
    where.add_argument(
        "--client-cert",
        type=Path,
        metavar="PEM",
        help="certificate and key for upstreams that ask for one; or a folder of HOST.pem",
    )


def _recording(parser: argparse.ArgumentParser, port: int, kind: str = "run") -> None:
    shown = str(port) if port else "a free one"
    parser.add_argument(
        "--out", metavar="F", help=f"the cassette to write (default: {kind}-<time>.cassette.jsonl here)"
    )
    parser.add_argument("--port", type=_port, default=port, metavar="N", help=f"listen on port N (default: {shown})")
    _places(parser)
    parser.add_argument(
        "--route",
        choices=("both", "base_url", "forward"),
        default="both",
        help="offer only base URLs, or only the forward proxy (default: both)",
    )
    limits = parser.add_argument_group("ending a runaway run (docs/guard-rails.md)")
    limits.add_argument("--max-turns", type=_turns, metavar="N", help="let N turns through, then answer with an error")
    limits.add_argument("--max-cost", type=_dollars, metavar="USD", help="the same once the run has cost that much")
    limits.add_argument(
        "--stop-on",
        action="append",
        default=[],
        metavar="FINDING[,...]",
        help="the same once this was found, by id or pattern: 'client-*'; repeatable",
    )
    held = parser.add_argument_group("holding answers (docs/breakpoints.md)")
    held.add_argument(
        "--break-on",
        type=_break_on,
        action="append",
        default=[],
        metavar="WHAT",
        help="hold an answer before the client sees it, and ask: tool=NAME, finding=ID, turn=N; repeatable",
    )
    held.add_argument(
        "--break-answers",
        type=Path,
        metavar="FILE",
        help="take what to do with held answers from FILE, a line each, in place of the terminal",
    )


def _run(parser: argparse.ArgumentParser) -> None:
    _recording(parser, 0)
    parser.add_argument("--replay", metavar="F", action="append", help="answer from this cassette; no API is called")
    _replaying(parser, None, ", with --replay")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="compare what goes in and out on both sides of the proxy, byte for byte, and say what differs and why",
    )
    parser.add_argument("--live", action="store_true", help="one line on stderr as each round trip ends")
    parser.add_argument(
        "--view",
        action="store_true",
        help="show the run in the terminal while CMD runs; CMD reads nothing, its output follows when you leave",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _record(parser: argparse.ArgumentParser) -> None:
    _recording(parser, RECORD_PORT)
    parser.add_argument("--quiet", action="store_true", help="no line per round trip")


def _screen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        "--colour",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, on a terminal; NO_COLOR is minded)",
    )
    parser.add_argument("--width", type=int, metavar="N", help="columns (default: the terminal's)")


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help="a cassette, .jsonl or .jsonl.zst")
    parser.add_argument("--turn", type=int, metavar="N", help="only turn N, whole")
    parser.add_argument("--thread", metavar="T", help="only this thread: t1, t2, …")
    parser.add_argument("--hints", action="store_true", help="heuristic findings (tier H) too")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a round trip")
    form.add_argument("--findings", action="store_true", help="all findings: layer, evidence, fix")
    form.add_argument("--cost", action="store_true", help="what each turn cost, as bars of tokens by kind")
    _screen(parser)
    parser.add_argument("--svg", metavar="FILE", help="write the same as a picture to FILE")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _budget_dollars(text: str) -> "Decimal":
    from decimal import Decimal, InvalidOperation

    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of US dollars, such as 0.50")
    return amount


def _growth(text: str) -> "Decimal":
    from turntape.inspector.check.budgets import growth_of

    try:
        return growth_of(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(str(exc)) from None


def _budget_turns(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of turns")
    return int(text)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="F", nargs="+", help="a cassette, a pattern such as 'runs/*', or a folder")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info"),
        default="error",
        help="exit with 1 when there is a finding so grave or graver (default: error)",
    )
    parser.add_argument(
        "--only", type=_names, action="extend", default=[], metavar="ID|LAYER", help="only these; repeatable"
    )
    parser.add_argument(
        "--ignore", type=_names, action="extend", default=[], metavar="ID", help="not these; repeatable"
    )
    parser.add_argument("--max-cost", type=_budget_dollars, metavar="USD", help="what a run may cost")
    parser.add_argument("--max-turns", type=_budget_turns, metavar="N", help="how many turns a run may take")
    parser.add_argument(
        "--max-input-growth",
        type=_growth,
        metavar="3x|200%",
        help="how far the input tokens of a thread may grow from those of its first turn",
    )
    parser.add_argument("--hints", action="store_true", help="heuristic findings (tier H) too")
    parser.add_argument("--lint", action="store_true", help="advice on tools and settings too")
    parser.add_argument(
        "--format", choices=("text", "json", "junit", "github"), default="text", help="of the report (default: text)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE; the text is still printed")
    _screen(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="ID", nargs="*", help="a class, or a layer (default: all classes by layer)")
    parser.add_argument("--json", action="store_true", help="one JSON object a class")
    _screen(parser)


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a cassette")
    parser.add_argument("b", metavar="B", help="the cassette to compare with it")
    parser.add_argument("--json", action="store_true", help="the comparison as one JSON object")
    parser.add_argument("--no-reasoning", action="store_true", help="what the model thought does not count")
    _screen(parser)


def _view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help="a cassette, .jsonl or .jsonl.zst")
    parser.add_argument("--follow", action="store_true", help="go on reading while it is being recorded")
    parser.add_argument("--turn", type=int, metavar="N", help="begin at turn N")
    parser.add_argument("--while", type=int, dest="pid", metavar="PID", help=argparse.SUPPRESS)
    parser.add_argument("--output", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--theme", choices=THEMES, help="how it looks (default: dark; NO_COLOR is minded)")


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="F", nargs="+", help="a cassette, or a folder of them; each has a prefix of its own too"
    )
    parser.add_argument("--host", default="127.0.0.1", help="listen on this address (default: 127.0.0.1)")
    parser.add_argument(
        "--port",
        type=_port,
        default=REPLAY_PORT,
        metavar="N",
        help=f"listen on port N (default: {REPLAY_PORT})",
    )
    parser.add_argument("--quiet", action="store_true", help="say only what was not as recorded")
    _replaying(parser, "instant", "")


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object; CMD's own output goes to stderr")
    _places(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _fork(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help="a cassette, .jsonl or .jsonl.zst")
    parser.add_argument(
        "--at", type=_turn, required=True, metavar="K", help="the first turn that goes to the API; 1 plays none"
    )
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        metavar="WHAT=VALUE",
        help="change the recorded answer of turn K-1: text=…, tool=NAME, arguments=JSON, finish=WORD, the second call "
        "as arguments.2, or /JSON/POINTER=VALUE; repeatable",
    )
    parser.add_argument("--edit-file", metavar="FILE", help="FILE holds the whole answer of turn K-1, as JSON")
    parser.add_argument("--thread", metavar="T", help="the thread to fork, as `show` names it (default: the first)")
    parser.add_argument(
        "--strays",
        choices=("refuse", "live"),
        default="refuse",
        help="what is asked before turn K and was not recorded is refused, or goes to the API (default: refuse)",
    )
    _recording(parser, 0, "fork")
    parser.add_argument("--live", action="store_true", help="one line on stderr as each round trip ends")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.set_defaults(command=[])  # behind `--` only, since F and options may stand in any order


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="F", help="the cassette to write (default: demo-<time>.cassette.jsonl here)")
    parser.add_argument("--fault", choices=("model", "api", "client"), help="let something go wrong at this layer")


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="+", help="a recording, or a pattern in quotes (** for folders)")
    parser.add_argument("-o", "--out", metavar="F", help="put all of them into this one cassette")
    parser.add_argument("--out-dir", metavar="DIR", help="put the cassettes here (default: each beside its file)")
    parser.add_argument("--force", action="store_true", help="replace cassettes that exist already")


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help="a cassette, .jsonl or .jsonl.zst")
    parser.add_argument("--as", dest="format", choices=("har", "otel", "atif", "markdown"), required=True)
    parser.add_argument("-o", "--out", metavar="OUT", help="write to OUT (default: stdout)")
    parser.add_argument("--no-content", action="store_true", help="otel: leave prompts, messages and tools out")


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help="a cassette, .jsonl or .jsonl.zst")
    parser.add_argument("-o", "--out", metavar="OUT", help="the page to write (default: F's name with .html, here)")
    parser.add_argument("--title", help="the page's title (default: F's name)")


COMMANDS = (
    Command(
        "demo",
        "demo_command",
        "turntape demo",
        "record a small agent against a scripted LLM and show the run",
        "Record a small agent against a built-in scripted LLM, through the real proxy, and show the run. "
        "Needs no key and no network.",
        _demo,
    ),
    Command(
        "run",
        "run_command",
        "turntape run [options] -- CMD ...",
        "run CMD behind the proxy and write a cassette",
        "Run CMD behind the proxy, with the environment set for base URLs, proxies and certificates, and "
        "write what went over the wire to a cassette. The terminal, the signals and the exit code are CMD's.",
        _run,
        has_tail=True,
    ),
    Command(
        "record",
        "record_command",
        "turntape record [options]",
        "the proxy alone, for what you cannot start from here",
        "Start the proxy, print what to export for a client, and record until Ctrl-C.",
        _record,
    ),
    Command(
        "doctor",
        "doctor_command",
        "turntape doctor [options] [-- CMD ...]",
        "say why nothing was captured, and the line to add",
        "Look at the environment, try the runtimes' own HTTP clients behind the proxy, run CMD once behind it, and "
        "say what was seen, what was missing, and the line to add. Exit code 1 when there is a problem.",
        _doctor,
        has_tail=True,
        tail_optional=True,
    ),
    Command(
        "show",
        "show_command",
        "turntape show F [--turn N] [--thread T] [--json | --findings | --cost]",
        "read a run top to bottom: model, API, client, tokens, cost",
        "Show a cassette as text: for each turn what the model emitted, how the API finished it, what the "
        "client did with it, its tokens and its cost.",
        _show,
    ),
    Command(
        "view",
        "view_command",
        "turntape view F [--follow] [--turn N]",
        "walk through a run in the terminal, turn by turn",
        "Open a cassette in the terminal: the turns by thread, what is new in each request, the answer with its "
        "calls and their results, findings, tokens, cost, and the raw bytes. `?` shows the keys, q leaves.",
        _view,
    ),
    Command(
        "report",
        "report_command",
        "turntape report F [-o run.html]",
        "a run as one self-contained page",
        "Write a run as one HTML page that needs no network: turns by thread, findings, the growth of tokens and cost, "
        "each turn with what was new in it. It opens in any browser, has keys (?), and holds what the cassette holds.",
        _report,
    ),
    Command(
        "check",
        "check_command",
        "turntape check F ... [--fail-on SEVERITY] [--max-cost USD]",
        "findings and budgets, for CI: text, JSON, JUnit, GitHub",
        "Look for what went wrong, and for broken budgets. Exits with 1 when there is a finding as grave as "
        "--fail-on or a budget is broken, with 2 when a file cannot be read. Budgets hold for each run.",
        _check,
    ),
    Command(
        "explain",
        "explain_command",
        "turntape explain [ID ...]",
        "what a finding means and how to mend it",
        "Say what a class of finding means: layer, severity, tier, protocols, what it does not fire on, what it "
        "looks like, and the fix. Without ID, list all classes by layer.",
        _explain,
    ),
    Command(
        "diff",
        "diff_command",
        "turntape diff A B [--json]",
        "where two runs part, and which layer parted first",
        "Compare two runs turn by turn, thread by thread, and name the first that differs: in its request (the "
        "client), in its emission (the model), or in its finish (the API). Fresh ids, signatures and the date of "
        "today do not count. Exits with 1 when the runs differ.",
        _diff,
    ),
    Command(
        "replay",
        "replay_command",
        "turntape replay F ... [--port N] [--pace]",
        "serve a cassette as the API",
        "Serve recorded round trips as the API: the same requests get the same bytes. A request that was not "
        "recorded gets an error that names the nearest one. Several cassettes, or a folder of them, have a prefix "
        "each, /s/NAME, that is listed at /; /s/NAME@AGENT plays one from its first turn on for that agent alone.",
        _replay,
    ),
    Command(
        "fork",
        "fork_command",
        "turntape fork F --at K [--edit WHAT=VALUE] -- CMD ...",
        "a recorded run up to turn K, and live from there",
        "Run CMD behind the proxy: what was asked before turn K is answered from the cassette, the rest by the API. "
        "The result is a new cassette that replays whole by itself. Edits change the last answer before the fork.",
        _fork,
        has_tail=True,
    ),
    Command(
        "import",
        "import_command",
        "turntape import FILE ... [-o F | --out-dir DIR]",
        "vcrpy, cassetter, HAR and mitmproxy files as cassettes",
        "Read recordings of other tools: vcrpy and pytest-recording (YAML, JSON), cassetter (YAML, TOML), HAR, "
        "mitmproxy flows. Secrets are replaced on the way. A file that cannot be read stops no other.",
        _import,
    ),
    Command(
        "export",
        "export_command",
        "turntape export F --as har|otel|atif|markdown [-o OUT]",
        "a cassette as HAR, OpenTelemetry, ATIF or Markdown",
        "Write a cassette in the format of another tool: HAR keeps the bytes, OpenTelemetry (OTLP/JSON spans by the "
        "GenAI conventions), ATIF (trajectories of Harbor) and Markdown keep what they mean.",
        _export,
    ),
)
"""In the order of the work: record, read, judge, replay, exchange."""

EXIT_CODES = """\
exit codes: 0 ok, 1 findings or mismatch, 2 usage, 3 internal; run: CMD's own
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; exits by itself for --help, --version and usage errors."""
    parser = Parser(prog="turntape", add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("name", nargs="?")
    head, tail = _split(argv)
    options = parser.parse_args(head)
    if options.version:
        sys.stdout.write(f"turntape {version()}\n")
        parser.exit()
    if options.help or options.name is None:
        sys.stdout.write(overview(sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
        parser.exit(0 if options.help else USAGE)
    command = next((c for c in COMMANDS if c.name == options.name), None)
    if command is None:
        names = ", ".join(c.name for c in COMMANDS)
        parser.error(f"{options.name!r} is not a command (there are {names})")
    return _parse_command(command, tail, options.debug)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands before the command's own arguments (and the command), and those."""
    for index, argument in enumerate(argv):
        if not argument.startswith("-"):
            return list(argv[: index + 1]), list(argv[index + 1 :])
    return list(argv), []


def _parse_command(command: Command, argv: list[str], debug: bool) -> argparse.Namespace:
    parser = Parser(
        prog=f"turntape {command.name}",
        usage=command.usage,
        description=command.description,
        epilog=EXIT_CODES,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    command.add(parser)
    parser.add_argument("--debug", action="store_true", default=debug, help="show tracebacks")
    rest: list[str] = []
    if "--" in argv and command.has_tail:
        cut = argv.index("--")
        argv, rest = argv[:cut], argv[cut + 1 :]
    options = parser.parse_args(argv)
    if hasattr(options, "command"):
        if options.command and rest:
            parser.error(f"{options.command[0]!r} stands before `--`, where only options may stand")
        options.command = rest or options.command
        if not options.command and not command.tail_optional:
            usage = command.usage.partition("[")[0].partition(" --")[0].strip()
            parser.error(f"no command to run; write it behind `--`: {usage} -- python agent.py")
    options.name, options.module = command.name, command.module
    return options


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=80)


def version() -> str:
    from importlib.metadata import version as installed

    return installed("turntape")


def overview(colour: bool) -> str:
    """The first screen."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    commands = "\n".join(f"  {bold}{c.name:8}{off} {c.summary}" for c in COMMANDS)
    return f"""\
{bold}turntape{off}: a flight recorder for LLM agents

It sits between an agent and any LLM API, records every round trip byte for
byte, says for each turn what the model emitted, how the API finished it and
what the client did with it, and plays the recording back in tests.

{bold}start here{off}
  turntape demo                     {dim}# no key, no network, under a minute{off}
  turntape run -- python agent.py   {dim}# record your own agent{off}

{bold}commands{off}
{commands}

`turntape COMMAND --help` says more. Before any command: --version, and --debug
for tracebacks.

{EXIT_CODES}"""
