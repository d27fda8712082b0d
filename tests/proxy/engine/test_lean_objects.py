"""Messages and hooks are made without checks, and hold the same."""

import os
import subprocess
import sys
from pathlib import Path

from mitmproxy import http
from mitmproxy.proxy import server_hooks
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook
from mitmproxy.test import tflow

from turntape.proxy.engine.lean_objects import install


def test_a_message_is_made_without_a_look_at_the_types_of_its_fields() -> None:
    install()

    response = http.Response(b"HTTP/1.1", 200, b"OK", http.Headers(), b"body", None, "no time", None)  # pyright: ignore[reportArgumentType]

    assert (response.data.timestamp_start, response.content) == ("no time", b"body")


FIELDS = ((b"Host", b"a"), (b"X-Twice", b"one"), (b"x-twice", "zwei: ü".encode()), (b"odd", b"\xff"), (b"", b"nothing"))


def read(headers: http.Headers) -> list[object]:
    """Everything that a look at one field can say."""
    names = ("host", "HOST", b"Host", "x-twice", "X-Twice", "odd", "", "hosts", "\udcff", b"none")
    return [(headers.get(name), headers.get(name, "-"), headers.get_all(name), name in headers) for name in names]


def test_a_header_field_is_found_as_mitmproxy_finds_it() -> None:
    code = "from mitmproxy import http; from test_lean_objects import *; print(read(http.Headers(FIELDS)))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    theirs = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    install()

    assert repr(read(http.Headers(FIELDS))) == theirs.stdout.strip()


def test_a_hook_is_called_with_its_fields_and_with_nothing_that_is_set_later() -> None:
    install()
    flow, data = tflow.tflow(), server_hooks.ServerConnectionHookData(tflow.tserver_conn(), tflow.tclient_conn())
    hook = HttpRequestHook(flow)
    hook.blocking = True

    assert hook.args() == [flow]
    assert server_hooks.ServerConnectHook(data).args() == [data]
