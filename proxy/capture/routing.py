"""Where a request goes, and whether it is recorded.

Both routes are open on one port. A request to our own address is a base-URL request: its path names the upstream. It
may come in origin form, in absolute form, or through a tunnel. Any other request is a forward request: it is recorded
when it is for a known upstream, for an `--intercept` host, or for a path of an LLM API. The rest passes unchanged.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from urllib.parse import urlsplit

from mitmproxy import connection, http, tls
from mitmproxy.proxy import server_hooks
from mitmproxy.proxy.context import Context

from turntape.cassettes.apis.lookup import is_recorded_path, is_recorded_shape
from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen
from turntape.cassettes.routes.admission import OPEN, PREFIX, TOKEN_USER, Admission, basic_login, token_prefix
from turntape.cassettes.routes.own_addresses import address, is_loopback, machine_names
from turntape.cassettes.routes.upstreams import UPSTREAMS, Location, Upstream, by_host, joined, locate
from turntape.cassettes.tape.model import joined_url, split_url

from .error_answers import HEADERS, refusal
from .flow_conversion import header_fields
from .hops import HEADER as HOPS
from .hops import Recorders, header, hops_in
from .named_places import NamedPlaces
from .own_connections import OwnConnections
from .pending import PendingRoundTrip
from .recorder_addon import RecorderAddon
from .span_paths import UPSTREAM as SPANS
from .span_paths import run_in, signal_in
from .span_receiver import accept
from .unrecorded import OWN_PORT, UnrecordedTraffic
from .upstream_proxy import UpstreamProxy
from .visitors import Visitors, is_direct

_SHOWN = 80
"""How many characters of a server's own words are repeated."""
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")


def run_of(authorization: str | None) -> str | None:
    """The run that a `Proxy-Authorization: Basic` value names as its user, or None."""
    login = basic_login(authorization)
    return login[0] or None if login and login[0] != TOKEN_USER else None


@frozen
class Played:
    """Where requests go while a recording is played: those to tool servers, and those to APIs."""

    url: str
    live: tuple[str, ...] = ()
    """Hosts whose tool servers are not played, with the port where it is part of their URL."""
    apis: bool = True
    """False when the APIs are live."""
    places: frozenset[str] = frozenset()
    """Host and path of streams of the transport of 2024-11-05, and of the messages to them: no header names either."""

    def is_live(self, *names: str) -> bool:
        """True when a server of one of these names is not played."""
        hosts = (urlsplit(f"//{name}").hostname or "" for name in names)
        return not {*names, *hosts}.isdisjoint(self.live)

    def is_for_tools(self, request: http.Request, authority: str) -> bool:
        """True for a request to a tool server."""
        return _is_for_tools(request) or authority + request.path.partition("?")[0] in self.places


def trace_in(parent: str) -> str | None:
    """The trace that a `traceparent` names (https://www.w3.org/TR/trace-context/, read 2026-11-22), or None."""
    found = _TRACEPARENT.fullmatch(parent.strip().lower())
    return found[1] if found else None


class Router:
    """Decides where each request goes, and passes those to be recorded to the recorder addon."""

    def __init__(
        self,
        recorder: RecorderAddon,
        *,
        upstreams: Mapping[str, str],
        intercept: tuple[str, ...],
        upstream_proxy: UpstreamProxy | None,
        played: Played | None = None,
        pages: Callable[[str], tuple[int, str, bytes]] | None = None,
        runs_by_trace: bool = False,
        admission: Admission = OPEN,
        addresses: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        places: NamedPlaces | None = None,
        own: OwnConnections | None = None,
    ) -> None:
        self._recorder = recorder
        self._upstreams = dict(upstreams)
        self._intercept = tuple(pattern.lower() for pattern in intercept)
        hosts = {urlsplit(url).hostname for url in self._upstreams.values()}
        self._named = {host for host in hosts if host and not is_loopback(host)}
        self._upstream_proxy = upstream_proxy
        self._played = played
        self._pages = pages
        self._runs_by_trace = runs_by_trace
        self._clock = clock
        self._runs: dict[str, str] = {}
        self._hops: dict[str, tuple[int, ...]] = {}
        """The recorders that a tunnel came through, by its client connection."""
        self._recorders = Recorders()
        self._places = places or NamedPlaces()
        self.port = 0
        """Our own port; set when it is open."""
        self.unrecorded = UnrecordedTraffic()
        self.visitors = Visitors(admission, self.unrecorded.refused, own)
        self._addresses = {address(one) for one in addresses}

    def is_us(self, host: str, port: int) -> bool:
        """True for our own port, in every spelling of a name or address of this machine."""
        if port != self.port:
            return False
        name = host.lower().removesuffix(".")
        return is_loopback(host) or name in machine_names() or (address(host) or "") in self._addresses

    def is_wanted(self, host: str) -> bool:
        """True when TLS to this host is opened and its requests are recorded."""
        return self._is_api(host) or any(fnmatchcase(host.lower(), pattern) for pattern in self._intercept)

    def _is_api(self, host: str) -> bool:
        """True for a host that certainly speaks HTTP, within TLS or without it."""
        return by_host(host.lower()) is not None or host.lower() in self._named

    def is_tunnelled(self, context: Context, data: bytes, answer: bytes = b"") -> bool | None:
        """True when the connection behind a CONNECT is passed on unchanged; None when that is not certain yet.

        `data` are the first bytes of the client, `answer` those of a server that speaks first, as none does in HTTP
        or TLS.
        """
        if context.server.address is None:
            return False
        host, port = context.server.address[:2]
        is_http = self.is_us(host, port) or self._is_api(host)
        is_opened = is_http or self.is_wanted(host)
        if is_http or (not answer and (is_opened or is_loopback(host))):
            if not data:
                return None
            if is_opened or data[:1] != b"\x16":
                return False
        self.unrecorded.tunnelled[host] += 1
        return True

    def may_call(self, context: Context) -> bool:
        """True when the server behind a CONNECT may be called before the client has said what it wants of it."""
        if context.server.address is None or self._played is not None or "*" in self._upstreams:
            return False
        host, port = context.server.address[:2]
        return not (self.is_us(host, port) or self._is_api(host)) and self.via(host, port) is None

    def via(self, host: str, port: int) -> UpstreamProxy | None:
        """The upstream proxy, when requests for this place use it."""
        proxy = self._upstream_proxy
        return proxy if proxy is not None and proxy.is_used_for(host, port) else None

    # Hooks

    def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """mitmproxy asks the upstream proxy for a tunnel."""
        if self._upstream_proxy is not None and self._upstream_proxy.authorization:
            flow.request.headers["proxy-authorization"] = self._upstream_proxy.authorization
        if self._upstream_proxy is not None and self._is_other(self._upstream_proxy.host, self._upstream_proxy.port):
            flow.request.headers[HOPS] = header(self._hops.get(flow.client_conn.id, ()), self.port)

    def http_connect(self, flow: http.HTTPFlow) -> None:
        if hops := hops_in(flow.request.headers.pop(HOPS, "")):
            self._hops[flow.client_conn.id] = hops
        if self.port in hops:
            flow.response = led_round(flow.request)
            return
        self.visitors.tunnel(flow)
        run = run_of(flow.request.headers.get("proxy-authorization"))
        if run and flow.response is None:
            self._runs[flow.client_conn.id] = run

    def client_disconnected(self, client: connection.Client) -> None:
        self._runs.pop(client.id, None)
        self._hops.pop(client.id, None)
        self.visitors.left(client)

    def server_connected(self, data: server_hooks.ServerConnectionHookData) -> None:
        self.visitors.opened(data.server.sockname, data.server.peername)

    def server_disconnected(self, data: server_hooks.ServerConnectionHookData) -> None:
        self.visitors.closed(data.server.sockname, data.server.peername)

    def tls_clienthello(self, data: tls.ClientHelloData) -> None:
        """A server that was called while its client said nothing gets its handshake before the client does."""
        if data.context.server.connected:
            data.establish_server_tls_first = True

    def tls_failed_client(self, data: tls.TlsData) -> None:
        address = data.context.server.address
        name = data.conn.sni if address or data.conn.sni != "localhost" else None
        self.unrecorded.distrusted[name or (address[0] if address else OWN_PORT)] += 1

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        request = flow.request
        login = request.headers.pop("proxy-authorization", None)
        run = run_of(login) or self._runs.get(flow.client_conn.id)
        if run is None and self._runs_by_trace:
            run = trace_in(request.headers.get("traceparent", ""))
        request.headers.pop("proxy-connection", None)
        hops = (*self._hops.get(flow.client_conn.id, ()), *hops_in(request.headers.pop(HOPS, "")))
        if self.visitors.is_own(flow.client_conn):
            flow.response = led_back(request)
        elif self.port in hops:
            flow.response = led_round(request)
        elif is_direct(request) or self.is_us(request.host, request.port):
            if self.visitors.enters(flow, login, invited=self._places.get(_asked(request)) is not None):
                self._base_url(flow, run)
        elif self.visitors.passes(flow, login):
            self._forward(flow, run)
        if flow.response is None:
            self._use_upstream_proxy(flow)
            if flow.server_conn.via is None and self._is_other(request.data.host, request.data.port):
                request.headers[HOPS] = header(hops, self.port)
        elif request.method == "HEAD":
            flow.response.content = b""  # an answer to HEAD has no body: it would be read as the next answer

    def _is_other(self, host: str, port: int) -> bool:
        """True for a port of this machine that a recorder listens on."""
        return (is_loopback(host) or host.lower().removesuffix(".") in machine_names()) and self._recorders.have(port)

    def _base_url(self, flow: http.HTTPFlow, run: str | None) -> None:
        request = flow.request
        if self._pages is not None and request.path.startswith("/-/"):
            status, kind, body = self._pages(request.path)
            flow.response = http.Response.make(status, body, {"content-type": kind, "cache-control": "no-store"})
            return
        signal = signal_in(request.path)
        if signal and SPANS not in self._upstreams:
            accept(flow)
            if signal == "traces":
                url = f"http://127.0.0.1:{self.port}/{SPANS}/v1/traces"
                self._begin(flow, url, run_in(request.path) or run, "base_url", SPANS)
            return
        asked = _asked(request)
        location = self._places.get(asked) or locate(request.path, self._upstreams)
        if location is None:
            flow.response = unknown_route(request.path)
            return
        authority = urlsplit(location.url).netloc.rpartition("@")[2]
        request.path = location.path
        self._send_to(flow, self._or_played(location.url, request, authority))
        if "host" in request.headers:
            request.headers["host"] = authority
        if request.data.authority:
            request.data.authority = authority.encode()
        if signal not in (None, "traces"):
            return
        path = location.path.removeprefix(token_prefix(location.path))
        pending = self._begin(flow, location.url + path, location.run or run, "base_url", location.upstream.name)
        if _wants_a_stream(request):
            pending.opened = partial(self._opened, pending, asked, replace(location, run=location.run or run))

    def _forward(self, flow: http.HTTPFlow, run: str | None) -> None:
        request = flow.request
        host, authority = request.host, _authority(request)
        upstream = by_host(host)
        url = f"{request.scheme}://{authority}{request.path}"
        path = request.path.partition("?")[0]
        played = self._played
        if played is not None and played.is_for_tools(request, authority) and not played.is_live(authority, host):
            self._send_to(flow, played.url)
        elif not self.is_wanted(host) and not is_recorded_path(path):
            self._by_shape(flow, url, run)
            return
        else:
            self._redirect(flow, upstream)
        self._begin(flow, url, run, "forward", upstream.name if upstream else None)

    def _or_played(self, base: str, request: http.Request, authority: str) -> str:
        """Where a recording is played in place of `base`; `base` where none is."""
        played = self._played
        if played is None or played.is_live(authority) or authority == urlsplit(played.url).netloc:
            return base
        return played.url if played.apis or played.is_for_tools(request, authority) else base

    def _by_shape(self, flow: http.HTTPFlow, url: str, run: str | None) -> None:
        """Record a forward request that its headers prove to be of an API; in doubt, begin and see."""
        request = flow.request
        stream = _wants_a_stream(request)
        certain = self._places.get(url) is not None or is_recorded_shape(
            request.method, header_fields(request.headers), b""
        )
        may_hold = request.method == "POST" and "json" in request.headers.get("content-type", "").lower()
        if not (certain or stream or may_hold):
            self.unrecorded.passed[request.host] += 1
            return
        pending = self._begin(flow, url, run, "forward", None)
        if not certain:
            pending.doubt = partial(self.unrecorded.passed.update, [request.host])
        if stream:
            place = Location(run, Upstream("", None), request.path, url.removesuffix(request.path))
            pending.opened = partial(self._opened, pending, url, place)

    def _opened(self, pending: PendingRoundTrip, asked: str, location: Location, named: str) -> None:
        """A stream of an upstream names the URL for the client's messages, relative to the URL that it asked for.

        A URL that leads to us, or to another upstream, keeps its meaning: a tool server could else have the requests
        to an LLM API sent to itself, with their keys.
        """
        url = joined_url(asked, named)
        if not split_url(url).netloc:
            pending.faults.append(
                f"the stream names {cut(named, _SHOWN)!r} for the client's messages, which is not a URL"
            )
            return
        if self._is_taken(split_url(url).path, location.upstream.name):
            pending.faults.append(
                f"the stream names {cut(named, _SHOWN)!r} for the client's messages, a path that leads to turntape "
                "or to another upstream; they are not sent to the server of the stream"
            )
            return
        target = split_url(joined_url(location.url + location.path, named))
        path = target.path + (f"?{target.query}" if target.query else "")
        place = replace(location, path=path, url=f"{target.scheme}://{target.netloc}")
        self._places.add(url, place)

    def _is_taken(self, path: str, upstream: str) -> bool:
        """True for a path of our own port that is not this upstream's."""
        location = locate(path, self._upstreams)
        is_others = location is not None and location.upstream.name != upstream
        return is_others or signal_in(path) is not None or path.startswith(("/-/", PREFIX))

    def _redirect(self, flow: http.HTTPFlow, upstream: Upstream | None) -> None:
        """Send a forward request where `--upstream` says."""
        override = (upstream and self._upstreams.get(upstream.name)) or self._upstreams.get("*")
        if override is None:
            return
        if upstream is None:
            # A gateway or a local model is an LLM API too: during a replay it must not be called.
            self._send_to(flow, override)
        elif override != upstream.url:
            base, flow.request.path = joined(override, upstream, flow.request.path)
            self._send_to(flow, self._or_played(base, flow.request, urlsplit(base).netloc))

    def _send_to(self, flow: http.HTTPFlow, base: str) -> None:
        parts = urlsplit(base)
        flow.request.path = token_prefix(parts.path) + flow.request.path
        data = flow.request.data
        data.scheme = parts.scheme.encode()
        data.host = parts.hostname or ""
        data.port = parts.port or (443 if parts.scheme == "https" else 80)

    def _use_upstream_proxy(self, flow: http.HTTPFlow) -> None:
        """Send a request through the upstream proxy, when its place is not exempt.

        Plain HTTP is requested in absolute form, because many proxies open no tunnel to port 80. A tunnel is used for
        traffic that needs one (TLS, WebSockets) or has no absolute form (HTTP/2, a proxy that itself uses TLS).
        """
        request, data = flow.request, flow.request.data
        via = self.via(data.host, data.port)
        if via is None:
            return
        absolute = request.http_version.startswith("HTTP/1") and "upgrade" not in request.headers
        if data.scheme == b"http" and via.scheme == "http" and absolute:
            host = f"[{data.host}]" if ":" in data.host else data.host
            data.authority = (host if data.port == 80 else f"{host}:{data.port}").encode()
            data.host, data.port = via.host, via.port
            if via.authorization:
                request.headers["proxy-authorization"] = via.authorization
        else:
            flow.server_conn.via = via.spec

    def _begin(
        self, flow: http.HTTPFlow, url: str, run: str | None, route: str, upstream: str | None
    ) -> PendingRoundTrip:
        pending = PendingRoundTrip(url, self._clock(), time.monotonic_ns(), run, route, upstream)
        self._recorder.begin(flow, pending)
        return pending


def _is_for_tools(request: http.Request) -> bool:
    """True for a request to a tool server, by its headers alone."""
    accepted = request.headers.get("accept", "").lower()
    # A client must accept both kinds of answers to a message (MCP 2025-11-25, transports).
    asks = request.method == "POST" and "application/json" in accepted and "text/event-stream" in accepted
    return asks or is_recorded_shape(request.method, header_fields(request.headers), b"")


def _authority(request: http.Request) -> str:
    """The host that the client named: in its Host header, if it has one."""
    return request.headers.get("host") or request.authority or f"{request.host}:{request.port}"


def _asked(request: http.Request) -> str:
    """The URL of a base-URL request, as the client sees it."""
    return f"http://{_authority(request)}{request.path}"


def _wants_a_stream(request: http.Request) -> bool:
    return request.method == "GET" and "text/event-stream" in request.headers.get("accept", "").lower()


def led_back(request: http.Request) -> http.Response:
    """The answer to a request that came back to us: forwarded again, it would come back without end."""
    sentence = (
        f"the host {_authority(request)!r} leads back to turntape itself; "
        "use 127.0.0.1 as the base URL, or the address of the API"
    )
    return _loop(request, sentence)


def led_round(request: http.Request) -> http.Response:
    """The answer to a request that came back to us through another recorder."""
    return _loop(
        request,
        f"the upstream of another recorder leads back to this one ({_authority(request)!r}): the request would go "
        "round without end; give one of them the address of the API with --upstream",
    )


def _loop(request: http.Request, sentence: str) -> http.Response:
    body = refusal(request.path, "turntape_loop", sentence)
    return http.Response.make(508, body, {**HEADERS, "content-type": "application/json"})


def unknown_route(path: str) -> http.Response:
    """The answer to a base-URL request that names no upstream."""
    names = ", ".join(upstream.name for upstream in UPSTREAMS if upstream.url)
    sentence = (
        f"turntape has no upstream for {path!r}: begin the path with one of {names}, "
        "or name your own with --upstream NAME=URL"
    )
    body = {"type": "error", "error": {"type": "turntape_unknown_upstream", "message": sentence}, "message": sentence}
    return http.Response.make(
        404, json.dumps(body).encode(), {"content-type": "application/json", "x-should-retry": "false"}
    )
