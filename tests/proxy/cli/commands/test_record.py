"""`turntape record`: the proxy alone."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from waiting import eventually

from turntape.cassettes import Cassette
from turntape.proxy.cli import main


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_it_prints_can_be_pasted_and_a_signal_ends_it_cleanly(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "turntape.proxy.cli", "record", "--port", "0", "--out", "t.cassette.jsonl"]
    environ = os.environ | {"TURNTAPE_HOME": str(tmp_path / "home")}
    shown: list[str] = []
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            shown.append(line)
            if "CODEX_CA_CERTIFICATE" in line:
                break
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    pasted = "".join(line for line in shown if "export " in line)

    variables = subprocess.run(
        ["sh", "-euc", pasted + "env"], capture_output=True, text=True, check=True, env={}
    ).stdout.splitlines()

    assert process.returncode == 0
    assert "no LLM API was called" in said
    port = next(v for v in variables if v.startswith("HTTPS_PROXY=")).rpartition(":")[2]
    assert f"OPENAI_BASE_URL=http://127.0.0.1:{port}/openai/v1" in variables
    assert f"http_proxy=http://127.0.0.1:{port}" in variables
    assert Path(next(v for v in variables if v.startswith("SSL_CERT_FILE=")).partition("=")[2]).exists()
    assert (tmp_path / "t.cassette.jsonl").exists()


def test_a_recording_continues_when_nobody_reads_what_it_prints() -> None:
    code = "from turntape.proxy.cli.commands import record; record._say('x' * 99999)"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as closed:
        done = subprocess.run([sys.executable, "-c", code], stdout=closed, stderr=subprocess.PIPE, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", "record", "--port", port],
            cwd=tmp_path,
            env=os.environ | {"TURNTAPE_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert port in done.stderr
    assert not list(tmp_path.glob("*.jsonl"))


def test_traffic_that_was_not_recorded_is_exit_4(tmp_path: Path) -> None:
    import httpx

    from turntape.proxy.scripted import ScriptedServer

    with (
        ScriptedServer() as server,
        subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.cli", "record", "--port", "0", "--upstream", f"*={server.url}"],
            cwd=tmp_path,
            env=os.environ | {"TURNTAPE_HOME": str(tmp_path / "home")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout
        base = next(line for line in process.stdout if "OPENAI_BASE_URL=" in line).strip().partition("=")[2]
        [cassette] = tmp_path.glob("*.jsonl")
        cassette.unlink()
        body = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
        assert httpx.post(f"{base}/chat/completions", json=body).status_code == 200
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 4, err
    assert cassette.name in err


class Slow(BaseHTTPRequestHandler):
    """An API whose stream lasts until the test lets it end."""

    go: threading.Event

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
        self.wfile.flush()
        self.go.wait(60)
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def recording(folder: Path, go: threading.Event, *options: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """`turntape record` before that API, into `t.jsonl`: its process and its port."""
    api = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Slow,), {"go": go}))
    threading.Thread(target=api.serve_forever, daemon=True).start()
    command = [sys.executable, "-m", "turntape.proxy.cli", "record", "--port=0", "--out=t.jsonl", *options]
    command += [f"--upstream=openai=http://127.0.0.1:{api.server_port}/v1"]
    environ = os.environ | {"TURNTAPE_HOME": str(folder / "home")}
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        line = next(line for line in process.stdout if " port " in line)
        yield process, int(line.rpartition("port ")[2].partition(".")[0])
    api.shutdown()
    api.server_close()


def test_sigterm_lets_a_stream_end_and_says_that_it_is_not_ready(tmp_path: Path) -> None:
    go = threading.Event()
    with recording(tmp_path, go, "--grace=60s") as (process, port):

        def status(path: str) -> int:
            return httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).status_code

        before = status("/-/ready")
        with httpx.stream(
            "POST",
            f"http://127.0.0.1:{port}/openai/v1/chat/completions",
            json={"model": "m", "messages": []},
            timeout=60,
            trust_env=False,
        ) as answer:
            pieces = answer.iter_bytes()
            first = next(pieces)
            process.terminate()
            eventually(lambda: status("/-/ready") == 503)
            live = status("/-/live")
            go.set()
            rest = b"".join(pieces)
        process.communicate(timeout=60)

    assert (before, live, process.returncode) == (200, 200, 0)
    assert (first + rest).endswith(b"data: [DONE]\n\n")
    [trip] = Cassette.load(tmp_path / "t.jsonl")
    assert trip.failure is None


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the labeller process is found in /proc")
def test_a_second_sigterm_waits_for_no_label(tmp_path: Path) -> None:
    """Nothing runs any more, so the first one has nothing to wait for but a labeller process that does not answer."""
    go = threading.Event()
    go.set()
    with recording(tmp_path, go, "--quiet") as (process, port):

        def closed() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) != 0

        url = f"http://127.0.0.1:{port}/openai/v1/chat/completions"
        httpx.post(url, json={"model": "m", "messages": []}, timeout=60, trust_env=False)
        tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
        [labeller] = [int(pid) for task in tasks for pid in task.read_text().split()]
        os.kill(labeller, signal.SIGSTOP)
        process.terminate()
        eventually(closed)
        process.terminate()
        _, said = process.communicate()

    assert process.returncode == 0
    assert "labels are missing" in said and "silent" not in said


def test_rotation_and_limits_exclude_each_other_before_there_is_a_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", "record", "--rotate=1h", "--max-turns=3"],
        cwd=tmp_path,
        env=os.environ | {"TURNTAPE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("turntape: --rotate does not work with --max-turns")
    assert not list(tmp_path.glob("*.jsonl*"))


@pytest.mark.parametrize("other", ["--max-turns=3", "--max-cost=1", "--stop-on=error", "--break-on=turn=2"])
def test_rotation_excludes_whatever_needs_all_turns_in_one_file(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["record", "--rotate=1h", other]) == 2
    assert "leave one of them out" in capsys.readouterr().err and not list(tmp_path.glob("*.jsonl*"))
