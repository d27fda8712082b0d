"""The fleet in the terminal: a screen of figures, from which runs open in the viewer."""

from typing import Unpack, override

from textual.screen import Screen

from turntape.cassettes.errors import TurntapeError

from ....run.run_index import Run
from ...fleet_figures import FleetSource
from ..app import Viewer
from ..options import Options
from ..pages.help_page import key_page
from ..run_screen import RunScreen
from ..widgets.dialogs import PageScreen
from .fleet_screen import HELP_SECTIONS, FleetScreen


class FleetViewer(Viewer):
    """`FleetViewer(source).run()`. Escape leaves an open run, q ends everything."""

    def __init__(self, source: FleetSource, **options: Unpack[Options]) -> None:
        super().__init__(None, **options)
        self.fleet = FleetScreen(source, self.palette)

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.fleet

    async def on_fleet_screen_opened(self, message: FleetScreen.Opened) -> None:
        """Show the run above the figures."""
        if self.screen is not self.fleet:
            return
        try:
            run = Run(message.fetched.path, priced=False)
        except (TurntapeError, OSError) as exc:
            self.fleet.say(str(exc), "bad")
            return
        self.open_run(run)
        self.run_screen.bars.back = "fleet"
        await self.push_screen(self.run_screen)
        self.loader.start()

    def on_run_screen_left(self) -> None:
        """Go back to the figures."""
        if isinstance(self.screen, RunScreen):
            self.loader.stop()
            self.pop_screen()

    @override
    def action_help(self) -> None:
        if self.screen is self.fleet:
            page = key_page(HELP_SECTIONS, unicode=self.palette.unicode)
            self.push_screen(PageScreen("turntape fleet", page, self.palette))
        else:
            super().action_help()

    @override
    def use_theme(self, name: str) -> None:
        self.fleet.use(self.palette_of(name))
        super().use_theme(name)

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What belongs to a run waits for one."""
        if action in ("copy", "save") and not isinstance(self.screen, RunScreen):
            return False
        return super().check_action(action, parameters)
