"""The environment that makes a child process send its LLM traffic to the proxy, whatever language it is written in.

It offers two routes at once. Variables for an API's **base URL** get `/<upstream>` on our port. The **proxy** variables
and the CA variables are for clients with fixed hosts. If the user's environment already names a base URL, that URL
becomes a separate upstream, and the variable gets our address instead.

NO_PROXY: loopback entries and entries that would exempt an LLM API are dropped, because a local model is recorded like
any other. The user's other entries stay. Our own `127.0.0.1:PORT` is added for clients that understand a port in this
variable (httpx, urllib, botocore, node, Go). Other clients (requests, aiohttp, curl, reqwest) send requests for our
base URLs through us as their proxy, and the engine treats them as base-URL requests.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.admission import TOKEN_USER, base_urls
from turntape.cassettes.routes.base_urls import BASE_URLS

from ..capture.certificates import write_whole
from ..capture.upstream_proxy import NO_PROXIES, PROXIES, is_ours
from ..capture.upstream_proxy import shown as without_login

type Route = Literal["base_url", "forward", "both"]


@frozen
class CertificateVariable:
    variable: str
    note: str
    replaces: bool = True
    """True when the file replaces the trust store, so that it must hold the system's roots too."""


CERTIFICATES = (
    CertificateVariable("SSL_CERT_FILE", "OpenSSL: httpx, aiohttp, urllib, websockets, Ruby, Go, Rust, Bun, .NET"),
    CertificateVariable("REQUESTS_CA_BUNDLE", "requests, and botocore as a second choice"),
    CertificateVariable("CURL_CA_BUNDLE", "curl"),
    CertificateVariable("AWS_CA_BUNDLE", "botocore, AWS CLI"),
    CertificateVariable("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "gRPC"),
    CertificateVariable("NODE_EXTRA_CA_CERTS", "node, Bun", replaces=False),
    CertificateVariable("DENO_CERT", "Deno", replaces=False),
    CertificateVariable("CODEX_CA_CERTIFICATE", "codex", replaces=False),
)

SWITCHES = (("NODE_USE_ENV_PROXY", "1", "node from 22.21 and 24.5: respect the proxy variables"),)


@frozen
class Environment:
    """The variables for a child process, and the upstreams that the user's own variables name."""

    variables: dict[str, str] = field(default_factory=dict[str, str])
    upstreams: dict[str, str] = field(default_factory=dict[str, str])


def environment(
    environ: Mapping[str, str],
    *,
    port: int,
    host: str = "127.0.0.1",
    token: str | None = None,
    route: Route = "both",
    upstreams: Mapping[str, str] | None = None,
    hosts: Iterable[str] = (),
    bundle: Path | None = None,
    authority: Path | None = None,
    preload: Path | None = None,
) -> Environment:
    """The changes to `environ` for a child whose traffic should come to `port`, with the token that the port needs.

    `upstreams` are the ones that the user overrode; `hosts` are the LLM hosts that NO_PROXY must not exempt.
    """
    variables: dict[str, str] = {}
    named: dict[str, str] = {}
    if route != "forward":
        base, named = _base_urls(environ, base_url(port, host, token), port, upstreams or {})
        variables |= base
    if route != "base_url":
        variables |= _forward(environ, port, host, proxy_url(port, host, token), hosts, preload)
        if bundle and authority:
            variables |= _certificates(environ, bundle, authority)
    return Environment(variables, named)


def base_url(port: int, host: str = "127.0.0.1", token: str | None = None) -> str:
    """What precedes the name of an upstream in a base URL."""
    return base_urls(host, port, token)[0]


def proxy_url(port: int, host: str = "127.0.0.1", token: str | None = None) -> str:
    """The value of HTTPS_PROXY. Clients send user and password of it as `Proxy-Authorization`."""
    scheme, _, place = base_urls(host, port)[0].partition("://")
    return f"{scheme}://{TOKEN_USER}:{token}@{place}" if token else f"{scheme}://{place}"


def _base_urls(
    environ: Mapping[str, str], root: str, port: int, upstreams: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    variables: dict[str, str] = {}
    named: dict[str, str] = {}
    # If the user named a place, no second variable of the same API may name another one.
    values = {row: environ.get(row.variable, "").strip() for row in BASE_URLS}
    # A variable with our own address, from an earlier export, does not name an upstream.
    values = {row: value for row, value in values.items() if value and not is_ours(value, port)}
    taken = {row.upstream for row in values}
    everything = upstreams.get("*")
    for row in BASE_URLS:
        value = values.get(row)
        if value and row.upstream not in upstreams:
            try:
                place, path = origin(value)
            except ValueError as exc:
                what = f"{row.variable} is {without_login(value)!r}, which is not a URL"
                raise TurntapeError(f"{what}; write it as http://HOST:PORT/PATH, or unset it") from exc
            name = _free_name(row.upstream, everything or place, named)
            named[name] = everything or place
            variables[row.variable] = f"{root}/{name}{path}"
        elif (
            row.upstream in upstreams
            or (everything and not row.is_switch)
            or (row.always and row.upstream not in taken)
        ):
            variables[row.variable] = f"{root}/{row.upstream}{row.suffix}"
    return variables, named


def origin(value: str) -> tuple[str, str]:
    """The place and the path of a URL: `localhost:8000/v1/` is (`http://localhost:8000`, `/v1`).

    A bind-all address becomes loopback.
    """
    url = urlsplit(value if "://" in value else f"http://{value}")
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(url.hostname or "", url.hostname or "127.0.0.1")
    shown = f"[{host}]" if ":" in host else host
    login = f"{url.netloc.rpartition('@')[0]}@" if "@" in url.netloc else ""
    # OLLAMA_HOST is written without scheme or port, as for the server.
    port = f":{url.port}" if url.port else "" if "://" in value else ":11434"
    return f"{url.scheme}://{login}{shown}{port}", url.path.rstrip("/")


def _free_name(upstream: str, origin: str, named: Mapping[str, str]) -> str:
    """A name for the user's own place. It differs from the API's name, because clients may still call the real host."""
    number = 1
    name = f"my-{upstream}"
    while named.get(name, origin) != origin:
        number += 1
        name = f"my-{upstream}-{number}"
    return name


def _forward(
    environ: Mapping[str, str], port: int, host: str, proxy: str, hosts: Iterable[str], preload: Path | None
) -> dict[str, str]:
    own = urlsplit(base_url(port, host)).netloc
    variables = dict.fromkeys(PROXIES, proxy)
    variables |= dict.fromkeys(NO_PROXIES, no_proxy(environ, own, hosts))
    variables |= {name: value for name, value, _ in SWITCHES}
    if preload:
        require = f'--require "{preload}"'
        variables["NODE_OPTIONS"] = f"{environ.get('NODE_OPTIONS', '')} {require}".strip()
    return variables


def no_proxy(environ: Mapping[str, str], own: str, hosts: Iterable[str]) -> str:
    """The user's entries that exempt neither loopback nor an LLM API, and `own`, our host and port."""
    entries = [
        entry.strip()
        for name in NO_PROXIES
        for entry in environ.get(name, "").replace(" ", ",").split(",")
        if entry.strip()
    ]
    hosts = [host.lower() for host in hosts]
    kept = [entry for entry in dict.fromkeys(entries) if not _exempts(entry, hosts)]
    return ",".join((own, *kept))


def _exempts(entry: str, hosts: Iterable[str]) -> bool:
    name = entry.lower().lstrip("*.")
    if not name:
        return True
    try:
        network = ipaddress.ip_network(name.strip("[]"), strict=False)
    except ValueError:
        bare = name.rsplit(":", 1)[0] if name.rpartition(":")[2].isdigit() else name
        loopback = bare == "localhost" or bare.endswith(".localhost") or bare.startswith("127.")
        return loopback or any(host == bare or host.endswith(f".{bare}") for host in hosts)
    loopback = ipaddress.ip_network("127.0.0.0/8" if network.version == 4 else "::1/128")
    return network.overlaps(loopback)


def _certificates(environ: Mapping[str, str], bundle: Path, authority: Path) -> dict[str, str]:
    return {
        row.variable: str(bundle if row.replaces or environ.get(row.variable) else authority) for row in CERTIFICATES
    }


def node_preload(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """The module for a Node.js without proxy support, copied to `folder`; None when not needed.

    It is copied because `.js` is an ES module or not by the nearest package.json, and `.cjs` never is one.
    """
    import re
    import shutil
    import subprocess

    node = shutil.which("node", path=environ.get("PATH"))
    if node is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"v(\d+)\.(\d+)", said)
    if found is None or _has_proxy(int(found[1]), int(found[2])):
        return None
    text = Path(__file__).with_name("node_preload.js").read_text(encoding="utf-8")
    path = folder / "node-preload.cjs"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
    return path


def _has_proxy(major: int, minor: int) -> bool:
    """NODE_USE_ENV_PROXY, by https://nodejs.org/api/cli.html#node_use_env_proxy1 (2026-11)."""
    return major > 24 or (major == 24 and minor >= 5) or (major == 22 and minor >= 21)
