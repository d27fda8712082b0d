"""What would be found of an answer that nobody has seen yet, in the light of all that was recorded before it."""

from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from typing import cast

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import Labeller


class Foresight:
    """Reads along like the process beside the proxy does, on a thread of its own."""

    def __init__(self) -> None:
        self._labeller = Labeller()
        self._next = 0
        self._seen: set[tuple[int, str]] = set()
        self._thread = ThreadPoolExecutor(1, "turntape-foresight")

    def written(self, round_trip: RoundTrip, number: int) -> None:
        """A round trip went to the file."""
        self._thread.submit(self._written, round_trip, number)

    def findings(self, round_trip: RoundTrip) -> "Future[list[str]]":
        """The ids of what would be found of it, and of what it shows of the turn before, the new ones alone."""
        return self._thread.submit(self._findings, round_trip)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _written(self, round_trip: RoundTrip, number: int) -> None:
        self._next = number + 1
        for index, label in self._labeller.add(replace(round_trip, index=number)):
            self._seen |= {(index, name) for name in _ids(label)}

    def _findings(self, round_trip: RoundTrip) -> list[str]:
        # A trial on a copy: the round trip may still be changed, and is added for good when it is written.
        trial = deepcopy(self._labeller)
        found = [
            (index, name) for index, label in trial.add(replace(round_trip, index=self._next)) for name in _ids(label)
        ]
        return [name for key, name in found if (key, name) not in self._seen]


def _ids(label: dict[str, object]) -> list[str]:
    return [str(finding["id"]) for finding in cast(list[dict[str, object]], label.get("findings") or [])]
