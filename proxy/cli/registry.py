"""The list of commands. A command's module is imported only when that command is used."""

from collections.abc import Iterator
from importlib import import_module

from turntape.cassettes.frozen import frozen

from .command import Command


@frozen
class Entry:
    name: str
    module: str
    """The module of `turntape.proxy.cli.commands` that holds `COMMAND`."""
    summary: str
    """One line for the first screen."""


GROUPS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "record",
        (
            Entry("demo", "demo", "record a small agent against a scripted LLM and show the run"),
            Entry("run", "run", "run CMD behind the proxy and write a cassette"),
            Entry("record", "record", "start only the proxy, for clients started elsewhere"),
            Entry("mcp", "mcp", "record an MCP server: put this in front of its command"),
            Entry("doctor", "doctor", "explain why nothing was captured, with the line to add"),
            Entry("ca", "ca", "show or delete the certificate authority"),
        ),
    ),
    (
        "read and judge",
        (
            Entry("show", "show", "read a run top to bottom: model, API, client, tokens, cost"),
            Entry("view", "view", "browse a run in the terminal, turn by turn"),
            Entry("report", "report", "write a run as one self-contained HTML page"),
            Entry("check", "check", "findings and budgets for CI: text, JSON, JUnit, GitHub"),
            Entry("explain", "explain", "what a finding means and how to fix it"),
            Entry("diff", "diff", "where two runs differ first, and in which layer"),
            Entry("price", "price", "what a run would have cost with another model, cache or prompt"),
            Entry("prices", "prices", "which models have no price, and the line that gives them one"),
        ),
    ),
    (
        "replay and exchange",
        (
            Entry("replay", "replay", "serve a cassette as the API"),
            Entry("fork", "fork", "replay a run up to turn K, then continue live"),
            Entry("import", "import_", "convert vcrpy, cassetter, VCR, go-vcr, HAR and mitmproxy files"),
            Entry("export", "export", "write a cassette as HAR, OpenTelemetry, ATIF or Markdown"),
            Entry("lint", "lint", "find secrets in recordings, for CI and pre-commit"),
            Entry("scrub", "scrub", "remove secrets from a recording"),
            Entry("git-setup", "git_setup", "let `git diff` show cassettes as what the agent did"),
            Entry("mcp-server", "mcp_server", "let an agent read recordings, as MCP tools"),
            Entry("completion", "completion", "print the completion script for bash, zsh or fish"),
        ),
    ),
    (
        "the runs of a team",
        (
            Entry("ship", "ship", "put recordings into a bucket, with rows for SQL"),
            Entry("query", "query", "SQL and named questions over all shipped runs"),
            Entry("fleet", "fleet", "cost, findings and the worst runs of the last days"),
            Entry("forget", "forget", "delete a run or a recording from a bucket"),
        ),
    ),
)
"""What people want to do, and the commands for it."""
COMMANDS = tuple(one for _, entries in GROUPS for one in entries)


def entry(name: str) -> Entry | None:
    """The command of that name, if there is one."""
    return next((one for one in COMMANDS if one.name == name), None)


def nearest(name: str) -> str | None:
    """The name of the most similar command, if one is similar."""
    from difflib import get_close_matches  # imported here because it is for a wrong name alone

    return next(iter(get_close_matches(name, [one.name for one in COMMANDS], 1)), None)


def load(one: Entry) -> Command:
    """Import the command's module and return its `COMMAND`."""
    command: Command = import_module(f"{__package__}.commands.{one.module}").COMMAND
    return command


def load_all() -> Iterator[tuple[Entry, Command]]:
    """Every command, imported; for the reference page and for completion."""
    for one in COMMANDS:
        yield one, load(one)
