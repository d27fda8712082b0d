"""The limits of a run, as the user gave them. Imports nothing heavy."""

from collections.abc import Iterable
from decimal import Decimal

from turntape.cassettes.frozen import frozen

MARK = "guard"
"""The field of a round trip that turntape answered at a limit: `{"limit": …, "message": …}`."""


@frozen
class Limits:
    """What one recording may use. A recording without any limit is false."""

    max_turns: int | None = None
    """Requests that generate an answer, over all threads and attempts."""
    max_cost: Decimal | None = None
    """US dollars."""
    stop_on: tuple[str, ...] = ()
    """Ids of findings, or patterns of them (`client-*`)."""

    @property
    def need_labels(self) -> bool:
        """True when a limit can only be decided from labels. Turns can also be counted by their paths."""
        return self.max_cost is not None or bool(self.stop_on)

    def __bool__(self) -> bool:
        return self.max_turns is not None or self.need_labels


@frozen
class LimitReached:
    """Why no further turn is sent to the API."""

    limit: str
    """`max-turns`, `max-cost` or `stop-on`."""
    message: str

    def as_json(self) -> dict[str, object]:
        """The value of `MARK`."""
        return {"limit": self.limit, "message": self.message}


def patterns(values: Iterable[str]) -> tuple[str, ...]:
    """The patterns in the values of `--stop-on`; each value may hold several, separated by commas."""
    return tuple(name.strip() for names in values for name in names.split(",") if name.strip())
