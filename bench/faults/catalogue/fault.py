"""A fault: one edit in one layer of a clean loop, and what a reader of the tape should report."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ..dialects import DIALECTS
from ..loop import Loop
from ..story import incident

type Inject = Callable[[Loop], int | tuple[int, ...]]
"""Edits a loop and says at which steps the finding may be."""

ALL = tuple(DIALECTS)
FULL = tuple(name for name, dialect in DIALECTS.items() if not dialect.stateful)
"""Those whose requests hold the whole history."""
CHAT = ("openai-chat", "deepseek-chat", "mistral-chat", "cohere-v2")
RESPONSES = ("openai-responses", "openai-responses-held")
ANTHROPIC = ("anthropic-messages", "anthropic-thinking")
STRINGS = (*CHAT, *RESPONSES)
"""Those that send arguments as a string."""
WITH_IDS = tuple(name for name in FULL if name not in ("ollama-chat", "gemini-generate"))


@dataclass(frozen=True)
class Fault:
    id: str
    """Of the finding that is expected."""
    layers: tuple[str, ...]
    """The layer to blame; more than one where the specification leaves it open."""
    dialects: tuple[str, ...]
    inject: Inject
    variant: str = ""
    tier: str = "P"
    modes: tuple[bool, ...] = (False, True)
    """Streamed or not, or both."""
    base: Callable[[Loop], object] | None = None
    """Makes the clean loop that the fault is injected into out of the common one."""
    also: frozenset[str] = frozenset()
    """Other findings that follow from the same fault and may be found beside it."""
    instead: frozenset[str] = frozenset()
    """Ids that say the same as the expected one."""
    given: frozenset[str] = frozenset()
    """Findings of the loop before the fault: what the fault reacts to."""
    edits: str = ""
    """The layer that the injector edits, where the blame lies elsewhere."""

    @property
    def name(self) -> str:
        return f"{self.id}/{self.variant}" if self.variant else self.id

    @property
    def ids(self) -> frozenset[str]:
        return self.instead | {self.id}


@dataclass(frozen=True)
class Case:
    """A fault in one dialect, streamed or whole."""

    fault: Fault
    dialect: str
    streamed: bool

    @property
    def name(self) -> str:
        return f"{self.fault.name} {self.dialect} {'streamed' if self.streamed else 'whole'}"

    def clean(self) -> Loop:
        """The loop before the fault."""
        loop = incident(DIALECTS[self.dialect], streamed=self.streamed)
        if self.fault.base:
            self.fault.base(loop)
        return loop

    def faulty(self) -> tuple[Loop, tuple[int, ...]]:
        """The loop with the fault, and the steps at which the finding may be."""
        loop = self.clean()
        where = self.fault.inject(loop)
        return loop, where if isinstance(where, tuple) else (where,)


class AddsRow(Protocol):
    """A decorator that returns what it is given."""

    def __call__[F: Callable[[Loop], int | tuple[int, ...]]](self, inject: F) -> F: ...


@dataclass
class Table:
    """Collects faults; `@table(id, layer, …)` over an injector adds a row."""

    rows: list[Fault] = field(default_factory=list[Fault])

    def __call__(
        self,
        identity: str,
        layers: str,
        dialects: Iterable[str] = ALL,
        variant: str = "",
        *,
        tier: str = "P",
        modes: tuple[bool, ...] = (False, True),
        base: Callable[[Loop], object] | None = None,
        also: str = "",
        instead: str = "",
        given: str = "",
        edits: str = "",
    ) -> AddsRow:
        def add[F: Callable[[Loop], int | tuple[int, ...]]](inject: F) -> F:
            self.rows.append(
                Fault(
                    identity,
                    tuple(layers.split()),
                    tuple(dialects),
                    inject,
                    variant,
                    tier,
                    modes,
                    base,
                    frozenset(also.split()),
                    frozenset(instead.split()),
                    frozenset(given.split()),
                    edits,
                )
            )
            return inject

        return add

    def cases(self) -> list[Case]:
        return [
            Case(fault, dialect, streamed)
            for fault in self.rows
            for dialect in fault.dialects
            for streamed in fault.modes
        ]


ENDINGS = "client-treated-truncated-as-final client-stopped-silently client-no-retry-on-transient"
"""What else may be found where a fault ends the loop."""
STREAMED = (True,)
WHOLE = (False,)
