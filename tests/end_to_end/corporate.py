"""A company's network on loopback: an HTTP proxy that alone resolves names, and certificates of the company's own."""

import base64
import datetime
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path
from socket import create_connection, socket
from socketserver import StreamRequestHandler, ThreadingTCPServer
from types import TracebackType
from typing import Self, override
from urllib.parse import urlsplit


def certificate(path: Path, *names: str) -> Path:
    """A self-signed certificate for `names`, with its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


class CorporateProxy:
    """`with CorporateProxy({"api.openai.com:443": 8443}) as proxy:` leads these places to loopback ports.

    It opens tunnels and passes absolute-form requests on, asks for `login` where one is given, and keeps what it was
    asked for in `asked`: `("CONNECT", "host:port")` or `("POST", "http://host/path")`.
    """

    def __init__(self, places: Mapping[str, int], *, login: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.logins: list[str | None] = []
        outer = self

        class Handler(StreamRequestHandler):
            @override
            def setup(self) -> None:
                if tls is not None:
                    self.request = tls.wrap_socket(self.request, server_side=True)
                super().setup()

            @override
            def finish(self) -> None:
                super().finish()
                self.request.close()

            @override
            def handle(self) -> None:
                method, target, _ = self.rfile.readline().decode().split()
                headers: dict[str, str] = {}
                while line := self.rfile.readline().decode().strip():
                    name, _, value = line.partition(":")
                    headers[name.lower()] = value.strip()
                outer.asked.append((method, target))
                outer.logins.append(headers.get("proxy-authorization"))
                if login and headers.get("proxy-authorization") != outer.basic(login):
                    self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
                elif method == "CONNECT":
                    with create_connection(("127.0.0.1", places[target])) as server:
                        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        self._between(server)
                else:
                    self._pass_on(method, target, headers)

            def _pass_on(self, method: str, target: str, headers: dict[str, str]) -> None:
                url = urlsplit(target)
                body = self.rfile.read(int(headers.get("content-length", "0")))
                kept = {name: value for name, value in headers.items() if not name.startswith("proxy-")}
                lines = [f"{method} {url.path} HTTP/1.1", *(f"{k}: {v}" for k, v in kept.items()), "connection: close"]
                with create_connection(("127.0.0.1", places[url.netloc])) as server:
                    server.sendall("\r\n".join([*lines, "", ""]).encode() + body)
                    self._between(server)

            def _between(self, server: socket) -> None:
                def pump(source: socket, sink: socket) -> None:
                    try:
                        while data := source.recv(65536):
                            sink.sendall(data)
                        sink.shutdown(1)
                    except OSError:
                        pass

                back = threading.Thread(target=pump, args=(server, self.request), daemon=True)
                back.start()
                pump(self.request, server)
                back.join()

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    @staticmethod
    def basic(login: str) -> str:
        return f"Basic {base64.b64encode(login.encode()).decode()}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
