"""Whether this shell has the lines that `turntape record` printed, and whether that proxy is running."""

import socket
import ssl
from collections.abc import Mapping
from pathlib import Path

from turntape.cassettes.tape.model import split_url

from ..capture.upstream_proxy import PROXIES, UpstreamProxy, parse
from .check_result import CheckResult
from .trust import HOST

TIMEOUT = 5.0
"""Seconds."""


def checks(environ: Mapping[str, str]) -> list[CheckResult]:
    """One check for the first proxy variable that names this machine; nothing when there is none."""
    for name in PROXIES:
        url = environ.get(name, "")
        if _is_on_this_machine(url):
            return [_check(name, parse(url), environ.get("SSL_CERT_FILE"))]
    return []


def _is_on_this_machine(url: str) -> bool:
    parts = split_url(url)
    try:
        return parts.hostname in ("127.0.0.1", "localhost", "::1") and bool(parts.port)
    except ValueError:  # a port that is not a number, or too large
        return False


def _check(name: str, proxy: UpstreamProxy, trusted: str | None) -> CheckResult:
    host, port = proxy.host, proxy.port
    place = f"{host}:{port}"
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    try:
        connection = socket.create_connection((host, port), timeout=TIMEOUT)
    except OSError as exc:
        what = f"{name} leads to {place}, where nothing listens ({exc.strerror or exc})."
        return CheckResult("running-proxy", "problem", what, f"turntape record --port {port}")
    with connection:
        try:
            connection.sendall(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n{login}\r\n".encode())
            if b" 200" not in connection.recv(4096).split(b"\r\n", 1)[0]:
                return CheckResult("running-proxy", "problem", f"{place} ({name}) refuses to lead to {HOST}.")
            # The TLS handshake ends at the proxy; no request is sent, so no API is called.
            context = ssl.create_default_context(cafile=trusted if trusted and Path(trusted).is_file() else None)
            with context.wrap_socket(connection, server_hostname=HOST) as tls:
                issuer = str((tls.getpeercert() or {}).get("issuer", ""))
        except ssl.SSLCertVerificationError:
            what = f"{place} ({name}) shows a certificate for {HOST} that SSL_CERT_FILE does not trust."
            return CheckResult("running-proxy", "problem", what, "export SSL_CERT_FILE as `turntape record` prints it")
        except OSError as exc:
            return CheckResult(
                "running-proxy", "problem", f"{place} ({name}) does not answer like an HTTP proxy: {exc}."
            )
    if "turntape" in issuer:
        return CheckResult("running-proxy", "ok", f"{name} leads to turntape at {place}, and SSL_CERT_FILE trusts it.")
    return CheckResult(
        "running-proxy", "note", f"{name} leads to {place}, which passes {HOST} on untouched: it is not turntape."
    )
