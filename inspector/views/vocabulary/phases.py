"""The phases of a run's time: what each is called, and the style that it is drawn in."""

from collections.abc import Mapping

from turntape.cassettes.frozen import frozen

from ...run.run_timeline import Phase
from .style import Style


@frozen
class PhaseLook:
    """How a phase is drawn."""

    sign: str
    """A cell of it in a terminal."""
    style: Style
    words: str
    """What it means."""
    sum: str
    """Its time in all threads, as a noun."""


PHASES: Mapping[Phase, PhaseLook] = {
    "wait": PhaseLook("░", "dim", "wait for the first byte", "waiting"),
    "stream": PhaseLook("█", "api", "the answer arrives", "answers"),
    "client": PhaseLook("▒", "client", "the client works", "client"),
    "tool": PhaseLook("▅", "tool", "a tool runs", "tools"),
}
"""In the order of a turn."""
HEIGHTS = "▁▂▃▄▅▆▇█"
"""How much of a cell's time a tool ran."""
FOLDED = "several turns a cell: phases in proportion, a tool as high as its part of the time"
"""How a lane is drawn that has more turns than room."""
