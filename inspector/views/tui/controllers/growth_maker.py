"""The thread that makes the growth strip. It always makes the strip that was requested last."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, override

from turntape.cassettes.frozen import frozen

from .latest_request import LatestRequest
from .page_maker import Failure

if TYPE_CHECKING:
    from ....ledger import Ledger
    from ....run.row import Row
    from ....run.strip import Strip

REST = 20
"""While a file is read, the thread rests this many times as long as the processor took to make the strip."""
LONGEST = 2.0
"""But no more than so many seconds."""


@frozen
class _Request:
    rows: "Sequence[Row]"
    ledger: "Ledger | None"
    final: bool


class GrowthMaker(LatestRequest[_Request]):
    """Makes the strip of the rows that were requested last. A request that is followed by another is dropped."""

    def __init__(self, done: "Callable[[Strip | Failure], None]", rest: Callable[[], None] = lambda: None) -> None:
        super().__init__("turntape-growth")
        self._done, self._rest = done, rest
        self._before: Strip | None = None
        """The strip that was made last, while there is no ledger."""

    def request(self, rows: "Sequence[Row]", ledger: "Ledger | None", *, final: bool) -> None:
        """Request a strip; `rows` must not change any more. One that is `final`, as all rows were read, has no wait."""
        self._put(_Request(rows, ledger, final))

    @override
    def work(self, request: _Request) -> None:
        begun = time.thread_time()
        made = _made(request, self._rest, self._before)
        self._before = None if isinstance(made, Failure) or request.ledger is not None else made
        self._done(made)
        self._handed_over()
        self._wait(min(LONGEST, REST * (time.thread_time() - begun)), until=lambda next_: next_.final)


def _made(wanted: _Request, rest: Callable[[], None], before: "Strip | None") -> "Strip | Failure":
    from ....run.strip import strip_of

    try:
        return strip_of(wanted.rows, wanted.ledger, rest, before=before)
    except Exception as error:  # noqa: BLE001 - the turns must be shown, whatever is wrong with their picture
        return Failure(f"the growth strip could not be drawn: {type(error).__name__}: {error}")
