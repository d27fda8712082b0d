"""Sends every kind in every place to a recorder, on both routes."""

import base64
import random
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running

from .kinds import KINDS
from .places import PLACES, Exchange

ROUTES = ("base URL", "forward")
HOST = "api.openai.com"
"""What is asked on the forward route; of another host, only paths of an LLM API would be recorded."""
_NUMBER = "x-scripted-fault"
"""A listed header: the upstream sends the answer of this number."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret that was sent."""

    kind: str
    place: str
    route: str
    value: str


def planted(seed: int) -> Iterator[tuple[Planted, Exchange]]:
    """Each kind in each place on each route, with a value that is used once."""
    chance = random.Random(seed)
    for route in ROUTES:
        for name, place in PLACES.items():
            for kind in KINDS:
                value = kind.value(chance)
                yield Planted(kind.name, name, route, value), place(kind, value)


@contextmanager
def upstream(answers: dict[str, bytes]) -> Generator[int]:
    """A server that sends these bytes, by the number in the request, and closes the connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            # Each in a thread: a connection that sends nothing must not keep the others waiting.
            threading.Thread(target=_answer, args=(connection, answers), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _answer(connection: socket.socket, answers: dict[str, bytes]) -> None:
    """Nothing is answered to a peer that leaves before its request is whole."""
    with connection, suppress(OSError):
        asked = _request(connection)
        if asked is not None:
            connection.sendall(answers[asked])
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def _request(connection: socket.socket) -> str | None:
    """The number in the next request; none when the peer leaves within the request."""
    got = b""
    while b"\r\n\r\n" not in got:
        if not (data := connection.recv(65536)):
            return None
        got += data
    head, _, body = got.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields.get(b"content-length", b"0")):
        if not (data := connection.recv(65536)):
            return None
        body += data
    return fields[_NUMBER.encode()].decode()


def send(file: Path, folder: Path, sent: list[tuple[Planted, Exchange]], say: Callable[[str], None]) -> int:
    """Record all exchanges into `file`; returns how many got no answer. `say` gets how far this is."""
    answers = {str(number): exchange.answer for number, (_, exchange) in enumerate(sent)}
    unanswered = 0
    with upstream(answers) as port, Recorder(file, durable=False) as recorder:
        engine = Engine(recorder, confdir=folder, upstreams={"openai": f"http://127.0.0.1:{port}"})
        with running(engine):
            for number, (one, exchange) in enumerate(sent):
                unanswered += not _ask(engine.port, number, one.route, exchange)
                say(
                    f"{number + 1:,} of {len(sent):,} sent"
                    + (f", {unanswered:,} without an answer" if unanswered else "")
                )
    return unanswered


def _ask(recorder: int, number: int, route: str, exchange: Exchange) -> bool:
    run = f"/s/{exchange.run}" if exchange.run else ""
    target, host = f"{run}/openai{exchange.path}", f"127.0.0.1:{recorder}"
    given = [(_NUMBER, str(number)), ("connection", "close"), *exchange.fields]
    if route == "forward":
        host = HOST
        if exchange.run:
            login = base64.b64encode(f"{unquote(exchange.run)}:x".encode()).decode()
            given.append(("proxy-authorization", f"Basic {login}"))
        target = f"http://{host}{exchange.path}"
    if all(name != "content-type" for name, _ in given):
        given.append(("content-type", "application/json"))
    lines = [f"POST {target} HTTP/1.1", f"host: {host}", f"content-length: {len(exchange.body)}"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in given), "", ""])
    with socket.create_connection(("127.0.0.1", recorder), timeout=30) as connection:
        connection.sendall(head.encode() + exchange.body)
        got = b""
        try:
            while data := connection.recv(65536):
                got += data
        except OSError:
            pass
    return bool(got)
