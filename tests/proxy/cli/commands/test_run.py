"""`turntape run`, whole: real clients as the command, the real proxy, a small upstream."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, override

import pytest

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.cassettes.tape.reader import Cassette

CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o-mini",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop", "logprobs": None}
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11},
    "metrics": {"latencyMs": 1},
}


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"] or 0))
        body = json.dumps(CONVERSE if self.path.endswith("/converse") else CHAT).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment without proxies and base URLs, and with a separate certificate authority."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith(("_proxy", "_base_url", "_ca_bundle"))}
    return kept | {"TURNTAPE_HOME": str(tmp_path_factory.mktemp("home")), "OPENAI_API_KEY": "sk-none"}


@pytest.fixture
def turntape(environ: dict[str, str], tmp_path: Path):
    """Run `turntape …` in an empty folder."""

    def run(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", *argv],
            cwd=tmp_path,
            env=environ | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


CLIENTS = """
import asyncio, json, os, sys, urllib.request
import aiohttp, boto3, httpx, httpx2, requests

local = sys.argv[1]
places = {
    "base_url": os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    "forward": "https://api.openai.com/v1/chat/completions",
    "local": local + "/v1/chat/completions",
}

def body(client, place):
    return {"model": "gpt-4o-mini", "user": f"{client} {place}", "messages": [{"role": "user", "content": "Hi"}]}

async def by_aiohttp(url, json):
    async with aiohttp.ClientSession(trust_env=True) as session, session.post(url, json=json) as response:
        return await response.json()

def by_urllib(url, json_):
    request = urllib.request.Request(url, json.dumps(json_).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)

calls = {
    "httpx": lambda url, json: httpx.post(url, json=json).json(),
    "httpx2": lambda url, json: httpx2.post(url, json=json).json(),
    "requests": lambda url, json: requests.post(url, json=json).json(),
    "urllib": by_urllib,
    "aiohttp": lambda url, json: asyncio.run(by_aiohttp(url, json)),
}
for client, call in calls.items():
    for place, url in places.items():
        try:
            answer = call(url, body(client, place))
            assert answer["choices"][0]["message"]["content"] == "Hi."
        except Exception as exc:
            print(client, place, type(exc).__name__, exc)
try:
    bedrock = boto3.client("bedrock-runtime", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
    said = {"role": "user", "content": [{"text": "Hi"}]}
    assert bedrock.converse(modelId="amazon.nova-lite-v1:0", messages=[said])["stopReason"] == "end_turn"
except Exception as exc:
    print("boto3", type(exc).__name__, exc)
"""


def test_every_python_client_comes_by_every_route(turntape, upstream: str, tmp_path: Path) -> None:
    """Base URL, forward with our certificate, and a model on loopback, with both routes in the environment."""
    arguments = ["--out", "t.cassette.jsonl", "--upstream", f"*={upstream}"]

    done = turntape("run", *arguments, "--", sys.executable, "-c", CLIENTS, upstream)

    assert done.stdout == ""
    assert done.returncode == 0
    trips = list(Cassette.load(tmp_path / "t.cassette.jsonl"))
    came = sorted(
        (json.loads(t.request.body).get("user", "boto3"), t.route, t.response and t.response.status) for t in trips
    )
    clients = ("aiohttp", "httpx", "httpx2", "requests", "urllib")
    routes = {"base_url": "base_url", "forward": "forward", "local": "forward"}
    expected = [(f"{c} {place}", route, 200) for c in clients for place, route in routes.items()]
    assert came == sorted([*expected, ("boto3", "base_url", 200)])


@pytest.mark.parametrize("client", ["curl", "node"])
def test_other_programs_come_by_every_route(client: str, turntape, upstream: str, tmp_path: Path) -> None:
    if shutil.which(client) is None:
        pytest.skip(f"no {client} on this machine")
    fetch = """
        for (const url of [process.env.OPENAI_BASE_URL, 'https://api.openai.com/v1', process.argv[1] + '/v1']) {
          const r = await fetch(url + '/chat/completions', {method: 'POST', body: '{"messages": []}'});
          if ((await r.json()).choices[0].message.content !== 'Hi.') process.exit(1);
        }
        const { request } = await import('node:https');
        await new Promise((resolve, reject) => {
          const r = request('https://api.openai.com/v1/chat/completions', {method: 'POST'}, (answer) => {
            answer.resume().on('end', () => (answer.statusCode === 200 ? resolve() : reject(answer.statusCode)));
          });
          r.on('error', reject).end('{"messages": []}');
        });"""
    post = "curl -sS --fail-with-body -d '{\"messages\": []}'"
    script = f"for u in $OPENAI_BASE_URL https://api.openai.com/v1 $0/v1; do {post} $u/chat/completions; done"
    commands = {
        "node": ["node", "--input-type=module", "-e", fetch, upstream],
        "curl": ["sh", "-ec", script, upstream],
    }

    done = turntape("run", "--out", "t.cassette.jsonl", "--upstream", f"*={upstream}", "--", *commands[client])

    assert done.returncode == 0, done.stdout + done.stderr
    trips = Cassette.load(tmp_path / "t.cassette.jsonl")
    forward = {"curl": 2, "node": 3}[client]
    assert sorted((t.route, t.response and t.response.status) for t in trips) == [
        ("base_url", 200),
        *[("forward", 200)] * forward,
    ]


POST = (
    "import httpx, os; httpx.post(os.environ['OPENAI_BASE_URL'] + '/chat/completions', "
    "json={'model': 'gpt-4o-mini', 'messages': [{'role': 'user', 'content': 'Hi'}]}).raise_for_status()"
)


def test_a_base_url_of_the_user_is_where_the_traffic_still_goes(turntape, upstream: str, tmp_path: Path) -> None:
    done = turntape("run", "--", sys.executable, "-c", POST, OPENAI_BASE_URL=f"{upstream}/some/prefix/v1")

    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("run-*.cassette.jsonl")
    (trip,) = Cassette.load(file)
    assert trip.request.url == f"{upstream}/some/prefix/v1/chat/completions"


def test_the_summary_is_on_stderr_and_stdout_is_the_commands(turntape, upstream: str, tmp_path: Path) -> None:
    code = POST + "; print('out'); raise SystemExit(7)"

    done = turntape("run", "--out", "t.cassette.jsonl", "--upstream", f"*={upstream}", "--", sys.executable, "-c", code)

    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert "1 turn · 0 tool calls" in done.stderr
    assert "9 tokens in, 2 out · <$0.00001" in done.stderr
    assert "turntape show t.cassette.jsonl" in done.stderr
    cassette = Cassette.load(tmp_path / "t.cassette.jsonl")
    assert cassette.labels[0]["turn"] == 1
    assert cassette.command_end is not None and cassette.command_end.exit == 7
    findings: Any = cassette.labels[0]["findings"]
    [found] = [one for one in findings if one["id"] == "client-command-failed"]
    assert found["message"] == "the command ended with exit code 7 after this answer", "labelled before the file ends"


def test_quiet_prints_nothing_and_live_a_line_a_round_trip(turntape, upstream: str) -> None:
    quiet = turntape("run", "--quiet", "--upstream", f"*={upstream}", "--", sys.executable, "-c", POST)
    live = turntape("run", "--live", "--upstream", f"*={upstream}", "--", sys.executable, "-c", POST)

    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert "gpt-4o-mini" in live.stderr.splitlines()[0]


def test_with_no_llm_call_it_says_what_to_try(turntape) -> None:
    done = turntape("run", "--", sys.executable, "-c", "pass")

    assert done.returncode == 0
    assert "no LLM API was called through the proxy" in done.stderr
    assert "trust_env" in done.stderr


def test_a_client_that_does_not_trust_us_is_reported(turntape) -> None:
    code = "import httpx, ssl, certifi; httpx.get('https://api.openai.com/v1/models', verify=certifi.where())"
    code = code.replace("verify=certifi.where()", "verify=ssl.create_default_context(cafile=certifi.where())")

    done = turntape(
        "run", "--upstream", "*=http://127.0.0.1:9", "--", sys.executable, "-c", f"try: {code}\nexcept Exception: pass"
    )

    assert "does not trust turntape's certificate for api.openai.com" in done.stderr


def test_a_command_that_is_killed_leaves_a_whole_recording(turntape, upstream: str, tmp_path: Path) -> None:
    code = POST + "; import os; os.kill(os.getpid(), 9)"

    done = turntape("run", "--out", "t.cassette.jsonl", "--upstream", f"*={upstream}", "--", sys.executable, "-c", code)

    assert done.returncode == 128 + signal.SIGKILL
    cassette = Cassette.load(tmp_path / "t.cassette.jsonl")
    assert len(cassette) == len(cassette.labels) == 1
    assert not cassette.torn


def test_an_unknown_command_is_127_and_leaves_nothing(turntape, tmp_path: Path) -> None:
    done = turntape("run", "--", "no-such-command")

    assert done.returncode == 127
    assert done.stderr == "turntape: the command 'no-such-command' was not found; check its name and PATH\n"
    assert not list(tmp_path.iterdir())


def test_what_is_there_but_cannot_be_executed_is_126(turntape, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")

    script, folder = turntape("run", "--", "./agent.py"), turntape("run", "--", str(tmp_path))

    assert (script.returncode, folder.returncode) == (126, 126)
    assert script.stderr.startswith("turntape: the command './agent.py' is not executable; chmod +x")
    assert folder.stderr.endswith("is a folder\n")


def test_where_no_certificate_can_be_kept_nothing_is_left_behind(turntape, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = turntape("run", "--", "true", TURNTAPE_HOME=str(tmp_path / "file" / "x"))

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "name another folder with TURNTAPE_HOME" in done.stderr
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_recording_answers_when_the_api_is_gone(turntape, upstream: str, tmp_path: Path) -> None:
    turntape("run", "--out", "t.cassette.jsonl", "--upstream", f"*={upstream}", "--", sys.executable, "-c", POST)

    same = turntape("run", "--replay", "t.cassette.jsonl", "--", sys.executable, "-c", POST)
    # A client that continues without the answer.
    other = POST.replace("'Hi'", "'Ho'").removesuffix(".raise_for_status()")
    missed = turntape("run", "--replay", "t.cassette.jsonl", "--", sys.executable, "-c", other)

    assert same.returncode == 0, same.stderr
    assert missed.returncode == 1
    assert "changed: turn 1" in missed.stderr or "changed: no recorded round trip answers POST" in missed.stderr


def test_a_host_that_was_recorded_is_opened_again_without_an_option(turntape, tmp_path: Path) -> None:
    url = "https://llm.corp.example/convert"
    with Recorder(tmp_path / "t.cassette.jsonl") as recorder:
        recorder.write(RoundTrip(Request("POST", url, content=b"{}"), Response(200, content=b"converted"), 1.0))
    command = f"import httpx; print(httpx.post({url!r}, content=b'{{}}').text)"

    done = turntape("run", "--replay", "t.cassette.jsonl", "--", sys.executable, "-c", command)

    assert done.stdout == "converted\n", done.stderr


def test_what_was_answered_although_it_differs_is_said_at_the_end(turntape, upstream: str) -> None:
    """Under a name of the user, which the replay knows too."""
    named = ("--upstream", f"gateway={upstream}/llm/v1")
    post = POST.replace("+ '/chat", ".replace('openai/v1', 'gateway') + '/chat")
    turntape("run", "--out", "t.cassette.jsonl", *named, "--", sys.executable, "-c", post)
    replay = ("--replay", "t.cassette.jsonl", "--rule", "messages=warn")

    done = turntape("run", *replay, *named, "--", sys.executable, "-c", post.replace("'Hi'", "'Ho'"))

    assert done.returncode == 0
    assert "tolerated: turn 1, #0: same turn, other prompt: /messages/0/content" in done.stderr


def test_how_to_replay_without_a_replay_is_refused(turntape) -> None:
    done = turntape("run", "--rule", "messages=warn", "--", "true")

    assert done.returncode == 2
    assert done.stderr == "turntape: --rule needs a cassette to replay; add --replay F\n"


def test_a_replay_of_no_cassette_is_one_line(turntape) -> None:
    done = turntape("run", "--replay", "none.cassette.jsonl", "--", "true")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "none.cassette.jsonl" in done.stderr
