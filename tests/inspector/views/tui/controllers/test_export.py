"""What the viewer saves goes into new files."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from conversations import loop
from made_pictures import PNG, alone, in_a_part, of_a_tool

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers.export import Exporter
from turntape.inspector.views.tui.controllers.export_choices import COPY_CHOICES, SAVE_CHOICES


def test_a_link_to_a_file_that_does_not_exist_yet_is_not_followed(tmp_path: Path) -> None:
    """A repository of somebody else may have one where a save would go."""
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in loop():
            recorder.write(trip)
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "t1-turn-1.request.json").symlink_to(tmp_path / "elsewhere")
    said: list[object] = []
    exporter = Exporter(Run.load(path), folder, said.append, lambda call: call())

    exporter._save_part("q", 0)

    assert not (tmp_path / "elsewhere").exists()
    assert (folder / "t1-turn-1-2.request.json").exists(), said


@pytest.mark.parametrize("trip", [in_a_part(), of_a_tool(), alone()], ids=["part", "tool", "endpoint"])
def test_the_pictures_of_an_answer_are_saved(trip: RoundTrip, tmp_path: Path) -> None:
    said: list[Any] = []
    exporter = Exporter(Run.of([trip]), tmp_path, said.append, lambda call: call())

    exporter._save_part("i", 0)

    (path,) = tmp_path.iterdir()
    assert path.suffix == ".png" and path.read_bytes() == b64decode(PNG)
    assert f"wrote {path}" in said[-1].text


def test_without_pictures_it_says_so(tmp_path: Path) -> None:
    said: list[Any] = []

    Exporter(Run.of(loop()), tmp_path, said.append, lambda call: call())._save_part("i", 0)

    assert said[-1].text == "there are no pictures or files in this round trip" and not [*tmp_path.iterdir()]


@pytest.mark.parametrize("choices", [COPY_CHOICES, SAVE_CHOICES])
def test_the_words_of_a_menu_fit_into_it(choices: tuple[tuple[str, str], ...]) -> None:
    room = 56 - 2 - len("  x  ") - 1  # the menu, its border, the key, the scroll bar
    assert [word for _, word in choices if len(word) > room] == []
