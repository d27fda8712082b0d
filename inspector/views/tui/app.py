"""The viewer: a run, turn by turn, in the terminal.

The app owns everything that is not part of one screen: the run, the loader with its threads, export, dialogs and
themes. `RunScreen` mounts the widgets and connects them with the controllers. Widgets get values and post messages;
they do not read files.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack, override

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Event, Key
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from ...run.run_index import Run
from .ascii_filter import AsciiFilter
from .commands import COMMANDS, HELP_SECTIONS
from .controllers.export import Exporter
from .controllers.export_choices import COPY_CHOICES, SAVE_CHOICES
from .controllers.loader import Loader
from .controllers.messages import ClipboardText, Notice
from .options import Options
from .pages.help_page import help_page
from .palette import Choice, CommandBox
from .run_screen import RunScreen
from .screenshot import picture
from .theme import PALETTES, Palette, theme_of
from .widgets.dialogs import Menu, PageScreen

SWITCH = 0.0005
"""How long the threads of the loader may delay the thread of the screen, in seconds."""


class Viewer(App[None]):
    """`Viewer(run).run()`; with `live` the file is followed while it is being written. Without a run, a subclass has
    the first screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit", show=False),
        Binding("question_mark,f1", "help", "help", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("x", "save", "save", show=False),
        Binding("ctrl+t", "next_theme", "theme", show=False),
        # Handled before the widget with the focus gets it, so that the keys behind it go to the palette: `:6`.
        Binding("colon,ctrl+p", "command_palette", "commands", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "suspend", show=False),
    ]
    TITLE = "turntape"
    CSS_PATH = Path(__file__).with_name("viewer.tcss")
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False

    run_: Run
    loader: Loader
    exporter: Exporter
    run_screen: RunScreen

    def __init__(self, run: Run | None, **options: Unpack[Options]) -> None:
        super().__init__()
        self._ascii = AsciiFilter(options.get("ascii", False))
        self.palette = self.palette_of(options.get("theme", "dark"))
        self._traceback = options.get("traceback", False)
        self._opened = False
        """Whether a run was opened."""
        self.ended_by: int | None = None
        """The number of the signal that ended the viewer."""
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Key] = []
        """Keys that were pressed before there was a turn for them."""
        if run is not None:
            self.open_run(run, **options)
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))

    def open_run(self, run: Run, **options: Unpack[Options]) -> None:
        """Make the screen of a run, and what loads and exports it. The loader is to be started."""
        live = options.get("live", False)
        self.run_, self._opened = run, True
        self.loader = Loader(run, self._send, options.get("may_grow", lambda: True) if live else None)
        self.exporter = Exporter(run, options.get("folder", Path()), self._send, self._in_thread)
        self.run_screen = RunScreen(run, self.loader, self.palette, live, options.get("output"), options.get("turn"))
        self.run_screen.state.navigation.wanted_thread = options.get("thread")

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.run_screen

    @override
    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *([self._ascii] if self._ascii.enabled else [])]

    def on_mount(self) -> None:
        self.theme = self.palette.name
        sys.setswitchinterval(SWITCH)
        if self._opened:
            self.loader.start()
        # After Ctrl-Z and `fg` the terminal shows what the shell left.
        self.app_resume_signal.subscribe(self, self._draw_again)  # pyright: ignore[reportUnknownMemberType]
        self._own_loop = asyncio.get_running_loop()
        if self.ended_by is not None:
            self.exit()

    def end(self, number: int) -> None:
        """End because of a signal, and restore the terminal. While the viewer opens, it ends as soon as it is open."""
        self.ended_by = number
        if self._own_loop is not None and not self._own_loop.is_closed():
            self._own_loop.call_soon_threadsafe(self.exit)

    @override
    async def on_event(self, event: Event) -> None:
        """Keys that need a turn wait for the first one; those of the viewer itself, and typed text, do not."""
        if isinstance(event, Key) and not event.is_forwarded and self._too_early(event.key):
            self._early.append(event)
        else:
            await super().on_event(event)

    def _too_early(self, key: str) -> bool:
        waits = self._opened and self.screen is self.run_screen and not self.run_screen.ready
        return waits and not isinstance(self.focused, Input) and key not in self._bindings.key_to_bindings

    def on_run_screen_ready(self) -> None:
        early, self._early = self._early, []
        for key in early:
            self.post_message(key)

    def _draw_again(self, _: object) -> None:
        self.refresh(layout=True)

    def on_unmount(self) -> None:
        if self._opened:
            self.loader.stop()

    @override
    def _fatal_error(self) -> None:
        """One line instead of a traceback, unless that was requested."""
        if self._traceback or self.is_headless:
            super()._fatal_error()
            return
        error = sys.exception()
        text = f"internal error, {type(error).__name__}: {error}; `turntape --debug view …` shows where"
        self.panic(Text(f"turntape: {text}"))

    def _send(self, message: Message) -> None:
        """Post a message of a controller, from any thread; the screen may be gone already."""
        if self.is_running:
            self.run_screen.post_message(message)

    def _in_thread(self, call: Callable[[], None]) -> None:
        self.run_worker(call, thread=True, exit_on_error=False)

    # Dialogs.

    def action_help(self) -> None:
        page = help_page(HELP_SECTIONS, coloured=self.palette.coloured, unicode=self.palette.unicode)
        self.push_screen(PageScreen("turntape view", page, self.palette))

    def action_copy(self) -> None:
        if self.run_screen.place is not None:
            self.push_screen(Menu("copy", COPY_CHOICES, self.palette), self._copy)

    def _copy(self, key: str | None) -> None:
        place, page = self.run_screen.place, self.run_screen.panes.page
        if key is None or place is None:
            return
        if key == "l":
            self.exporter.copy_text("\n".join(page.layout_.text()), "the page", "txt", place)
        else:
            self.exporter.copy(key, place)

    def action_save(self) -> None:
        if self.run_screen.place is not None:
            self.push_screen(Menu("save into this folder", SAVE_CHOICES, self.palette), self._save)

    def _save(self, key: str | None) -> None:
        place, page = self.run_screen.place, self.run_screen.panes.page.page
        if key is None or place is None:
            return
        if key == "s":
            # Without the menu on the picture.
            self.call_after_refresh(lambda: self.exporter.save_screenshot(picture(self.export_screenshot()), place))
        elif key == "m":
            self.exporter.save_markdown(page, place)
        else:
            self.exporter.save(key, place)

    def on_clipboard_text(self, message: ClipboardText) -> None:
        self.copy_to_clipboard(message.text)

    # Themes and commands.

    def palette_of(self, theme: str) -> Palette:
        """The palette of a theme, on this terminal."""
        return replace(PALETTES[theme], unicode=not self._ascii.enabled)

    def action_next_theme(self) -> None:
        names = list(PALETTES)
        self.use_theme(names[(names.index(self.palette.name) + 1) % len(names)])

    def use_theme(self, name: str) -> None:
        """Take one of the themes by its name."""
        self.palette = self.palette_of(name)
        self.theme = name
        if self._opened:
            self.run_screen.use(self.palette)
            self._send(Notice(f"theme {name}", "dim"))

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While text is typed, and in a dialog, a colon is a colon."""
        if action == "command_palette":
            return isinstance(self.screen, RunScreen) and not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    @override
    def action_command_palette(self) -> None:
        self.push_screen(CommandBox())

    def choices(self) -> Iterable[Choice]:
        """All commands, and the themes."""
        for word, what, action in COMMANDS:
            yield Choice(word, what, action, partial(self._run_later, action))
        for name in PALETTES:
            yield Choice(f"Theme: {name}", "use these colours", "app.next_theme", partial(self.use_theme, name))

    def turn_choice(self, number: int, thread: str | None) -> Choice:
        """The command that goes to a turn, of that thread if one is given."""
        name = f"Go to turn {number}" + (f" of {thread}" if thread else "")
        which = "" if thread else "of this thread, else the first with this number"
        return Choice(name, which, "", partial(self.run_screen.action_turn, number, thread))

    def _run_later(self, action: str) -> None:
        self.call_later(self.run_action, action, self.run_screen)
