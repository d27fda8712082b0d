"""Converts files of other tools to cassettes: the target of each source, and the result for each."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from ..errors import CassetteError
from ..frozen import frozen
from ..recording.recorder import Recorder
from ..redaction.redactor import Redactor
from ..tape.bounds import MOST_IN_TOTAL
from ..tape.content_encoding import decoded, packed_as
from ..tape.format import round_trip_line
from ..tape.model import RoundTrip
from .format import Format, notes_of
from .registry import FORMATS, detected
from .targets import SUFFIX, stem_of


@frozen
class Done:
    """The result for one file."""

    source: Path
    target: Path | None
    """The cassette, or None when none was written."""
    format: str | None
    count: int = 0
    notes: tuple[str, ...] = ()
    """What the source did not have, one sentence each."""
    problem: str | None = None
    """Why nothing was written, in one sentence."""


def planned(sources: Sequence[Path], folder: Path | None = None) -> list[tuple[Path, Path]]:
    """Each source with its cassette: beside it, or below `folder` at the same place as below their common folder.

    `a.yaml` gives `a.cassette.jsonl`; where another file would give that too, each keeps its own ending.
    """
    root = Path(os.path.commonpath([source.absolute().parent for source in sources])) if sources else Path()
    places = [source.parent if folder is None else folder / _below(source, root) for source in sources]
    short = [place / (stem_of(source) + SUFFIX) for place, source in zip(places, sources, strict=True)]
    taken = Counter(short)
    return [
        (source, target if taken[target] == 1 else place / (source.name + SUFFIX))
        for source, place, target in zip(sources, places, short, strict=True)
    ]


def _below(source: Path, root: Path) -> Path:
    return source.absolute().parent.relative_to(root)


def convert(
    plan: Iterable[tuple[Path, Path]],
    *,
    formats: Sequence[Format] = FORMATS,
    redactor: Callable[[], Redactor] = Redactor.from_config,
    force: bool = False,
    dropped: Mapping[Path, Collection[int]] | None = None,
    kept: Mapping[Path, Sequence[str]] | None = None,
) -> Iterator[Done]:
    """Write each source to its target, secrets replaced; a file that cannot be read leaves nothing and stops no other.

    `dropped` are places of round trips in a source that are left out. `kept` are regular expressions of what is not a
    secret, by target.

    Neighbours with one target come into one cassette, in order. Raises CassetteError when the disk refuses a line.
    """
    for target, group in groupby(plan, key=lambda pair: pair[1]):
        recorder: Recorder | None = None
        try:
            for source, _ in group:
                try:
                    # Read as a whole before the first line is written: half a recording must not be taken for one.
                    kind, trips = _read(source, formats)
                    recorder = recorder or _opened(target, redactor().keeping((kept or {}).get(target, ())), force)
                except (CassetteError, OSError) as exc:
                    yield Done(source, None, None, problem=_sentence(exc, source))
                    continue
                left_out = (dropped or {}).get(source, ())
                trips = [trip for place, trip in enumerate(trips) if place not in left_out]
                for trip in trips:
                    recorder.write(trip)
                notes = dict.fromkeys(note for trip in trips for note in notes_of(trip))
                yield Done(source, target, kind.name, len(trips), tuple(notes))
        finally:
            if recorder is not None:
                recorder.close()
        if recorder is not None and recorder.problem:
            raise CassetteError(recorder.problem)


def _opened(target: Path, redactor: Redactor, force: bool) -> Recorder:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        if not force:
            raise CassetteError(f"{str(target)!r} exists already; replace it with --force, or choose another place")
        target.unlink()
    return Recorder(target, redactor=redactor, tool="turntape import", durable=False)


def _read(source: Path, formats: Sequence[Format]) -> tuple[Format, list[RoundTrip]]:
    data = _unpacked(source.read_bytes(), source)
    kind = detected(data, source, formats)
    return kind, [_writable(trip, place, source) for place, trip in enumerate(kind.read(data, source))]


def _unpacked(data: bytes, source: Path) -> bytes:
    """The bytes of a file that is packed with gzip or zstd (`a.yaml.gz`), unpacked. Raises CassetteError."""
    plain, _, problem = decoded(data, packed_as(data), MOST_IN_TOTAL)
    if problem:
        raise CassetteError(f"{str(source)!r} cannot be unpacked: {problem}; unpack it yourself and name that file")
    return plain


def _writable(trip: RoundTrip, place: int, source: Path) -> RoundTrip:
    """The round trip, which a cassette can hold. Raises CassetteError when it has a text that is not Unicode."""
    try:
        round_trip_line(0, trip, b"", None)
    except (TypeError, ValueError) as exc:
        why = f"round trip {place} cannot be kept in a cassette: {exc}"
        raise CassetteError(f"{str(source)!r}: {why}; fix the file or leave it out") from exc
    return trip


def _sentence(exc: CassetteError | OSError, source: Path) -> str:
    if isinstance(exc, OSError):
        return f"{str(exc.filename or source)!r}: {exc.strerror or exc}; check its name and its rights"
    return str(exc)
