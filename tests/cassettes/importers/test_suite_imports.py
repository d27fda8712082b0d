"""Imports of vcrpy become imports of ours where ours has every name; otherwise the file stays as it is."""

from pathlib import Path

import pytest

from turntape.cassettes.importers.suite import Move
from turntape.cassettes.importers.suite_imports import imports_in, recordings_below


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import vcr\nvcr.VCR()\n", "from turntape.cassettes import vcr\nvcr.VCR()\n"),
        ("import os, vcr, sys as s\n", "import os, sys as s\nfrom turntape.cassettes import vcr\n"),
        ("if 1:\n    import os, vcr as v\n", "if 1:\n    import os\n    from turntape.cassettes import vcr as v\n"),
        ("x = 1; import os, vcr\n", "x = 1; import os; from turntape.cassettes import vcr\n"),
        ("import vcr as v\n", "from turntape.cassettes import vcr as v\n"),
        ("from vcr import VCR, mode as m\n", "from turntape.cassettes.vcr import VCR, mode as m\n"),
        ("from vcr.unittest import VCRTestCase\n", "from turntape.cassettes.vcr.unittest import VCRTestCase\n"),
        ("try:\n    import vcr\nexcept ImportError:\n    vcr = None\n", None),
        ('import pytest\nvcr = pytest.importorskip("vcr")\n', None),
        (
            "from mine import vcr\nfrom . import vcr\nimport vcrx\n",
            "from mine import vcr\nfrom . import vcr\nimport vcrx\n",
        ),
        ("import vcr not Python\n", "import vcr not Python\n"),
    ],
)
def test_imports_are_rewritten(tmp_path: Path, before: str, after: str | None) -> None:
    file = tmp_path / "conftest.py"
    file.write_text(before)
    found = imports_in(file)
    Move([], rewrites=list(found.rewrites)).apply()
    assert not found.foreign
    said = before.replace("import vcr", "from turntape.cassettes import vcr").replace(
        '"vcr"', '"turntape.cassettes.vcr"'
    )
    assert file.read_text() == (said if after is None else after)
    if "Python" not in before and "mine" not in before:
        exec(compile(file.read_text(), str(file), "exec"), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import vcr\nimport vcr.patch\n", ["2: import vcr.patch"]),
        ("import vcr\nx = vcr.stubs.VCRConnection\n", ["2: vcr.stubs"]),
        (
            "from vcr.persisters.filesystem import FilesystemPersister as F\n",
            ["1: from vcr.persisters.filesystem import"],
        ),
    ],
)
def test_a_file_with_a_name_that_ours_does_not_have_stays(tmp_path: Path, text: str, said: list[str]) -> None:
    file = tmp_path / "conftest.py"
    file.write_text(text)
    found = imports_in(file)
    assert not found.rewrites
    assert [one[: len(said[0])] for one in found.foreign] == said
    move = Move([])
    move.add_direct_uses([tmp_path])
    assert said[0] in move.unmapped[0]


def test_the_recordings_of_a_suite_are_those_that_vcrpy_wrote(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    for name in ("a.yaml", "b", ".hidden/c.yaml"):
        (tmp_path / name).write_text("interactions:\n- request: {}\n")
    (tmp_path / "d.yaml").write_text("version: 1\n")
    (tmp_path / "test_a.py").write_text("import vcr\nvcr.use_cassette(name)\n")
    assert recordings_below(tmp_path) == [tmp_path / "a.yaml", tmp_path / "b"]
    move = Move([], plan=[(tmp_path / "b", tmp_path / "t")])
    move.add_direct_uses([tmp_path])
    assert [(source.name, target.name) for source, target in move.beside] == [("a.yaml", "a.cassette.jsonl")]
    (tmp_path / "test_a.py").write_text("import vcr\n")
    alone = Move([])
    alone.add_direct_uses([tmp_path])
    assert not alone.beside
