"""Imports of vcrpy become imports of ours where ours has every name; otherwise the file stays as it is."""

import importlib
from pathlib import Path

import pytest

from turntape.cassettes.importers import suite_imports
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


@pytest.mark.parametrize("module", sorted(suite_imports._OURS))
def test_the_names_that_are_rewritten_are_those_of_vcrpy(module: str) -> None:
    theirs = pytest.importorskip(module)
    ours = importlib.import_module(f"turntape.cassettes.{module}")
    names = suite_imports._OURS[module]
    assert [name for name in sorted(names) if not (hasattr(theirs, name) and hasattr(ours, name))] == []


def test_the_errors_of_vcrpy_are_all_here() -> None:
    theirs = vars(pytest.importorskip("vcr.errors"))
    errors = {name for name, one in theirs.items() if isinstance(one, type) and one.__module__ == "vcr.errors"}
    assert errors - {"MissingMetadataError"} <= suite_imports._OURS["vcr.errors"]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("from vcr.stubs import aiohttp_stubs\n", "clients are answered without it"),
        ("import vcr.patch\n", "clients are answered without it"),
        ("from vcr.serializers import yamlserializer\n", "a cassette has one format"),
        ("from vcr.persisters.filesystem import FilesystemPersister\n", "a cassette has one format"),
        ("from vcr.matchers import requests_match\n", "call the matchers one by one"),
        ("from vcr.cassette import Unheard\n", ""),
    ],
)
def test_what_ours_does_not_have_is_said_with_what_to_do_instead(tmp_path: Path, text: str, instead: str) -> None:
    file = tmp_path / "conftest.py"
    file.write_text(text)
    said = imports_in(file).said
    assert len(said) == 1 and said[0].startswith(f"1: {text.strip()} is not in turntape.cassettes.vcr")
    assert said[0].partition("; ")[2].startswith(instead) and bool(instead) == ("; " in said[0])
