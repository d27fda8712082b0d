"""A short soak: nothing is lost, mixed up or changed, and a fault in the count would be seen."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench.soak.__main__ import table
from bench.soak.raw import Seen
from bench.soak.run import Count, Exchange, Result, soak
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip


def test_eight_clients_lose_nothing(tmp_path: Path) -> None:
    result = soak(tmp_path, at_once=8, rounds=12)

    assert result.examples == []
    assert not result.failed
    assert sum(result.counts.values(), Count()).asked >= 8 * 12


def test_a_record_that_says_something_else_is_counted() -> None:
    from bench.soak.run import _wrong

    name = "id-00000000a"
    exchange = Exchange("HTTP/1.1, forward", "a length", (200,), "whole")
    asked = Request("POST", "https://a.example", content=name.encode())

    assert _wrong(exchange, name, RoundTrip(asked, Response(200, content=name.encode()), 1.0)) is None
    assert _wrong(exchange, name, RoundTrip(asked, Response(502), 1.0)) == "status (502,), the client saw (200,)"
    other = Response(200, content=b"id-00000000b")
    assert _wrong(exchange, name, RoundTrip(asked, other, 1.0)) == "the record has the id id-00000000b"
    frames = (Frame("client", 1, b"id-00000000b 1", True),)
    assert _wrong(exchange, name, RoundTrip(asked, None, 1.0, frames=frames)) == "a message of another session"
    assert Seen().ended == "whole"


def test_the_table_adds_up() -> None:
    result = Result()
    result.counts["a"] = Count(3, 0, 0, 0)
    result.note("b", "lost", "it is not there")

    assert result.failed and result.examples == ["lost: b, it is not there"]
    assert table(result.counts).splitlines()[-1].split() == ["all", "3", "1", "0", "0"]
