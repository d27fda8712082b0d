"""Frames are counted, so that a flood of them is read in small parts."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false

import h2.config
import h2.connection
import pytest
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import events
from mitmproxy.proxy.context import Context
from mitmproxy.test import taddons, tflow

from turntape.proxy.layers import http2
from turntape.proxy.layers.chunks import pieces_of


@pytest.mark.parametrize(
    "flood", [b"\0\0\x08\x06\0\0\0\0\0" + b"x" * 8, b"\0\0\0\x04\0\0\0\0\0"], ids=["ping", "settings"]
)
def test_each_frame_of_a_client_counts(flood: bytes) -> None:
    with taddons.context(Proxyserver()) as context:
        side = http2.ClientSide(Context(tflow.tclient_conn(), context.options))
    list(side.handle_event(events.Start()))
    other = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    other.initiate_connection()
    list(side.handle_event(events.DataReceived(side.conn, other.data_to_send())))
    before = pieces_of(side.conn)

    list(side.handle_event(events.DataReceived(side.conn, flood * 600)))

    assert (before, pieces_of(side.conn), pieces_of(side.conn)) == (1, 600, 0)
