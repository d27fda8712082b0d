"""`--spans`: the variables for a child's exporter, and a run whose spans are on the tape."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.proxy.launch.recorded_run import run
from turntape.proxy.launch.recording_settings import Settings
from turntape.proxy.launch.spans import collector, span_variables

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
FOR_TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"

AGENT = """
import json, os, urllib.request
body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "execute_tool add"}]}]}]}).encode()
for signal in ("traces", "metrics"):
    request = urllib.request.Request(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/" + signal, data=body)
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request) as answer:
        assert answer.read() == b"{}", signal
"""


def test_an_exporter_comes_to_us() -> None:
    variables = span_variables({}, 8484)
    assert variables == {
        ENDPOINT: "http://127.0.0.1:8484/otlp",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    }
    assert collector({}, 8484) == {}


@pytest.mark.parametrize(
    ("environ", "variable", "value", "place"),
    [
        ({ENDPOINT: "http://c.example:4318"}, ENDPOINT, "", "http://c.example:4318"),
        ({ENDPOINT: "https://c.example/api/otel/"}, ENDPOINT, "/api/otel", "https://c.example"),
        ({FOR_TRACES: "http://c.example:1/v1/traces"}, FOR_TRACES, "/v1/traces", "http://c.example:1"),
    ],
)
def test_a_collector_of_the_user_is_an_upstream(environ: dict[str, str], variable: str, value: str, place: str) -> None:
    assert span_variables(environ, 8484)[variable] == f"http://127.0.0.1:8484/otlp{value}"
    assert collector(environ, 8484) == {"otlp": place}


def test_our_own_address_from_an_earlier_export_is_not_a_collector() -> None:
    ours = {ENDPOINT: "http://127.0.0.1:8484/otlp"}
    assert span_variables(ours, 8484) == span_variables({}, 8484)
    assert collector(ours, 8484) == {}


@pytest.mark.anyio
@pytest.mark.parametrize("spans", [True, False])
async def test_the_spans_of_a_run_are_on_the_tape(spans: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("turntape.proxy.launch.supervise.listen", lambda _handle: None)
    for name in (ENDPOINT, FOR_TRACES):
        monkeypatch.delenv(name, raising=False)
    settings = Settings(path=tmp_path / "t.cassette.jsonl")
    code = await run(replace(settings, spans=spans), [sys.executable, "-c", AGENT], quiet=True)
    assert code == (0 if spans else 1), "without --spans the child has no endpoint"
    trips = list(Cassette.load(settings.path)) if settings.path.exists() else []
    assert [json.loads(trip.request.body)["resourceSpans"] != [] for trip in trips] == [True] * spans
    assert [trip.upstream for trip in trips] == ["otlp"] * spans
