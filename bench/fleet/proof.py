"""The proof of shipping: many shippers, killed at random, with repeated and half recorded tapes on a busy server.

Each shipper is a process that ships its list in batches and notes a batch when it is done. When it is killed, the next
one repeats what was not noted. Meanwhile a reader reads the whole store again and again, and a compactor works on it.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from turntape.cassettes import Cassette
from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.rows.arrow import arrow_schema, rows_in
from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.inspector.fleet.store.forgotten import Forgotten
from turntape.inspector.fleet.store.names import cassette_name, day_and_stem
from turntape.inspector.fleet.store.store import Store, open_store
from turntape.inspector.fleet.table.compact import compact
from turntape.inspector.fleet.table.landing import day_of_store, days_of, each_recording

from .tapes import TRIPS, Tape

BATCH = 8
SHIPPERS = 8
_ATTEMPTS = 10
ROOT = Path(__file__).parents[2]


@dataclass
class Score:
    """What was found. All of `lost`, `twice`, `partial` and `leaks` must be 0."""

    wanted: int = 0
    found: int = 0
    lost: int = 0
    twice: int = 0
    table: int = 0
    """Rows of the compacted table."""
    table_twice: int = 0
    kills: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    """Processor time of the shippers, killed ones left out."""
    reads: int = 0
    """Whole reads by a reader meanwhile."""
    reads_again: int = 0
    """Reads that had to be repeated, because an object was replaced meanwhile."""
    partial: int = 0
    """Recordings that a reader saw neither whole nor as their first half."""
    seen_twice: int = 0
    leaks: int = 0
    """Planted texts in the rows."""
    planted: int = 0
    to_bytes: list[float] = field(default_factory=list[float])
    """Seconds from a row to the bytes of its round trip."""
    repaired: int = 0
    """Tapes that only the last ship completed."""
    problems: list[str] = field(default_factory=list[str])

    @property
    def kept(self) -> bool:
        """Whether every bar is kept."""
        nothing = (self.lost, self.twice, self.table_twice, self.partial, self.seen_twice, self.leaks)
        return not any(nothing) and self.found == self.table == self.wanted and not self.problems


def prove(
    to: str, tapes: Sequence[Tape], folder: Path, *, kills: int, seed: int = 5, ship_again: bool = False
) -> Score:
    """Ship all tapes to an empty store, and judge what is in it. The environment names the server.

    `ship_again` ships each tape once more at the end: without conditions, a race between two lengths of one recording
    may leave the shorter one until then.
    """
    score, luck, began = Score(wanted=TRIPS * len(tapes)), random.Random(seed), time.monotonic()
    jobs = _jobs(tapes, luck)
    done, stop = threading.Event(), threading.Lock()
    left = [kills]
    others = [threading.Thread(target=one, args=(to, score, done)) for one in (_read_on, _compact_on)]
    shippers = [
        threading.Thread(
            target=_keep_shipping, args=(to, jobs[n::SHIPPERS], folder / f"list-{n}", n, score, stop, left)
        )
        for n in range(SHIPPERS)
    ]
    for thread in (*others, *shippers):
        thread.start()
    for thread in shippers:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    if ship_again:
        score.repaired = ship([tape.path for tape in tapes], to, ShipOptions()).count("new", "grown")
    score.seconds = time.monotonic() - began
    _judge(open_store(to), tapes, score)
    return score


def _jobs(tapes: Sequence[Tape], luck: random.Random) -> list[Path]:
    """All tapes, a fifth of them twice, and the halves of a tenth, in any order."""
    paths = [tape.path for tape in tapes]
    jobs = [*paths, *luck.sample(paths, len(paths) // 5), *(tape.half for tape in luck.sample(tapes, len(tapes) // 10))]
    luck.shuffle(jobs)
    return jobs


def _keep_shipping(
    to: str, jobs: Sequence[Path], note: Path, number: int, score: Score, lock: threading.Lock, left: list[int]
) -> None:
    """Run shippers until the list is done; kill some of them after a random time."""
    luck = random.Random(number)
    note.write_text("")
    Path(f"{note}.jobs").write_text("\n".join(str(path) for path in jobs))
    while True:
        command = [sys.executable, "-m", "bench.fleet", "--ship", to, str(note)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        with lock:
            killed = left[0] > 0
            left[0] -= killed
        if killed:
            try:
                process.wait(3 + luck.expovariate(0.2))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                with lock:
                    score.kills += 1
        said, _ = process.communicate()
        if process.returncode == 0:
            with lock:
                score.cpu += float(said or 0)
            return
        if process.returncode != -signal.SIGKILL:
            score.problems.append(f"a shipper ended with {process.returncode}")
            return


def ship_list(to: str, note: Path) -> None:
    """One shipper: ships what is not noted yet, and notes it batch by batch."""
    jobs = [Path(line) for line in Path(f"{note}.jobs").read_text().splitlines()]
    start = len(note.read_text())
    for place in range(start * BATCH, len(jobs), BATCH):
        _ship_batch(jobs[place : place + BATCH], to)
        with note.open("a") as file:
            file.write(".")
    print(sum(os.times()[:2]), flush=True)


def _ship_batch(batch: Sequence[Path], to: str) -> None:
    """Ship a batch; what failed is shipped again, as the spool of a user does."""
    for attempt in range(_ATTEMPTS):
        shipped = ship(batch, to, ShipOptions())
        bad = [file for file in shipped.files if file.state in ("failed", "edited", "unreadable")]
        if not bad:
            return
        print(f"{bad[0].path.name}: {bad[0].problem}", file=sys.stderr, flush=True)
        if bad[0].state != "failed":
            break
        time.sleep(attempt)
    raise RuntimeError("a batch could not be shipped")


def _read_on(to: str, score: Score, done: threading.Event) -> None:
    """Read the whole store again and again, as a reader of table and landing rows does."""
    while not done.wait(1):
        try:
            store = open_store(to)
            forgotten = Forgotten.read(store)
            for name in days_of(store):
                day = day_of_store(store, name)
                for _, table in each_recording(store, day, forgotten):
                    counts = Counter(table.column("n").to_pylist())
                    score.seen_twice += sum(count > 1 for count in counts.values())
                    score.partial += len(counts) not in (TRIPS // 2, TRIPS)
            score.reads += 1
        except (StoreError, OSError, pa.ArrowInvalid):
            score.reads_again += 1


def _compact_on(to: str, score: Score, done: threading.Event) -> None:
    while not done.wait(5):
        try:
            compact(open_store(to))
        except StoreError:
            score.reads_again += 1


def _judge(store: Store, tapes: Sequence[Tape], score: Score) -> None:
    compact(store)
    landing = pa.concat_tables([_rows(store, one.name) for one in store.listing("rows/v1") if day_and_stem(one.name)])
    table = pa.concat_tables([_rows(store, one.name) for one in store.listing("table/v1")])
    keys = Counter(zip(landing.column("recording").to_pylist(), landing.column("n").to_pylist(), strict=True))
    score.found, score.twice = len(landing), sum(count - 1 for count in keys.values())
    score.lost = score.wanted - len(keys)
    score.table = len(table)
    again = Counter(zip(table.column("recording").to_pylist(), table.column("n").to_pylist(), strict=True))
    score.table_twice = sum(count - 1 for count in again.values())
    assert table.schema.equals(arrow_schema())
    _count_leaks(table, tapes, score)
    luck = random.Random(1)
    rows = luck.sample(table.select(["cassette", "n", "started_at"]).to_pylist(), min(50, len(table)))
    for row in rows:
        _time_to_bytes(store, row, score)


def _rows(store: Store, name: str) -> pa.Table:
    content = store.get(name)
    assert content is not None
    return rows_in(content.data)


def _count_leaks(table: pa.Table, tapes: Sequence[Tape], score: Score) -> None:
    """Planted texts in any cell, in the rows' plain form and in the files."""
    plain = pa.BufferOutputStream()
    pq.write_table(table, plain, compression="none", use_dictionary=False)
    data = plain.getvalue().to_pybytes()
    planted = [text.encode() for tape in tapes for text in tape.planted]
    score.planted = len(planted)
    score.leaks = sum(text in data for text in planted)


def _time_to_bytes(store: Store, row: dict[str, object], score: Score) -> None:
    began = time.monotonic()
    content = store.get(cassette_name(str(row["cassette"])))
    if content is None:
        score.problems.append(f"the bytes of {row['cassette']} are not there")
        return
    trip = Cassette.from_bytes(content.data, Path("shipped"))[int(str(row["n"]))]
    assert trip.request.body
    score.to_bytes.append(time.monotonic() - began)
