"""docs/settings.md: the keys of the settings file, and every environment variable that is read or set."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass

from turntape.cassettes.routes.base_urls import BASE_URLS, KEYS
from turntape.cassettes.settings import Settings

from ..capture.upstream_proxy import NO_PROXIES, PROXIES
from ..launch.environment import CERTIFICATES, SWITCHES
from ..tool_wire.client_configs import gemini_cli, hooked, opencode
from .reference_page import page, write_or_check

SETTINGS = {
    "redact": ("regular expressions", "secrets that no built-in rule finds; replaced before they reach the disk"),
    "redact_entropy": ("`true` or `false`", "whether words that look random are replaced too (default: `false`)"),
    "redact_function": ("`module:function`", "your own search for secrets ([secrets.md](secrets.md))"),
    "redact_keep": ("regular expressions", "values that stay although a rule takes them for secrets"),
    "allow_headers": ("names", "request headers to store although they are not on the built-in list"),
    "rules": ("modules", "modules with your own rules"),
    "protocols": ("tables", "gateways that are declared instead of programmed"),
    "prices": (
        "tables",
        "prices of models that no price list has, in US dollars per million tokens, by the model's name (`*` matches "
        "any part of it): `input`, `output`, and `cache_read` and `cache_write` where they differ from `input`; or "
        "`like`, a listed model that costs the same",
    ),
    "replay.profile": ("`strict` or `ordered`", "answer only equal requests, or match by turn order"),
    "replay.ignore": ("JSON pointers", "parts of a request that may differ"),
    "replay.ignore_text": ("regular expressions", "text that may differ"),
    "replay.rules": ("table", "`fail`, `warn` or `ignore` for a field or a JSON pointer"),
    "replay.map_values": (
        "`true` or `false`",
        "whether UUIDs, folders and file names that are new in each run may replace recorded ones (default: `true`)",
    ),
}
"""Key, type and meaning. A test compares the keys with the settings object."""

READ = {
    "TURNTAPE_HOME": "folder of the certificate authority and of updated and known prices (default: `~/.turntape`)",
    "TURNTAPE_MODE": "record mode of tests and of the transports: `none`, `once`, `new`, `all` or `verify`; takes "
    "precedence over the code, also in CI",
    "TURNTAPE_MCP_LINK": "where `turntape mcp` sends its traffic without `--link` and `-o`; `turntape run` sets it",
    "TURNTAPE_CLOSED_NETWORK": "which connections of a process are refused or noted; the pytest plugin sets it for the "
    "processes of a test, with `PYTHONPATH` and `NODE_OPTIONS`",
    "TURNTAPE_AT": "the store that `query`, `fleet` and addresses of shipped recordings mean without `--at`",
    "TURNTAPE_FLEET_KEY": "key of the hashes in shipped rows, instead of the one that is kept in the store",
    "TURNTAPE_REDACT_ENTROPY": "set and not `0`, `false` or `no`: as `redact_entropy`; `--redact-entropy` sets it",
    "TURNTAPE_REDACT_FUNCTION": "as `redact_function`; `--redact-function` sets it",
    "TURNTAPE_REDACT_KEEP": "added to `redact_keep`, one expression a line; `--redact-keep` adds to it",
    "AWS_REGION": "region of a bucket on S3; `AWS_DEFAULT_REGION` where it is not set",
    "AWS_DEFAULT_REGION": "the same, when `AWS_REGION` is not set",
    "STORAGE_EMULATOR_HOST": "address of a local Google Cloud Storage",
    "CI": "set and not `0`, `false` or `no`: nothing is recorded in tests unless `TURNTAPE_MODE` says so",
    "PYTEST_CURRENT_TEST": "set by pytest: the test that a `use_cassette` of `turntape.cassettes.vcr` is counted for",
    "NO_COLOR": "set: no colours where `--color` is `auto`",
    "FORCE_COLOR": "set: colours even if the output is not a terminal",
    "TERM": "`dumb`: no colours, and no viewer; the terminals of the Linux console and of DEC get ASCII signs",
    "LANG": "`C`, or a character set other than UTF-8: ASCII signs on a terminal; `LC_ALL` and `LC_CTYPE` before it",
    "TEXTUAL_FPS": "how often a second the viewer may draw (default: 240)",
    "COLUMNS": "width of the text when `--width` is not given",
    "VISUAL": "editor for answers that are held at a breakpoint",
    "EDITOR": "the same, when `VISUAL` is not set",
    "LC_CTYPE": "taken out for a tool server when Python itself set it, as it does in the locale `C`",
    "PATH": "where the command after `--` is looked up",
    "SSL_CERT_DIR": "folders of certificates that are trusted for upstreams",
    "NODE_OPTIONS": "kept, and extended with a preload for a Node.js that does not know `NODE_USE_ENV_PROXY`",
    "PYTHONPATH": "kept, and extended for the tool servers that Python programs start",
    "HOME": "where the configuration files of known clients are looked for",
    "CLAUDE_CONFIG_DIR": "folder of Claude Code's configuration; in the same way `CODEX_HOME`, `GEMINI_CLI_HOME`, "
    "`COPILOT_HOME` and, for opencode, `XDG_CONFIG_HOME`",
    "OPENCODE_CONFIG": "another configuration file of opencode",
    "NODE_TLS_REJECT_UNAUTHORIZED": "`doctor` reports when it is `0`",
}
"""Variables that are only read, or read before they are extended."""

TOOL_SERVERS = {
    hooked.VARIABLE: "tool servers: how a Python or Node.js program is to start them",
    gemini_cli.VARIABLE: "tool servers: a copy of your file with wrapped servers, for Gemini CLI",
    opencode.VARIABLE: "tool servers: your value with wrapped servers, for opencode",
}
"""Variables for the tool servers of a command; not with `--no-wrap`."""

_HEAD = """\
# Settings and environment variables

Written by `python -m turntape.proxy.cli.settings_page`; `make check` compares it. Command-line options are in
[cli.md](cli.md); the options of the pytest plugin are in [testing.md](testing.md).

## The settings file

`turntape.toml` in the working directory, or the table `[tool.turntape]` of `pyproject.toml`. The first that has any
settings is used. An unknown key is an error that names the nearest known key.

```toml
redact = ["ACME-[0-9]+"]
allow_headers = ["x-team"]

[prices]
"acme-7b" = { input = 0.5, output = 1.5, cache_read = 0.05 }
"acme-gpt-*" = { like = "openai/gpt-5" }

[replay]
profile = "ordered"
ignore = ["/metadata/run"]
rules = { system = "warn", temperature = "ignore" }
```

A command-line option takes precedence over its key. [testing.md](testing.md) explains the keys of `[replay]`.

| key | type | meaning |
|---|---|---|
"""
_READ = """
## Variables that turntape reads

| variable | meaning |
|---|---|
"""
_SET = """
## Variables that turntape sets for a command

`turntape run`, `fork` and `doctor` set these for their command, and `turntape record` prints them. Your own value of a
base URL becomes the upstream. turntape sends its own requests through your proxy. It trusts the certificates of your
own variables for upstreams.

| variable | for |
|---|---|
"""
_KEYS = """
## API keys on replay

Clients refuse to start without a key. In tests that replay, the environment for subprocesses gives each of these
variables a placeholder when it is not set: {keys}. No key is ever needed to replay.
"""


def render() -> str:
    """The whole page."""
    keys = "".join(f"| `{name}` | {kind} | {text} |\n" for name, (kind, text) in SETTINGS.items())
    listed = ", ".join(f"`{name}`" for name in KEYS)
    return _HEAD + keys + _READ + _rows(READ.items()) + _SET + _rows(_set_for_commands()) + _KEYS.format(keys=listed)


def _set_for_commands() -> list[tuple[str, str]]:
    """Variable and purpose of everything that a command gets."""
    rows = [(row.variable, f"base URL: {row.note}" + _only_if_set(row.always)) for row in BASE_URLS]
    rows += [(name, "forward proxy") for name in PROXIES]
    rows += [
        (name, "our own address, and your entries that exempt neither loopback nor an LLM API") for name in NO_PROXIES
    ]
    rows += [(name, note) for name, _, note in SWITCHES]
    rows += TOOL_SERVERS.items()
    return [*rows, *((row.variable, f"certificates: {row.note}") for row in CERTIFICATES)]


def _only_if_set(always: bool) -> str:
    return "" if always else "; only when you set it, or with `--upstream`"


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"| `{name}` | {text} |\n" for name, text in rows)


def setting_keys(settings: object | None = None, prefix: str = "") -> list[str]:
    """Every key of the settings object, tables as `table.key`."""
    names: list[str] = []
    place = Settings() if settings is None else settings
    assert is_dataclass(place)
    for one in fields(place):
        value = getattr(place, one.name)
        names += setting_keys(value, f"{prefix}{one.name}.") if is_dataclass(value) else [f"{prefix}{one.name}"]
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Write docs/settings.md, or check it."""
    return write_or_check(arguments, "turntape.proxy.cli.settings_page", render(), page("settings.md"))


if __name__ == "__main__":
    raise SystemExit(main())
