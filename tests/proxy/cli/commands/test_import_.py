"""`turntape import` as it is typed: patterns, the table, exit codes, and mitmproxy's flows."""

import gzip
import io
import json
from pathlib import Path

import pytest
from mitmproxy import flow as flows
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow, tutils

from turntape.cassettes import Cassette
from turntape.cassettes.importers.format import ImportFault
from turntape.proxy.capture.mitmproxy_flows import MITMPROXY
from turntape.proxy.cli import main

YAML = """\
interactions:
- request:
    body: '{}'
    headers: {}
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body:
      string: '{}'
    headers: {}
    status:
      code: 200
      message: OK
version: 1
"""


def test_a_pattern_that_the_shell_left_alone_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tests/cassettes/a.yaml", "tests/cassettes/deep/er/b.yaml"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(YAML)

    assert main(["import", "tests/cassettes/**/*.yaml"]) == 0

    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split("  ")[0] == "file"
    assert [line.split() for line in shown[1:3]] == [
        ["tests/cassettes/a.yaml", "vcrpy", "1"],
        ["tests/cassettes/deep/er/b.yaml", "vcrpy", "1"],
    ]
    assert shown[-1] == "2 round trips in 2 cassettes"
    assert len(Cassette.load("tests/cassettes/deep/er/b.cassette.jsonl")) == 1


def test_a_bad_file_is_in_the_table_and_in_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "a.yaml", tmp_path / "b.yaml"
    good.write_text(YAML)
    bad.write_text(YAML.replace("code: 200", "code: x"))

    assert main(["import", str(good), str(bad), "--out-dir", str(tmp_path / "out")]) == 2

    shown = capsys.readouterr().out
    assert "interactions[0]: the status is 'x'" in shown
    assert shown.splitlines()[-1] == "1 round trip in 1 cassette; 1 file left out"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.cassette.jsonl"]


@pytest.mark.parametrize("name", ["none/*.yaml", "."])
def test_a_name_without_a_file_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", name]) == 2
    assert capsys.readouterr().err.count("\n") == 1


OPENED = """\
import vcr

@vcr.use_cassette("{here}/tape.yaml")
def test_a():
    pass
"""


@pytest.mark.parametrize("words", [["--pytest", "unit", "flows/deep", "flows"], ["unit", "flows", "--pytest"]])
def test_each_folder_of_a_suite_is_moved_once(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("unit", "flows/deep", "other"):
        Path(name).mkdir(parents=True)
        Path(name, f"test_{name[-4:]}.py").write_text(OPENED.format(here=Path(name).absolute()))
        Path(name, "tape.yaml").write_text(YAML)

    assert main(["import", *words, "--apply"]) == 0

    assert "rewrote 0 marks and 2 imports in 2 files" in capsys.readouterr().out
    assert {path.parent.as_posix() for path in Path().rglob("*.cassette.jsonl")} == {"unit", "flows/deep"}
    text = Path("flows/deep/test_deep.py").read_text()
    assert text == OPENED.format(here=Path("flows/deep").absolute()).replace(
        "import vcr", "from turntape.cassettes import vcr"
    )
    assert Path("other/test_ther.py").read_text().startswith("import vcr")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pytest", "tests", "--out-dir", "out"], "--out-dir"),
        (["--pytest", "-o", "a.cassette.jsonl"], "-o and"),
        (["a.yaml", "--apply"], "--apply needs --pytest"),
    ],
)
def test_options_that_would_have_no_effect_are_an_error(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", *words]) == 2
    assert said in capsys.readouterr().err


def saved(*given: flows.Flow) -> bytes:
    out = io.BytesIO()
    writer = FlowWriter(out)
    for flow in given:
        writer.add(flow)
    return out.getvalue()


def test_flows_of_mitmproxy_keep_their_bytes_and_times() -> None:
    answered = tflow.tflow(
        req=tutils.treq(
            method=b"POST", scheme=b"https", host="api.openai.com", port=443, path=b"/v1/responses", content=b"{}",
            timestamp_start=100.0, timestamp_end=100.25,
        ),
        resp=tutils.tresp(
            content=gzip.compress(b"data: \xff"), timestamp_start=101.0, timestamp_end=102.0,
            headers=((b"content-encoding", b"gzip"),),
        ),
    )  # fmt: skip
    failed = tflow.tflow(err=tflow.terr("connection refused"))
    data = saved(answered, tflow.ttcpflow(), failed, tflow.twebsocketflow())

    assert MITMPROXY.sniff(data)
    whole, refused, socket = MITMPROXY.read(data, Path("a.flows"))

    assert whole.response
    assert (whole.request.body, whole.response.body, whole.response.encoding) == (b"{}", b"data: \xff", "gzip")
    assert (whole.request_at, whole.first_byte_at, whole.ended_at) == (250_000, 1_000_000, 2_000_000)
    assert (whole.upstream, whole.request.url) == ("openai", "https://api.openai.com/v1/responses")
    assert refused.response is None
    assert refused.failure
    assert refused.failure.kind == "refused"
    assert [frame.data for frame in socket.frames] == [b"hello binary", b"hello text", b"it's me"]


def test_flows_that_are_cut_are_an_error_with_the_place() -> None:
    data = saved(tflow.tflow(), tflow.tflow())

    with pytest.raises(ImportFault, match="flow 1"):
        list(MITMPROXY.read(data[:-40], Path("a.flows")))


def test_a_har_of_mitmproxy_is_read_as_har(tmp_path: Path) -> None:
    from mitmproxy.addons.savehar import SaveHar

    har = tmp_path / "a.har"
    har.write_text(json.dumps(SaveHar().make_har([tflow.tflow(resp=True), tflow.twebsocketflow()])))

    assert main(["import", str(har)]) == 0
    trip, socket = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert trip.response
    assert (trip.response.status, trip.response.body) == (200, b"message")
    assert [frame.data for frame in socket.frames] == [b"hello binary", b"hello text", b"it's me"]
