"""From the options of `run`, `record` and `fork` to the settings of a recording."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..launch.recording import Settings


def require_posix(command: str) -> None:
    """Raises TurntapeError where commands cannot be started behind the proxy."""
    if os.name != "posix":
        from turntape.cassettes.errors import TurntapeError

        raise TurntapeError(
            f"`turntape {command}` starts a command, which needs Linux or macOS; "
            "on this system start `turntape record` and export the lines that it prints"
        )


def cassette_path(options: argparse.Namespace, kind: str) -> Path:
    """The file given with -o, or a new one, which is created."""
    import time

    from ..capture.cassette_path import free_path

    return Path(options.output) if options.output else free_path(kind, Path(), time.time())


def settings_of(options: argparse.Namespace, path: Path, *, console: bool) -> "Settings":
    """What the command line says about a recording into `path`; `console` prints a line for each round trip."""
    from ..launch.recording import Settings
    from ..limits.limits import Limits, patterns

    return Settings(
        path=path,
        made=not options.output,
        port=options.port,
        upstreams=dict(options.upstream),
        intercept=tuple(options.intercept),
        route=options.route,
        upstream_proxy=options.upstream_proxy,
        client_cert=options.client_cert,
        break_on=tuple(options.break_on),
        break_answers=options.break_answers,
        limits=Limits(options.max_turns, options.max_cost, patterns(options.stop_on)),
        otlp=options.otlp,
        otlp_content=options.otlp_content,
        console=console,
        color=options.color,
    )
