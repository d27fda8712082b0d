"""The upstream proxy: the one between turntape and the APIs, most often a corporate proxy.

It is named by `--upstream-proxy`, or by the user's own environment. Hosts that NO_PROXY exempts, and loopback hosts,
are connected to directly, as without turntape.
"""

import base64
import ipaddress
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.own_addresses import is_loopback
from turntape.cassettes.tape.model import split_url
from turntape.cassettes.whole_number import whole_number

PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
"""The environment variables that name a proxy. The first one that is set wins."""
NO_PROXIES = ("NO_PROXY", "no_proxy")
"""The environment variables with the hosts that are connected to directly."""
NONE = "none"
"""The value of `--upstream-proxy` that ignores the environment: use no proxy."""
_PORTS = {"http": 80, "https": 443}


@frozen
class UpstreamProxy:
    """How to reach the proxy, and which hosts do not use it."""

    scheme: Literal["http", "https"]
    """The protocol of the connection to the proxy itself."""
    host: str
    port: int
    authorization: str | None = None
    """The value of `Proxy-Authorization`."""
    exempt: tuple[str, ...] = ()
    """Entries of NO_PROXY, in lower case."""

    @property
    def spec(self) -> tuple[Literal["http", "https"], tuple[str, int]]:
        """Scheme and address, as mitmproxy wants them."""
        return self.scheme, (self.host, self.port)

    def is_used_for(self, host: str, port: int) -> bool:
        """Whether connections to this place use the proxy."""
        host = host.lower().strip("[]").rstrip(".")
        return not is_loopback(host) and not any(_exempts(entry, host, port) for entry in self.exempt)


def chosen(given: str | None, environ: Mapping[str, str], port: int) -> UpstreamProxy | None:
    """The proxy of `--upstream-proxy`, or else of the environment; never our own, which listens on `port`."""
    url = given or from_environment(environ, port)
    if url is None or url.lower() == NONE:
        return None
    entries = ",".join(environ.get(name, "") for name in NO_PROXIES).replace(" ", ",")
    return parse(url, tuple(entry.strip().lower() for entry in entries.split(",") if entry.strip()))


def from_environment(environ: Mapping[str, str], port: int) -> str | None:
    """The URL of the proxy that the user's own traffic must use; None when there is none, or it is turntape."""
    for name in PROXIES:
        if (value := environ.get(name)) and not is_ours(value, port):
            return value
    return None


def is_ours(url: str, port: int) -> bool:
    """True for a URL of turntape itself, which listens on `port` of this machine."""
    place = split_url(url if "://" in url else f"http://{url}").netloc.rpartition("@")[2]
    return place in (f"127.0.0.1:{port}", f"localhost:{port}")


def parse(url: str, exempt: tuple[str, ...] = ()) -> UpstreamProxy:
    """A proxy from its URL; without a scheme it is `http`. Raises TurntapeError when turntape cannot use it."""
    parts = split_url(url if "://" in url else f"http://{url}")
    try:
        host, port, lacks = parts.hostname, parts.port, "has no host"
    except ValueError:
        host, port, lacks = None, None, "has a port that is not a number from 0 to 65535"
    if parts.scheme not in ("http", "https", ""):
        raise TurntapeError(
            f"turntape cannot use {shown(url)!r}, which is not an HTTP proxy: name one with "
            "--upstream-proxy http://HOST:PORT, or use none with --upstream-proxy none"
        )
    if not host:
        raise TurntapeError(
            f"the proxy {shown(url)!r} {lacks}: write it as http://HOST:PORT, or use none with --upstream-proxy none"
        )
    login = None
    if parts.username is not None:
        words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = f"Basic {base64.b64encode(words.encode()).decode()}"
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    return UpstreamProxy(scheme, host, port or _PORTS[scheme], login, exempt)


def shown(url: str) -> str:
    """A URL with its login left out."""
    before, at, rest = url.rpartition("@")
    return f"{before[: before.find('://') + 3] if '://' in before else ''}…@{rest}" if at else url


def _exempts(entry: str, host: str, port: int) -> bool:
    """An entry is `*`, a host and all names below it, `host:port`, an address, or a network, as in most clients."""
    if entry == "*":
        return True
    try:
        network = ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        name, colon, number = entry.rpartition(":")
        if colon and (given := whole_number(number)) is not None:
            return given == port and _exempts(name, host, port)
        bare = entry.lstrip("*").strip(".")
        return bool(bare) and (host == bare or host.endswith(f".{bare}"))
    try:
        return ipaddress.ip_address(host) in network
    except ValueError:
        return False
