"""The sidecar may fail in any way: the recording goes on, and it is said once."""

from pathlib import Path

from turntape.proxy.sidecar.sidecar_client import Companion


def test_a_sidecar_that_cannot_read_the_file_says_why(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    path.write_text("no cassette\n")
    labels: list[tuple[int, bytes]] = []

    companion = Companion(path, lambda *label: labels.append(label), console=False, colour=False)

    assert companion.close(0) is None
    assert companion.problem
    assert companion.problem.startswith("labels are missing, since")
    assert not labels


def test_a_sidecar_that_is_killed_is_not_waited_for(tmp_path: Path) -> None:
    companion = Companion(tmp_path / "none.jsonl", lambda _index, _label: None, console=False, colour=False)
    companion.kill()

    assert companion.close(5) is None
    assert companion.problem
    assert "exit code -9" in companion.problem
