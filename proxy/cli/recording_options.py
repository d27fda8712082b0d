"""From the options of `run`, `record` and `fork` to the settings of a recording."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..gateway.shipper import ShipTo
    from ..launch.recording_settings import Settings


def require_posix(command: str) -> None:
    """Raises TurntapeError where commands cannot be started behind the proxy."""
    if os.name != "posix":
        from turntape.cassettes.errors import TurntapeError

        raise TurntapeError(
            f"`turntape {command}` starts a command, which needs Linux or macOS; "
            "on this system start `turntape record` and export the lines that it prints"
        )


def cassette_path(options: argparse.Namespace, kind: str) -> Path:
    """The file given with -o, or a new one, which is created. Raises TurntapeError for options that need others."""
    import time

    ship_to(options)  # before there is a file

    from ..capture.cassette_path import free_path

    return Path(options.output) if options.output else free_path(kind, Path(), time.time())


def ship_to(options: argparse.Namespace, *, remove: bool = False) -> "ShipTo | None":
    """Where `--ship` sends complete files; None without it. Raises TurntapeError for options that need it."""
    from turntape.cassettes.errors import TurntapeError

    if options.ship is None:
        if options.ship_label or options.rows_only:
            raise TurntapeError("--label and --rows-only are about shipping; add --ship TO")
        return None
    from turntape.inspector.fleet.shipping.ship import default_spool
    from turntape.inspector.fleet.store.place import checked

    from ..gateway.shipper import ShipTo

    return ShipTo(
        checked(options.ship),
        options.spool or default_spool(),
        tuple(options.ship_label),
        rows_only=options.rows_only,
        remove=remove,
    )


def settings_of(options: argparse.Namespace, path: Path, *, console: bool) -> "Settings":
    """What the command line says about a recording into `path`; `console` prints a line for each round trip."""
    from ..gateway.gateway import GatewaySettings
    from ..launch.recording_settings import Settings
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
        gateway=GatewaySettings(ship=ship_to(options)),
        otlp=options.otlp,
        otlp_content=options.otlp_content,
        console=console,
        color=options.color,
    )
