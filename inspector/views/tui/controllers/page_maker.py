"""The thread that makes pages. It always makes the page that was requested last."""

from collections.abc import Callable
from contextlib import suppress
from typing import override

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from ..pages.page import Page
from .latest_request import LatestRequest

type Made = Page
"""The result of a request."""

DRAWN = 0.06
"""Seconds after which a page is assumed to be on the screen."""


@frozen
class Failure:
    """Why a page could not be made."""

    message: str


@frozen
class PageRequest:
    """A page to make for the round trip at `place`."""

    place: int
    view: str
    width: int
    """Cells of a line."""
    make: Callable[[], Made]
    """Makes the page; called on the thread of the page maker."""
    anchor: str = ""
    """The part to show; empty to leave the cursor where it is."""
    top: bool = False
    """Whether the cursor starts on the first line."""


class PageMaker(LatestRequest[tuple[PageRequest, Callable[[], object] | None]]):
    """Makes the page that was requested last. A request that is followed by another before its turn is dropped."""

    def __init__(self, done: Callable[[PageRequest, Made | Failure], None]) -> None:
        super().__init__("turntape-pages")
        self._done = done

    def request(self, request: PageRequest, ahead: Callable[[], object] | None = None) -> None:
        """Request a page. `ahead` is called after it, to fill caches, unless another request follows."""
        self._put((request, ahead))

    @override
    def work(self, request: tuple[PageRequest, Callable[[], object] | None]) -> None:
        page, ahead = request
        self._done(page, _made(page))
        # While the page is drawn, reading ahead would delay the next request.
        if ahead is not None and not self._wait(DRAWN):
            with suppress(Exception):  # reading ahead is only for speed; a later request will fail visibly
                ahead()


def _made(request: PageRequest) -> Made | Failure:
    try:
        made = request.make()
        made.laid_out(request.width, {})
    except TurntapeError as error:
        return Failure(str(error))
    except Exception as error:  # noqa: BLE001 - one unexpected body must not end the view of all others
        return Failure(f"this could not be shown: {type(error).__name__}: {error}")
    return made
