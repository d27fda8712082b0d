"""What one worker writes, the others see."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from turntape.cassettes.routes.upstreams import UPSTREAMS, Location
from turntape.proxy.workers.shared import PENDING, STREAMS, Shared, SharedConnections, SharedPlaces, make, make_places


@pytest.fixture
def descriptor() -> Generator[int]:
    made = make()
    yield made
    os.close(made)


def test_a_connection_of_one_worker_is_known_to_the_other_until_it_is_closed(descriptor: int) -> None:
    one, two = (SharedConnections(Shared(descriptor), number, 8484) for number in (1, 2))
    one.add(("127.0.0.1", 50_000), 8484)
    one.add(("127.0.0.1", 50_001), 443)

    assert two.has(("127.0.0.1", 50_000), 8484)
    assert not two.has(("127.0.0.1", 50_001), 443) and not two.has(("127.0.0.1", 50_002), 8484)
    two.discard(("127.0.0.1", 50_000), 8484)
    assert one.has(("127.0.0.1", 50_000), 8484)  # it is not its own
    one.discard(("127.0.0.1", 50_000), 8484)
    assert not two.has(("127.0.0.1", 50_000), 8484)


def test_what_a_worker_has_is_forgotten_with_it_alone(descriptor: int) -> None:
    shared = Shared(descriptor)
    for number in (1, 2):
        shared.put(number, PENDING, 7)
        shared.put(number, STREAMS, 3)
        SharedConnections(shared, number, 8484).add(("::1", 50_000 + number), 8484)

    shared.forget(1)

    assert [shared.get(number, what) for number in (1, 2) for what in (PENDING, STREAMS)] == [0, 0, 7, 3]
    assert [shared.opened(50_000 + number) for number in (1, 2)] == [0, 2]


def test_a_url_that_a_stream_has_named_is_known_to_every_worker() -> None:
    descriptor = make_places()
    one, two = SharedPlaces(descriptor), SharedPlaces(descriptor)
    place = Location("run 1", UPSTREAMS[0], "/messages?session=1", "https://tools.example")
    one.add("http://us/a", place)
    two.add("http://us/b", place)

    assert [each.get(url) for each in (one, two) for url in ("http://us/a", "http://us/b")] == [place] * 4
    assert one.get("http://us/c") is None
    os.close(descriptor)


def test_every_worker_knows_the_file_that_is_being_written(descriptor: int, tmp_path: Path) -> None:
    one, two = Shared(descriptor), Shared(descriptor)
    one.path = tmp_path / "a long name of a file"
    one.path = tmp_path / "short"
    one.open(65_535, 1)

    assert two.path == tmp_path / "short"
    two.forget(1)
    assert one.path == tmp_path / "short"
