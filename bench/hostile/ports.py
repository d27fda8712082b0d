"""The ports that are attacked: a recorder and a replay server, in this process, with an API behind the recorder."""

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from turntape.cassettes.replay.player import Player
from turntape.cassettes.routes.admission import Admission
from turntape.cassettes.server.server import serve
from turntape.cassettes.tape.model import RoundTrip
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import ScriptedServer

BODY = b'{"model":"gpt-5","messages":[{"role":"user","content":"go"}]}'
PATH = "/openai/v1/chat/completions"


@dataclass
class Ports:
    """`recorder` and `replay` are port numbers; `trips` and `api` are what came through."""

    recorder: int
    replay: int
    api: ScriptedServer
    trips: list[RoundTrip] = field(default_factory=list[RoundTrip])

    def write(self, round_trip: RoundTrip) -> int:
        self.trips.append(round_trip)
        return len(self.trips) - 1


@contextmanager
def opened(folder: Path, token: str | None = None) -> Generator[Ports]:
    with ScriptedServer() as api:
        ports = Ports(0, 0, api)
        found: list[int] = []
        threading.Thread(target=serve, args=(Player([]),), kwargs={"ready": found.append}, daemon=True).start()
        engine = Engine(ports, confdir=folder, upstreams={"openai": api.url}, admission=Admission(token))
        with running(engine):
            while not found:
                time.sleep(0.01)
            ports.recorder, ports.replay = engine.port, found[0]
            yield ports


def ask(port: int, target: str, host: str, **fields: str) -> int:
    """The status of one request, with its target and its Host as given."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    head = (
        f"POST {target} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.encode() + BODY)
        got = b""
        while data := connection.recv(65536):
            got += data
    return int(got.split(b" ", 2)[1]) if got else 0
