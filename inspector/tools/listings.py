"""The pages of one list of a server, read one after another: each page is named once, each entry is on one page.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination, read 2026-11-24.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import Object, as_text, compact, objects_in

ENTRIES: Mapping[str, tuple[str, str]] = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""By method: the key of the entries, and the key of what names one of them."""
type PageFault = Literal["list_loops", "page_repeats"]

_MOST = 20_000
"""So many entries of one list are known, and so many requests."""
_MOST_LATE = 100
"""Among so many of the newest pages of a list, one may come before an earlier one."""
_MOST_UNREAD = 20


@mutable
class Listing:
    """What the pages so far have said."""

    asked: set[str] = field(default_factory=set[str])
    """The pages that were requested."""
    entries: dict[str, str] = field(default_factory=dict[str, str])
    """By name: the entries of all pages."""
    named: set[str] = field(default_factory=set[str])
    """The pages that answers have named as the next ones."""

    def page(self, method: str, cursor: str | None, result: Object) -> Iterator[tuple[PageFault, str]]:
        """Take a page, and give what is wrong with it: the kind of a note, and the page or the entry concerned."""
        if cursor is None:
            self.asked.clear()
            self.entries.clear()
        elif cursor in self.asked:
            return  # the client asks for it again
        else:
            self.asked.add(cursor)
        following = as_text(result.get("nextCursor"))
        if following and len(self.named) < _MOST:
            self.named.add(following)
        key, name = ENTRIES[method]
        here = {named: compact(one) for one in objects_in(result.get(key)) if (named := as_text(one.get(name)))}
        again = [named for named, one in here.items() if self.entries.get(named) == one]
        if following and following in self.asked:
            yield "list_loops", following
        elif again:
            yield "page_repeats", again[0]
        if len(self.entries) < _MOST:
            self.entries |= here


@frozen
class Unread:
    """A page that an answer names and that was not requested since."""

    named: str
    asked_at: float
    """When the page that names it was requested."""
    index: int
    """The round trip that names it."""


@mutable
class Pages:
    """The pages of the list of tools that a client requests, and its calls.

    They are known in any order: over HTTP the answer to an earlier request may end later, and over the transport of
    2024-11-05 all answers are recorded after all requests.
    """

    latest: int = -1
    """The round trip of the answer that came last."""
    _requested: dict[str | None, float] = field(default_factory=dict[str | None, float])
    """When each page was requested last; None is the first one."""
    _times: list[float] = field(default_factory=list[float])
    """When a page was requested."""
    _calls: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """When tools were called, and the round trips of that."""
    _unread: list[Unread] = field(default_factory=list[Unread])
    _firsts: deque[float] = field(default_factory=lambda: deque[float](maxlen=_MOST_LATE))
    """When the newest first pages were requested."""
    _others: deque[tuple[float, int]] = field(default_factory=lambda: deque[tuple[float, int]](maxlen=_MOST_LATE))
    """When the newest other pages were requested that have their answers, and the round trips of these."""

    def asked(self, at: float, cursor: str | None) -> None:
        """The client requests a page."""
        if cursor is None:
            self._firsts.append(at)
        if len(self._times) < _MOST:
            self._times.append(at)
            self._requested[cursor] = max(at, self._requested.get(cursor, at))
        self._unread[:] = [one for one in self._unread if one.named != cursor or at < one.asked_at]

    def answered(self, at: float, cursor: str | None, index: int, following: str | None) -> None:
        """The page that was requested then has its answer, which may name another one."""
        self.latest = index
        if cursor is not None:
            self._others.append((at, index))
        if following and self._requested.get(following, -math.inf) < at and len(self._unread) < _MOST_UNREAD:
            self._unread.append(Unread(following, at, index))

    def called(self, at: float, index: int) -> None:
        """The client calls a tool."""
        if len(self._calls) < _MOST:
            self._calls.append((at, index))

    def early(self, at: float) -> frozenset[int]:
        """The round trips of other pages of the list that begins with the page requested then, and which came first."""
        following = min((first for first in self._firsts if first > at), default=math.inf)
        return frozenset(index for asked_at, index in self._others if at < asked_at < following)

    @property
    def are_read(self) -> bool:
        """Whether every page that an answer names was requested."""
        return not self._unread

    def skipped(self) -> tuple[int, int] | None:
        """The first call of a tool between an answer that names a page and the next request for a page, where that page
        is never requested: the round trips of the call and of the answer."""
        for page in self._unread:
            again = min((at for at in self._times if at > page.asked_at), default=math.inf)
            calls = [call for call in self._calls if page.asked_at < call[0] < again]
            if calls:
                return min(calls)[1], page.index
        return None
