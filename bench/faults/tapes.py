"""Round trips as a cassette in a folder, for a look at one case."""

from collections.abc import Iterable
from pathlib import Path

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import RoundTrip


def write_trips(folder: Path, name: str, trips: Iterable[RoundTrip]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name.replace("/", "~").replace(" ", "_") + ".cassette.jsonl")
    path.unlink(missing_ok=True)
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
