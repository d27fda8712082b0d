"""The schedule: which fault is at which recorded round trip, and the answer that it gives instead."""

from collections.abc import Sequence

from ..errors import CassetteError
from ..frozen import frozen
from ..tape.model import RoundTrip
from ..tape.turn_names import TurnName
from .edits import faulted
from .fault import KINDS, Fault, Faults, faults_of


@frozen
class Faulted:
    """A recorded round trip with a fault."""

    fault: Fault
    trip: RoundTrip

    @property
    def takes(self) -> bool:
        """True when the turn counts as played; False when the recorded answer waits for a retry."""
        return KINDS[self.fault.kind].takes

    @property
    def is_another_answer(self) -> bool:
        """True when the turn's recorded answer never comes: what the client does next was not recorded."""
        return self.takes and self.fault.kind != "slow"

    @property
    def delay(self) -> float:
        """Seconds until the first byte."""
        return self.fault.seconds if self.fault.kind == "slow" else 0.0


class Overlay:
    """The faults of a replay. Not for two threads at once."""

    def __init__(self, at: dict[int, list[Faulted]]) -> None:
        self._at = at
        """By place: what is still to come, the next first."""

    @classmethod
    def of(
        cls,
        given: Faults,
        trips: Sequence[RoundTrip],
        names: Sequence[TurnName],
    ) -> "Overlay":
        """Apply every fault at once, so that an impossible one is reported before the replay."""
        at: dict[int, list[Faulted]] = {}
        for fault in faults_of(given):
            places = [place for place, name in enumerate(names) if _is_at(fault, name)]
            if not places:
                turns = [name.number for name in names if name.number is not None]
                known = f"1 to {max(turns)}" if turns else "none"
                raise CassetteError(f"the fault {fault} is not at a recorded turn; the cassette has {known}")
            impossible: CassetteError | None = None
            made = 0
            for place in places:
                try:
                    one = Faulted(fault, faulted(trips[place], fault))
                except CassetteError as exc:
                    impossible = exc
                    continue
                made += 1
                at.setdefault(place, []).extend([one] * fault.times)
            # `*` means every turn that has room for it.
            if impossible is not None and (fault.turn != "*" or not made):
                raise impossible
        return cls(at)

    def next(self, place: int) -> Faulted | None:
        """The fault that a request for this place meets now."""
        waiting = self._at.get(place)
        return waiting.pop(0) if waiting else None


def _is_at(fault: Fault, name: TurnName) -> bool:
    if isinstance(fault.turn, str) and fault.turn != "*":
        return name.index == int(fault.turn[1:])
    if fault.thread is not None and name.thread not in (fault.thread, None):
        return False
    return name.number is not None and fault.turn in (name.number, "*")
