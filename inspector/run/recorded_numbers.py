"""Which round trips a recording lacks, by their numbers: a line was damaged, cut off or filtered out."""

from bisect import bisect_right


class RecordedNumbers:
    """`add` each round trip's number as it comes; then `broken` says whether two of them belong together.

    A recorder numbers its round trips without gaps, in the order in which they ended. So a recording has the same gaps
    while it grows and when it is read later.
    """

    def __init__(self) -> None:
        self._next: int | None = None
        self._first: list[int] = []
        self._last: list[int] = []
        """The gaps: the numbers of the first and the last round trip of each that is missing."""

    def add(self, number: int) -> None:
        """Numbers before the first one are not a gap: what came before it has no turn here."""
        if self._next is not None and number > self._next:
            self._first.append(self._next)
            self._last.append(number - 1)
        self._next = max(number + 1, self._next or 0)

    def broken(self, before: int, number: int) -> str | None:
        """Why round trip `number` may not follow `before`, as a clause; None when all between them was seen."""
        if number < before:
            return f"#{before} is recorded before #{number}"
        place = bisect_right(self._last, before)
        if place < len(self._last) and self._first[place] < number:
            return f"the recording lacks #{max(self._first[place], before + 1)}"
        return None
