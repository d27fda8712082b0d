"""Sends every kind in every place to a recorder, on both routes."""

import random
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running

from .kinds import KINDS
from .places import PLACES, Exchange

ROUTES = ("base URL", "forward")
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
def _upstream(answers: dict[str, bytes]) -> Generator[int]:
    """A server that sends these bytes, by the number in the request, and closes the connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                _answer(connection, answers)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _answer(connection: socket.socket, answers: dict[str, bytes]) -> None:
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields.get(b"content-length", b"0")):
        body += connection.recv(65536)
    connection.sendall(answers[fields[_NUMBER.encode()].decode()])
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65536):
        pass


def send(file: Path, folder: Path, sent: list[tuple[Planted, Exchange]]) -> int:
    """Record all exchanges into `file`; returns how many got no answer."""
    answers = {str(number): exchange.answer for number, (_, exchange) in enumerate(sent)}
    unanswered = 0
    with _upstream(answers) as port, Recorder(file, durable=False) as recorder:
        engine = Engine(recorder, confdir=folder, upstreams={"openai": f"http://127.0.0.1:{port}"})
        with running(engine):
            for number, (one, exchange) in enumerate(sent):
                unanswered += not _ask(engine.port, port, number, one.route, exchange)
    return unanswered


def _ask(recorder: int, upstream: int, number: int, route: str, exchange: Exchange) -> bool:
    run = f"/s/{exchange.run}" if exchange.run else ""
    target, host = f"{run}/openai{exchange.path}", f"127.0.0.1:{recorder}"
    given = [(_NUMBER, str(number)), ("connection", "close"), *exchange.fields]
    if route == "forward":
        host = f"127.0.0.1:{upstream}"
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
