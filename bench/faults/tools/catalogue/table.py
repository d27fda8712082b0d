"""The table of faults with tool servers: a row says what its injector touched."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ...recorded.catalogue.table import CACHE, Places, Table
from ..wire import Exchange, ToolLoop

type Touched = list[int | Exchange] | None
"""The turns and exchanges at which the finding may be; None when the loop has nothing to break there."""

TABLE = Table()
FOLLOWS = f"{CACHE} client-tool-error-as-success client-empty-tool-result model-repeated-call api-answer-replayed"


def fault(name: str, layers: str, finds: str, *, given: str = "", also: str = "") -> Callable[..., Any]:
    """A row of the table over an injector that says what it touched."""

    def add(inject: Callable[[ToolLoop], Touched]) -> Callable[..., Any]:
        @wraps(inject)
        def numbered(loop: Any) -> Places:
            touched = inject(loop)
            if touched is None:
                return None
            loop.trips()
            return {loop.at[one if isinstance(one, int) else id(one)] for one in touched}

        TABLE(name, layers, finds, given=given, also=f"{also} {FOLLOWS}")(numbered)
        return numbered

    return add
