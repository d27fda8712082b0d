"""How many pieces a connection has brought since the last read."""

import pytest
from mitmproxy.test import tflow

from turntape.proxy.capture.pieces import note_inflated, note_pieces, pieces_of


def test_pieces_are_counted_once() -> None:
    connection = tflow.tclient_conn()
    note_pieces(connection, 2)
    note_pieces(connection, 3)

    assert [pieces_of(connection), pieces_of(connection)] == [5, 0]


@pytest.mark.parametrize(("size", "pieces"), [(0, 0), (4095, 0), (4096, 1), (64 << 20, 16384)])
def test_what_a_piece_decodes_to_counts_as_many(size: int, pieces: int) -> None:
    connection = tflow.tserver_conn()
    note_inflated(connection, size)

    assert pieces_of(connection) == pieces
