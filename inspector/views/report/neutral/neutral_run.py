"""A run for the report without its prose and code. Figures, times, names of tools and models, and findings stay."""

from dataclasses import replace
from functools import partial

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.model import Failure, Request, Response, RoundTrip

from ....ledger import CacheEntry, GroupKey, Ledger, Piece, TurnEntry, Use
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

    @property
    def ledger(self) -> Ledger:
        """The ledger, in which a piece is named by its kind and its tool."""
        whole = self._run.ledger
        pieces = [self._piece(piece) for piece in whole.pieces]
        turns = [
            replace(
                turn,
                cache=None if turn.cache is None else _cache(turn.cache),
                make=partial(self._uses, turn),
            )
            for turn in whole.turns
        ]
        kept: list[GroupKey] = ["kind", "tool", "definition", "server", "thread"]
        grouped = {
            by: [replace(group, name=self._values.name(group.name)) for group in whole.groups(by)] for by in kept
        }
        return replace(whole, pieces=pieces, turns=turns, grouped=grouped)

    def _uses(self, turn: TurnEntry) -> list[Use]:
        return [replace(use, piece=self._piece(use.piece), pointer="") for use in turn.uses]

    def _piece(self, piece: Piece) -> Piece:
        name = f"{piece.kind} of {self._values.name(piece.tool)}" if piece.tool else piece.kind
        return replace(piece, name=name, pointer="")

    def detail(self, place: int) -> Detail:
        """The round trip at that place. Raises CassetteError when the file no longer holds it, without its name."""
        try:
            found = self._run.detail(place)
        except CassetteError as exc:
            raise CassetteError(self._values.text(str(exc))) from None
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


def _cache(entry: CacheEntry) -> CacheEntry:
    """A cache entry whose miss says its cause, and nothing of what changed."""
    return replace(entry, miss=None if entry.miss is None else replace(entry.miss, message="", at=""))
