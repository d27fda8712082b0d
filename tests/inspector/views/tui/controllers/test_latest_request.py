"""The thread that works on what was requested last."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import override

from turntape.inspector.views.tui.controllers.latest_request import LatestRequest

SOON = 20
"""Seconds after which something that must happen will not happen any more."""
LONG = 1e6
"""Seconds that no test waits."""


class Gated(LatestRequest[str]):
    """Notes each request when it is taken, and is at work until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__("test")
        self.taken: queue.Queue[str] = queue.Queue()
        self.go_on = threading.Semaphore(0)
        self.hand_over = False
        self.until: str | None = None
        """Work also waits until this request has come."""
        self.waited: queue.Queue[bool] = queue.Queue()

    def request(self, word: str) -> None:
        self._put(word)

    @override
    def work(self, request: str) -> None:
        if self.hand_over:
            self._handed_over()
        self.taken.put(request)
        assert self.go_on.acquire(timeout=SOON)
        if self.until is not None:
            wanted, self.until = self.until, None
            self.waited.put(self._wait(LONG, until=lambda word: word == wanted))

    def next(self) -> str:
        return self.taken.get(timeout=SOON)


@contextmanager
def started() -> Iterator[Gated]:
    thread = Gated()
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()
        thread.go_on.release()
        thread.join(SOON)
        assert not thread.is_alive()


def test_of_the_requests_during_work_only_the_last_is_worked_on() -> None:
    with started() as thread:
        thread.request("first")
        assert thread.next() == "first"
        for word in ("second", "third", "fourth"):
            thread.request(word)
        thread.go_on.release()

        assert thread.next() == "fourth"
        thread.go_on.release()
        thread.request("fifth")
        assert thread.next() == "fifth" and thread.taken.empty()


def test_it_is_busy_from_a_request_to_the_end_of_its_work() -> None:
    assert not Gated().busy
    with started() as thread:
        assert not thread.busy

        thread.request("first")
        assert thread.busy
        assert thread.next() == "first" and thread.busy
        thread.until = "second"
        thread.go_on.release()
        thread.request("second")

        assert thread.next() == "second" and thread.busy


def test_it_is_not_busy_with_what_is_handed_over_unless_more_was_requested() -> None:
    with started() as thread:
        thread.hand_over = True
        thread.request("first")
        assert thread.next() == "first"
        assert not thread.busy

        thread.request("second")
        assert thread.busy


def test_a_wait_ends_with_the_request_that_it_is_for() -> None:
    with started() as thread:
        thread.until = "second"
        thread.request("first")
        assert thread.next() == "first"
        thread.go_on.release()
        thread.request("second")

        assert thread.waited.get(timeout=SOON) is True
        assert thread.next() == "second"


def test_a_wait_passes_over_other_requests() -> None:
    with started() as thread:
        thread.until = "wanted"
        thread.request("first")
        assert thread.next() == "first"
        thread.request("other")
        thread.go_on.release()
        thread.request("another")
        assert thread.waited.empty() and thread.taken.empty()

        thread.request("wanted")
        assert thread.waited.get(timeout=SOON) is True
        assert thread.next() == "wanted"


def test_a_wait_without_a_request_ends_with_its_time() -> None:
    assert Gated()._wait(0) is False


def test_stopping_ends_a_wait_and_drops_what_was_requested() -> None:
    thread = Gated()
    thread.until = "never"
    thread.start()
    thread.request("first")
    assert thread.next() == "first"
    thread.go_on.release()
    thread.request("second")
    thread.stop()
    thread.join(SOON)

    assert not thread.is_alive() and thread.waited.get_nowait() is True
    assert thread.taken.empty()


def test_it_has_a_name_and_does_not_keep_the_process_alive() -> None:
    assert (Gated().name, Gated().daemon) == ("test", True)


def test_a_thread_without_a_request_can_be_stopped() -> None:
    thread = Gated()
    thread.start()
    thread.stop()
    thread.join(SOON)

    assert not thread.is_alive() and thread.taken.empty()
