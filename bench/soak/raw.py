"""A raw upstream that plays a behaviour, and a raw client that keeps every byte of the answer."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from .behaviours import BEHAVIOURS, ID, Behaviour, Step

FIELD = "x-behaviour"
NAME = "x-id"
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends a reset."""


PATIENCE = 60.0
"""Seconds that a client waits; only one whose answer was lost waits that long."""


class Connection:
    """A socket with a buffer."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._held = b""

    def until(self, end: bytes) -> bytes:
        """The bytes up to and with `end`; what there is when the connection ends before."""
        while end not in self._held:
            data = self.sock.recv(65536)
            if not data:
                taken, self._held = self._held, b""
                return taken
            self._held += data
        place = self._held.index(end) + len(end)
        taken, self._held = self._held[:place], self._held[place:]
        return taken

    def head(self) -> bytes:
        """The lines up to a blank one; what there is when the connection ends before."""
        lines = [self.until(b"\n")]
        while lines[-1].strip() or (len(lines) == 1 and lines[0]):
            lines.append(self.until(b"\n"))
        return b"".join(lines)

    def exactly(self, size: int) -> bytes:
        """So many bytes, or fewer when the connection ends before."""
        while len(self._held) < size:
            data = self.sock.recv(65536)
            if not data:
                break
            self._held += data
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def rest(self) -> bytes:
        """Everything until the connection ends."""
        while data := self.sock.recv(65536):
            self._held += data
        taken, self._held = self._held, b""
        return taken


def _fields(head: bytes) -> dict[bytes, bytes]:
    lines = head.replace(b"\r\n", b"\n").split(b"\n")[1:]
    pairs = (line.partition(b":") for line in lines if b":" in line)
    found: dict[bytes, bytes] = {}
    for name, _, value in pairs:
        found.setdefault(name.strip().lower(), value.strip())
    return found


@dataclass(slots=True)
class Seen:
    """What a client saw of one answer."""

    raw: bytes = b""
    """Every byte, in order."""
    ended: str = "whole"
    """`whole`, `closed` before the end, `reset`, or `lost` when nothing came for a minute."""


def _answer(connection: Connection, method: str, kept: list[bytes]) -> bool:
    """Read one final answer as tolerant clients do. False when it was cut."""
    while True:
        head = connection.head()
        kept.append(head)
        if not head.endswith((b"\n\r\n", b"\n\n")):
            return False
        if head.lstrip().startswith(b"HTTP/1") and head.split(None, 2)[1][:1] == b"1":
            continue
        break
    fields = _fields(head)
    status = head.split(None, 2)[1] if head.count(b" ") else b""
    if method == "HEAD" or status in (b"204", b"304"):
        return True
    if fields.get(b"transfer-encoding", b"").lower().rpartition(b",")[2].partition(b";")[0].strip() == b"chunked":
        while True:
            line = connection.until(b"\r\n")
            kept.append(line)
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError:
                kept.append(connection.rest())
                return False
            if size == 0:
                while (line := connection.until(b"\r\n")) not in (b"\r\n", b""):
                    kept.append(line)
                kept.append(line)
                return line == b"\r\n"
            data = connection.exactly(size + 2)
            kept.append(data)
            if len(data) < size + 2:
                return False
    length = fields.get(b"content-length", b"").split(b",")[0]
    if b"transfer-encoding" not in fields and length.isdigit() and head.startswith(b"HTTP/1"):
        data = connection.exactly(int(length))
        kept.append(data)
        return len(data) == int(length)
    kept.append(connection.rest())
    return True


def ask(connection: Connection, request: bytes, method: str = "POST") -> Seen:
    """Send a request and read its answer."""
    kept: list[bytes] = []
    ended = "whole"
    try:
        connection.sock.sendall(request)
        connection.sock.settimeout(PATIENCE)
        if not _answer(connection, method, kept):
            ended = "closed"
    except TimeoutError:
        ended = "lost"
    except (ConnectionResetError, BrokenPipeError):
        ended = "reset"
    return Seen(b"".join(kept), ended)


def request_of(behaviour: Behaviour, target: str, host: str, body: bytes, name: str = ID.decode()) -> bytes:
    """A request for a behaviour; `name` is the id that healthy answers repeat."""
    head = f"{behaviour.method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    named = BEHAVIOURS.index(behaviour) if behaviour in BEHAVIOURS else -1
    return f"{head}{FIELD}: {named}\r\n{NAME}: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass(slots=True)
class RawUpstream:
    """Plays the behaviour that a request names in its field `x-behaviour`. Use it with `serving`."""

    behaviours: Sequence[Behaviour] = BEHAVIOURS
    tls: ssl.SSLContext | None = None
    port: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    """Head and body of each request."""
    left: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released whenever a client has closed its connection."""

    def serve(self, sock: socket.socket) -> None:
        with suppress(OSError), self.tls.wrap_socket(sock, server_side=True) if self.tls else sock as secured:
            secured.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(secured)
            while head := connection.until(b"\r\n\r\n"):
                fields = _fields(head)
                body = connection.exactly(int(fields.get(b"content-length", b"0")))
                self.requests.append(head + body)
                steps = self.behaviours[int(fields[FIELD.encode()])].steps
                name = fields.get(NAME.encode(), ID)
                if not _played(secured, _named(steps, name)):
                    return
            self.left.release()


def _named(steps: Sequence[Step], name: bytes) -> Sequence[Step]:
    """The steps with the id of the request, also where each byte is one step."""
    if all(isinstance(step, bytes) and len(step) == 1 for step in steps):
        whole = b"".join(step for step in steps if isinstance(step, bytes)).replace(ID, name)
        return [bytes([byte]) for byte in whole]
    return [step.replace(ID, name) if isinstance(step, bytes) else step for step in steps]


def opened(port: int) -> socket.socket:
    """A connection to a port of loopback."""
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def _played(sock: socket.socket, steps: Sequence[Step]) -> bool:
    """Take the steps; True when the connection stays open."""
    for step in steps:
        if isinstance(step, bytes):
            sock.sendall(step)
        elif isinstance(step, float):
            time.sleep(step)
        elif step == "reset":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            sock.close()
            return False
        else:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_WR)
                sock.recv(65536)
            sock.close()
            return False
    return True


@contextmanager
def accepting(serve: Callable[[socket.socket], object]) -> Generator[int]:
    """A port of loopback; each connection to it is served in its own thread."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:

        def accept() -> None:
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(sock,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(upstream: RawUpstream) -> Generator[RawUpstream]:
    """The upstream, listening on a port of loopback."""
    with accepting(upstream.serve) as upstream.port:
        yield upstream
