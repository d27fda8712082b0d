"""Messages and hooks are made without checks, and hold the same."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from mitmproxy import http
from mitmproxy.net.http import url
from mitmproxy.proxy import commands, events, layer, server_hooks
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook
from mitmproxy.test import taddons, tflow

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


def context() -> Context:
    with taddons.context() as options:
        return Context(tflow.tclient_conn(), options.options)


def test_a_copy_of_a_context_has_its_own_layers_and_the_same_connections() -> None:
    install()
    one = context()
    one.layers.append(Asking(one))

    copy = one.fork()

    assert (copy.client, copy.server, copy.options) == (one.client, one.server, one.options)
    assert vars(copy).keys() == vars(one).keys()
    assert copy.layers == one.layers and copy.layers is not one.layers


class Asking(layer.Layer):
    """Waits for a hook, and sends before and after it."""

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        assert isinstance(event, events.DataReceived)
        yield commands.SendData(self.context.client, event.data + b" before")
        yield HttpRequestHook(tflow.tflow())
        yield commands.SendData(self.context.client, event.data + b" after")


def test_a_layer_that_waits_for_a_hook_handles_what_came_meanwhile_after_it() -> None:
    install()
    asking = Asking(context())

    def sent(event: events.Event) -> list[object]:
        done = list(asking.handle_event(event))
        waits.extend(command for command in done if isinstance(command, HttpRequestHook))
        return [command.data if isinstance(command, commands.SendData) else type(command) for command in done]

    waits: list[HttpRequestHook] = []
    client = asking.context.client

    assert sent(events.DataReceived(client, b"one")) == [b"one before", HttpRequestHook]
    assert waits[0].blocking is asking
    assert sent(events.DataReceived(client, b"two")) == []
    assert sent(events.HookCompleted(waits[0])) == [b"one after", b"two before", HttpRequestHook]
    assert sent(events.HookCompleted(waits[1])) == [b"two after"]


def test_flows_have_different_ids() -> None:
    install()

    assert len({http.HTTPFlow(tflow.tclient_conn(), tflow.tserver_conn()).id for _ in range(100)}) == 100


def test_the_name_of_a_host_is_read_as_mitmproxy_reads_it() -> None:
    names = (
        "a.example",
        b"a.example:8080",
        "[::1]:1",
        "xn--mnchen-3ya.example",
        b"xn--mnchen-3ya.example",
        "a b",
        "",
        b"a:x",
    )
    code = (
        "from mitmproxy.net.http import url; from test_lean_objects import *; print(authorities(" + repr(names) + "))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    theirs = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    install()

    assert repr(authorities(names)) == repr(authorities(names)) == theirs.stdout.strip()


def authorities(names: tuple[str | bytes, ...]) -> list[object]:
    read: list[object] = []
    for name in names:
        for check in (True, False):
            try:
                read.append(url.parse_authority(name, check))  # pyright: ignore[reportArgumentType]
            except ValueError:
                read.append("not valid")
    return read


def test_an_option_that_can_change_is_copied() -> None:
    install()
    with taddons.context() as made:
        made.options.add_option("names", Sequence[str], ["a"], "")
        made.options.add_option("many", int, 3, "")

        cast(list[str], made.options.names).append("b")

        assert (made.options.names, made.options.many) == (["a"], 3)
        made.options.update(names=["c"], many=4)
        cast(list[str], made.options.names).append("d")
        assert (made.options.names, made.options.many) == (["c"], 4)


def test_connections_are_the_same_by_their_id() -> None:
    install()
    one, other = tflow.tserver_conn(), tflow.tserver_conn()
    other.id, client = one.id, tflow.tclient_conn()
    client.id = one.id

    assert one == one and one == other and one == client  # as mitmproxy's
    other.id = "other"
    assert one != other and one != one.id
