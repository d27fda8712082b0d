"""Decides whether a run has reached a limit.

Two sources are combined. The labeller process reports what it has labelled so far (turns, cost, findings). Requests
that are running, or not labelled yet, count as turns by their path alone. So `--max-turns` also holds when labels
are late or missing.
"""

import threading
from collections.abc import Callable
from decimal import Decimal
from fnmatch import fnmatchcase

from turntape.cassettes.counted import several
from turntape.cassettes.tape.model import Headers, RoundTrip

from .limits import MARK, LimitReached, Limits
from .progress import NO_PROGRESS, ProgressReport
from .turn_paths import is_to_a_tool_server, makes_a_turn, path_of


class LimitChecker:
    """Knows what a run has used. `report`, `lost` and `labels_ended` may be called by any thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.reached: LimitReached | None = None
        """Why the run was ended; None while it is not."""
        self.labels_missing: str | None = None
        """Why no more labels will come; None while they come."""
        self.decided_without_labels = False
        """True once a turn was decided although labels were missing that its limits need."""
        self.on_news: Callable[[], object] = lambda: None
        """Called after each report and when the labels end, by the reporting thread."""
        self._lock = threading.Lock()
        self._report = NO_PROGRESS
        self._written = 0
        self._unlabelled: dict[int, int] = {}
        """Turns, counted by path, in round trips that are written and not labelled yet; by round trip number."""
        self._lost: set[int] = set()
        """Round trips that could not be written to the file, so that they never get a label."""

    def report(self, report: ProgressReport) -> None:
        """The labeller process has labelled more round trips."""
        with self._lock:
            self._report = report
            read = report["read"]
            self._unlabelled = {
                number: turns for number, turns in self._unlabelled.items() if number >= read or number in self._lost
            }
        self.on_news()

    def lost(self, number: int) -> None:
        """A round trip could not be written to the file: its turns count by their path, and no label is waited for."""
        with self._lock:
            self._lost.add(number)
        self.on_news()

    def labels_ended(self, reason: str) -> None:
        """No more labels will come: do not wait for them. `reason` is part of a sentence."""
        self.labels_missing = self.labels_missing or reason
        self.on_news()

    def written(self, round_trip: RoundTrip, number: int, session_turns: int = 0) -> None:
        """A round trip was recorded as `number`; `session_turns` are the turns of a WebSocket session."""
        turns = session_turns
        asked = round_trip.request
        if MARK not in round_trip.extra and self.is_turn(asked.method, asked.url, asked.headers, asked.body):
            turns += 1
        with self._lock:
            self._written = max(self._written, number + 1)
            if number >= self._report["read"] or number in self._lost:
                self._unlabelled[number] = turns

    @property
    def recorded(self) -> int:
        """How many round trips have ended and were recorded."""
        return self._written

    def is_labelled(self, count: int) -> bool:
        """Whether the labels of the first `count` round trips have arrived, or will never arrive."""
        if self.labels_missing is not None:
            return True
        with self._lock:
            return self._lost.issuperset(range(self._report["read"], count))

    def is_turn(self, method: str, url: str, headers: Headers = (), body: bytes = b"") -> bool:
        """Whether a request generates an answer: by its path, or because the labels called this path a turn."""
        if makes_a_turn(method, url, headers, body):
            return True
        known = method == "POST" and path_of(url) in self._report["paths"]
        return known and not is_to_a_tool_server(headers, body)

    def check(self, running: int) -> LimitReached | None:
        """The limit that forbids one more turn while `running` turns are running; None when it may be sent."""
        if self.reached is None:
            with self._lock:
                self.reached = self._turns(running) or self._cost() or self._finding()
        return self.reached

    def _turns(self, running: int) -> LimitReached | None:
        limit = self.limits.max_turns
        turns = self._report["turns"] + sum(self._unlabelled.values()) + running
        if limit is None or turns < limit:
            return None
        sentence = f"turntape ended this run after {several(limit, 'turn')} (--max-turns {limit})"
        return LimitReached("max-turns", sentence)

    def _cost(self) -> LimitReached | None:
        limit, cost = self.limits.max_cost, Decimal(self._report["cost"])
        if limit is None or cost < limit:
            return None
        return LimitReached("max-cost", f"turntape ended this run at ${cost:.4f} (--max-cost {limit})")

    def _finding(self) -> LimitReached | None:
        for pattern in self.limits.stop_on:
            for name, message in self._report["findings"].items():
                if fnmatchcase(name, pattern):
                    sentence = f"turntape ended this run on {name} (--stop-on {pattern}): {message}"
                    return LimitReached("stop-on", sentence)
        return None

    def remarks(self, labels_missing: bool) -> list[str]:
        """Remarks about the limits for the end of the run, one sentence each."""
        sentences = [self.reached.message.removeprefix("turntape ")] if self.reached else []
        unpriced = self._report["unpriced"]
        if self.limits.max_cost is not None and unpriced:
            sentences.append(f"--max-cost did not count {several(unpriced, 'request')} without a known price")
        unseen = sum(self._unlabelled.get(number, 0) for number in self._lost)
        if self.limits.need_labels and unseen:
            missed = several(unseen, "turn")
            sentences.append(f"--max-cost and --stop-on did not see {missed} that could not be written")
        if self.decided_without_labels or (labels_missing and self.limits.need_labels):
            sentences.append("--max-cost and --stop-on were not checked to the end, because labels are missing")
        return sentences
