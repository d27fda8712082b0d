"""Certificate authorities: what they are good for, and for whom. Real clients judge them."""

import datetime
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import override

import pytest
from cryptography import x509
from mitmproxy.certs import CertStore

from turntape.cassettes.routes.upstreams import UPSTREAMS
from turntape.proxy.capture.authority import (
    BASENAME,
    CERTIFICATE,
    KEY,
    PERMANENT,
    PRIVATE,
    is_covered,
    known_domains,
    make_authority,
)

INSIDE, OUTSIDE = "api.openai.com", "bank.example"


def made(folder: Path, domains: tuple[str, ...] | None) -> x509.Certificate:
    make_authority(folder, PERMANENT, domains)
    return x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes())


def test_each_known_api_is_within_the_constraints() -> None:
    patterns = [pattern.replace("*", "x") for upstream in UPSTREAMS for pattern in upstream.hosts]

    assert len(patterns) > 50
    assert [host for host in patterns if not is_covered(host, known_domains())] == []


@pytest.mark.parametrize("domain", known_domains())
def test_no_constraint_is_as_wide_as_a_top_level_domain(domain: str) -> None:
    assert "." in domain and "*" not in domain


@pytest.mark.parametrize(
    ("host", "covered"),
    [("a.b.example", True), ("B.example.", True), ("*.b.example", True), ("ab.example", False), ("*", False),
     ("a*.b.example", False), ("example", False)],
)  # fmt: skip
def test_a_host_is_covered_by_its_domain_and_the_domains_above(host: str, covered: bool) -> None:
    assert is_covered(host, ("b.example", "c.example")) is covered


def test_only_this_user_can_read_the_key(tmp_path: Path) -> None:
    made(tmp_path, None)

    assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in (tmp_path / CERTIFICATE).read_text()


def test_a_private_authority_is_short_lived_and_without_constraints(tmp_path: Path) -> None:
    make_authority(tmp_path, PRIVATE)
    certificate = x509.load_pem_x509_certificate((tmp_path / CERTIFICATE).read_bytes())

    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc <= datetime.timedelta(days=33)
    with pytest.raises(x509.ExtensionNotFound):
        certificate.extensions.get_extension_for_class(x509.NameConstraints)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module", params=[True, False], ids=["constrained", "private"])
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, object]]:
    """Servers for a host within the constraints and for one outside, with certificates as the proxy makes them."""
    folder = tmp_path_factory.mktemp("authority")
    made(folder, known_domains() if request.param else None)
    store = CertStore.from_store(folder, BASENAME, 0)
    ports: dict[str, object] = {"folder": folder, "constrained": request.param}
    running: list[ThreadingHTTPServer] = []
    for host in (INSIDE, OUTSIDE):
        entry = store.get_cert(host, [x509.DNSName(host)])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        chain = [entry.cert, *entry.chain_certs]
        (folder / f"{host}.chain").write_bytes(b"".join(one.to_pem() for one in chain))
        context.load_cert_chain(folder / f"{host}.chain", folder / KEY)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        ports[host] = server.server_port
    yield ports
    for server in running:
        server.shutdown()
        server.server_close()


PYTHON = """
import socket, ssl, sys
host, port, authority = sys.argv[1:]
context = ssl.create_default_context(cafile=authority)
with socket.create_connection(("127.0.0.1", int(port))) as plain, context.wrap_socket(plain, server_hostname=host):
    pass
"""
REQUESTS = """
import sys, requests
from urllib3.util import connection
host, port, authority = sys.argv[1:]
real = connection.create_connection
connection.create_connection = lambda address, *a, **k: real(("127.0.0.1", address[1]), *a, **k)
requests.get(f"https://{host}:{port}/", verify=authority, proxies={"https": ""})
"""
NODE = """
const [host, port, authority] = process.argv.slice(1);
require('tls').connect({host: '127.0.0.1', port, servername: host, ca: require('fs').readFileSync(authority)})
  .once('error', (error) => { console.error(error); process.exit(1); })
  .once('secureConnect', () => process.exit(0));
"""
JAVA = """
import java.io.*; import java.security.*; import java.security.cert.*; import javax.net.ssl.*;
public class Trust {
  public static void main(String[] given) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream file = new FileInputStream(given[2])) {
      store.setCertificateEntry("ours", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    java.net.Socket plain = new java.net.Socket("127.0.0.1", Integer.parseInt(given[1]));
    SSLSocketFactory sockets = context.getSocketFactory();
    try (SSLSocket socket = (SSLSocket) sockets.createSocket(plain, given[0], plain.getPort(), true)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
      socket.startHandshake();
    }
  }
}
"""


def client(name: str, host: str, port: str, authority: str, folder: Path) -> list[str]:
    given = [host, port, authority]
    if name in ("Python", "requests"):
        return [sys.executable, "-c", PYTHON if name == "Python" else REQUESTS, *given]
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"there is no {name} on this machine")
    if name == "node":
        return [program, "-e", NODE, *given]
    if name == "java":
        (folder / "Trust.java").write_text(JAVA)
        return [program, str(folder / "Trust.java"), *given]
    where = f"{host}:{port}:127.0.0.1"
    return [program, "--silent", "--show-error", "--noproxy", "*", "--cacert", authority, "--resolve", where,
            f"https://{host}:{port}/"]  # fmt: skip


@pytest.mark.parametrize("name", ["Python", "requests", "curl", "node", "java"])
def test_clients_accept_a_certificate_only_within_the_constraints(
    name: str, servers: dict[str, object], tmp_path: Path
) -> None:
    authority = str(Path(str(servers["folder"])) / CERTIFICATE)
    environ = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    done = {
        host: subprocess.run(
            client(name, host, str(servers[host]), authority, tmp_path),
            capture_output=True,
            text=True,
            check=False,
            env=environ,
        )
        for host in (INSIDE, OUTSIDE)
    }
    if name == "java" and "compiler" in done[INSIDE].stderr:
        pytest.skip("this java cannot compile")

    assert done[INSIDE].returncode == 0, done[INSIDE].stderr
    assert (done[OUTSIDE].returncode != 0) is servers["constrained"], done[OUTSIDE].stderr
