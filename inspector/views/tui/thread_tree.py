"""The lines of the turn list: threads with their turns, folded or not, without the rows that a filter excludes."""

from collections.abc import Callable, Iterable, Mapping

from turntape.cassettes.frozen import frozen

from ...run.row import Row
from ...run.rows import Rows
from ..text.status_styles import ASIDE


@frozen
class TreeLine:
    """A turn, another round trip, or the head of a thread."""

    place: int
    """The row's place; for a head the place of the thread's first turn."""
    depth: int = 0
    thread: str | None = None
    """Set for a head only."""
    open: bool = True
    places: tuple[int, ...] = ()
    """For a head, the places of the thread's turns that are shown when it is open."""


class ThreadTree:
    """The content of each line."""

    def __init__(
        self,
        rows: Rows,
        folds: Mapping[str, bool],
        keep: Callable[[Row], bool] | None = None,
        order: Callable[[Row], float] | None = None,
    ) -> None:
        self.lines: list[TreeLine] = []
        self._of: dict[int, int] = {}
        """Place → line, for what is shown."""
        self._heads: dict[str, int] = {}
        self._rows = rows
        self._folds = folds
        self._keep = keep
        self._kept: list[int] | None = None
        self._single = len(rows.threads) <= 1
        self._hanging: dict[int, list[str]] = {}
        """Place of a turn → the threads below it."""
        if order is None:
            self._build()
        else:
            self._sort(order)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def places(self) -> list[int]:
        """The places that match the filter, also those in folded threads. Without a filter, all that are listed."""
        if self._kept is None:
            self._kept = [place for place, row in enumerate(self._rows.all) if self._shows(row)]
        return self._kept

    def head_of(self, thread: str) -> int | None:
        """The line of a thread's head."""
        return self._heads.get(thread)

    def line_of(self, place: int) -> int | None:
        """The line of a round trip: its own, or its thread's head when that is folded."""
        line = self._of.get(place)
        if line is None and (thread := self._rows.all[place].thread) is not None:
            return self._heads.get(thread)
        return line

    def nearest(self, place: int) -> int:
        """The line for the cursor when the round trip at `place` may be left out."""
        line = self.line_of(place)
        if line is not None or not self.lines:
            return line or 0
        return min(range(len(self.lines)), key=lambda at: abs(self.lines[at].place - place))

    def opened(self, thread: str) -> bool:
        """Whether a thread's turns are shown."""
        places = self._rows.threads[thread]
        edge = self._rows.all[places[0]].edge
        return self._folds.get(thread, self._keep is not None or edge is None or edge.kind not in ASIDE)

    def _sort(self, order: Callable[[Row], float]) -> None:
        """All rows without heads of threads, the highest value of `order` first."""
        rows = self._rows.all
        for place in sorted(self.places, key=lambda place: (not rows[place].is_turn, -order(rows[place]), place)):
            self._of[place] = len(self.lines)
            self.lines.append(TreeLine(place))

    def _build(self) -> None:
        rows = self._rows.all
        if self._single:
            for place, row in enumerate(rows):
                if self._shows(row):
                    self._of[place] = len(self.lines)
                    self.lines.append(TreeLine(place))
            return
        tops = self._tops()
        for item in tops:
            if isinstance(item, str):
                self._thread(item, 0)
            elif self._shows(rows[item]):
                self._of[item] = len(self.lines)
                self.lines.append(TreeLine(item))

    def _shows(self, row: Row) -> bool:
        """Without a filter, messages of tool servers are left out unless they say what no turn does."""
        return not row.is_quiet if self._keep is None else self._keep(row)

    def _tops(self) -> Iterable[str | int]:
        """Threads without a parent, and round trips without a thread, in order of time."""
        rows = self._rows.all
        for thread, places in self._rows.threads.items():
            edge = rows[places[0]].edge
            parent = self._rows.by_index.get(edge.of) if edge and edge.of is not None else None
            if parent is not None and rows[parent].thread not in (None, thread) and parent < places[0]:
                self._hanging.setdefault(parent, []).append(thread)
        hung = {thread for threads in self._hanging.values() for thread in threads}
        firsts = {places[0]: thread for thread, places in self._rows.threads.items()}
        for place, row in enumerate(rows):
            if row.thread is None:
                yield place
            elif (thread := firsts.get(place)) is not None and thread not in hung:
                yield thread

    def _thread(self, thread: str, depth: int) -> None:
        rows, kept = self._rows.all, self._keep
        todo: list[tuple[str, int, int]] = [(thread, depth, 0)]
        while todo:
            name, deep, at = todo.pop()
            places = self._rows.threads[name]
            if at == 0:
                shown = tuple(p for p in places if kept is None or kept(rows[p]))
                opened = self.opened(name)
                if shown:
                    self._heads[name] = len(self.lines)
                    self.lines.append(TreeLine(places[0], deep, name, opened, shown))
                if not opened:
                    # The threads below a folded thread are folded with it.
                    continue
            while at < len(places):
                place = places[at]
                at += 1
                if kept is None or kept(rows[place]):
                    self._of[place] = len(self.lines)
                    self.lines.append(TreeLine(place, deep))
                hanging = self._hung(place)
                if hanging:
                    todo.append((name, deep, at))
                    todo.extend((one, deep + 1, 0) for one in reversed(hanging))
                    break

    def _hung(self, place: int) -> list[str]:
        return self._hanging.get(place, [])
