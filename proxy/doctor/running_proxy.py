"""Whether the lines that `turntape record` printed stand in this shell, and whether that proxy is there."""

import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ..launch.environment import PROXIES
from .check_result import CheckResult
from .trust import HOST

PATIENCE = 5.0


def checks(environ: Mapping[str, str]) -> list[CheckResult]:
    """One check for the first proxy variable that leads to this machine; none when none does."""
    for name in PROXIES:
        url = urlsplit(environ.get(name, ""))
        if url.hostname in ("127.0.0.1", "localhost", "::1") and url.port:
            return [_check(name, url.hostname, url.port, environ.get("SSL_CERT_FILE"))]
    return []


def _check(name: str, host: str, port: int, trusted: str | None) -> CheckResult:
    place = f"{host}:{port}"
    try:
        connection = socket.create_connection((host, port), timeout=PATIENCE)
    except OSError as exc:
        what = f"{name} leads to {place}, where nothing listens ({exc.strerror or exc})."
        return CheckResult("standing", "problem", what, f"turntape record --port {port}")
    with connection:
        try:
            connection.sendall(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n".encode())
            if b" 200" not in connection.recv(4096).split(b"\r\n", 1)[0]:
                return CheckResult("standing", "problem", f"{place} ({name}) refuses to lead to {HOST}.")
            # The handshake ends at the proxy; nothing is asked, so nobody is called.
            context = ssl.create_default_context(cafile=trusted if trusted and Path(trusted).is_file() else None)
            with context.wrap_socket(connection, server_hostname=HOST) as tls:
                issuer = str((tls.getpeercert() or {}).get("issuer", ""))
        except ssl.SSLCertVerificationError:
            what = f"{place} ({name}) shows a certificate for {HOST} that SSL_CERT_FILE does not vouch for."
            return CheckResult("standing", "problem", what, "export SSL_CERT_FILE as `turntape record` prints it")
        except OSError as exc:
            return CheckResult("standing", "problem", f"{place} ({name}) does not speak as a proxy does: {exc}.")
    if "turntape" in issuer:
        return CheckResult("standing", "ok", f"{name} leads to turntape at {place}, and SSL_CERT_FILE trusts it.")
    return CheckResult(
        "standing", "note", f"{name} leads to {place}, which passes {HOST} on untouched: it is not turntape."
    )
