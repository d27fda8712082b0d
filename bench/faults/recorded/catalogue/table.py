"""A fault of a recorded loop: one edit, the layer to blame, and the findings that name it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..loops import Loop

CACHE = "client-cache-prefix-busted"
LOST = f"{CACHE} client-history-truncated client-assistant-mutated client-role-order"
"""Findings that follow when something of the history is lost."""

type Places = set[int] | None
"""The numbers of the round trips at which the finding may be; None when the loop has nothing to break there."""
type Inject = Callable[[Loop], Places]


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    layers: tuple[str, ...]
    """The layer to blame; more than one where the specification leaves it open."""
    finds: frozenset[str]
    """Findings of which one has to be there."""
    given: frozenset[str]
    """Findings of what the fault reacts to, such as the failure that is retried."""
    inject: Inject
    also: frozenset[str] = frozenset()
    """Findings above info that follow from the fault and may come with it."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds a fault by its name."""
        return _named, (self.name,)

    @property
    def layer(self) -> str:
        return self.layers[0]


def _named(name: str) -> Fault:
    from . import FAULTS

    return next(fault for fault in FAULTS if fault.name == name)


@dataclass
class Table:
    """Collects faults; `@table(name, layers, finds)` over an injector adds a row."""

    rows: list[Fault] = field(default_factory=list[Fault])

    def __call__(self, name: str, layers: str, finds: str, *, given: str = "", also: str = "") -> Any:
        def add(inject: Inject) -> Inject:
            row = Fault(name, tuple(layers.split()), frozenset(finds.split()), frozenset(given.split()), inject,
                        frozenset(also.split()))  # fmt: skip
            self.rows.append(row)
            return inject

        return add
