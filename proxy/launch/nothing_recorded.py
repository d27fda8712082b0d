"""The text at the end of a recording without any round trip."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import join
from textwrap import wrap

from turntape.cassettes.counted import several
from turntape.cassettes.excerpts import listed

from ..capture.unrecorded import OWN_PORT, UnrecordedTraffic
from .runtimes import identify

EXPORT = "export the lines above in the shell that starts the client"
"""What to try with `turntape record`, which starts no command."""
PLAIN = "http:// in place of https:// in the base URL, as turntape has set it"
"""What to try for a client that speaks TLS to the proxy itself."""
REFUSED = (
    "127.0.0.1 as the host, and the base URL or the proxy URL with its token as turntape has set it; "
    "web pages of other places may not use the proxy"
)
"""What to try when requests were not let in."""


def advice(command: Sequence[str]) -> str:
    """What to try for this command, by the runtime that it starts."""
    return identify(command, os.environ).runtime.advice if command else EXPORT


def nothing_lines(
    seen: UnrecordedTraffic, command: Sequence[str], authority: str | Path, colour: bool, *, tools: bool = False
) -> list[str]:
    """The lines to print: what the proxy received instead, and what to try.

    `authority` is the file of our certificate. With `tools`, messages of tool servers were recorded.
    """
    bold, dim, yellow, off = ("\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m") if colour else ("",) * 4
    lines = [f"{bold}turntape{off}  {yellow}no LLM API was called through the proxy{off}"]

    def add(observed: str, tip: str) -> None:
        lines.extend(f"          {line}" for line in wrap(observed, 70))
        first, *rest = wrap(tip, 65)
        lines.append(f"          {dim}try:{off} {first}")
        lines.extend(f"               {line}" for line in rest)

    distrusted = {host: number for host, number in seen.distrusted.items() if host != OWN_PORT}
    if OWN_PORT in seen.distrusted:
        add(f"the client speaks TLS to {OWN_PORT} and does not trust its certificate", PLAIN)
    if distrusted:
        add(
            f"the client does not trust turntape's certificate for {_hosts(distrusted)}",
            f"a base URL, or give its own CA list our certificate: {authority}",
        )
    if seen.tunnelled:
        add(
            f"passed on unchanged: {_hosts(seen.tunnelled)}",
            "--intercept HOST, if one of them is an LLM API",
        )
    if seen.refused:
        add(f"turned away: {_hosts(seen.refused)}", REFUSED)
    if seen.bypassed:
        add(f"the command bypassed the proxy and connected to {_hosts(seen.bypassed)}", advice(command))
    elif not (seen.distrusted or seen.tunnelled or seen.refused):
        add(f"the proxy received nothing{' else' if tools else ''}", advice(command))
    if command:
        lines.append(f"          {dim}why:{off} turntape doctor -- {join(command)}")
    return lines


def _hosts(counts: Mapping[str, int]) -> str:
    most: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda item: -item[1])
    shown = [f"{host} ({number})" if number > 1 else host for host, number in most]
    return listed(shown, 6)


def refused_line(refused: Mapping[str, int]) -> str:
    """The line of a recording about requests that were not let in, and are not on the tape."""
    number = sum(refused.values())
    return f"          {several(number, 'request')} turned away: {_hosts(refused)}"
