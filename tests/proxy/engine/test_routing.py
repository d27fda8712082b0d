"""Where a request goes, and whether it is recorded, on both routes."""

import base64
import json
from urllib.parse import urlsplit

import pytest
from mitmproxy import http
from mitmproxy.proxy.context import Context
from mitmproxy.test import taddons, tflow
from mitmproxy.test.tflow import tclient_conn

from turntape.cassettes import RoundTrip
from turntape.proxy.engine.recorder_addon import RecorderAddon
from turntape.proxy.engine.routing import Router, run_of

PORT = 8484


class Routed:
    """A router on port 8484, with a recorder addon."""

    def __init__(self, intercept: tuple[str, ...] = (), **upstreams: str) -> None:
        kept: list[RoundTrip] = []
        self.recorder = RecorderAddon(kept.append)
        named = {("*" if name == "all" else name): url for name, url in upstreams.items()}
        self.router = Router(self.recorder, upstreams=named, intercept=intercept, **NO_PROXY)
        self.router.port = PORT

    def __call__(self, url: str, **headers: str) -> http.HTTPFlow:
        """A request to `url`, as a client sends it to us; a URL without a host is a base-URL request."""
        if url.startswith("/"):
            url = f"http://127.0.0.1:{PORT}{url}"
        flow = tflow.tflow(req=http.Request.make("POST", url, b"{}"))
        flow.request.headers["host"] = urlsplit(url).netloc
        for name, value in headers.items():
            flow.request.headers[name.replace("_", "-")] = value
        self.router.requestheaders(flow)
        return flow

    def recorded(self, flow: http.HTTPFlow) -> bool:
        return flow.id in self.recorder.pending


NO_PROXY = {"upstream_proxy": None}


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


def test_a_base_url_without_an_upstream_is_told_what_to_write() -> None:
    route = Routed()

    flow = route("/v1/chat/completions")

    assert flow.response is not None and flow.response.content is not None
    assert (flow.response.status_code, flow.response.headers["x-should-retry"]) == (404, "false")
    told = json.loads(flow.response.content)["error"]["message"]
    assert "'/v1/chat/completions'" in told and "openai, anthropic" in told and "--upstream NAME=URL" in told
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
    route = Routed(**{name: "http://127.0.0.1:9000/v1"})

    flow = route("https://api.openai.com/v1/chat/completions", host="api.openai.com")

    assert to(flow) == "http://127.0.0.1:9000/v1/chat/completions"
    assert flow.request.headers["host"] == "api.openai.com"
    assert route.recorder.pending[flow.id].url == "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize("host", ["127.0.0.1:11434", "gateway.example"])
def test_a_gateway_under_any_host_is_known_by_its_path(host: str) -> None:
    route = Routed()

    for path in ("/v1/chat/completions", "/v1/messages?beta=true", "/api/chat", "/v1beta/models/m:generateContent"):
        assert route.recorded(route(f"http://{host}{path}")), path


def test_what_is_no_llm_api_passes_and_is_counted() -> None:
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


def test_what_is_meant_for_us_is_not_sent_on() -> None:
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
