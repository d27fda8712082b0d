"""`python -m turntape.proxy.scripted`: a client with what it prints gets an answer."""

import signal
import subprocess
import sys

import httpx


def test_what_it_prints_is_where_it_answers() -> None:
    command = [sys.executable, "-m", "turntape.proxy.scripted", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        url = said[1].split("OPENAI_BASE_URL=")[1].split()[0]
        answer = httpx.get(f"{url}/models", trust_env=False)
        process.send_signal(signal.SIGINT)

    assert answer.status_code == 200
    assert process.returncode == 0
