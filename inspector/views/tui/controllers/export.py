"""Copies the chosen content to the clipboard, or saves it in a file; large content on another thread."""

from collections.abc import Callable, Sequence
from mimetypes import guess_extension
from os.path import lexists
from pathlib import Path

from turntape.cassettes.errors import TurntapeError

from ....analysis.pictures import Picture, pictures_in, pictures_of
from ....run.detail import Detail
from ....run.run_index import Run
from ..formatting import size
from ..pages.page import Page
from .export_choices import CLIPBOARD, COPIES, CopyChoice, markdown
from .messages import ClipboardText, Notice, Post


class Exporter:
    """`copy` and `save` by the key of the choice. Posts `ClipboardText`, and a `Notice` about what was done.

    `in_thread` calls a function on another thread.
    """

    def __init__(self, run: Run, folder: Path, post: Post, in_thread: Callable[[Callable[[], None]], object]) -> None:
        self._run, self._folder, self._post, self._in_thread = run, folder, post, in_thread

    def copy(self, key: str, place: int) -> None:
        """Copy what `COPIES` names with that key."""
        choice = next(one for one in COPIES if one.key == key)
        self._in_thread(lambda: self._make(choice, place))

    def copy_text(self, text: str, what: str, suffix: str, place: int) -> None:
        """Copy a text; one that is too long for the clipboard is saved in a file."""
        data = text.encode("utf-8", "surrogateescape")
        if not data:
            self._post(Notice(f"there is nothing to copy: {what} is empty", "warn"))
        elif len(data) > CLIPBOARD:
            self._write(data, suffix, place, f"too long for the clipboard ({size(len(data))}); ")
        else:
            self._post(ClipboardText(data.decode("utf-8", "replace")))
            self._post(Notice(f"copied {what}, {size(len(data))}", "good"))

    def save(self, key: str, place: int) -> None:
        """Save the turn (`t`), its request body (`q`), its response body (`r`) or its pictures (`i`) in new files."""
        self._in_thread(lambda: self._save_part(key, place))

    def save_markdown(self, page: Page, place: int) -> None:
        """Save a page as Markdown in a new file."""
        text = markdown(page, f"{self._run.path.name}, {self._run.rows.name_of(place)}: {page.name}")
        self._write(text.encode("utf-8", "replace"), "md", place)

    def save_screenshot(self, svg: str, place: int) -> None:
        """Save a picture of the screen in a new file."""
        self._write(svg.encode(), "svg", place)

    def _make(self, choice: CopyChoice, place: int) -> None:
        try:
            text = choice.make(self._run.detail(place))
        except TurntapeError as error:
            self._post(Notice(str(error), "bad"))
        else:
            self.copy_text(text, choice.word, choice.suffix, place)

    def _save_part(self, key: str, place: int) -> None:
        try:
            detail = self._run.detail(place)
            trip = detail.round_trip
            if key == "i":
                self._save_pictures(_pictures(detail), place)
                return
            if key == "t":
                from turntape.cassettes.recording.recorder import Recorder

                path = self._free(place, "cassette.jsonl")
                with Recorder(path) as recorder:
                    recorder.write(trip)
                self._post(Notice(f"wrote {path}", "good"))
                return
        except (TurntapeError, OSError) as error:
            self._post(Notice(str(error), "bad"))
            return
        if key == "q":
            self._write(trip.request.body, "request.json", place)
        else:
            self._write(trip.response.body if trip.response is not None else b"", "response.txt", place)

    def _save_pictures(self, found: Sequence[Picture], place: int) -> None:
        """Save these, each in a file with the suffix of its type."""
        if not found:
            self._post(Notice("there are no pictures or files in this round trip", "warn"))
        for one in found:
            suffix = (guess_extension(one.type) or ".bin").removeprefix(".")
            self._write(one.decoded(), suffix, place)

    def _free(self, place: int, suffix: str) -> Path:
        """The path of a new file in the folder."""
        row = self._run.rows.all[place]
        stem = f"{row.thread}-turn-{row.turn}" if row.is_turn else f"round-trip-{row.index}"
        number = 1
        # A link counts although it leads nowhere: what it names would be written.
        while lexists(path := self._folder / f"{stem}{'' if number == 1 else f'-{number}'}.{suffix}"):
            number += 1
        return path

    def _write(self, data: bytes, suffix: str, place: int, lead: str = "") -> None:
        try:
            path = self._free(place, suffix)
            with path.open("xb") as file:
                file.write(data)
        except OSError as error:
            problem = f"cannot write {error.filename}: {error.strerror}; start turntape in another folder"
            self._post(Notice(problem, "bad"))
        else:
            self._post(Notice(f"{lead}wrote {path}, {size(len(data))}", "good"))


def _pictures(detail: Detail) -> Sequence[Picture]:
    """The pictures and files of a round trip: of its messages and answer, or of its bodies if it is not a turn."""
    request, emission = detail.reading.request, detail.reading.emission
    if not detail.row.is_turn:
        return [*pictures_in(detail.exchange.body), *pictures_in(detail.exchange.answer)]
    said = emission.content if emission is not None else ()
    return pictures_of([*request.system, *(part for message in request.messages for part in message.parts), *said])
