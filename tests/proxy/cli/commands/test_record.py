"""`turntape record`: the proxy alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


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


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    import socket

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
