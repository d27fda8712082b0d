"""The labeller process: one line for each label, a summary, and an end in every case."""

import gzip
import json
import os
import subprocess
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from conversations import chat, result, said, user
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.recording_id import recording_id
from turntape.proxy.limits.limits import MARK
from turntape.proxy.sidecar.sidecar_client import LABELLER

CALL = ("c1", "look_up", '{"word":"a"}')


def recorded(path: Path) -> list[RoundTrip]:
    begun = [user("go")]
    called = said(None, CALL)
    trips = [chat(begun, called), chat([*begun, called, result("c1", "b")], said("done"))]
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    return trips


def labelled(path: Path, stdin: str, *options: str) -> tuple[dict[str, Any], int, str]:
    done = subprocess.run(
        [*LABELLER, str(path), *options],
        input=stdin,
        capture_output=True,
        text=True,
    )
    # How often it says that it lives, and how far it is, depends on the machine.
    often = ("alive ", "counts ")
    lines = [line.partition(" ") for line in done.stdout.splitlines() if not line.startswith(often)]
    return {head: json.loads(value) for head, _, value in lines}, done.returncode, done.stderr


def test_each_round_trip_gets_a_label_and_the_run_a_summary(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    lines, code, err = labelled(path, "2\n")

    assert (code, err) == (0, "")
    assert lines.keys() == {"0", "1", "summary"}
    assert [lines[n]["turn"] for n in ("0", "1")] == [1, 2]
    # What the client did is known from the next request, so the first label is sent again.
    assert lines["0"]["client"]["outcome"] == "dispatched"
    assert (lines["summary"]["turns"], lines["summary"]["tool_calls"]) == (2, 1)


def test_the_console_shows_one_line_for_each_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    _, _, plain = labelled(path, "2\n", "--console")
    _, _, coloured = labelled(path, "2\n", "--console", "--colour")

    assert plain.count("\n") == coloured.count("\n") == 2
    assert "look_up" in plain.splitlines()[0]
    assert "\x1b[" in coloured and "\x1b[" not in plain


def test_the_console_shows_each_tool_run_once_and_no_other_message_of_tool_servers(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    trips = tool_tapes.story().trips
    tool_tapes.record(path, trips)

    _, _, shown = labelled(path, f"{len(trips)}\n", "--console")

    lines = shown.splitlines()
    assert sorted(line for line in lines if line.startswith("●")) == [
        "● read on files  5 ms  89 B returned",
        "● search on files  80 ms  112 B returned",
        "● stop on files  5 ms  46 B returned",
        "● write on files  5 ms  returned an error  67 B returned",
    ]
    assert len(lines) == 4 + 3, "three turns"


@pytest.mark.parametrize("stdin", ["", "1\n"])
def test_it_ends_when_the_proxy_is_gone_or_has_sent_all(stdin: str, tmp_path: Path) -> None:
    """Its input ends without a number: the proxy has died. What is in the file is labelled nevertheless."""
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    labels, code, _ = labelled(path, stdin)

    assert code == 0
    assert {"0", "1", "summary"} <= labels.keys()


def test_what_nobody_reads_is_not_labelled(tmp_path: Path) -> None:
    """The proxy is gone while much waits: the labels are more than a pipe holds, so most are not made when it ends."""
    path, count = tmp_path / "run.cassette.jsonl", 200
    with Recorder(path) as recorder:
        for number in range(count):
            recorder.write(chat([user(f"go {number}")], said(f"answer {number} " + "word " * 500)))
    with subprocess.Popen(
        [*LABELLER, str(path), "--console"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        next(line for line in process.stdout if line[:1].isdigit())
        process.stdout.close()
        shown = process.stderr.read().decode().splitlines()

    assert process.returncode == 1
    assert 0 < len(shown) < count
    assert not [line for line in shown if "Error" in line or "Exception" in line]


def test_a_round_trip_that_never_comes_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    labels, code, _ = labelled(path, "7\n")

    assert code == 0
    assert labels["summary"]["round_trips"] == 2


def test_a_file_that_is_not_a_cassette_is_one_error_line(tmp_path: Path) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("no cassette\n")

    lines, code, err = labelled(path, "1\n")

    assert (code, err, list(lines)) == (1, "", ["error"])
    assert lines["error"]["message"].startswith("FormatError: ")


def test_a_run_with_limits_gets_a_report_without_the_turns_that_turntape_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    begun = [user("go")]
    with Recorder(path) as recorder:
        recorder.write(chat(begun, said("done")))
        recorder.write(replace(chat([*begun, said("done"), user("more")], said("no")), extra={MARK: {"limit": "x"}}))

    lines, _, _ = labelled(path, "2\n", "--progress")

    progress = lines["progress"]
    assert (progress["read"], progress["turns"]) == (2, 1)
    assert progress["paths"] == ["/v1/chat/completions"]


@pytest.mark.parametrize(("options", "niceness"), [([], 10), (["--progress"], 0)])
def test_it_is_nice_to_the_command_unless_turns_wait_for_it(options: list[str], niceness: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*LABELLER, str(tmp_path / "none.jsonl"), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == b"alive {}\n"
        priority = os.getpriority(os.PRIO_PROCESS, process.pid)
        process.stdin.close()

    assert priority == os.getpriority(os.PRIO_PROCESS, 0) + niceness


def test_messages_of_tool_servers_are_labelled_and_only_runs_are_printed(tmp_path: Path) -> None:
    path = tool_tapes.record(tmp_path / "run.cassette.jsonl")

    lines, _, printed = labelled(path, "9\n", "--console")

    assert {str(number) for number in range(9)} <= lines.keys()
    assert (lines["summary"]["turns"], lines["summary"]["tool_runs"], lines["summary"]["failed"]) == (3, 4, 0)
    assert [line.partition(" ")[0] for line in sorted(printed.splitlines())] == ["t1:1", "t1:2", "t1:3", *"●●●●"]


class Collector(BaseHTTPRequestHandler):
    """Takes spans over HTTP, as a collector does."""

    taken: list[ExportTraceServiceRequest]

    def do_POST(self) -> None:
        message = ExportTraceServiceRequest()
        message.ParseFromString(gzip.decompress(self.rfile.read(int(self.headers["content-length"]))))
        self.taken.append(message)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def test_turns_leave_as_spans_and_the_summary_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)
    taken: list[ExportTraceServiceRequest] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Collector,), {"taken": taken}))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    lines, code, _ = labelled(path, "2\n", f"--otlp=http://127.0.0.1:{server.server_port}", "--flush=60")
    server.shutdown()
    server.server_close()

    found = [one for message in taken for r in message.resource_spans for s in r.scope_spans for one in s.spans]
    assert code == 0
    assert lines["summary"]["spans"]["sent"] == 3
    assert [one.name for one in found] == ["chat gpt-5", "chat gpt-5", "invoke_agent"]
    conversations = {a.value.string_value for one in found for a in one.attributes if a.key == "gen_ai.conversation.id"}
    assert conversations == {f"{recording_id(Cassette.load(path).header)}/t1"}
    assert "done" not in str(taken), "content is off"


def test_a_collector_that_is_not_there_costs_only_the_spans(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    recorded(path)

    lines, code, _ = labelled(path, "2\n", "--otlp=http://127.0.0.1:9", "--flush=0.2")

    assert (code, lines["summary"]["turns"]) == (0, 2)
    assert (lines["summary"]["spans"]["sent"], lines["summary"]["spans"]["dropped"]) == (0, 3)
