"""Messages and hooks are made without checks, and hold the same."""

from mitmproxy import http
from mitmproxy.proxy import server_hooks
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook
from mitmproxy.test import tflow

from turntape.proxy.engine.lean_objects import install


def test_a_message_is_made_without_a_look_at_the_types_of_its_fields() -> None:
    install()

    response = http.Response(b"HTTP/1.1", 200, b"OK", http.Headers(), b"body", None, "no time", None)  # pyright: ignore[reportArgumentType]

    assert (response.data.timestamp_start, response.content) == ("no time", b"body")


def test_a_hook_is_called_with_its_fields_and_with_nothing_that_is_set_later() -> None:
    install()
    flow, data = tflow.tflow(), server_hooks.ServerConnectionHookData(tflow.tserver_conn(), tflow.tclient_conn())
    hook = HttpRequestHook(flow)
    hook.blocking = True

    assert hook.args() == [flow]
    assert server_hooks.ServerConnectHook(data).args() == [data]
