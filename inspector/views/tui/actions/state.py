"""What the screen shows: the run, and what is selected, searched, followed and played in it."""

from pathlib import Path

from turntape.cassettes.frozen import mutable

from ....run.run_index import Run
from ..controllers.follow import Follow
from ..controllers.navigation import Navigation
from ..controllers.playback import Playback
from ..controllers.search import Search

OF_THE_RUN = frozenset({"findings", "growth", "costs"})
"""The views that show the same for every turn."""


@mutable
class ScreenState:
    """Shared by the actions of one screen. It holds no widget."""

    run: Run
    search: Search
    navigation: Navigation
    follow: Follow
    playback: Playback
    output: Path | None = None
    """The output of the recorded command, while there is one."""
    marked: int | None = None
    """The round trip that others are compared with."""
    cost_order: str = "cost"
    """The order of the pieces on the page of costs."""
    alone: bool = False
    """True while there is only the first row, which comes again with the next ones."""
    reading: bool = True
    """True until the file was read to its end."""

    @property
    def place(self) -> int | None:
        """The selected round trip; None until the first one is read."""
        return self.navigation.place

    @property
    def view(self) -> str:
        """The name of the view that is shown."""
        return self.navigation.view
