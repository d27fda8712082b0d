"""The witnesses: relays that pass bytes on as they come and keep a copy. They terminate TLS and parse no HTTP.

The one before the proxy understands CONNECT, because a client sends inside a tunnel what it would send to the API.
"""

import asyncio
import itertools
import socket
import ssl
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path

from turntape.cassettes.routes.own_addresses import is_loopback

from ..capture.authority import BASENAME, CERTIFICATE
from .wire import Wire, Wires

_SIZE = 1 << 16
_PATIENCE = 1.0
"""Seconds."""


class Witnesses:
    """`await start(port)` returns the port for clients; `behind(…)` returns a port that leads to an API.

    `opens` says for which hosts the proxy decrypts tunnels; `authority` is the folder of its certificates, `trusted` a
    file of roots and `client_cert` a certificate with key, for the APIs.
    """

    def __init__(
        self,
        *,
        opens: Callable[[str], bool],
        authority: Path,
        trusted: Path | None = None,
        client_cert: Path | None = None,
    ) -> None:
        clock = itertools.count()
        self.before = Wires(clock)
        self.behind_us = Wires(clock)
        self._opens = opens
        self._authority = authority
        self._trusted = trusted
        self._client_cert = client_cert
        self._servers: list[asyncio.Server] = []
        self._ports: dict[tuple[str, str, int], int] = {}
        self._proxy = 0
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, proxy: int, port: int = 0, listening: Sequence[socket.socket] = ()) -> int:
        """Listen in front of the port `proxy`: on the sockets of `listening`, else on `port`. Returns the port."""
        self._proxy = proxy
        if listening:
            self._servers += [await asyncio.start_server(self._come, sock=one, limit=1 << 20) for one in listening]
        else:
            self._servers.append(await asyncio.start_server(self._come, "127.0.0.1", port, limit=1 << 20))
        return self._servers[0].sockets[0].getsockname()[1]

    async def behind(self, scheme: str, host: str, port: int) -> int:
        """The port of a witness that leads to this place."""
        key = (scheme, host, port)
        if key not in self._ports:

            async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await self._kept(self._lead(reader, writer, key))

            server = await asyncio.start_server(come, "127.0.0.1", 0)
            self._servers.append(server)
            self._ports.setdefault(key, server.sockets[0].getsockname()[1])
        return self._ports[key]

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _kept(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await work
        finally:
            self._tasks.discard(task)

    # Before us

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._kept(self._to_us(reader, writer))

    async def _to_us(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(_SIZE)
        if not first:
            writer.close()
            return
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._proxy)
        if not first.startswith(b"CONNECT "):
            wire = self.before.open()
            self._sent(wire, first, up_writer)
            await self._between(self.before, wire, (reader, writer), (up_reader, up_writer))
            return
        while b"\r\n\r\n" not in first:
            first += await reader.read(_SIZE)
        host = first.split(b" ", 2)[1].rpartition(b":")[0].decode().strip("[]")
        up_writer.write(first)
        answer = await up_reader.readuntil(b"\r\n\r\n")
        if b" 200" in answer.split(b"\r\n", 1)[0] and self._opens(host):
            await up_writer.start_tls(self._trusting_us(), server_hostname=host)
            # The client's first TLS record must find the TLS layer in its place: nothing is awaited in between.
            writer.write(answer)
            await writer.start_tls(self._server_context(host))
            kept = self.before
        else:
            writer.write(answer)
            # Node asks for a tunnel to loopback too, for plain HTTP. What else is passed on untouched is not kept.
            kept = self.before if is_loopback(host) else Wires(itertools.count())
        await self._between(kept, kept.open(), (reader, writer), (up_reader, up_writer))

    # Behind us

    async def _lead(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: tuple[str, str, int]
    ) -> None:
        scheme, host, port = key
        wire = self.behind_us.open(f"{host}:{port}")
        try:
            up = await asyncio.open_connection(host, port, ssl=self._api_context() if scheme == "https" else None)
        except (OSError, ssl.SSLError):
            writer.close()
            return
        await self._between(self.behind_us, wire, (reader, writer), up)

    # Bytes

    def _sent(self, wire: Wire, data: bytes, writer: asyncio.StreamWriter) -> None:
        self.before.up(wire, data)
        writer.write(data)

    async def _between(
        self,
        wires: Wires,
        wire: Wire,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        up = asyncio.create_task(_pump(client[0], server[1], lambda data: wires.up(wire, data)))
        down = asyncio.create_task(_pump(server[0], client[1], wire.down.append))
        try:
            # The end of the answer ends the connection; a client that has sent everything may still be reading.
            await asyncio.wait([up, down], return_when=asyncio.ALL_COMPLETED)
        finally:
            for task in (up, down):
                task.cancel()
            await asyncio.gather(*(_closed(writer) for _, writer in (client, server)))

    # TLS

    def _api_context(self) -> ssl.SSLContext:
        if "" not in self._contexts:
            context = ssl.create_default_context(cafile=str(self._trusted) if self._trusted else None)
            if self._client_cert is not None and self._client_cert.is_file():
                context.load_cert_chain(self._client_cert)
            self._contexts[""] = context
        return self._contexts[""]

    def _trusting_us(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self._authority / CERTIFICATE))

    def _server_context(self, host: str) -> ssl.SSLContext:
        """A TLS context for `host` with a certificate of our own authority, for HTTP/1.1 only."""
        if host not in self._contexts:
            from cryptography import x509
            from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
            from mitmproxy.certs import CertStore

            store = CertStore.from_store(self._authority, BASENAME, 0)
            made = store.get_cert(host, [x509.DNSName(host)])
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            with tempfile.TemporaryDirectory(prefix="turntape-prove-") as folder:
                path = Path(folder) / "host.pem"
                path.touch(0o600)
                private = made.privatekey.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                above = b"".join(certificate.to_pem() for certificate in made.chain_certs)
                path.write_bytes(made.cert.to_pem() + above + private)
                context.load_cert_chain(path)
            self._contexts[host] = context
        return self._contexts[host]


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close and wait, but not long for a peer that has stopped reading."""
    writer.close()
    with suppress(OSError, ssl.SSLError, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), _PATIENCE)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, keep: Callable[[bytes], object]) -> None:
    """Pass on everything that comes, and then the end of the stream."""
    try:
        while data := await reader.read(_SIZE):
            keep(data)
            writer.write(data)
            await writer.drain()
    except (OSError, ssl.SSLError):
        pass
    with suppress(OSError, RuntimeError):
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()  # TLS cannot close only one direction
