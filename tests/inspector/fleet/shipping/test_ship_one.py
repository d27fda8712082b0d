"""A fleet in small: shippers that stop at any write, servers that answer 503, and many at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_server import BUCKET, S3, Refused, s3_server
from shipped_tapes import names, rows

sys.path.append(str(Path(__file__).parents[4]))  # bench is not installed

from bench.fleet.tapes import TRIPS, Tape, tapes
from turntape.inspector.fleet.shipping.ship import ship
from turntape.inspector.fleet.store.store import Store, open_store
from turntape.inspector.fleet.table.compact import compact


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Tape]:
    return tapes(tmp_path_factory.mktemp("tapes"), 6)


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with s3_server() as running:
        yield running


@pytest.fixture
def to(server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    yield f"s3://{BUCKET}/{tmp_path.name}"
    server.faults.refuse = lambda number, path: "no"


def assert_once(to: str, shipped: list[Tape]) -> None:
    """Every round trip is in the rows once, its bytes are there, and the compacted table says the same."""
    found = rows(to)
    assert len({(row["recording"], row["n"]) for row in found}) == len(found) == TRIPS * len(shipped)
    objects = set(names(to, "cassettes/v1"))
    assert {f"cassettes/v1/{row['cassette'][:2]}/{row['cassette']}.jsonl.zst" for row in found} <= objects
    compact(open_store(to))
    assert sorted(rows(to, "table/v1"), key=lambda row: (row["recording"], row["n"])) == found


class Stopped(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("stop_at", range(4))
@pytest.mark.parametrize("done", [False, True], ids=["before the write", "after it"])
def test_a_shipper_that_stops_at_any_write_leaves_nothing_wrong(
    recorded: list[Tape], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int, done: bool
) -> None:
    """Two versions of one recording make four writes: cassette and rows, and again when it has grown."""
    to, put, writes = str(tmp_path / "store"), Store.put, list[str]()

    def stop(self: Store, name: str, data: bytes, **how: object) -> object:
        number = len(writes)
        writes.append(name)
        if number == stop_at and not done:
            raise Stopped
        written = put(self, name, data, **how)  # type: ignore[arg-type]
        if number == stop_at:
            raise Stopped
        return written

    def ship_both() -> None:
        ship([recorded[0].half], to)
        ship([recorded[0].path], to)

    monkeypatch.setattr(Store, "put", stop)
    with pytest.raises(Stopped):
        ship_both()
    seen = rows(to) if Path(to, "rows").exists() else []
    assert len(seen) in (0, TRIPS // 2, TRIPS)
    monkeypatch.setattr(Store, "put", put)
    ship_both()

    assert_once(to, recorded[:1])


def test_a_killed_process_is_made_good_by_the_next(recorded: list[Tape], server: S3, to: str) -> None:
    """kill -9 arrives when the server has the rows and has not answered."""
    code = "import sys; from pathlib import Path; from turntape.inspector.fleet.shipping.ship import ship; "
    code += "ship([Path(name) for name in sys.argv[2:]], sys.argv[1])"
    paths = [str(tape.path) for tape in recorded[:2]]
    environment = {**os.environ, "TURNTAPE_FLEET_KEY": "test"}
    child = subprocess.Popen([sys.executable, "-c", code, to, *paths], env=environment)

    def kill(number: int, path: str) -> Refused:
        if "/rows/" in path and child.poll() is None:
            child.send_signal(signal.SIGKILL)
        return "no"

    server.faults.refuse = kill
    assert child.wait(60) == -signal.SIGKILL
    server.faults.refuse = lambda number, path: "no"
    ship([tape.path for tape in recorded[:2]], to)

    assert_once(to, recorded[:2])


def test_many_shippers_and_a_busy_server(recorded: list[Tape], server: S3, to: str) -> None:
    """Four shippers have the same work, a part of it half recorded, and each third PUT is refused the first time."""
    seen: set[str] = set()

    def refuse(number: int, path: str) -> Refused:
        if path in seen or number % 3:
            return "no"
        seen.add(path)
        return "after" if number % 2 else "before"

    server.faults.refuse = refuse
    work = [[tape.path for tape in recorded], [tape.half for tape in recorded]]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: ship(work[number % 2], to), range(4)))

    assert not sum(one.count("failed", "edited", "unreadable") for one in done)
    assert server.faults.refused
    ship(work[0], to)
    assert_once(to, recorded)


def test_no_planted_text_is_in_a_row(recorded: list[Tape], tmp_path: Path) -> None:
    to = str(tmp_path / "store")
    ship([tape.path for tape in recorded], to)

    shown = repr(rows(to))
    planted = [text for tape in recorded for text in tape.planted]

    assert len(planted) == 7 * len(recorded)
    assert [text for text in planted if text in shown] == []
    assert all(text.encode() in recorded[0].path.read_bytes() for text in recorded[0].planted)


@pytest.mark.parametrize("spoiled", ["by a shorter version", "by a mixture"])
def test_a_write_that_another_one_spoils_is_repeated(
    recorded: list[Tape], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoiled: str
) -> None:
    """A store that ignores conditions lets the later write win, or mixes two of them."""
    to, put = str(tmp_path / "store"), Store.put
    ship([recorded[0].half], to)
    (name,) = names(to, "rows/v1")
    content = open_store(to).get(name)
    assert content is not None
    other, done = content.data if spoiled == "by a shorter version" else b"PAR1" + bytes(50) + b"PAR1", list[str]()

    def spoil(self: Store, name: str, data: bytes, **how: object) -> object:
        written = put(self, name, data, **how)  # type: ignore[arg-type]
        if name.startswith("rows/") and not done:
            done.append(name)
            put(self, name, other)
        return written

    monkeypatch.setattr(Store, "put", spoil)

    assert ship([recorded[0].path], to).files[0].state == "grown"
    assert_once(to, recorded[:1])
