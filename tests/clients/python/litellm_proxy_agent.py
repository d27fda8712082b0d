"""litellm's proxy: a gateway in a separate process, with a plain loop in front of it that calls only the gateway."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from emails import variant
from raw_loop import HEADERS, STREAMED, body, joined, talk

MODELS = {"openai": "openai/gpt-5", "anthropic": "anthropic/claude-sonnet-4-5"}
MODEL = next(MODELS[word] for word in MODELS if word in variant())

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    PORT = probe.getsockname()[1]
URL = f"http://127.0.0.1:{PORT}/v1/chat/completions"
http = httpx.Client(timeout=60, trust_env=False)


def is_up() -> bool:
    try:
        return http.get(f"http://127.0.0.1:{PORT}/health/liveliness").status_code == 200
    except httpx.TransportError:
        return False


def ask():
    sent = {**body(), "model": MODEL}
    if not STREAMED:
        return http.post(URL, json=sent, headers=HEADERS).raise_for_status().json()["choices"][0]["message"]
    with http.stream("POST", URL, json=sent, headers=HEADERS) as answer:
        return joined(answer.iter_lines())


program = str(Path(sys.executable).parent / "litellm")
line = [program, "--model", MODEL, "--host", "127.0.0.1", "--port", str(PORT), "--telemetry", "False"]
gateway = subprocess.Popen(line, stdout=subprocess.DEVNULL)
try:
    until = time.monotonic() + 90
    while not is_up() and gateway.poll() is None and time.monotonic() < until:
        time.sleep(0.2)
    talk(ask)
finally:
    gateway.terminate()
    gateway.wait()
