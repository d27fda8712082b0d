"""Clean loops: on none of them may a finding above info stand."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .dialects import DIALECTS
from .loop import Loop
from .story import incident

type Variant = Callable[[Loop], object]


@dataclass(frozen=True)
class Clean:
    name: str
    dialect: str
    streamed: bool
    vary: Variant

    def loop(self) -> Loop:
        loop = incident(DIALECTS[self.dialect], streamed=self.streamed)
        self.vary(loop)
        return loop


def plain(loop: Loop) -> None:
    """The story as it is."""


VARIANTS: list[tuple[str, tuple[str, ...], Variant]] = [("plain", tuple(DIALECTS), plain)]


def clean_loops() -> Iterator[Clean]:
    for name, dialects, vary in VARIANTS:
        for dialect in dialects:
            for streamed in (False, True):
                yield Clean(f"{name} {dialect} {'streamed' if streamed else 'whole'}", dialect, streamed, vary)
