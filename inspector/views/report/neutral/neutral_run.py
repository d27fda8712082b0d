"""A run for the report without its prose and code. Figures, times, names of tools and models, and findings stay."""

from dataclasses import replace

from turntape.cassettes.tape.model import Failure, Request, Response, RoundTrip

from ....run.detail import Detail
from ....run.rows import Rows
from ....run.run_index import Run
from ....wire.exchange import Exchange
from ....wire.values import Reading
from .neutral_values import NeutralValues


class NeutralRun:
    """What the report needs of a run, with every text replaced by a neutral one of equal length."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._values = NeutralValues()
        self.rows = Rows()
        self.rows.put(map(self._values.value, run.rows.all))

    @property
    def problems(self) -> list[str]:
        """What could not be read of the file."""
        return [self._values.text(problem) for problem in self._run.problems]

    def detail(self, place: int) -> Detail:
        """The round trip at that place. Raises CassetteError when the file no longer holds it."""
        found = self._run.detail(place)
        trip = self._round_trip(found.round_trip)
        return Detail(
            self.rows.all[place],
            trip,
            Exchange(trip),
            self._values.reading(found.reading),
            self._reading(found.previous),
            self._reading(found.following),
        )

    def _reading(self, reading: Reading | None) -> Reading | None:
        return None if reading is None else self._values.reading(reading)

    def _round_trip(self, trip: RoundTrip) -> RoundTrip:
        """A round trip without headers and bodies."""
        request, response, failure = trip.request, trip.response, trip.failure
        return replace(
            trip,
            request=Request(request.method, self._values.url(request.url), (), b""),
            response=None if response is None else Response(response.status, "", (), b""),
            failure=None if failure is None else Failure(failure.kind, self._values.text(failure.message)),
            run=None,
        )
