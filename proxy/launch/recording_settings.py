"""The settings of a recording, and what is checked before it starts."""

import os
from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from ..breakpoints.condition import Condition
from ..gateway.gateway import GatewaySettings
from ..limits.limits import Limits
from .environment import Route
from .terminal import coloured

if TYPE_CHECKING:
    from ..breakpoints.breakpoints_addon import Breakpoints
    from ..engine.engine import AddonFactory


FLUSH = 5.0
"""Seconds that a command's last spans may take; nobody wants to wait long for a collector that is down."""


@frozen
class Settings:
    """The settings of a recording, from the command line."""

    path: Path
    made: bool = False
    """True when `path` is an empty file that `free_path` made."""
    port: int = 0
    host: str = "127.0.0.1"
    """Where to listen; beyond loopback `token` must be given."""
    token: str | None = None
    """What each request must have to be let in; None for no token."""
    private_authority: bool = False
    """True for a certificate authority that is made for this recording and removed with it."""
    upstreams: Mapping[str, str] = field(default_factory=dict[str, str])
    intercept: tuple[str, ...] = ()
    route: Route = "both"
    upstream_proxy: str | None = None
    """A URL, or `none`; None leaves it to the environment."""
    client_cert: Path | None = None
    break_on: tuple[Condition, ...] = ()
    break_answers: Path | None = None
    """A file of answers for what is held; None asks at the terminal."""
    wrap_tools: bool = True
    """True to record the tool servers of the command too (`tool_servers`)."""
    play_tools: str | None = None
    """The socket where recorded tool servers are played in place of the real ones."""
    play_url: str | None = None
    """Where those that are reached over HTTP are played."""
    play_apis: bool = True
    """With `play_url`: whether that is also where APIs are played."""
    play_places: frozenset[str] = frozenset()
    """With `play_url`: host and path of the recorded streams of tool servers."""
    live_tools: tuple[str, ...] = ()
    """The names of tool servers that are not played."""
    prove: bool = False
    """True to put a witness on each side of the proxy (docs/non-interference.md)."""
    console: bool = False
    """True to print a line on stderr for each round trip."""
    color: str = "auto"
    """`auto`, `always` or `never`."""
    spans: bool = False
    """True to receive the OpenTelemetry spans of the command too."""
    limits: Limits = Limits()
    otlp: str | None = None
    """The address of an OpenTelemetry collector that gets a span for each turn."""
    otlp_content: bool = False
    """True to send prompts, answers, arguments and results with the spans."""
    flush: float = FLUSH
    """Seconds that the spans which are left at the end may take."""
    gateway: GatewaySettings = GatewaySettings()
    workers: int = 1
    """How many processes have the proxy; with several there are no limits, breakpoints, witnesses and addon."""
    addon: "AddonFactory | None" = None
    """Makes the addon that may answer instead of the API."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def known_findings(settings: Settings) -> None:
    """Raises TurntapeError for a `--stop-on` or `--break-on finding=` that matches no known finding."""
    asked = [("--stop-on ", name) for name in settings.limits.stop_on]
    asked += [("--break-on finding=", c.value) for c in settings.break_on if c.kind == "finding"]
    if not asked:
        return
    from difflib import get_close_matches

    from turntape.inspector.findings.catalogue import catalogue

    names = {rule.id for rule in catalogue().rules if rule.switch is None}
    for option, pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = get_close_matches(pattern, names, 1)
            raise TurntapeError(
                f"no finding is called {pattern!r} ({option}{pattern}); "
                + (f"did you mean {near[0]!r}?" if near else "`turntape explain` lists them")
            )


def known_collector(settings: Settings) -> None:
    """Raises TurntapeError for an `--otlp` that is not the address of a collector."""
    if settings.otlp is not None:
        from turntape.inspector.otlp.collector import collector_at

        collector_at(settings.otlp, settings.environ)


def breakpoints(settings: Settings) -> "Breakpoints":
    """Which answers are held, and who decides. Raises TurntapeError without a terminal and a file of answers."""
    from ..breakpoints.breakpoints_addon import Breakpoints
    from ..breakpoints.console import Console
    from ..breakpoints.script_file import ScriptFile

    if settings.break_answers is not None:
        return Breakpoints(settings.break_on, ScriptFile(settings.break_answers))
    try:
        return Breakpoints(settings.break_on, Console.open(colour=coloured(True, settings.environ, settings.color)))
    except OSError as exc:
        raise TurntapeError(
            "--break-on needs a terminal for its questions; without one, use --break-answers FILE, with one answer per "
            "line (pass, edit FILE, error MESSAGE)"
        ) from exc
