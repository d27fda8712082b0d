"""What the viewer saves goes into new files."""

from pathlib import Path

from conversations import loop

from turntape.cassettes import Recorder
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers.export import Exporter


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
