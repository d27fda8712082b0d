"""Reports of progress, matched with the requests that asked for them.

A request that wants progress names a token. Reports with that token may come while the request is open, and neither
before nor after, and each says more than the one before
(https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress, read 2026-11-23).
Over stdio a request is recorded when it has its answer, so its reports are known before it is.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from typing import Literal, Self

from turntape.cassettes.frozen import frozen, mutable

from .tool_messages import ToolMessage

type Misplaced = Literal["progress_unknown", "progress_late", "progress_back", "progress_over"]
"""Under a token that no request named; after the answer; less than before; more than its total."""

_MOST = 10_000
"""So many reports of a session are kept at most."""
_SLACK = 1.0
"""Seconds. Over HTTP a report and the answer may come by two connections, in any order."""


@frozen
class Report:
    """A report of progress."""

    at: float
    index: int
    """The number of its round trip."""
    exact: bool
    """Whether it came in one row with the answers, as over stdio."""
    value: object = None
    """How far the request is."""
    total: object = None
    sequence: int = 0
    """Its place in the session."""

    @classmethod
    def read(cls, message: ToolMessage, *, wired: bool) -> Self:
        """A `notifications/progress`; `wired`: it came over stdio."""
        done, total = message.params.get("progress"), message.params.get("total")
        return cls(message.at, message.index, wired, done, total, message.sequence)


@mutable
class Progress:
    """The reports of one session, by their token."""

    _asked: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    """When requests with the token were sent."""
    _done: dict[str, float] = field(default_factory=dict[str, float])
    """When the last of them was answered."""
    _places: dict[str, int] = field(default_factory=dict[str, int])
    """The place of that answer in the session."""
    _reports: defaultdict[str, list[Report]] = field(default_factory=lambda: defaultdict[str, list[Report]](list))
    _count: int = 0

    def asked(self, token: str, at: float) -> None:
        """A request with this token was sent."""
        self._asked[token].append(at)

    def is_open(self, token: str, at: float) -> bool:
        """Whether a request with this token was sent before, and answered after that time."""
        sent, done = self._asked.get(token), self._done.get(token)
        return sent is not None and done is not None and sent[-1] < at < done

    def answered(self, token: str, at: float, sequence: int) -> None:
        """A request with this token has its answer, at this place in the session."""
        self._done[token] = max(at, self._done.get(token, at))
        self._places[token] = max(sequence, self._places.get(token, sequence))

    def reported(self, token: str, report: Report) -> None:
        """The server reports progress."""
        if self._count < _MOST:
            self._count += 1
            self._reports[token].append(report)

    def during(self, token: str, begun: float, ended: float) -> int:
        """How many reports came between two times, in seconds since the epoch."""
        return sum(begun <= report.at <= ended for report in self._reports.get(token, ()))

    def misplaced(self) -> Iterator[tuple[Misplaced, str, Report]]:
        """The first report of each kind that MCP does not allow, with its token."""
        found: dict[Misplaced, tuple[str, Report]] = {}
        for token, reports in self._reports.items():
            end = self._done.get(token)
            for before, report in zip([None, *reports], reports, strict=False):
                if not self._asked.get(token):
                    found.setdefault("progress_unknown", (token, report))
                elif end is not None and self._is_late(token, end, report):
                    found.setdefault("progress_late", (token, report))
                elif before is not None and self._goes_back(token, before, report):
                    found.setdefault("progress_back", (token, report))
                elif _is_less(report.total, report.value):
                    found.setdefault("progress_over", (token, report))
        for kind, (token, report) in found.items():
            yield kind, token, report

    def _is_late(self, token: str, end: float, report: Report) -> bool:
        """Whether a report comes after the answer. What is written at once has one time, and its order counts."""
        if report.exact:
            return report.sequence > self._places[token]
        return report.at > end + _SLACK

    def _goes_back(self, token: str, before: Report, after: Report) -> bool:
        """Whether a report says no more than the one before it of the same request."""
        grows = not isinstance(after.value, int | float) or _is_less(before.value, after.value)
        return (
            not grows
            and isinstance(before.value, int | float)
            and not any(before.at <= begun <= after.at for begun in self._asked[token])
        )


def _is_less(one: object, other: object) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one < other
