"""Compressed WebSocket messages are read and sent on, whatever window the server has chosen."""

import pytest
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import Ping, TextMessage
from wsproto.extensions import PerMessageDeflate

from turntape.proxy.layers.deflate import Deflate, agreed_on

TEXT = "hello " * 20


@pytest.mark.parametrize(
    ("parameters", "compresses"),
    [
        ("", True),
        ("; server_max_window_bits=9; client_max_window_bits=15; server_no_context_takeover", True),
        ('; server_max_window_bits="10"', True),
        ("; server_max_window_bits=8", False),
        ("; server_max_window_bits", False),
        ("; server_max_window_bits=99;;=; client_max_window_bits=x", False),
        ("; client_max_window_bits=8", True),
    ],
)
def test_a_message_is_sent_on_as_the_receiver_can_read_it(parameters: str, compresses: bool) -> None:
    [agreed] = agreed_on(f"x-other, Permessage-Deflate{parameters}")
    ours = Connection(ConnectionType.SERVER, [Deflate(agreed)])
    sent = [ours.send(TextMessage(TEXT)) for _ in range(2)]

    # The receiver needs no more than its own window, since all of it is in one of 256 bytes.
    receiver = PerMessageDeflate(server_no_context_takeover="no_context" in parameters)
    receiver.finalize("permessage-deflate")
    theirs = Connection(ConnectionType.CLIENT, [receiver])
    for data in sent:
        theirs.receive_data(data)
    assert [event.data for event in theirs.events() if isinstance(event, TextMessage)] == [TEXT] * 2
    assert (len(sent[0]) < len(TEXT)) is compresses


@pytest.mark.parametrize("bits", ["8", "9", "15", "x"])
def test_a_compressed_message_of_a_client_is_read(bits: str) -> None:
    theirs = Connection(ConnectionType.CLIENT, [Deflate("permessage-deflate")])
    ours = Connection(ConnectionType.SERVER, [Deflate(f"permessage-deflate; client_max_window_bits={bits}")])

    ours.receive_data(theirs.send(TextMessage(TEXT)))

    assert [event.data for event in ours.events() if isinstance(event, TextMessage)] == [TEXT]


def test_pings_before_and_within_a_compressed_message_leave_it_readable_frame_by_frame() -> None:
    theirs = Connection(ConnectionType.CLIENT, [Deflate("permessage-deflate")])
    ours = Connection(ConnectionType.SERVER, [Deflate("permessage-deflate")])
    said = [Ping(), TextMessage("one ", message_finished=False), Ping(), TextMessage("two"), Ping(), TextMessage(TEXT)]

    got: list[str] = []
    for event in said:
        ours.receive_data(theirs.send(event))
        got.append("".join(one.data if isinstance(one, TextMessage) else "ping" for one in ours.events()))

    assert got == ["ping", "one ", "ping", "two", "ping", TEXT]


def test_other_extensions_are_left_out() -> None:
    assert agreed_on("x-webkit-deflate-frame, bbf-usp-protocol") == []
