"""Who is let in at the proxy's port, by the rules of `Admission`.

A request that was sent to us directly names a path of ours; it is never passed on to the host that it names. What
comes from a connection that we opened has come in a circle. A tunnel, and a request in the form for a proxy, need only
the token, where there is one.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from functools import lru_cache
from typing import Any

from mitmproxy import connection, http
from mitmproxy.net.http import url
from mitmproxy.proxy.layers import http as http_layer

from turntape.cassettes.excerpts import cut
from turntape.cassettes.routes.admission import Admission, Refusal
from turntape.cassettes.routes.own_addresses import address

from .error_answers import HEADERS, refusal
from .own_connections import OwnConnections, Place

_STATUS = {"host": 403, "origin": 403, "token": 401}
_ASKS = {"proxy-authenticate": 'Basic realm="turntape"'}
"""Some clients send the token only after this request for it."""
_SHOWN = 80
"""How many characters of a visitor's own words are repeated."""
_DIRECT = "turntape_direct"
_NO_HOST = "the request names no host: HTTP/1.1 requires a Host field (RFC 9112, 3.2), HTTP/2 :authority"


def note_direct_requests() -> None:
    """Make mitmproxy keep whether a request came in a form for a proxy. The second call has no effect.

    Afterwards all requests look alike: the place is taken from the Host header where the target has none. A direct
    request is an HTTP/1 request with a path as its target, or an HTTP/2 request, outside of a tunnel.
    """
    original = http_layer.validate_request
    if hasattr(original, _DIRECT):
        return

    def noted(mode: http_layer.HTTPMode, request: http.Request, *more: Any) -> str | None:
        if mode is http_layer.HTTPMode.regular and request.method != "CONNECT":
            direct = request.is_http2 or not request.host
            setattr(request, _DIRECT, direct)
            if direct and not _names_host(request):
                # No web page can send it. mitmproxy would refuse it before anybody could record it.
                request.data.scheme, request.data.host, request.data.port = b"http", "localhost", 80
                if request.http_version != "HTTP/1.0" or "host" in request.headers:
                    return original(mode, request, *more) or _NO_HOST
        return original(mode, request, *more)

    setattr(noted, _DIRECT, True)
    http_layer.validate_request = noted


def _names_host(request: http.Request) -> bool:
    try:
        url.parse_authority(request.host_header or "", check=True)
    except ValueError:
        return False
    return True


def is_direct(request: http.Request) -> bool:
    """True when the client talks to us as a server, not as a proxy."""
    return getattr(request, _DIRECT, False)


class Visitors:
    """The clients of the port: which tunnels have shown the token, and which connections are our own."""

    def __init__(self, admission: Admission, refused: Counter[str], own: OwnConnections | None = None) -> None:
        self.admission = admission
        self._refused = refused
        self._admitted: set[str] = set()
        self._asked: Counter[str] = Counter()
        """How many requests of each connection got 407 before it showed the token."""
        self._own = own or OwnConnections()

    def opened(self, sockname: tuple[Any, ...] | None, peername: tuple[Any, ...] | None) -> None:
        """We opened a connection; `sockname` is its local end, `peername` the other one."""
        if sockname is not None and peername is not None:
            self._own.add(_place(sockname), int(peername[1]))

    def closed(self, sockname: tuple[Any, ...] | None, peername: tuple[Any, ...] | None) -> None:
        if sockname is not None and peername is not None:
            self._own.discard(_place(sockname), int(peername[1]))

    def is_own(self, client: connection.Client) -> bool:
        """True for a connection that we opened, because a name in a request leads back to us."""
        return self._own.has(_place(client.peername), int(client.sockname[1]))

    def left(self, client: connection.Client) -> None:
        self._admitted.discard(client.id)
        self._asked.pop(client.id, None)

    def tunnel(self, flow: http.HTTPFlow) -> None:
        """A client asks for a tunnel: without the token, where one is needed, it gets 407."""
        if self._has_password(flow):
            self._admitted.add(flow.client_conn.id)
            self._answered(flow.client_conn)
        elif self.admission.token is not None:
            flow.response = self._without_token(flow)

    def passes(self, flow: http.HTTPFlow, authorization: str | None) -> bool:
        """Whether a request to another host is let in; if not, the flow has an answer."""
        if self.admission.token is None or self._is_admitted(flow, authorization):
            self._answered(flow.client_conn)
            return True
        flow.response = self._without_token(flow)
        return False

    def enters(self, flow: http.HTTPFlow, authorization: str | None, *, invited: bool) -> bool:
        """Whether a request to a path of ours is let in; if not, the flow has an answer.

        The token is taken out of the path. `invited`: an upstream has given this URL to the client.
        """
        request = flow.request
        request.path, in_path = self.admission.path(request.path)
        host = _host(request)
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        by_header = request.path.startswith("/-/") and self.admission.has_password(request.headers.get("authorization"))
        has_token = in_path or by_header or self._is_admitted(flow, authorization)
        wrong = self.admission.refuses(host, origin, site, has_token=has_token, path=request.path)
        if wrong is None or (wrong.reason == "token" and invited):
            return True
        self._count(wrong, host, origin)
        body = refusal(request.path, f"turntape_refused_{wrong.reason}", wrong.message)
        flow.response = http.Response.make(_STATUS[wrong.reason], body, HEADERS)
        return False

    def _is_admitted(self, flow: http.HTTPFlow, authorization: str | None) -> bool:
        return flow.client_conn.id in self._admitted or self.admission.has_password(authorization)

    def _has_password(self, flow: http.HTTPFlow) -> bool:
        return self.admission.has_password(flow.request.headers.get("proxy-authorization"))

    def _answered(self, client: connection.Client) -> None:
        """A connection has the token: clients such as git and curl send it only after a 407."""
        if asked := self._asked.pop(client.id, 0):
            self._refused["no token"] -= asked
            if not self._refused["no token"]:
                del self._refused["no token"]

    def _without_token(self, flow: http.HTTPFlow) -> http.Response:
        wrong = Refusal("token", "turntape's proxy needs the token of this run; use HTTPS_PROXY as turntape has set it")
        self._count(wrong, "", None)
        self._asked[flow.client_conn.id] += 1
        body = refusal(flow.request.path, "turntape_refused_token", wrong.message)
        return http.Response.make(407, body, HEADERS | _ASKS)

    def _count(self, wrong: Refusal, host: str, origin: str | None) -> None:
        if wrong.reason == "token":
            self._refused["no token"] += 1
        else:
            what = f"host {cut(host, _SHOWN)!r}" if wrong.reason == "host" else f"page {cut((origin or '?'), _SHOWN)!r}"
            self._refused[what] += 1


def _host(request: http.Request) -> str:
    return request.headers.get("host") or request.authority or request.host


def _place(name: tuple[Any, ...]) -> Place:
    """The end of a connection, the same for IPv4 within IPv6."""
    return _spelled(str(name[0])), int(name[1])


@lru_cache(64)
def _spelled(host: str) -> str:
    return str(address(host) or host)
