"""Copies to the clipboard, and saves into files, what was chosen; off the screen's thread where it may be long."""

from collections.abc import Callable
from pathlib import Path

from textual.app import App

from turntape.cassettes.errors import TurntapeError

from ...run.run_index import Run
from .export_choices import CLIPBOARD, COPIES, Taking, markdown
from .formatting import size
from .screenshot import picture
from .widgets.page_view import PageView


class Takeaway:
    """`copy` and `save` by the key of the choice; `say` tells what came of it."""

    def __init__(self, app: App[None], run: Run, folder: Path, say: Callable[[str, str], None]) -> None:
        self._app, self._run, self._folder, self._say = app, run, folder, say

    def copy(self, key: str, place: int, view: PageView) -> None:
        """Copy what `COPY_CHOICES` names with that key."""
        if key == "l":
            self._to_clipboard("\n".join(view.layout_.text()), "the page", "txt", place)
            return
        taking = next(one for one in COPIES if one.key == key)
        self._app.run_worker(lambda: self._make(taking, place), thread=True, exit_on_error=False)

    def save(self, key: str, place: int, view: PageView) -> None:
        """Save what `SAVES` names with that key, in a file that was not there."""
        row = self._run.rows.all[place]
        if key == "s":
            # The menu is to be gone from the picture.
            self._app.call_after_refresh(
                lambda: self._write(picture(self._app.export_screenshot()).encode(), "svg", place)
            )
        elif key == "m":
            name = f"turn {row.turn} of {row.thread}" if row.is_turn else f"#{row.index}"
            text = markdown(view.page, f"{self._run.path.name}, {name}: {view.page.name}")
            self._write(text.encode("utf-8", "replace"), "md", place)
        else:
            self._app.run_worker(lambda: self._write_part(key, place), thread=True, exit_on_error=False)

    def _make(self, taking: Taking, place: int) -> None:
        try:
            text = taking.make(self._run.detail(place))
        except TurntapeError as error:
            self._app.call_from_thread(self._say, str(error), "bad")
        else:
            self._app.call_from_thread(self._to_clipboard, text, taking.word, taking.suffix, place)

    def _to_clipboard(self, text: str, what: str, suffix: str, place: int) -> None:
        data = text.encode("utf-8", "surrogateescape")
        if not data:
            self._say(f"there is nothing to copy: {what} is empty", "warn")
        elif len(data) > CLIPBOARD:
            self._write(data, suffix, place, f"too long for the clipboard ({size(len(data))}); ")
        else:
            self._app.copy_to_clipboard(data.decode("utf-8", "replace"))
            self._say(f"copied {what}, {size(len(data))}", "good")

    def _write_part(self, key: str, place: int) -> None:
        try:
            trip = self._run.detail(place).round_trip
            if key == "t":
                from turntape.cassettes.tape.recorder import Recorder

                path = self._free("cassette.jsonl", place)
                with Recorder(path) as recorder:
                    recorder.write(trip)
                self._app.call_from_thread(self._say, f"wrote {path}", "good")
                return
        except (TurntapeError, OSError) as error:
            self._app.call_from_thread(self._say, str(error), "bad")
            return
        body = trip.request.body if key == "q" else trip.response.body if trip.response is not None else b""
        self._app.call_from_thread(self._write, body, "request.json" if key == "q" else "response.txt", place)

    def _free(self, suffix: str, place: int) -> Path:
        """A name for a file in the folder that nothing has yet."""
        row = self._run.rows.all[place]
        stem = f"{row.thread}-turn-{row.turn}" if row.is_turn else f"round-trip-{row.index}"
        number = 1
        while (path := self._folder / f"{stem}{'' if number == 1 else f'-{number}'}.{suffix}").exists():
            number += 1
        return path

    def _write(self, data: bytes, suffix: str, place: int, lead: str = "") -> None:
        try:
            path = self._free(suffix, place)
            path.write_bytes(data)
        except OSError as error:
            self._say(f"{error.filename} could not be written: {error.strerror}; start elsewhere", "bad")
        else:
            self._say(f"{lead}wrote {path}, {size(len(data))}", "good")
