"""The shell lines that bring a client to a running proxy, as `turntape record` prints them."""

import shlex
from collections.abc import Iterable, Mapping
from textwrap import wrap

from turntape.cassettes.routes.admission import base_urls, is_local, open_to_others

from ..capture.upstream_proxy import NO_PROXIES, PROXIES
from ..tool_wire.address import VARIABLE as TOOL_LINK
from .environment import CERTIFICATES, SWITCHES
from .recording import Recording

WIDTH = 79


def what_to_export(recording: Recording, colour: bool) -> list[str]:
    """Lines to paste into a shell: base URLs, then proxy variables, then certificates."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    variables = recording.environment.variables
    forward = {*PROXIES, *NO_PROXIES, "NODE_OPTIONS", *(name for name, _, _ in SWITCHES)}
    certificates = {row.variable for row in CERTIFICATES}
    base = [name for name in variables if name not in forward | certificates | {TOOL_LINK}]
    settings = recording.settings
    lines = [f"{bold}turntape{off} records to {settings.path}, port {recording.port}. Ctrl-C ends it."]
    if not is_local(settings.host):
        opened = "LLM APIs, and every host that this machine reaches, can be called through it by"
        lines += ["", *wrap(open_to_others(recording.port, opened), WIDTH)]
        lines += [f"  also at {one}" for one in base_urls(settings.host, recording.port, settings.token)[1:]]
    if base:
        lines += ["", f"{bold}Base URL{off} {dim}of the API that the client calls{off}"]
        lines += exports(variables, base)
    if proxied := [name for name in variables if name in forward]:
        lines += ["", f"{bold}or forward proxy{off} {dim}for clients with a fixed host{off}"]
        lines += exports(variables, proxied)
    if trusted := [name for name in variables if name in certificates]:
        elsewhere = "" if is_local(settings.host) else f" {dim}of which another machine needs a copy{off}"
        lines += ["", f"{bold}with its certificate{off}{elsewhere}"]
        lines += exports(variables, trusted)
    if TOOL_LINK in variables:
        lines += ["", f"{bold}for its tool servers{off} {dim}that start with `turntape mcp`{off}"]
        lines += exports(variables, [TOOL_LINK])
    return [*lines, ""]


def exports(variables: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """One `export` line per value; further names of the same value refer to the first."""
    first: dict[str, str] = {}
    more: dict[str, list[str]] = {}
    for name in names:
        value = variables[name]
        if value in first:
            more[first[value]].append(f"{name}=${first[value]}")
        else:
            first[value] = name
            more[name] = []
    lines: list[str] = []
    for value, name in first.items():
        lines.append(f"  export {name}={shlex.quote(value)}")
        lines += _wrapped(more[name])
    return lines


def _wrapped(references: list[str]) -> list[str]:
    lines: list[str] = []
    line = "  export"
    for reference in references:
        if len(line) + 1 + len(reference) > WIDTH:
            lines.append(line)
            line = "  export"
        line += f" {reference}"
    return [*lines, line] if references else []
