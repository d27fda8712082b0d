"""The thread that makes pages. It always makes the page that was requested last."""

import threading
from collections.abc import Callable

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from ..pages.page import Page

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


class PageMaker(threading.Thread):
    """Makes the page that was requested last. A request that is followed by another before its turn is dropped."""

    def __init__(self, done: Callable[[PageRequest, Made | Failure], None]) -> None:
        super().__init__(name="turntape-pages", daemon=True)
        self._done = done
        self._next: tuple[PageRequest, Callable[[], object] | None] | None = None
        self._changed = threading.Condition()
        self._stopped = False
        self.busy = False
        """True from a request until the last page is handed over."""

    def request(self, request: PageRequest, ahead: Callable[[], object] | None = None) -> None:
        """Request a page. `ahead` is called after it, to fill caches, unless another request follows."""
        with self._changed:
            self._next = (request, ahead)
            self.busy = True
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        while (taken := self._take()) is not None:
            request, ahead = taken
            self._done(request, _made(request))
            if ahead is not None and self._idle():
                try:
                    ahead()
                except Exception:  # noqa: BLE001 - reading ahead is only for speed; a later request will fail visibly
                    continue

    def _take(self) -> tuple[PageRequest, Callable[[], object] | None] | None:
        """The next request, once there is one; None when the thread is to end."""
        with self._changed:
            while self._next is None and not self._stopped:
                self.busy = False
                self._changed.wait()
            taken, self._next = self._next, None
            return None if self._stopped else taken

    def _idle(self) -> bool:
        """True when nothing was requested while the page was drawn; otherwise reading ahead would delay the request."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._next is not None or self._stopped, DRAWN)


def _made(request: PageRequest) -> Made | Failure:
    try:
        made = request.make()
        made.laid_out(request.width, {})
    except TurntapeError as error:
        return Failure(str(error))
    except Exception as error:  # noqa: BLE001 - one unexpected body must not end the view of all others
        return Failure(f"this could not be shown: {type(error).__name__}: {error}")
    return made
