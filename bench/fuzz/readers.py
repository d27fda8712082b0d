"""The readers: the labels of a run in this process, and every command that reads a cassette."""

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import Labeller
from turntape.inspector.views.json.show_json import dumps
from turntape.inspector.wire.parse import read
from turntape.proxy.cli.command_line import main
from turntape.proxy.exit_codes import INTERNAL

from .inputs import mutated, mutated_file
from .pumped import pumped

type Run = Callable[[Path], int]

COMMANDS: dict[str, list[str]] = {
    "show": ["show", "{F}"],
    "show --json": ["show", "{F}", "--json"],
    "show --costs": ["show", "{F}", "--costs"],
    "show --tools": ["show", "{F}", "--tools"],
    "show --turn": ["show", "{F}", "--turn", "2"],
    "check": ["check", "{F}"],
    "price": ["price", "{F}"],
    "report": ["report", "{F}", "-o", "{O}.html"],
    "diff": ["diff", "{F}", "{G}"],
    "export har": ["export", "{F}", "--format", "har", "-o", "{O}.har"],
    "export otel": ["export", "{F}", "--format", "otel", "-o", "{O}.otel"],
    "export atif": ["export", "{F}", "--format", "atif", "-o", "{O}.atif"],
    "export markdown": ["export", "{F}", "--format", "markdown", "-o", "{O}.md"],
    "lint": ["lint", "{F}"],
    "scrub": ["scrub", "{F}", "-o", "{O}.cassette.jsonl"],
}
"""F is the changed file, G the file it was made from, O a name for what is written."""


@dataclass(frozen=True, slots=True)
class Read:
    """How one input was read."""

    number: int
    kind: str
    reader: str
    size: int
    """Bytes."""
    seconds: float
    """Of processor time."""
    guarded: str | None = None
    """What failed in our code and was reported in its row; the rest was shown."""
    failed: str | None = None
    """What stopped a reader."""


def reading(number: int) -> Read:
    """Read the changed round trip with that number."""
    kind, dialect, trips, place = mutated(number)
    trip = trips[place]
    begun = process_time()
    failed: str | None = None
    problems: tuple[str, ...] = ()
    try:
        problems = read(trip).problems
    except Exception:
        failed = traceback.format_exc(limit=-3)
    spent = process_time() - begun
    guarded = [one for one in problems if "could not be read: " in one]
    return Read(number, kind, f"read {dialect}", _size(trip), spent, "; ".join(guarded) or None, failed)


def _size(trip: RoundTrip) -> int:
    return len(trip.request.body) + (len(trip.response.body) if trip.response else 0)


def labels(number: int) -> Read:
    """Label the run with that number, with all rules."""
    kind, dialect, trips, _ = mutated(number)
    return _labelled(number, kind, f"labels {dialect}", trips)


def long_texts(number: int) -> Read:
    """Label the run with that number in which one text is long, with all rules."""
    dialect, trips, what = pumped(number)
    return _labelled(number, what, f"long {dialect}", trips)


def _labelled(number: int, kind: str, reader: str, trips: list[RoundTrip]) -> Read:
    labeller = Labeller(hints=True, advice=True)
    size = sum(map(_size, trips))
    begun = process_time()
    failed = None
    try:
        for trip in trips:
            dumps(labeller.add(trip))
        dumps(labeller.close())
    except Exception:
        failed = traceback.format_exc(limit=-3)
    spent = process_time() - begun
    return Read(number, kind, reader, size, spent, "; ".join(labeller.problems) or None, failed)


def commands(number: int, folder: Path) -> Iterator[Read]:
    """Write the run with that number, change the file, and read it with each command."""
    _, _, trips, _ = mutated(number)
    original = folder / "original.cassette.jsonl"
    _write(original, trips)
    data, suffix = mutated_file(number, original.read_bytes())
    file = folder / f"changed{suffix}"
    file.write_bytes(data)
    yield from _commands(number, "odd file", file, original, folder)
    file.unlink()


def long_commands(number: int, folder: Path) -> Iterator[Read]:
    """Write the run with that number in which one text is long, and read it with each command."""
    _, trips, what = pumped(number)
    file = folder / "long.cassette.jsonl"
    begun = process_time()
    _write(file, trips)
    yield Read(number, what, "long recorded", file.stat().st_size, process_time() - begun)
    for one in _commands(number, what, file, file, folder):
        yield replace(one, reader=f"long {one.reader}")


def _write(path: Path, trips: list[RoundTrip]) -> None:
    path.unlink(missing_ok=True)
    with Recorder(path, durable=False) as recorder:
        for trip in trips:
            recorder.write(trip)


def _commands(number: int, kind: str, file: Path, original: Path, folder: Path) -> Iterator[Read]:
    for name, arguments in COMMANDS.items():
        for one in folder.glob("out*"):
            one.unlink()
        given = [a.format(F=file, G=original, O=folder / "out") for a in arguments]
        yield _command(number, kind, name, given, file.stat().st_size)


def _command(number: int, kind: str, name: str, arguments: list[str], size: int) -> Read:
    out, err = _stream(), _stream()
    begun = process_time()
    code, failed = 0, None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*arguments, "--debug"])
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 2
        except Exception as exc:
            failed = _unexpected(exc)
    spent = process_time() - begun
    said = _text(out) + _text(err)
    if code == INTERNAL or "unrecognized arguments" in said:
        failed = failed or f"exit code {code}: {said[-500:]}"
    guarded = next((line for line in said.splitlines() if "please report this" in line), None)
    return Read(number, kind, name, size, spent, guarded, failed)


def _unexpected(exc: Exception) -> str | None:
    """The error, unless it is one that the command would say in a sentence."""
    from turntape.cassettes.errors import TurntapeError

    if isinstance(exc, TurntapeError | OSError):
        return None
    return "".join(traceback.format_exception(exc, limit=-3))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


def prepare(home: Path) -> None:
    """Settings of whoever runs this must not count, nor the size of a terminal."""
    os.environ["TURNTAPE_HOME"] = str(home)
    os.environ["COLUMNS"] = "100"
    sys.set_int_max_str_digits(0)
