"""Clients other than browsers: requests that lead the recorder into itself, and programs of other users."""

import socket
from collections.abc import Iterator
from pathlib import Path

from turntape.cassettes.routes.admission import new_token
from turntape.cassettes.routes.own_addresses import machine_addresses

from .outcome import Outcome
from .ports import PATH, ask, opened

SPELLINGS = ("0.0.0.0", "LOCALHOST", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "localhost.")


def loops(folder: Path) -> Iterator[Outcome]:
    """Requests for no API, to every name of the recorder. More than two records for one mean a circle."""
    names = [*SPELLINGS, socket.gethostname(), *machine_addresses()]
    for name in names:
        host = f"[{name}]" if ":" in name and not name.startswith("[") else name
        for route in ("direct", "for a proxy"):
            with opened(folder) as ports:
                place = f"{host}:{ports.recorder}"
                target = "/v1/chat/completions"
                status = ask(ports.recorder, target if route == "direct" else f"http://{place}{target}", place)
                # 0: the address is tried, and nothing listens there, because the recorder is on loopback alone.
                held = status in (0, 403, 404, 508) and len(ports.trips) <= 2 and not ports.api.requests
                yield Outcome(
                    "client", "recorder", f"lead it into itself, {route}: {name}", held,
                    f"{status}, {len(ports.trips)} records",
                )  # fmt: skip


def other_users(folder: Path) -> Iterator[Outcome]:
    """A program that knows the port of a run, and not its token."""
    token = new_token()
    with opened(folder, token) as ports:
        place, api = f"127.0.0.1:{ports.recorder}", f"127.0.0.1:{ports.api.port}"
        attempts = {
            "base URL": (PATH, place),
            "base URL, wrong token": (f"/t/{new_token()}{PATH}", place),
            "base URL for a proxy": (f"http://{place}{PATH}", place),
            "forward": (f"http://{api}/v1/chat/completions", api),
        }
        for name, (target, host) in attempts.items():
            status = ask(ports.recorder, target, host)
            held = status in (401, 407) and not ports.api.requests and not ports.trips
            yield Outcome("another user", "recorder of a run", name, held, str(status))
        status = ask(ports.recorder, f"/t/{token}{PATH}", place)
        yield Outcome("the command itself", "recorder of a run", "base URL with the token", status == 200, str(status))
        leaked = any(token in str(trip) for trip in ports.trips)
        yield Outcome(
            "the command itself", "tape of a run", "is the token on it?", not leaked, "no" if not leaked else "yes"
        )
