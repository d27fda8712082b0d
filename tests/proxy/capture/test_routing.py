"""Where a request goes, and whether it is recorded, on both routes."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from mitmproxy import connection, http
from mitmproxy.proxy import server_hooks
from mitmproxy.proxy.context import Context
from mitmproxy.test import taddons, tflow
from mitmproxy.test.tflow import tclient_conn
from mitmproxy.tls import TlsData

from turntape.cassettes import RoundTrip
from turntape.cassettes.apis.lookup import recorded_paths
from turntape.cassettes.routes.upstreams import UPSTREAMS, Upstream
from turntape.proxy.capture.pending import PendingRoundTrip
from turntape.proxy.capture.recorder_addon import RecorderAddon
from turntape.proxy.capture.routing import Played, Router, run_of
from turntape.proxy.capture.unrecorded import OWN_PORT
from turntape.proxy.capture.upstream_proxy import UpstreamProxy
from turntape.proxy.gateway.status_pages import StatusPages

PORT = 8484


class Routed:
    """A router on port 8484, with a recorder addon."""

    def __init__(
        self,
        intercept: tuple[str, ...] = (),
        upstream_proxy: UpstreamProxy | None = None,
        played: Played | None = None,
        pages: Callable[[str], tuple[int, str, bytes]] | None = None,
        runs_by_trace: bool = False,
        **upstreams: str,
    ) -> None:
        kept: list[RoundTrip] = []
        self.recorder = RecorderAddon(kept.append)
        named = {("*" if name == "all" else name): url for name, url in upstreams.items()}
        self.router = Router(
            self.recorder,
            upstreams=named,
            intercept=intercept,
            upstream_proxy=upstream_proxy,
            played=played,
            pages=pages,
            runs_by_trace=runs_by_trace,
            clock=lambda: 1000.0,
        )
        self.router.port = PORT

    def __call__(self, url: str, version: str = "HTTP/1.1", method: str = "POST", **headers: str) -> http.HTTPFlow:
        """A request to `url`, as a client sends it to us; a URL without a host is a base-URL request."""
        if url.startswith("/"):
            url = f"http://127.0.0.1:{PORT}{url}"
        flow = tflow.tflow(req=http.Request.make(method, url, b"{}"))
        flow.request.http_version = version
        if version == "HTTP/2.0":
            flow.request.data.authority = urlsplit(url).netloc.encode()
        else:
            flow.request.headers["host"] = urlsplit(url).netloc
        for name, value in headers.items():
            flow.request.headers[name.replace("_", "-")] = value
        self.router.requestheaders(flow)
        return flow

    def recorded(self, flow: http.HTTPFlow) -> bool:
        return flow.id in self.recorder.pending


def to(flow: http.HTTPFlow) -> str:
    """Where the request is sent on to."""
    data = flow.request.data
    return f"{data.scheme.decode()}://{data.host}:{data.port}{flow.request.path}"


def test_a_base_url_request_goes_to_its_upstream_and_is_recorded() -> None:
    route = Routed()

    flow = route("/openai/chat/completions?a=1")

    assert to(flow) == "https://api.openai.com:443/v1/chat/completions?a=1"
    assert flow.request.headers["host"] == "api.openai.com"
    pending = route.recorder.pending[flow.id]
    assert (pending.url, pending.route, pending.upstream) == (
        "https://api.openai.com/v1/chat/completions?a=1",
        "base_url",
        "openai",
    )


def test_an_override_with_a_key_and_a_port_is_where_it_goes() -> None:
    flow = Routed(openai="http://user:pass@127.0.0.1:9000/gateway")("/openai/v1/models")

    assert to(flow) == "http://127.0.0.1:9000/gateway/v1/models"
    assert flow.request.headers["host"] == "127.0.0.1:9000"


def test_a_base_url_without_an_upstream_gets_an_answer_that_says_what_to_write() -> None:
    route = Routed()

    flow = route("/v1/chat/completions")

    assert flow.response is not None and flow.response.content is not None
    assert (flow.response.status_code, flow.response.headers["x-should-retry"]) == (404, "false")
    message = json.loads(flow.response.content)["error"]["message"]
    assert "'/v1/chat/completions'" in message and "openai, anthropic" in message and "--upstream NAME=URL" in message
    assert not route.recorded(flow)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "agent.localhost", "127.1.2.3"])
def test_we_are_known_by_every_name_of_this_machine(host: str) -> None:
    router = Routed().router

    assert router.is_us(host, PORT)
    assert not router.is_us(host, PORT + 1)


@pytest.mark.parametrize("host", ["example.com", "localhost.example.com", "128.0.0.1", "::2", ""])
def test_others_are_not_us(host: str) -> None:
    assert not Routed().router.is_us(host, PORT)


def test_a_forward_request_to_a_known_host_is_recorded_and_goes_where_it_went() -> None:
    route = Routed()

    flow = route("https://api.anthropic.com/v1/messages")

    assert to(flow) == "https://api.anthropic.com:443/v1/messages"
    pending = route.recorder.pending[flow.id]
    assert (pending.url, pending.route, pending.upstream) == (
        "https://api.anthropic.com/v1/messages",
        "forward",
        "anthropic",
    )


@pytest.mark.parametrize("name", ["openai", "all"])
def test_an_override_holds_on_the_forward_route_and_the_clients_host_is_kept(name: str) -> None:
    override: dict[str, Any] = {name: "http://127.0.0.1:9000/v1"}
    route = Routed(**override)

    flow = route("https://api.openai.com/v1/chat/completions", host="api.openai.com")

    assert to(flow) == "http://127.0.0.1:9000/v1/chat/completions"
    assert flow.request.headers["host"] == "api.openai.com"
    assert route.recorder.pending[flow.id].url == "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize("upstream", [one for one in UPSTREAMS if one.version.count("/") > 1], ids=lambda one: one.name)
def test_an_override_with_a_part_of_the_base_path_has_it_once_on_both_routes(upstream: Upstream) -> None:
    first = upstream.version.split("/")[1]
    override: dict[str, Any] = {upstream.name: f"http://127.0.0.1:9000/{first}"}
    route = Routed(**override)
    wanted = f"http://127.0.0.1:9000{upstream.version}/chat/completions"

    assert to(route(f"{upstream.url}{upstream.version}/chat/completions", host=upstream.hosts[0])) == wanted
    assert to(route(f"/{upstream.name}/chat/completions")) == wanted
    assert to(route(f"/{upstream.name}{upstream.version}/chat/completions")) == wanted


@pytest.mark.parametrize("host", ["127.0.0.1:11434", "gateway.example"])
def test_a_gateway_under_any_host_is_known_by_its_path(host: str) -> None:
    route = Routed()

    for path in ("/v1/chat/completions", "/v1/messages?beta=true", "/api/chat", "/v1beta/models/m:generateContent"):
        assert route.recorded(route(f"http://{host}{path}")), path


def test_other_requests_pass_and_are_counted() -> None:
    route = Routed()

    flows = [route("http://pypi.example/simple/x"), route("http://pypi.example/y"), route("http://127.0.0.1:1/health")]

    assert not any(route.recorded(flow) for flow in flows)
    assert route.router.unrecorded.passed == {"pypi.example": 2, "127.0.0.1": 1}
    assert to(flows[0]) == "http://pypi.example:80/simple/x"


@pytest.mark.parametrize("pattern", ["*.corp.example", "LLM.corp.example", "*"])
def test_a_host_that_is_intercepted_is_recorded_whatever_its_path(pattern: str) -> None:
    route = Routed(intercept=(pattern,))

    assert route.recorded(route("http://llm.corp.example/anything"))
    assert route.router.is_wanted("LLM.Corp.Example")


def test_the_host_of_an_override_is_recorded_too() -> None:
    route = Routed(openai="https://gateway.example/v1")

    assert route.router.is_wanted("gateway.example")
    assert not Routed().router.is_wanted("gateway.example")


def user(name: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:x".encode()).decode()


def test_a_run_is_named_by_path_or_by_proxy_user_and_the_path_wins() -> None:
    route = Routed()

    def run(flow: http.HTTPFlow) -> str | None:
        return route.recorder.pending[flow.id].run

    assert run(route("/s/night%20one/openai/v1/models")) == "night one"
    assert run(route("https://api.openai.com/v1/models", proxy_authorization=user("a%2Fb"))) == "a/b"
    assert run(route("/s/path/openai/v1/models", proxy_authorization=user("user"))) == "path"
    assert run(route("/openai/v1/models")) is None


TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_request_without_a_name_is_of_the_run_of_its_trace() -> None:
    route, off = Routed(runs_by_trace=True), Routed()
    parent = f"00-{TRACE}-b7ad6b7169203331-01"

    def run(flow: http.HTTPFlow) -> str | None:
        return route.recorder.pending[flow.id].run

    assert run(route("/openai/v1/models", traceparent=parent)) == TRACE
    assert run(route("https://api.openai.com/v1/models", traceparent=parent)) == TRACE
    assert run(route("/s/path/openai/v1/models", traceparent=parent)) == "path"
    assert run(route("/openai/v1/models", traceparent="00-" + "0" * 32 + "-b7ad6b7169203331-01")) is None
    assert run(route("/openai/v1/models")) is None
    assert off.recorder.pending[off("/openai/v1/models", traceparent=parent).id].run is None


def test_status_pages_are_answered_and_not_recorded() -> None:
    route = Routed(pages=lambda path: (503, "text/plain", path.encode()))

    flow = route("/-/ready?x=1", method="GET")

    assert flow.response and (flow.response.status_code, flow.response.content) == (503, b"/-/ready?x=1")
    assert flow.response.headers["cache-control"] == "no-store"
    assert not route.recorded(flow)
    assert Routed()("/-/ready", method="GET").response.status_code == 404  # pyright: ignore[reportOptionalMemberAccess]


def test_proxy_headers_are_not_sent_on() -> None:
    flow = Routed()("https://api.openai.com/v1/models", proxy_authorization=user("a"), proxy_connection="keep-alive")

    assert "proxy-authorization" not in flow.request.headers
    assert "proxy-connection" not in flow.request.headers


def test_a_tunnel_names_the_run_of_all_that_comes_through_it_until_it_closes() -> None:
    route = Routed()
    connect = tflow.tflow(req=http.Request.make("GET", "https://api.openai.com/"))
    connect.request.headers["proxy-authorization"] = user("tunnel")
    route.router.http_connect(connect)

    def inside() -> str | None:
        flow = tflow.tflow(req=http.Request.make("POST", "https://api.openai.com/v1/models", b"{}"))
        flow.client_conn = connect.client_conn
        route.router.requestheaders(flow)
        return route.recorder.pending[flow.id].run

    assert inside() == "tunnel"
    route.router.client_disconnected(connect.client_conn)
    assert inside() is None


@pytest.mark.parametrize("value", [None, "", "Bearer abc", "Basic !!!", "Basic", user(""), "Basic /w=="])
def test_an_authorization_that_names_no_run(value: str | None) -> None:
    assert run_of(value) is None


def test_the_run_is_the_user_up_to_the_first_colon() -> None:
    assert run_of("Basic " + base64.b64encode(b"night:x:y").decode()) == "night"


TLS, PLAIN = b"\x16\x03\x01", b"GET / HTTP/1.1"


@pytest.mark.parametrize(
    ("host", "data", "tunnelled"),
    [
        ("api.openai.com", TLS, False),
        ("my-team.openai.azure.com", TLS, False),
        ("pypi.example", TLS, True),
        ("pypi.example", PLAIN, True),
        ("127.0.0.1", PLAIN, False),
        ("127.0.0.1", TLS, True),
    ],
)
def test_what_a_connect_leads_to_is_opened_only_where_an_llm_may_be(host: str, data: bytes, tunnelled: bool) -> None:
    router = Routed().router
    with taddons.context() as addons:
        context = Context(tclient_conn(), addons.options)
    context.server.address = (host, 443)

    assert router.is_tunnelled(context, data) is tunnelled
    assert router.unrecorded.tunnelled == ({host: 1} if tunnelled else {})


@pytest.mark.parametrize("ending", recorded_paths())
@pytest.mark.parametrize("query", ["", "?a=1"])
def test_each_path_of_an_llm_api_is_recorded_on_any_host(ending: str, query: str) -> None:
    route = Routed()

    path = ending.replace("**", "a/b").replace("*", "a")
    assert route.recorded(route(f"http://gateway.example/x{path}{query}"))
    assert ending.endswith("*") or not route.recorded(route(f"http://gateway.example/x{path}/some/more{query}"))


def test_the_paths_are_those_of_the_apis() -> None:
    assert set(recorded_paths()) == {
        *("/chat/completions", "/completions", "/responses", "/messages", "/embeddings", "/interactions"),
        *(":rawPredict", ":streamRawPredict"),
        *(":generateContent", ":streamGenerateContent", "/converse", "/converse-stream"),
        *("/invoke", "/invoke-with-response-stream", "/api/chat", "/api/generate", "/v2/chat", "/v1/chat"),
        *("/conversations", "/conversations/*", "/conversations/*/restart"),
        *("/agents/sessions", "/agents/sessions/*/events", "/sessions/*/events/stream"),
        *("/services/aigc/text-generation/generation", "/services/aigc/multimodal-generation/generation"),
        *("/ai/run/@**", "/ai/run/%40**", "/workers-ai/@**", "/workers-ai/%40**"),
    }


def test_http_2_names_its_host_in_the_authority() -> None:
    flow = Routed()("/openai/v1/models", version="HTTP/2.0")

    assert flow.request.data.authority == b"api.openai.com"
    assert "host" not in flow.request.headers


def test_http_2_on_the_forward_route_keeps_its_authority() -> None:
    route = Routed(openai="http://127.0.0.1:9000")

    flow = route("https://api.openai.com/v1/models", version="HTTP/2.0")

    assert flow.request.data.authority == b"api.openai.com"
    assert route.recorder.pending[flow.id].url == "https://api.openai.com/v1/models"


def test_http_1_has_no_authority() -> None:
    assert Routed()("/openai/v1/models").request.data.authority == b""


def test_an_authority_leaves_the_login_out() -> None:
    flow = Routed(openai="http://user:pass@llm.corp:81")("/openai/v1/models", version="HTTP/2.0")

    assert flow.request.data.authority == b"llm.corp:81"


def test_a_request_without_a_host_header_is_known_by_its_place() -> None:
    route = Routed()
    flow = tflow.tflow(req=http.Request.make("POST", "http://127.0.0.1:11434/api/chat", b"{}"))
    flow.request.headers.pop("host", None)

    route.router.requestheaders(flow)

    assert route.recorder.pending[flow.id].url == "http://127.0.0.1:11434/api/chat"


def test_the_ports_are_those_of_the_scheme() -> None:
    assert to(Routed(openai="http://llm.corp")("/openai/v1/models")) == "http://llm.corp:80/v1/models"
    assert to(Routed(openai="https://llm.corp")("/openai/v1/models")) == "https://llm.corp:443/v1/models"


def test_a_start_is_noted_by_both_clocks() -> None:
    route = Routed()

    pending = route.recorder.pending[route("/openai/v1/models").id]

    assert pending.started_at == 1000.0
    assert 0 <= pending.now() < 60_000_000


def test_the_host_of_an_override_on_loopback_is_not_opened_for_others() -> None:
    assert not Routed(openai="http://127.0.0.1:9000").router.is_wanted("127.0.0.1")


def test_an_override_for_all_replaces_other_apis_by_host_and_keeps_their_path() -> None:
    route = Routed(all="http://127.0.0.1:9000/ignored")

    flow = route("http://gateway.example/v1/chat/completions")

    assert to(flow) == "http://127.0.0.1:9000/v1/chat/completions"
    assert route.recorder.pending[flow.id].upstream is None


def test_an_override_that_is_the_upstreams_own_url_moves_no_request_to_another_host() -> None:
    route = Routed(mistral="https://api.mistral.ai")

    assert to(route("https://codestral.mistral.ai/v1/models")) == "https://codestral.mistral.ai:443/v1/models"


def test_an_override_for_one_api_leaves_the_others_alone() -> None:
    route = Routed(openai="http://127.0.0.1:9000")

    assert to(route("https://api.anthropic.com/v1/messages")) == "https://api.anthropic.com:443/v1/messages"
    assert to(route("http://gateway.example/v1/messages")) == "http://gateway.example:80/v1/messages"


def test_an_override_for_one_api_comes_before_one_for_all() -> None:
    route = Routed(openai="http://127.0.0.1:9000", all="http://127.0.0.1:9001")

    assert to(route("https://api.openai.com/v1/models")) == "http://127.0.0.1:9000/v1/models"
    assert to(route("https://api.anthropic.com/v1/messages")) == "http://127.0.0.1:9001/v1/messages"


def test_an_override_without_a_host_opens_no_host() -> None:
    router = Routed(openai="http:///v1").router

    assert not router.is_wanted("")
    assert not router.is_wanted("other.example")


# The upstream proxy


CORP = UpstreamProxy("http", "corp", 3128, "Basic am86eA==", exempt=("exempt.example",))


def test_plain_http_is_requested_from_the_upstream_proxy_in_absolute_form() -> None:
    route = Routed(upstream_proxy=CORP)

    flow = route("http://gateway.example/v1/messages")

    data = flow.request.data
    assert (data.host, data.port, data.authority) == ("corp", 3128, b"gateway.example")
    assert flow.request.headers["proxy-authorization"] == "Basic am86eA=="
    assert flow.server_conn.via is None
    assert route.recorder.pending[flow.id].url == "http://gateway.example/v1/messages"


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://gateway.example:8080/v1/messages", b"gateway.example:8080"),
        ("http://[2001:db8::1]/v1/messages", b"[2001:db8::1]"),
        ("http://[2001:db8::1]:81/v1/messages", b"[2001:db8::1]:81"),
    ],
)
def test_the_absolute_form_names_host_and_port(url: str, authority: bytes) -> None:
    assert Routed(upstream_proxy=CORP)(url).request.data.authority == authority


def test_an_upstream_proxy_without_a_login_gets_none() -> None:
    flow = Routed(upstream_proxy=UpstreamProxy("http", "corp", 3128))("http://gateway.example/v1/messages")

    assert "proxy-authorization" not in flow.request.headers


@pytest.mark.parametrize(
    ("url", "proxy", "options"),
    [
        ("https://api.openai.com/v1/models", CORP, {}),
        ("/openai/v1/models", CORP, {}),
        ("http://gateway.example/v1/messages", CORP, {"version": "HTTP/2.0"}),
        ("http://gateway.example/v1/responses", CORP, {"upgrade": "websocket"}),
        ("http://gateway.example/v1/messages", UpstreamProxy("https", "corp", 3128), {}),
    ],
    ids=["TLS", "base URL", "HTTP/2", "WebSocket", "proxy behind TLS"],
)
def test_what_has_no_absolute_form_gets_a_tunnel(url: str, proxy: UpstreamProxy, options: dict[str, str]) -> None:
    flow = Routed(upstream_proxy=proxy)(url, **options)

    assert flow.server_conn.via == proxy.spec
    assert flow.request.data.host != "corp"
    assert "proxy-authorization" not in flow.request.headers


@pytest.mark.parametrize("url", ["http://exempt.example/v1/messages", "http://127.0.0.1:9/v1/messages"])
def test_exempt_hosts_are_connected_to_directly(url: str) -> None:
    flow = Routed(upstream_proxy=CORP)(url)

    assert flow.server_conn.via is None
    assert flow.request.data.host != "corp"


def test_an_unrecorded_request_uses_the_upstream_proxy_too() -> None:
    assert Routed(upstream_proxy=CORP)("http://pypi.example/simple").request.data.host == "corp"


def test_a_request_that_turntape_answers_goes_nowhere() -> None:
    flow = Routed(upstream_proxy=CORP)("/unknown")

    assert flow.response is not None
    assert flow.request.data.host == "127.0.0.1"


@pytest.mark.parametrize(("proxy", "login"), [(CORP, CORP.authorization), (None, None)])
def test_a_tunnel_is_requested_with_the_login(proxy: UpstreamProxy | None, login: str | None) -> None:
    connect = tflow.tflow()

    Routed(upstream_proxy=proxy).router.http_connect_upstream(connect)

    assert connect.request.headers.get("proxy-authorization") == login


# What is not recorded


def test_a_client_that_ends_the_handshake_is_counted_by_host() -> None:
    router = Routed().router
    with taddons.context() as addons:
        context = Context(tclient_conn(), addons.options)
    context.server.address = ("192.0.2.1", 443)
    for sni in ("api.openai.com", None):
        context.client.sni = sni
        router.tls_failed_client(TlsData(context.client, context))
    context.server.address = None
    for sni in (None, "localhost", "api.openai.com"):
        context.client.sni = sni
        router.tls_failed_client(TlsData(context.client, context))

    assert router.unrecorded.distrusted == {"api.openai.com": 2, "192.0.2.1": 1, OWN_PORT: 2}


def test_a_connection_that_has_no_place_yet_is_not_tunnelled() -> None:
    router = Routed().router
    with taddons.context() as addons:
        context = Context(tclient_conn(), addons.options)
    context.server.address = None

    assert not router.is_tunnelled(context, TLS)
    assert not router.unrecorded.tunnelled


def test_a_tunnel_to_an_ipv6_address_is_counted_by_its_host() -> None:
    """Such an address has four parts."""
    router = Routed().router
    with taddons.context() as addons:
        context = Context(tclient_conn(), addons.options)
    address: Any = ("2001:db8::1", 443, 0, 0)
    context.server.address = address

    assert router.is_tunnelled(context, TLS)
    assert router.unrecorded.tunnelled == {"2001:db8::1": 1}


def test_a_tunnel_to_ourselves_is_opened() -> None:
    router = Routed().router
    with taddons.context() as addons:
        context = Context(tclient_conn(), addons.options)
    context.server.address = ("127.0.0.1", PORT)

    assert not router.is_tunnelled(context, TLS)


def connected(router: Router, port: int) -> Any:
    """Our connection to an upstream, whose local end is this port."""
    server = connection.Server(address=("192.0.2.7", PORT))
    server.sockname = ("127.0.0.1", port)
    server.peername = tclient_conn().sockname
    data = server_hooks.ServerConnectionHookData(server, tclient_conn())
    router.server_connected(data)
    return data


def test_a_request_that_comes_back_to_us_is_answered_and_not_sent_on() -> None:
    routed = Routed()
    flow = tflow.tflow(req=http.Request.make("POST", "http://my-machine:8484/v1/chat/completions", b"{}"))
    assert flow.client_conn.peername is not None
    data = connected(routed.router, flow.client_conn.peername[1])

    routed.router.requestheaders(flow)

    assert flow.response is not None
    assert (flow.response.status_code, routed.recorded(flow)) == (508, False)
    assert "the host 'my-machine:8484' leads back to turntape itself" in (flow.response.text or "")
    assert json.loads(flow.response.content or b"")["error"]["type"] == "turntape_loop"

    flow.response = None
    routed.router.server_disconnected(data)
    routed.router.requestheaders(flow)

    assert (flow.response, routed.recorded(flow)) == (None, True)


def test_a_connection_without_a_local_end_is_not_a_loop() -> None:
    routed = Routed()
    data = server_hooks.ServerConnectionHookData(connection.Server(address=None), tclient_conn())

    routed.router.server_connected(data)
    routed.router.server_disconnected(data)

    assert routed("https://api.openai.com/v1/chat/completions").response is None


@pytest.mark.parametrize("host", ["0.0.0.0", "LOCALHOST", "localhost.", "127.1", "2130706433", "0x7f.1", "[::1]"])
def test_our_address_is_known_in_every_spelling(host: str) -> None:
    flow, usual = Routed()(f"http://{host}:{PORT}/openai/v1/models"), Routed()("/openai/v1/models")

    assert to(flow) == to(usual)


SERVER = "http://127.0.0.1:9000"
STREAM = "application/json, text/event-stream"


def pending(route: Routed, flow: http.HTTPFlow) -> PendingRoundTrip:
    return route.recorder.pending[flow.id]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_header_of_mcp_is_enough_on_any_host(method: str) -> None:
    route = Routed()
    flow = route(f"{SERVER}/anything", method=method, mcp_session_id="1")

    assert pending(route, flow).doubt is None
    assert (pending(route, flow).url, pending(route, flow).upstream) == (f"{SERVER}/anything", None)
    assert to(flow) == f"{SERVER}/anything" and route.router.unrecorded.passed == {}


def test_a_post_of_json_and_a_stream_are_in_doubt_until_they_show_what_they_are() -> None:
    route = Routed()
    flows = [
        route(f"{SERVER}/x", content_type="application/json; charset=utf-8"),
        route(f"{SERVER}/x", method="GET", accept=STREAM),
    ]
    assert route.router.unrecorded.passed == {}

    for flow in flows:
        doubt = pending(route, flow).doubt
        assert doubt is not None
        doubt()
    assert route.router.unrecorded.passed == {"127.0.0.1": 2}


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {"content_type": "text/plain"}),
        ("GET", {"accept": "*/*"}),
        ("PUT", {"content_type": "application/json"}),
    ],
)
def test_nothing_else_is_in_doubt(method: str, headers: dict[str, str]) -> None:
    route = Routed()

    assert not route.recorded(route(f"{SERVER}/x", method=method, **headers))
    assert route.router.unrecorded.passed == {"127.0.0.1": 1}


def opens(route: Routed, flow: http.HTTPFlow, named: str) -> None:
    """The stream of the answer names a URL."""
    opened = pending(route, flow).opened
    assert opened is not None
    opened(named)


@pytest.mark.parametrize("named", ["/old/post?id=1", "post?id=1", f"{SERVER}/old/post?id=1"])
def test_a_url_that_a_forward_stream_names_is_recorded_without_doubt(named: str) -> None:
    route = Routed()
    opens(route, route(f"{SERVER}/old/sse", method="GET", accept=STREAM), named)

    flow = route(f"{SERVER}/old/post?id=1", content_type="application/json")
    other = route(f"{SERVER}/old/post?id=2", content_type="application/json")

    assert pending(route, flow).doubt is None and pending(route, other).doubt is not None
    assert to(flow) == f"{SERVER}/old/post?id=1"


def test_a_url_that_a_base_url_stream_names_leads_to_its_upstream() -> None:
    route = Routed(old=f"{SERVER}/base")
    opens(route, route("/s/night/old/sse", method="GET", accept=STREAM), "/base/messages?id=1")

    flow = route("/base/messages?id=1", content_type="application/json")

    assert to(flow) == f"{SERVER}/base/messages?id=1"
    one = pending(route, flow)
    assert (one.url, one.run, one.route, one.upstream) == (f"{SERVER}/base/messages?id=1", "night", "base_url", "old")
    assert flow.request.headers["host"] == "127.0.0.1:9000"
    unknown = route("/base/messages?id=2")
    assert unknown.response is not None and unknown.response.status_code == 404


@pytest.mark.parametrize(
    "named",
    [
        "/openai/chat/completions",
        "/s/night/OpenAI/chat/completions",
        "/other/messages?id=1",
        f"http://127.0.0.1:{PORT}/openai/chat/completions",
        "/-/metrics",
        "/otlp/v1/traces",
    ],
)
@pytest.mark.parametrize("asked", ["/old/sse", f"{SERVER}/sse"], ids=["base_url", "forward"])
def test_a_stream_cannot_have_the_requests_of_others_sent_to_its_server(asked: str, named: str) -> None:
    pages = StatusPages().answer
    one, other = (Routed(pages=pages, old=SERVER, other="http://127.0.0.1:7", otlp="http://127.0.0.1:8") for _ in "ab")
    stream = one(asked, method="GET", accept=STREAM)
    opens(one, stream, named)

    path = named.removeprefix(f"http://127.0.0.1:{PORT}")
    assert to(one(path)) == to(other(path))
    assert one.router._places.get(f"http://127.0.0.1:{PORT}{path}") is None
    assert "another upstream" in pending(one, stream).faults[0]


@pytest.mark.parametrize("named", ["http://[", "//[::1/m", "mailto:x"])
@pytest.mark.parametrize("asked", ["/old/sse", f"{SERVER}/sse"], ids=["base_url", "forward"])
def test_a_stream_that_names_no_url_is_said_and_nothing_else(asked: str, named: str) -> None:
    route = Routed(old=SERVER)
    stream = route(asked, method="GET", accept=STREAM)

    opens(route, stream, named)

    assert pending(route, stream).faults == [
        f"the stream names {named!r} for the client's messages, which is not a URL"
    ]


@pytest.mark.parametrize("url", ["/-/live", "/nothing", "http://evil.example/-/live"])
def test_our_answer_to_head_has_no_body(url: str) -> None:
    route = Routed(pages=StatusPages().answer)
    route.router.is_us = lambda host, port: True  # as for a request that was sent to us directly

    head, get = (route(url, method=method).response for method in ("HEAD", "GET"))

    assert head is not None and get is not None
    assert head.status_code == get.status_code and head.content == b"" != get.content


def test_only_the_newest_urls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.proxy.capture.named_places._MOST", 2)
    route = Routed()
    stream = route(f"{SERVER}/sse", method="GET", accept=STREAM)
    for name in ("a", "b", "c"):
        opens(route, stream, f"/{name}")

    doubts = [pending(route, route(f"{SERVER}/{name}", content_type="application/json")).doubt for name in "abc"]
    assert [doubt is None for doubt in doubts] == [False, True, True]


def test_an_override_for_all_moves_no_tool_server() -> None:
    route = Routed(all="http://127.0.0.1:7")

    assert to(route(f"{SERVER}/x", method="GET", mcp_session_id="1")) == f"{SERVER}/x"


BOTH = {"accept": "application/json, text/event-stream", "content_type": "application/json"}
PLAYER = Played("http://127.0.0.1:9", ("live.example", "127.0.0.1:5"))


@pytest.mark.parametrize(
    ("url", "method", "headers"),
    [
        ("http://127.0.0.1:7/mcp", "POST", BOTH),
        ("http://127.0.0.1:7/mcp", "GET", {"mcp_session_id": "s", "accept": "text/event-stream"}),
        ("http://127.0.0.1:7/mcp", "DELETE", {"mcp_session_id": "s"}),
        ("https://tools.example/mcp", "POST", {**BOTH, "mcp_method": "tools/call"}),
    ],
)
def test_a_tool_server_that_is_played_is_not_reached(url: str, method: str, headers: dict[str, str]) -> None:
    route = Routed(played=PLAYER)

    flow = route(url, method=method, **headers)

    assert to(flow) == "http://127.0.0.1:9/mcp"
    assert flow.request.headers["host"] == urlsplit(url).netloc
    assert route.recorded(flow)


def test_a_stream_that_is_played_is_not_reached_nor_are_the_messages_to_it() -> None:
    played = Played("http://127.0.0.1:9", ("live.example",), places=frozenset({"127.0.0.1:7/sse", "live.example/sse"}))
    route = Routed(played=played)
    stream = {"method": "GET", "accept": "text/event-stream"}

    assert to(route("http://127.0.0.1:7/sse?key=1", **stream)) == "http://127.0.0.1:9/sse?key=1"
    assert to(route("http://127.0.0.1:7/other", **stream)) == "http://127.0.0.1:7/other"
    assert to(route("http://live.example/sse", **stream)) == "http://live.example:80/sse"


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://live.example/mcp", BOTH),
        ("http://live.example:80/mcp", BOTH),
        ("http://127.0.0.1:5/mcp", BOTH),
        ("http://127.0.0.1:7/hook", {"accept": "application/json"}),
        ("http://127.0.0.1:7/hook", {"accept": "text/event-stream"}),
    ],
)
def test_live_servers_and_other_services_are_reached(url: str, headers: dict[str, str]) -> None:
    assert "127.0.0.1:9/" not in to(Routed(played=PLAYER)(url, **headers))


@pytest.mark.parametrize(
    ("player", "path", "headers", "where"),
    [
        (PLAYER, "/tools", BOTH, "http://127.0.0.1:9/mcp"),
        (PLAYER, "/tools", {"accept": "text/event-stream"}, "http://127.0.0.1:9/mcp"),
        (PLAYER, "/gateway/chat/completions", {}, "http://127.0.0.1:9/llm/v1/chat/completions"),
        (
            Played(PLAYER.url, apis=False, places=frozenset({"tools.example/mcp"})),
            "/tools",
            {},
            "http://127.0.0.1:9/mcp",
        ),
        (PLAYER, "/live", BOTH, "http://live.example:80/mcp"),
        (PLAYER, "/openai/models", {}, "http://127.0.0.1:9/v1/models"),
        (Played(PLAYER.url, apis=False), "/tools", BOTH, "http://127.0.0.1:9/mcp"),
        (
            Played(PLAYER.url, apis=False),
            "/gateway/chat/completions",
            {},
            "http://gateway.example:80/llm/v1/chat/completions",
        ),
    ],
)
def test_a_name_of_the_user_is_played_under_the_recorded_path(
    player: Played, path: str, headers: dict[str, str], where: str
) -> None:
    tools, live, gateway = (f"http://{name}.example" for name in ("tools", "live", "gateway"))
    everything = PLAYER.url if player.apis else ""
    route = Routed(played=player, tools=f"{tools}/mcp", live=f"{live}/mcp", gateway=f"{gateway}/llm/v1", all=everything)

    flow = route(path, **headers)

    assert to(flow) == where
    name = path.split("/")[1]
    assert flow.request.headers["host"] == ("127.0.0.1:9" if name == "openai" else f"{name}.example")


def test_without_a_player_tool_servers_are_reached() -> None:
    assert to(Routed()("http://127.0.0.1:7/mcp", **BOTH)) == "http://127.0.0.1:7/mcp"
