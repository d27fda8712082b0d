"""Guard rails: what a run may take, and whether it has taken it.

Two sources are put together. The process beside the proxy says what it has labelled so far (turns, cost,
findings); requests that are under way, or not labelled yet, count as turns by their path alone. So nothing is
parsed in the proxy's loop, and `max_turns` holds even when the labels are late or missing.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import cast
from urllib.parse import urlsplit

from turntape.cassettes.tape.model import RoundTrip

MARK = "guard"
"""The field of a round trip that we answered ourselves: `{"limit": …, "message": …}`."""

_GENERATION = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages",
    ":generateContent",
    ":streamGenerateContent",
    ":rawPredict",
    ":streamRawPredict",
    "/converse",
    "/converse-stream",
    "/invoke",
    "/invoke-with-response-stream",
    "/api/chat",
    "/api/generate",
    "/v2/chat",
    "/v1/chat",
    "/interactions",
)
"""How the path of a request that makes a model speak ends; what the labels call a turn is learned beside it."""


def makes_a_turn(method: str, url: str) -> bool:
    """Whether a request makes a model speak, by its path alone."""
    return method == "POST" and urlsplit(url).path.rstrip("/").endswith(_GENERATION)


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_turns` round trips to generation endpoints, `max_cost` dollars, and findings, by id or pattern."""

    max_turns: int | None = None
    max_cost: Decimal | None = None
    stop_on: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.max_turns is not None or self.max_cost is not None or bool(self.stop_on)


def patterns(given: Iterable[str]) -> tuple[str, ...]:
    """The values of `--stop-on`, each of which may name several."""
    return tuple(name.strip() for names in given for name in names.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class Stop:
    """Why no further turn is let through."""

    limit: str
    """`max-turns`, `max-cost` or `stop-on`."""
    message: str

    def as_json(self) -> dict[str, object]:
        return {"limit": self.limit, "message": self.message}


class Tally:
    """What labels came to, as the reader beside the proxy reports it: `add` labels, `report` the sums."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, object, object], tuple[Decimal, bool, tuple[tuple[str, str], ...]]] = {}
        self._paths: set[str] = set()

    def add(self, index: int, label: Mapping[str, object]) -> None:
        """A label as `show --json` writes it; a later one of the same turn takes its place."""
        if label.get("turn") is None:
            return
        cost = label.get("cost_usd")
        findings = cast(list[Mapping[str, object]], label.get("findings") or [])
        self._rows[(index, label.get("thread"), label.get("turn"))] = (
            Decimal(cost) if isinstance(cost, str) else Decimal(0),
            cost is None,
            tuple((str(f.get("id")), str(f.get("message"))) for f in findings),
        )
        self._paths.add(urlsplit(str(label.get("url"))).path)

    def report(self, read: int) -> dict[str, object]:
        """The sums over all labels, of the `read` round trips that were looked at."""
        rows = self._rows.values()
        return {
            "read": read,
            "turns": len(rows),
            "cost": str(sum((row[0] for row in rows), Decimal(0))),
            "unpriced": sum(row[1] for row in rows),
            "findings": {name: message for row in rows for name, message in row[2]},
            "paths": sorted(self._paths),
        }


class Guard:
    """Knows whether one more turn may go. `report` and `lost` may be called by any thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stopped: Stop | None = None
        """Why the run was ended, once it was."""
        self.on_report: Callable[[], object] = lambda: None
        """Called after each report, by the thread that brought it."""
        self._lock = threading.Lock()
        self._report: Mapping[str, object] = {}
        self._read = 0
        self._lost = False
        self._written = 0
        self._unread: dict[int, int] = {}
        """Turns, by their paths, in round trips that are written and not labelled yet, by number."""

    def report(self, report: Mapping[str, object]) -> None:
        """What the reader has labelled so far."""
        with self._lock:
            self._report = report
            self._read = cast(int, report["read"])
            self._unread = {number: turns for number, turns in self._unread.items() if number >= self._read}
        self.on_report()

    def lost(self) -> None:
        """There will be no more reports: nobody waits for one."""
        self._lost = True
        self.on_report()

    def written(self, round_trip: RoundTrip, number: int, session_turns: int = 0) -> None:
        """A round trip went to the file under `number`; `session_turns` are those of a WebSocket session."""
        turns = session_turns
        if MARK not in round_trip.extra and self.is_turn(round_trip.request.method, round_trip.request.url):
            turns += 1
        with self._lock:
            self._written = max(self._written, number + 1)
            if number >= self._read:
                self._unread[number] = turns

    @property
    def is_behind(self) -> bool:
        """True while round trips that have ended are not in any report."""
        return not self._lost and self._read < self._written

    def is_turn(self, method: str, url: str) -> bool:
        """Whether a request makes a model speak, by its path."""
        learned = cast(list[str], self._report.get("paths", ()))
        return makes_a_turn(method, url) or (method == "POST" and urlsplit(url).path.rstrip("/") in learned)

    def stop(self, running: int) -> Stop | None:
        """Why one more turn must not go, with `running` of them under way; None when it may."""
        if self.stopped is None:
            with self._lock:
                self.stopped = self._turns(running) or self._cost() or self._finding()
        return self.stopped

    def _turns(self, running: int) -> Stop | None:
        limit = self.limits.max_turns
        turns = cast(int, self._report.get("turns", 0)) + sum(self._unread.values()) + running
        if limit is None or turns < limit:
            return None
        return Stop("max-turns", f"turntape ended this run after {_count(limit, 'turn')} (--max-turns {limit})")

    def _cost(self) -> Stop | None:
        limit, cost = self.limits.max_cost, Decimal(str(self._report.get("cost", "0")))
        if limit is None or cost < limit:
            return None
        return Stop("max-cost", f"turntape ended this run at ${cost:.4f} (--max-cost {limit})")

    def _finding(self) -> Stop | None:
        found = cast(Mapping[str, str], self._report.get("findings", {}))
        for pattern in self.limits.stop_on:
            for name, message in found.items():
                if fnmatchcase(name, pattern):
                    return Stop("stop-on", f"turntape ended this run on {name} (--stop-on {pattern}): {message}")
        return None

    def remarks(self, labels_missing: bool) -> list[str]:
        """What the user should know of the limits at the end, one sentence each."""
        said = [self.stopped.message.removeprefix("turntape ")] if self.stopped else []
        unpriced = cast(int, self._report.get("unpriced", 0))
        if self.limits.max_cost is not None and unpriced:
            said.append(f"--max-cost did not count {_count(unpriced, 'turn')} without a known price")
        if labels_missing and (self.limits.max_cost is not None or self.limits.stop_on):
            said.append("--max-cost and --stop-on did not hold to the end, since the labels stopped coming")
        return said


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
