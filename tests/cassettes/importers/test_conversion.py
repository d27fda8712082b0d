"""Files into cassettes: which goes where, nothing half-written, no secret on the way."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from turntape.cassettes import Cassette
from turntape.cassettes.importers.conversion import convert, planned

KEY = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def recording(path: Path, *urls: str, body: str = "{}") -> Path:
    interactions = [
        {
            "request": {"method": "POST", "uri": url, "body": body, "headers": {"authorization": [f"Bearer {KEY}"]}},
            "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}},
        }
        for url in urls
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "interactions": interactions}))
    return path


def test_each_file_gets_a_cassette_beside_it_and_two_of_one_stem_do_not_meet(tmp_path: Path) -> None:
    names = ["a/x.yaml", "a/x.toml", "b/x.yaml", "b/flows"]

    targets = [target.relative_to(tmp_path).as_posix() for _, target in planned([tmp_path / name for name in names])]

    assert targets == [
        "a/x.yaml.cassette.jsonl",
        "a/x.toml.cassette.jsonl",
        "b/x.cassette.jsonl",
        "b/flows.cassette.jsonl",
    ]


def test_a_folder_keeps_the_tree(tmp_path: Path) -> None:
    sources = [tmp_path / "tests/a/x.yaml", tmp_path / "tests/b/c/x.yaml"]

    targets = [target for _, target in planned(sources, Path("out"))]

    assert targets == [Path("out/a/x.cassette.jsonl"), Path("out/b/c/x.cassette.jsonl")]


def test_a_file_that_cannot_be_read_leaves_nothing_and_stops_no_other(tmp_path: Path) -> None:
    good = recording(tmp_path / "good.json", "https://api.openai.com/v1/a", "https://api.openai.com/v1/b")
    half = recording(tmp_path / "half.json", "https://api.openai.com/v1/a")
    half.write_text(half.read_text()[:-2] + ", 1]}")
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("hello")

    first, second, third = convert(planned([half, nothing, good]))

    assert first.problem
    assert "interactions[1]" in first.problem
    assert second.problem
    assert "a format that turntape does not read" in second.problem
    assert (third.count, third.format, third.problem) == (2, "vcrpy", None)
    assert [path.name for path in sorted(tmp_path.glob("*.jsonl"))] == ["good.cassette.jsonl"]


def test_several_files_make_one_cassette_in_order(tmp_path: Path) -> None:
    target = tmp_path / "all.cassette.jsonl"
    sources = [recording(tmp_path / f"{name}.json", f"https://api.openai.com/v1/{name}") for name in "bac"]

    done = list(convert([(source, target) for source in sources]))

    assert [one.count for one in done] == [1, 1, 1]
    assert [trip.request.url[-1] for trip in Cassette.load(target)] == ["b", "a", "c"]


def test_secrets_are_replaced(tmp_path: Path) -> None:
    source = recording(tmp_path / "a.json", f"https://x.example/?key={KEY}", body=json.dumps({"key": KEY}))

    [done] = convert(planned([source]))

    assert done.target
    assert KEY.encode() not in done.target.read_bytes()
    assert done.target.stat().st_mode & 0o777 == 0o600


def test_a_cassette_is_replaced_only_when_that_is_wanted(tmp_path: Path) -> None:
    source = recording(tmp_path / "a.json", "https://api.openai.com/v1/a")
    list(convert(planned([source])))
    recording(source, "https://api.openai.com/v1/a", "https://api.openai.com/v1/b")

    [refused] = convert(planned([source]))
    [done] = convert(planned([source]), force=True)

    assert refused.problem
    assert "--force" in refused.problem
    assert done.target
    assert len(Cassette.load(done.target)) == 2


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (zstandard.compress, ".zst")])
def test_a_packed_recording_is_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes], ending: str) -> None:
    plain = recording(tmp_path / "a.json", "https://api.openai.com/v1/a")
    packed = tmp_path / ("b.json" + ending)
    packed.write_bytes(pack(plain.read_bytes()))
    cut = tmp_path / ("c.json" + ending)
    cut.write_bytes(pack(plain.read_bytes())[:-12])

    whole, torn = convert(planned([packed, cut]))

    assert (whole.target, whole.format, whole.count) == (tmp_path / "b.cassette.jsonl", "vcrpy", 1)
    assert torn.problem
    assert "cannot be unpacked" in torn.problem
    assert not (tmp_path / "c.cassette.jsonl").exists()
