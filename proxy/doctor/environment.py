"""What the user's own environment says about proxies, base URLs and certificates."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.named_file import text_of

from ..capture.certificates import USERS
from ..capture.upstream_proxy import NO_PROXIES, PROXIES, shown
from ..launch.environment import BASE_URLS, no_proxy
from .check_result import CheckResult

_SETTING = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", re.M)


def checks(environ: Mapping[str, str], folder: Path, hosts: Iterable[str]) -> list[CheckResult]:
    """What prevents a capture, or is good to know; `hosts` are those of LLM APIs."""
    found = [*_proxies(environ), *_exemptions(environ, list(hosts)), *_base_urls(environ), *_certificates(environ)]
    found += _dotenv(folder)
    return found or [CheckResult("environment", "ok", "You have set no proxy, base URL or CA variable.")]


def _proxies(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    given = {name: environ[name] for name in PROXIES if environ.get(name)}
    values = list(dict.fromkeys(given.values()))
    if not values:
        return
    if any(value.lower().startswith("socks") for value in values):
        name = next(name for name, value in given.items() if value.lower().startswith("socks"))
        yield CheckResult(
            "proxy-socks",
            "problem",
            f"{name} names a SOCKS proxy, {shown(given[name])}, which turntape does not support.",
            f"unset {name}, or give the HTTP port of that proxy: --upstream-proxy http://HOST:PORT",
        )
    if len(values) > 1:
        yield CheckResult(
            "proxy-mixed",
            "note",
            "The proxy variables disagree: "
            + ", ".join(f"{name}={shown(value)}" for name, value in given.items())
            + f"; turntape uses the first, {shown(values[0])}.",
            f"--upstream-proxy {shlex.quote(shown(values[-1]))}, if another is the right one",
        )
    elif not values[0].lower().startswith("socks"):
        names = ", ".join(given)
        yield CheckResult("proxy", "note", f"{names}: {shown(values[0])}; turntape sends its own requests through it.")


def _exemptions(environ: Mapping[str, str], hosts: list[str]) -> Iterator[CheckResult]:
    for name in NO_PROXIES:
        entries = [entry.strip() for entry in environ.get(name, "").replace(" ", ",").split(",") if entry.strip()]
        kept = set(no_proxy({name: ",".join(entries)}, "", hosts).split(","))
        dropped = [entry for entry in entries if entry not in kept]
        if dropped:
            yield CheckResult(
                "no-proxy",
                "note",
                f"{name} exempts {', '.join(dropped)} from every proxy. `turntape run` leaves that out for its "
                "command; for a client that you start yourself:",
                f"export {name}={shlex.quote(','.join(entry for entry in entries if entry in kept))}",
            )


def _base_urls(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    for row in BASE_URLS:
        if value := environ.get(row.variable, "").strip():
            yield CheckResult(
                "base-url",
                "note",
                f"{row.variable} is set to {shown(value)}. `turntape run` sets it to our address and still sends the "
                "requests there.",
            )


def _certificates(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    by_file: dict[str, list[str]] = {}
    for name in USERS:
        if value := environ.get(name):
            by_file.setdefault(value, []).append(name)
    for value, names in by_file.items():
        listed = ", ".join(names)
        if Path(value).is_file():
            yield CheckResult("ca", "note", f"{listed}: {value}; its certificates are trusted together with ours.")
        else:
            yield CheckResult("ca", "problem", f"{listed}: {value} is not a file.", f"unset {' '.join(names)}")
    if environ.get("NODE_TLS_REJECT_UNAUTHORIZED") == "0":
        yield CheckResult("ca", "note", "NODE_TLS_REJECT_UNAUTHORIZED=0: node trusts every certificate, ours included.")


def _dotenv(folder: Path) -> Iterator[CheckResult]:
    """A loader that overrides the environment leads the command away from the proxy after its start."""
    try:
        text = text_of(folder / ".env", errors="replace")
    except (OSError, CassetteError):
        return
    ours = {row.variable for row in BASE_URLS} | set(PROXIES) | set(NO_PROXIES) | set(USERS)
    names = [name for name, _ in _SETTING.findall(text) if name in ours]
    if names:
        yield CheckResult(
            "dotenv",
            "note",
            f"{folder / '.env'} sets {', '.join(names)}. A loader that overrides the environment "
            "(load_dotenv(override=True)) leads the command past turntape.",
            "load_dotenv(override=False), or leave these lines out while recording",
        )
