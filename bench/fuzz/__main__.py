"""`python -m bench.fuzz`: a million mutated inputs through every reader; exit code 1 when one stopped a reader.

Each input comes from its number alone: `--only N` reads one again. The numbers so far are kept in `.fuzz/`, and the
next run continues there. Every input is read; every twentieth is labelled as a run, with all rules; every thousandth is
written to a file, which is changed as well and read by every command. The same is done with runs in which one text is
long and repeats itself, or one list is long: every fiftieth is labelled, every thousandth read by every command.
"""

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from .readers import Read, commands, labels, long_commands, long_texts, prepare, reading

COUNT, LABELLED, LONG, COMMANDED, PART = 1_000_000, 20, 50, 1000, 1000
STATE = Path(".fuzz/state.json")
SLOW, SLOW_PER_BYTE = 5.0, 0.5e-6
"""Seconds of processor time that no input of some kilobytes may take, nor one with a long text, and how many each byte
adds: a list of 3,000 messages has twelve megabytes."""


def is_slow(read: Read) -> bool:
    """True when an input took longer than one of its size may take."""
    return read.seconds > SLOW + SLOW_PER_BYTE * read.size


@dataclass
class Row:
    """What one reader did with all inputs."""

    inputs: int = 0
    size: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    """Seconds of the slowest input."""
    worst_number: int = -1
    per_byte: float = 0.0
    """Microseconds for each byte, of the input that took most for its size."""
    guarded: int = 0
    failed: int = 0

    def add(self, read: Read) -> None:
        self.inputs += 1
        self.size += read.size
        self.seconds += read.seconds
        if read.seconds > self.worst:
            self.worst, self.worst_number = read.seconds, read.number
        self.per_byte = max(self.per_byte, read.seconds * 1e6 / max(read.size, 1))
        self.guarded += read.guarded is not None
        self.failed += read.failed is not None or is_slow(read)


@dataclass
class State:
    following: int = 0
    """The first number that was not read yet."""
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    bad: dict[str, str] = field(default_factory=dict[str, str])
    """The first inputs that went wrong: number and reader, and what happened."""

    def add(self, read: Read) -> None:
        self.rows.setdefault(read.reader, Row()).add(read)
        what = read.failed or read.guarded or (f"{read.seconds:.1f} s: {read.kind}" if is_slow(read) else None)
        if what and len(self.bad) < 50:
            self.bad[f"{read.number} {read.reader}"] = what[-1500:]


def part(numbers: range) -> list[Read]:
    """Read the inputs with these numbers."""
    return list(_part(numbers))


def _part(numbers: range) -> Iterator[Read]:
    logging.disable()
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name) / "home")
        for number in numbers:
            yield reading(number)
            if number % LABELLED == 0:
                yield labels(number)
            if number % LONG == 0:
                yield long_texts(number)
            if number % COMMANDED == 0:
                yield from commands(number, Path(name))
                yield from long_commands(number, Path(name))


def load(path: Path) -> State:
    try:
        kept = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return State()
    return State(kept["following"], {name: Row(**row) for name, row in kept["rows"].items()}, kept["bad"])


def save(path: Path, state: State) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(orjson.dumps(asdict(state)))


def table(state: State) -> str:
    """One line for each reader."""
    head = (
        f"{'':26} {'inputs':>9} {'MB':>7} {'µs/byte':>8} {'most':>7} {'slowest':>9}  {'in its row':>10} {'stopped':>7}"
    )
    lines = [head]
    for name, row in sorted(state.rows.items()):
        mean = row.seconds * 1e6 / max(row.size, 1)
        lines.append(
            f"{name:26} {row.inputs:>9,} {row.size / 1e6:>7.1f} {mean:>8.2f} {row.per_byte:>7.2f} "
            f"{row.worst * 1000:>6.0f} ms  {row.guarded:>10,} {row.failed:>7,}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=COUNT, metavar="N", help=f"how many inputs in all (default {COUNT:,})"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--again", action="store_true", help="start from 0, and not where the last run ended")
    parser.add_argument("--only", type=int, metavar="N", help="read the input with this number, and say what happens")
    given = parser.parse_args()
    if given.only is not None:
        state = State()
        with tempfile.TemporaryDirectory() as name:
            prepare(Path(name) / "home")
            for read in (reading(given.only), labels(given.only), *commands(given.only, Path(name))):
                state.add(read)
            for read in (long_texts(given.only), *long_commands(given.only, Path(name))):
                state.add(read)
        print(table(state))
        print(*(f"\n{where}\n{what}" for where, what in state.bad.items()))
        return int(bool(state.bad))
    state = State() if given.again else load(STATE)
    _read_all(state, given.count, given.jobs)
    print(table(state))
    for where, what in state.bad.items():
        print(f"\n#{where}\n{what}")
    stopped = sum(row.failed for row in state.rows.values())
    guarded = sum(row.guarded for row in state.rows.values())
    print(f"\n{state.following:,} inputs; stopped a reader: {stopped:,}; reported in their row: {guarded:,}")
    return int(bool(stopped))


def _read_all(state: State, count: int, jobs: int) -> None:
    parts = [range(n, min(n + PART, count)) for n in range(state.following, count, PART)]
    with ProcessPoolExecutor(jobs) as pool:
        try:
            for numbers, reads in zip(parts, pool.map(part, parts), strict=True):
                for read in reads:
                    state.add(read)
                state.following = numbers.stop
                save(STATE, state)
                if sys.stderr.isatty():
                    print(f"\r{state.following:,} of {count:,}", end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print(f"\nstopped after {state.following:,}; the next run continues there", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
