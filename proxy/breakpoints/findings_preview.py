"""Which findings an answer would produce, given all round trips that were recorded before it."""

from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.labels import Labeller
from turntape.inspector.wire.json_value import as_array


class FindingsPreview:
    """Labels the run as the labeller process does, on its own thread."""

    def __init__(self) -> None:
        self._labeller = Labeller()
        self._next = 0
        self._known: set[tuple[int, str]] = set()
        self._thread = ThreadPoolExecutor(1, "turntape-preview")

    def written(self, round_trip: RoundTrip, number: int) -> None:
        """A round trip was recorded."""
        self._thread.submit(self._written, round_trip, number)

    def findings(self, round_trip: RoundTrip) -> "Future[list[str]]":
        """The ids of the new findings, with former ids: of this round trip, and of what it shows of the last turn."""
        return self._thread.submit(self._findings, round_trip)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _written(self, round_trip: RoundTrip, number: int) -> None:
        self._next = number + 1
        for index, label in self._labeller.add(replace(round_trip, index=number)):
            self._known |= {(index, name) for name in _ids(label)}

    def _findings(self, round_trip: RoundTrip) -> list[str]:
        # On a copy: the answer may still be edited, and is added when it is recorded.
        trial = deepcopy(self._labeller)
        found = [
            (index, name) for index, label in trial.add(replace(round_trip, index=self._next)) for name in _ids(label)
        ]
        return [name for index, name in found if (index, name) not in self._known]


def _ids(label: dict[str, object]) -> list[str]:
    return [name for found in as_array(label["findings"]) for name in Finding.from_json(found).names]
