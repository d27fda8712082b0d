"""A client sees an odd upstream through the proxy as it does without, on both routes, and the tape says so too."""

import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.proxy.engine.engine import Engine, running

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.soak.behaviours import BEHAVIOURS, BODY, Behaviour
from bench.soak.certificate import certificate, server_context
from bench.soak.http2 import STREAMED, Http2Client, Http2Upstream, Streamed, StreamSeen, serving2
from bench.soak.raw import Connection, RawUpstream, Seen, ask, request_of, serving

PATH = "/v1/chat/completions"
ASKED = b'{"model":"m","messages":[]}'


class Route:
    """Where a client sends a request, and how it names the place."""

    def __init__(self, name: str, port: int, target: str) -> None:
        self.name, self.port, self.target = name, port, target

    def ask(self, behaviour: Behaviour) -> Seen:
        with socket.create_connection(("127.0.0.1", self.port)) as sock:
            request = request_of(behaviour, self.target, f"127.0.0.1:{self.port}", ASKED)
            return ask(Connection(sock), request, behaviour.method)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, confdir: Path) -> dict[tuple[str, str], tuple[Seen, RoundTrip]]:
    """What each route showed of each behaviour, with its record; `direct` has none."""
    tape = tmp_path_factory.mktemp("odd") / "odd.cassette.jsonl"
    shown: list[tuple[str, str, Seen]] = []
    recorded: list[RoundTrip] = []
    with serving(RawUpstream()) as upstream, Recorder(tape) as recorder:
        place = f"http://127.0.0.1:{upstream.port}"
        engine = Engine(
            recorder,
            upstreams={"raw": place},
            confdir=confdir,
            on_round_trip=lambda trip, _number: recorded.append(trip),
        )
        with running(engine):
            routes = (
                Route("direct", upstream.port, PATH),
                Route("base_url", engine.port, f"/raw{PATH}"),
                Route("forward", engine.port, f"{place}{PATH}"),
            )
            for behaviour in BEHAVIOURS:
                for route in routes:
                    shown.append((behaviour.name, route.name, route.ask(behaviour)))
    trips: Iterator[RoundTrip] = iter(Cassette.load(tape))
    kept = {(name, route): (one, next(trips)) for name, route, one in shown if route != "direct"}
    first = next(iter(kept.values()))[1]
    return kept | {(name, route): (one, first) for name, route, one in shown if route == "direct"}


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: one.name)
def test_a_client_sees_the_same_bytes(
    behaviour: Behaviour, route: str, seen: dict[tuple[str, str], tuple[Seen, RoundTrip]]
) -> None:
    direct, _ = seen[behaviour.name, "direct"]
    through, trip = seen[behaviour.name, route]

    if behaviour.differs is None:
        assert (through.raw, through.ended) == (direct.raw, direct.ended)
    else:
        assert (through.raw, through.ended) != (direct.raw, direct.ended), "it is the same now: strike the reason"
        assert b"mitmproxy" not in through.raw
    assert trip.route == route


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda one: one.name)
def test_the_tape_says_what_the_client_saw(
    behaviour: Behaviour, route: str, seen: dict[tuple[str, str], tuple[Seen, RoundTrip]]
) -> None:
    through, trip = seen[behaviour.name, route]
    broken = any(step in ("close", "reset") for step in behaviour.steps)

    if trip.response is None:
        assert trip.failure is not None and trip.closed_first == "server"
        assert trip.failure.kind in ("cut", "protocol")
    else:
        assert str(trip.response.status).encode() in through.raw
        assert through.ended == "whole" or (trip.failure is not None and trip.closed_first == "server")
        if trip.failure is None and behaviour.method == "POST" and BODY in through.raw:
            assert trip.response.body == BODY
    assert broken or trip.failure is None
    before = [int(line.split()[1]) for line in through.raw.split(b"\r\n") if line.startswith(b"HTTP/1.1 10")]
    assert trip.extra.get("interim", []) == before


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize("name", ["204 with a coding", "304 with a coding"])
def test_an_answer_without_a_body_has_no_last_chunk_that_the_next_answer_would_begin_with(
    name: str, route: str, tape: Path, confdir: Path
) -> None:
    named = {behaviour.name: behaviour for behaviour in BEHAVIOURS}
    with serving(RawUpstream()) as upstream, Recorder(tape) as recorder:
        place = f"http://127.0.0.1:{upstream.port}"
        with running(Engine(recorder, upstreams={"raw": place}, confdir=confdir)) as engine:
            target = f"/raw{PATH}" if route == "base_url" else f"{place}{PATH}"
            with socket.create_connection(("127.0.0.1", engine.port)) as sock:
                connection = Connection(sock)
                for behaviour in (named[name], named["500 fields"]):
                    ask(connection, request_of(behaviour, target, f"127.0.0.1:{engine.port}", ASKED))
                third = ask(connection, request_of(named["HEAD with a length"], target, "127.0.0.1", b""), "HEAD")

    assert third.raw.startswith(b"HTTP/1.1 200 ") and third.ended == "whole"
    statuses = [trip.response.status for trip in Cassette.load(tape) if trip.response is not None]
    assert statuses == [int(name[:3]), 200, 200]


@pytest.fixture(scope="module")
def streams(
    tmp_path_factory: pytest.TempPathFactory, confdir: Path
) -> dict[str, tuple[StreamSeen, StreamSeen, RoundTrip]]:
    """For each behaviour over HTTP/2: what a client sees without the proxy, and with it, and the record."""
    folder = tmp_path_factory.mktemp("odd2")
    own = certificate(folder)
    shown: dict[str, tuple[StreamSeen, StreamSeen]] = {}
    with serving2(Http2Upstream(server_context(own))) as upstream, Recorder(folder / "odd.cassette.jsonl") as recorder:
        place = {"*": f"https://localhost:{upstream.port}"}
        with running(Engine(recorder, upstreams=place, trusted_ca=own, confdir=confdir)) as engine:
            for number, behaviour in enumerate(STREAMED):
                direct = Http2Client(upstream.port, "localhost", ssl.create_default_context(cafile=str(own)))
                trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
                through = Http2Client(443, "api.openai.com", trust, proxy=engine.port)
                first, second = (client.read(client.send(PATH, ASKED, number)) for client in (direct, through))
                shown[behaviour.name] = first, second
                direct.close()
                through.close()
    trips = Cassette.load(folder / "odd.cassette.jsonl")
    return {name: (*both, trip) for (name, both), trip in zip(shown.items(), trips, strict=True)}


@pytest.mark.parametrize("behaviour", STREAMED, ids=lambda one: one.name)
def test_a_client_sees_the_same_stream(
    behaviour: Streamed, streams: dict[str, tuple[StreamSeen, StreamSeen, RoundTrip]]
) -> None:
    direct, through, trip = streams[behaviour.name]

    assert (direct == through) == (behaviour.differs is None)
    assert (through.head or [(":status", "")])[0][1] == (str(trip.response.status) if trip.response else "")
    if through.ended == "whole":
        assert trip.failure is None and trip.response is not None and trip.response.body == through.body
    else:
        assert trip.failure is not None and (trip.failure.kind, trip.closed_first) == (behaviour.kind, "server")
