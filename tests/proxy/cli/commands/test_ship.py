"""`turntape ship` as a user and as a CI job run it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from s3_server import BUCKET, S3, s3_server
from shipped_tapes import LOOP, names, rows, tape

from turntape.inspector.fleet.rows.ci_labels import CI_ENVIRONMENTS
from turntape.proxy.cli import main

Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", *(ci.shown_by for ci in CI_ENVIRONMENTS)):
        monkeypatch.delenv(name, raising=False)
    tape(tmp_path / "runs" / "a.cassette.jsonl")
    tape(tmp_path / "runs" / "b.cassette.jsonl.zst")
    return tmp_path


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with s3_server() as running:
        yield running


@pytest.fixture
def bucket(server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{tmp_path.name}"


def test_a_folder_is_shipped_with_one_line(capsys: Said) -> None:
    assert main(["ship", "runs", "--to", "store"]) == 0

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"turntape: shipped 2 recordings ({2 * LOOP} rows, ")
    assert len(rows("store")) == 2 * LOOP
    assert main(["ship", "runs", "--to", "store"]) == 0
    assert capsys.readouterr().err == "turntape: shipped 0 recordings (0 rows, 0 B) to store; 2 there already\n"


def test_a_bucket_gets_the_same_objects(bucket: str) -> None:
    assert main(["ship", "runs", "--to", bucket]) == 0
    assert main(["ship", "runs", "--to", "store"]) == 0

    for prefix in ("cassettes/v1", "rows/v1"):
        assert names(bucket, prefix) == names("store", prefix)
    assert rows(bucket) == rows("store")


def test_a_dry_run_lists_files_with_sizes(capsys: Said) -> None:
    assert main(["ship", "runs", "--to", "store", "--dry-run"]) == 0

    said = capsys.readouterr()
    first = said.out.splitlines()[0].split()
    assert first[:3] == ["new", str(LOOP), "rows,"]
    assert first[-1] == "runs/a.cassette.jsonl"
    assert said.err.startswith("turntape: would ship 2 recordings")
    assert not Path("store").exists()


def test_json_is_one_object_for_each_file(capsys: Said) -> None:
    assert main(["ship", "runs", "--to", "store", "--json"]) == 0

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["file"], line["state"], line["rows"]) for line in lines] == [
        ("runs/a.cassette.jsonl", "new", LOOP),
        ("runs/b.cassette.jsonl.zst", "new", LOOP),
    ]


def test_labels_are_columns(capsys: Said) -> None:
    assert main(["ship", "runs", "--to", "store", "--label", "branch=fix", "--label", "verdict=fail"]) == 0

    assert {(row["branch"], row["verdict"]) for row in rows("store")} == {("fix", "fail")}


def test_a_label_without_a_value_is_a_usage_error(capsys: Said) -> None:
    with pytest.raises(SystemExit):
        main(["ship", "runs", "--to", "store", "--label", "branch"])
    assert "'branch' is not NAME=VALUE, such as branch=main" in capsys.readouterr().err


def test_a_missing_file_is_named_and_the_others_are_shipped(capsys: Said) -> None:
    assert main(["ship", "runs", "nope.cassette.jsonl", "--to", "store"]) == 2

    assert "cannot read the cassette 'nope.cassette.jsonl'" in capsys.readouterr().err
    assert len(rows("store")) == 2 * LOOP


def test_an_edited_copy_has_its_exit_code(capsys: Said) -> None:
    main(["ship", "runs/a.cassette.jsonl", "--to", "store"])
    copy = Path("copy.cassette.jsonl")
    copy.write_bytes(Path("runs/a.cassette.jsonl").read_bytes().replace(b"look_up", b"look_at"))

    assert main(["ship", str(copy), "--to", "store"]) == 1

    assert "1 refused as an edited copy" in capsys.readouterr().err


def test_without_a_network_the_files_wait(capsys: Said, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("turntape.inspector.fleet.store.store.RETRIES", 0)

    assert main(["ship", "runs", "--to", bucket]) == 4

    said = capsys.readouterr().err
    assert f"turntape: {bucket!r} cannot be reached; check the network" in said
    assert "2 recordings wait in" in said


def test_what_the_spool_loses_or_cannot_take_is_said(
    capsys: Said, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("turntape.inspector.fleet.store.store.RETRIES", 0)

    assert main(["ship", "runs", "--to", bucket, "--spool", "small", "--spool-limit", "1KB"]) == 4
    assert "turntape: the spool was full and lost its oldest 1 recording\n" in capsys.readouterr().err
    assert main(["ship", "runs", "--to", bucket, "--spool", "file"]) == 4
    assert "turntape: 'file' could not keep 2 recordings; ship again\n" in capsys.readouterr().err


def test_a_missing_bucket_is_named_and_nothing_is_lost(capsys: Said, bucket: str) -> None:
    assert main(["ship", "runs", "--to", "s3://no-such-bucket/x"]) == 2

    said = capsys.readouterr().err
    assert "there is no bucket for 's3://no-such-bucket/x'; create it, or check the name and the region" in said
    assert "2 recordings wait in" in said


def test_what_waits_is_shipped_by_the_next_call_with_its_labels(
    capsys: Said, bucket: str, monkeypatch: pytest.MonkeyPatch, server: S3
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("turntape.inspector.fleet.store.store.RETRIES", 0)
    assert main(["ship", "runs/a.cassette.jsonl", "--to", bucket, "--label", "branch=then"]) == 4
    Path("runs/a.cassette.jsonl").unlink()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    capsys.readouterr()

    assert main(["ship", "--to", bucket]) == 0

    assert f"shipped 1 recording ({LOOP} rows" in capsys.readouterr().err
    assert {row["branch"] for row in rows(bucket)} == {"then"}
    assert main(["ship", "--to", bucket]) == 0
    assert capsys.readouterr().err == ""


def test_no_spool_keeps_nothing(capsys: Said, bucket: str) -> None:
    assert main(["ship", "runs", "--to", "s3://no-such-bucket/x", "--no-spool"]) == 2

    assert "wait" not in capsys.readouterr().err


def test_compact_and_expire_run_after_shipping(capsys: Said) -> None:
    assert main(["ship", "runs", "--to", "store", "--compact", "--expire", "30d"]) == 0

    said = capsys.readouterr().err
    assert f"turntape: compacted 1 day ({2 * LOOP} rows, " in said
    assert "turntape: deleted 0 recordings of 0 days, and 0 cassettes without rows" in said
    assert rows("store", "table/v1") == rows("store")


@pytest.mark.usefixtures("folder")
def test_the_clock_of_the_store_says_what_is_old(capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_store = datetime.now(UTC) + timedelta(days=40)
    monkeypatch.setattr("turntape.inspector.fleet.store.forgotten.time_of", lambda store: at_the_store)

    assert main(["ship", "runs", "--to", "store", "--expire", "30d"]) == 0

    assert "turntape: deleted 2 recordings of 1 day" in capsys.readouterr().err
    assert main(["ship", "runs", "--to", "store"]) == 0
    kept = (at_the_store - timedelta(days=30)).date()
    assert f"'store' keeps nothing from before {kept}" in capsys.readouterr().err


def test_watching_needs_a_folder(capsys: Said) -> None:
    assert main(["ship", "runs/a.cassette.jsonl", "--to", "store", "--watch"]) == 2
    assert "'runs/a.cassette.jsonl' is not a folder" in capsys.readouterr().err


def test_watching_ships_until_it_is_stopped(folder: Path) -> None:
    command = [sys.executable, "-m", "turntape.proxy.cli", "ship", "runs", "--to", "store", "--watch"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        said = [process.stderr.readline(), process.stderr.readline()]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

    assert first.startswith("turntape: ships what is closed in runs to store")
    assert all(line.startswith(f"new        {LOOP} rows, ") for line in said)
    assert len(rows("store")) == 2 * LOOP
