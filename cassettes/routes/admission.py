"""Who may use a port of ours: the Host, the Origin and the token of a request.

A port on loopback is open to each program of this machine, and to each page in its browser: a page may send a request
to any address, and it reads the answer when a name of its own resolves to this machine (DNS rebinding). So a request
must name this machine as its host, and must not come from a page of another place. Beyond loopback, and for
`turntape run`, it must also have the token. The recorder and the replay server have the same rules.
"""

import base64
import secrets
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal
from urllib.parse import unquote, urlsplit

from ..errors import TurntapeError
from ..frozen import frozen
from ..regex import regex
from .own_addresses import address, is_loopback, machine_addresses, machine_names
from .upstreams import by_host

TOKEN_USER = "turntape"
"""The user in a proxy URL with a token that names no run."""
PREFIX = "/t/"
"""A base URL with a token: `/t/TOKEN/openai/v1`."""
OPEN_PATHS = frozenset({"/-/live", "/-/ready"})
"""What a supervisor asks without a token, by whatever name: they say nothing of the traffic."""
_DESKTOP = frozenset({"app", "file", "tauri", "vscode-webview", "vscode-file"})
"""Origins of programs on the desktop; no web page can have one."""
_PLACE = regex(r"(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?")
"""The host and the port of an origin, as browsers write it: what is more may make an address of another name."""
_TOKEN = regex(r"[A-Za-z0-9._~-]{16,200}")

_PREFIXED = regex(r"/t/[A-Za-z0-9._~-]{16,200}(?=/|$)")

type Reason = Literal["host", "origin", "token"]


@frozen
class Refusal:
    """Why a request is not let in."""

    reason: Reason
    message: str


def new_token() -> str:
    """A token of 160 random bits, with a shape that redaction knows."""
    return f"turntape-{secrets.token_hex(20)}"


def checked_token(text: str, where: str) -> str:
    """A token of the user. Raises TurntapeError for one that is short, or does not fit into a URL."""
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise TurntapeError(
            f"the token in {where} must have 16 to 200 letters, digits and any of . _ ~ - (it becomes part of URLs); "
            "make one with: openssl rand -hex 20"
        )
    return token


def is_local(host: str) -> bool:
    """True when only this machine can reach a port on this address."""
    found = address(host)
    return host.lower() == "localhost" or (found is not None and found.is_loopback)


@frozen
class Admission:
    """The rules of one port. `token`: what each request must have; None for no token.

    `apis`: a host of a known API is good too. So a client whose requests are led to a replay server may keep its Host.
    """

    token: str | None = None
    apis: bool = False

    def path(self, target: str) -> tuple[str, bool]:
        """A request target without the token in it, and whether it had the right one."""
        if self.token is None or not target.startswith(PREFIX):
            return target, False
        given, slash, rest = target[len(PREFIX) :].partition("/")
        return (slash + rest or "/", True) if self.matches(given) else (target, False)

    def matches(self, given: str) -> bool:
        """Whether this is the token. The time that it takes says nothing about the token."""
        return self.token is not None and secrets.compare_digest(given.encode(errors="replace"), self.token.encode())

    def has_password(self, authorization: str | None) -> bool:
        """Whether a `Basic` value has the token as its password, or a `Bearer` value is it."""
        scheme, _, value = (authorization or "").partition(" ")
        if scheme.lower() == "bearer":
            return self.matches(value.strip())
        login = basic_login(authorization)
        return login is not None and self.matches(login[1])

    def refuses(
        self, host: str, origin: str | None, site: str | None, *, has_token: bool, path: str = ""
    ) -> Refusal | None:
        """Why a request to this port is refused; None when it is let in.

        `host` is the Host field, `site` is `Sec-Fetch-Site`, which browsers send with every request.
        """
        if wrong := _foreign_page(host, origin, site):
            return Refusal("origin", wrong)
        if has_token or path.partition("?")[0] in OPEN_PATHS:
            return None
        if not (is_named(host) or (self.apis and by_host(host_of(host)) is not None)):
            return Refusal(
                "host",
                f"the host {host!r} is not a name of this machine; use 127.0.0.1, localhost or its address "
                "(this protects against web pages whose name leads here)",
            )
        if self.token is not None:
            return Refusal(
                "token",
                "this port needs the token that was made for it: use the base URL or the proxy URL that turntape "
                "printed or set, which contain it",
            )
        return None


OPEN = Admission()
"""The rules of a port on loopback: every program of this machine may use it."""


def is_named(host: str) -> bool:
    """Whether a Host field names this machine, or is an address: a page whose name leads here has neither."""
    name = host_of(host)
    return address(name) is not None or is_loopback(name) or name in machine_names()


def host_of(authority: str) -> str:
    """`[::1]:80` is `::1`, `Localhost.:80` is `localhost`."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0].lower()
    return authority.rpartition(":")[0].lower().removesuffix(".") if ":" in authority else authority.lower().rstrip(".")


def _foreign_page(host: str, origin: str | None, site: str | None) -> str | None:
    """What is wrong when a page of another place sent a request."""
    if origin is None:
        if site in ("cross-site", "same-site"):
            return "a web page of another place may not send requests here"
        return None
    with suppress(ValueError):  # such as `http://[::1`
        parts = urlsplit(origin)
        is_here = _PLACE.fullmatch(parts.netloc) is not None and is_loopback(parts.hostname or "")
        if parts.scheme in _DESKTOP or parts.netloc.lower() == host.lower() or is_here:
            return None
    return f"the web page {origin!r} may not send requests here; only pages of this machine may"


def token_prefix(path: str) -> str:
    """`/t/TOKEN` when a path begins with a token, else nothing."""
    found = _PREFIXED.match(path)
    return found.group() if found else ""


def basic_login(authorization: str | None) -> tuple[str, str] | None:
    """User and password of a `Basic` value; None when it is something else."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return unquote(user), password


def field(fields: Iterable[tuple[str, str]], name: str) -> str | None:
    """The first value of a header field, in any spelling of its name."""
    return next((value for key, value in fields if key.lower() == name), None)


def base_urls(host: str, port: int, token: str | None = None) -> list[str]:
    """The URLs that reach a port that listens on `host`, with the token, the best first.

    `0.0.0.0` and `::` are for listening only: these give each address of this machine.
    """
    found = address(host)
    hosts = [host]
    if found is not None and found.is_unspecified:
        hosts = [one for one in machine_addresses() if found.version == 6 or ":" not in one] + ["127.0.0.1"]
    path = f"{PREFIX}{token}" if token else ""
    return [f"http://{f'[{one}]' if ':' in one else one}:{port}{path}" for one in hosts]


def open_to_others(port: int, opened: str) -> str:
    """The sentence for a port beyond loopback; `opened` is what whoever has the token can do."""
    return (
        f"port {port} is open to other machines: {opened} everybody who has the token in these URLs; "
        "they are not encrypted, so use a network that you trust"
    )
