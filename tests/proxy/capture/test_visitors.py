"""Who is let in at the proxy's port; tests/end_to_end/test_visitors.py has the same over real connections."""

import base64
from collections import Counter

import pytest
from mitmproxy import http
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.test import tflow

from turntape.cassettes.routes.admission import Admission
from turntape.proxy.capture.visitors import Visitors, is_direct, note_direct_requests

TOKEN = "turntape-0123456789abcdef"
RIGHT = "Basic " + base64.b64encode(f"turntape:{TOKEN}".encode()).decode()


def flow_to(path: str = "/openai/v1", **fields: str) -> http.HTTPFlow:
    flow = tflow.tflow(req=http.Request.make("POST", f"http://127.0.0.1:8484{path}", b"{}"))
    flow.request.headers["host"] = "127.0.0.1:8484"
    for name, value in fields.items():
        flow.request.headers[name.replace("_", "-")] = value
    return flow


def visitors(token: str | None = TOKEN) -> tuple[Visitors, Counter[str]]:
    refused = Counter[str]()
    return Visitors(Admission(token), refused), refused


@pytest.mark.parametrize(
    ("mode", "target", "version", "direct"),
    [
        (http_layer.HTTPMode.regular, "/openai", "HTTP/1.1", True),
        (http_layer.HTTPMode.regular, "http://127.0.0.1/openai", "HTTP/1.1", False),
        (http_layer.HTTPMode.regular, "http://127.0.0.1/openai", "HTTP/2.0", True),
        (http_layer.HTTPMode.transparent, "/openai", "HTTP/1.1", False),
    ],
)
def test_a_direct_request_is_known_by_its_form(
    mode: http_layer.HTTPMode, target: str, version: str, direct: bool
) -> None:
    note_direct_requests()
    note_direct_requests()
    request = http.Request.make("GET", "http://127.0.0.1/openai")
    request.http_version = version
    if target.startswith("/"):
        request.data.host, request.data.port = "", 0

    http_layer.validate_request(mode, request, False)

    assert is_direct(request) is direct


def test_a_tunnel_that_has_shown_the_token_needs_it_no_more() -> None:
    door, refused = visitors()
    connect = flow_to(proxy_authorization=RIGHT)

    door.tunnel(connect)
    inside = flow_to()
    inside.client_conn = connect.client_conn

    assert connect.response is None
    assert door.passes(inside, None) and door.enters(inside, None, invited=False)
    door.left(connect.client_conn)
    assert not door.passes(inside, None)
    assert refused == {"no token": 1}


def test_a_url_that_an_upstream_has_named_needs_no_token() -> None:
    door, _ = visitors()

    assert door.enters(flow_to(), None, invited=True)
    assert not door.enters(flow_to(), None, invited=False)
    assert not door.enters(flow_to(origin="https://evil.example"), None, invited=True)


def test_our_own_pages_take_the_token_as_bearer_and_an_apis_path_does_not() -> None:
    door, _ = visitors()
    field = f"Bearer {TOKEN}"

    assert door.enters(flow_to("/-/metrics", authorization=field), None, invited=False)
    assert not door.enters(flow_to("/openai/v1", authorization=field), None, invited=False)


def test_who_was_refused_is_counted_without_control_characters() -> None:
    door, refused = visitors(None)

    door.enters(flow_to(host="evil\x1b[31m.example"), None, invited=False)
    door.enters(flow_to(origin="https://evil.example/" + "x" * 500), None, invited=False)

    assert list(refused) == [r"host 'evil\x1b[31m.example'", f"page {'https://evil.example/' + 'x' * 58 + '…'!r}"]


def test_a_connection_of_ours_is_known_until_it_is_closed() -> None:
    door, _ = visitors()
    client = flow_to().client_conn
    address, port = client.peername[:2]

    us = ("127.0.0.1", client.sockname[1])
    door.opened((f"::ffff:{address}", port, 0, 0), us)
    assert door.is_own(client)
    door.closed((address, port), us)
    assert not door.is_own(client)
    door.opened(None, us)
    door.closed(None, None)


def test_a_client_with_the_local_end_of_one_of_our_connections_is_let_in() -> None:
    """Two connections may have the same local end when they lead to different places."""
    door, _ = visitors()
    client = flow_to().client_conn

    door.opened(client.peername, ("127.0.0.1", client.sockname[1] + 1))

    assert not door.is_own(client)


def test_a_tunnel_without_the_token_is_not_opened() -> None:
    door, refused = visitors()
    connect = flow_to()

    door.tunnel(connect)

    assert connect.response is not None
    assert (connect.response.status_code, connect.response.headers["proxy-authenticate"]) == (
        407,
        'Basic realm="turntape"',
    )
    assert refused == {"no token": 1}


def test_a_client_that_shows_the_token_when_asked_was_not_turned_away() -> None:
    door, refused = visitors()
    connect, other = flow_to(), flow_to()
    door.tunnel(other)
    door.tunnel(connect)

    connect.response = None
    connect.request.headers["proxy-authorization"] = RIGHT
    door.tunnel(connect)
    door.tunnel(connect)

    assert connect.response is None
    assert refused == {"no token": 1}
