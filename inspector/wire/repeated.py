"""Lists that the requests of a run repeat, such as the tools: one that is spelled as before is read once.

Whoever derives something from each item can do the same, by their identity (`per_message`).
"""

from collections import deque
from collections.abc import Callable, Iterable

from turntape.cassettes.frozen import mutable

from .json_value import compact, is_array
from .per_message import KEPT


@mutable(eq=False)
class _Read[T]:
    pointer: str
    given: list[object]
    spelled: str
    values: tuple[T, ...]


class Repeated[T]:
    """Reads lists with `read`, which gets a list and its pointer. Any thread may use it."""

    def __init__(self, read: Callable[[object, str], Iterable[T]], kept: int = KEPT) -> None:
        self._read = read
        self._recent: deque[_Read[T]] = deque(maxlen=kept)

    def of(self, items: object, pointer: str) -> tuple[T, ...]:
        """What is read of the list at `pointer`; the same objects for one that is spelled as an earlier one."""
        if not is_array(items) or not items:
            return tuple(self._read(items, pointer))
        recent = [one for one in tuple(self._recent) if one.pointer == pointer]
        known = next((one for one in recent if one.given is items), None)
        if known is None:
            spelled = compact(items)
            known = next((one for one in recent if one.spelled == spelled), None)
            if known is None:
                known = _Read(pointer, items, spelled, tuple(self._read(items, pointer)))
                self._recent.append(known)
        return known.values
