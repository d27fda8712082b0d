"""docs/extending.md as a user would follow it: in a package outside the tree, and in the settings alone."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from turntape.inspector import extending

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
BLOCK = re.compile(r"```\w+\n# (?P<file>[\w/]+\.\w+)\n(?P<text>.*?)```", re.DOTALL)

TRY = '''
"""Everything that turntape does with an API, done with Acme's."""
import contextlib, io, json, sys
from pathlib import Path

import httpx

from turntape.cassettes import Cassette, Fault, Player, Recorder, ReplayTransport
from turntape.cassettes import Request, Response, RoundTrip
from turntape.inspector.wire.rewrite.answer_edit import edited, parse_edit
from turntape.proxy.cli import main

URL = "https://gateway.acme.example/v2/converse"
FILE = "run.cassette.jsonl"


def body(trace, words="?"):
    return {"model": "gpt-4o-mini", "trace": trace, "msgs": [{"who": "user", "body": words}]}


def answer(text, why="done"):
    out = {"out": {"text": text, "why": why}, "usage": {"in": 1000, "out": 20}, "model": "gpt-4o-mini"}
    return json.dumps(out).encode()


def cli(*arguments):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out):
        code = main(list(arguments))
        out.flush()
    return code, out.buffer.getvalue().decode()


json_type = (("content-type", "application/json"),)
request = Request("POST", URL, json_type, json.dumps(body("one")).encode())
with Recorder(FILE, durable=False) as recorder:
    recorder.write(RoundTrip(request, Response(200, "OK", json_type, answer("Hello.")), 1763700000.0))

broken = "broken" in sys.argv
(trip,) = list(Cassette.load(FILE))
ask = lambda transport: httpx.Client(transport=transport).post(URL, json=body("one" if broken else "two"))
shown = json.loads(cli("show", FILE, "--json")[1].splitlines()[0])
code, text = cli("check", FILE, "--fail-on", "warning")
faults, edit = ([], "/out/text=") if broken else ([Fault(1, "finish", finish="limit")], "text=")
otel = json.loads(cli("export", FILE, "--format", "otel")[1])
report = {
    "show": {key: shown[key] for key in ("protocol", "request_model", "model", "api", "usage", "cost_usd")},
    "findings": [finding["id"] for finding in shown["findings"]],
    "check": [code, "acme-empty-question" in text],
    "matched": ask(ReplayTransport(FILE)).json()["out"]["text"],
    "fault": ask(ReplayTransport(Player(FILE, faults=faults))).json()["out"]["why"],
    "fork": edited(trip, parse_edit(edit + "Good morning.")).response.body.decode(),
    "otel": "Hello." in json.dumps(otel) and "chat gpt-4o-mini" in json.dumps(otel),
    "markdown": "Hello." in cli("export", FILE, "--format", "markdown")[1],
}
print("REPORT", json.dumps(report))
'''


def blocks() -> dict[str, str]:
    """The page's files by name."""
    return {found["file"]: found["text"] for found in BLOCK.finditer(PAGE.read_text())}


def install(site: Path, *, pyproject: str) -> None:
    """What `pip install` leaves behind: the package, and its metadata made from its pyproject.toml."""
    declared = tomllib.loads(pyproject)["project"]
    info = site / f"acme_turntape-{declared['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in declared["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    for name, text in blocks().items():
        if name.endswith(".py"):
            target = site / name
            target.parent.mkdir(exist_ok=True)
            target.write_text(text)


def run(folder: Path, site: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """The report of `TRY`, and what it wrote to stderr."""
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", TRY, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.rpartition("REPORT ")[2]), done.stderr


def expect_acme(report: dict[str, Any]) -> None:
    show = report["show"]
    assert (show["protocol"], show["request_model"], show["model"]["text"]) == ("acme-chat", "gpt-4o-mini", "Hello.")
    assert (show["api"]["finish_raw"], show["api"]["finish"]) == ("done", "complete")
    assert (show["usage"]["input"], show["usage"]["output"]) == (1000, 20)
    assert float(show["cost_usd"]) > 0
    assert report["matched"] == "Hello."
    assert report["fault"] == "limit"
    assert json.loads(report["fork"])["out"] == {"text": "Good morning.", "why": "done"}
    assert report["otel"]
    assert report["markdown"]


def test_a_package_adds_a_protocol_and_a_rule(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, pyproject=blocks()["pyproject.toml"])

    report, stderr = run(tmp_path, site)

    expect_acme(report)
    assert report["findings"] == ["acme-empty-question"]
    assert report["check"] == [1, True]
    assert "turntape:" not in stderr


def test_the_settings_declare_the_same_gateway_and_name_the_same_rule(tmp_path: Path) -> None:
    site = tmp_path / "site"
    target = site / "acme_turntape" / "rules.py"
    target.parent.mkdir(parents=True)
    target.write_text(blocks()["acme_turntape/rules.py"])
    settings = 'rules = ["acme_turntape.rules"]\n' + blocks()["turntape.toml"]
    (tmp_path / "turntape.toml").write_text(settings)

    report, stderr = run(tmp_path, site)

    expect_acme(report)
    assert report["findings"] == ["acme-empty-question"]
    assert "turntape:" not in stderr


def test_a_package_that_cannot_be_imported_costs_one_sentence(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, pyproject=blocks()["pyproject.toml"])
    (site / "acme_turntape" / "protocol.py").write_text("import no_such_module\n")

    report, stderr = run(tmp_path, site, "broken")

    assert report["show"]["protocol"] == "unknown"
    assert report["matched"] == "Hello."
    assert stderr.count("the protocol 'acme' of 'acme-turntape' is not used: ModuleNotFoundError") == 1


def test_every_name_of_the_page_is_public() -> None:
    names = re.findall(r"turntape\.inspector\.extending import (?:\(([^)]*)\)|(.+))", PAGE.read_text())
    wanted = {name.strip() for pair in names for name in "".join(pair).split(",") if name.strip()}

    assert wanted
    assert wanted <= set(extending.__all__)


@pytest.mark.parametrize("name", extending.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert hasattr(importlib.import_module("turntape.inspector.extending"), name)
