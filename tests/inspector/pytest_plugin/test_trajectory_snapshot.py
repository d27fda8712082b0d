"""An approved trajectory is compared with that of this run."""

from pathlib import Path

from turntape.inspector.pytest_plugin.trajectory_snapshot import approve

LINE = "turn 1\n  ! client: the API rejected the request [{}]\n"


def test_an_approved_finding_may_have_the_former_id_of_its_class(tmp_path: Path) -> None:
    path = tmp_path / "a.trajectory.txt"
    approve(path, LINE.format("api-invalid-request"), write=True)

    assert approve(path, LINE.format("request-rejected"), write=False) is None
    assert "+  ! client" in (approve(path, LINE.format("access-refused"), write=False) or "")


def test_other_words_in_brackets_are_compared_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.trajectory.txt"
    approve(path, "turn 1\n  user: read [api-invalid-request]\n", write=True)

    assert approve(path, "turn 1\n  user: read [api-invalid-request]\n", write=False) is None
    assert approve(path, "turn 1\n  user: read [request-rejected]\n", write=False) is not None
