"""Clients of HTTP libraries other than httpx under the mark: recorded, then answered with the API gone."""

import importlib.util

import pytest
from plugin_project import taken_away, write

from turntape.cassettes import Cassette, Recorder, Request, Response, RoundTrip
from turntape.cassettes.transports.wires import Target
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

CLIENTS = """
import hashlib
import urllib.request

pytestmark = pytest.mark.turntape
BASE = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
SIGNED = {"authorization": "Bearer sk-abcdefghijklmnopqrstuvwxyz0123", "content-type": "application/json"}

def body(stream):
    return {"model": "gpt-5", "stream": stream, "messages": [{"role": "user", "content": "hi"}]}

def seen(name, data):
    with open(f"{name}.bytes", "ab") as file:
        file.write(hashlib.sha256(data).hexdigest().encode() + b"\\n")
    assert b"chat.completion" in data

@pytest.mark.parametrize("stream", [False, True])
def test_requests(stream):
    import requests
    with requests.Session() as session:
        for _ in range(2):
            answer = session.post(f"{BASE}/chat/completions", json=body(stream), headers=SIGNED, stream=stream)
            assert answer.status_code == 200
            seen(f"requests-{stream}", b"".join(answer.iter_content(None)))

@pytest.mark.parametrize("stream", [False, True])
def test_urllib3(stream):
    import urllib3
    answer = urllib3.PoolManager().request(
        "POST", f"{BASE}/chat/completions", json=body(stream), headers=SIGNED, preload_content=False)
    seen(f"urllib3-{stream}", b"".join(answer.stream()))

@pytest.mark.parametrize("stream", [False, True])
def test_urllib(stream):
    asked = urllib.request.Request(f"{BASE}/chat/completions", json.dumps(body(stream)).encode(), SIGNED)
    with urllib.request.urlopen(asked) as answer:
        seen(f"urllib-{stream}", answer.read())

@pytest.mark.parametrize("stream", [False, True])
def test_aiohttp(stream):
    import aiohttp
    async def go():
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                async with session.post(f"{BASE}/chat/completions", json=body(stream), headers=SIGNED) as answer:
                    assert answer.status == 200
                    seen(f"aiohttp-{stream}", b"".join([piece async for piece in answer.content.iter_any()]))
    asyncio.run(go())

def test_openai_with_aiohttp():
    from openai import DefaultAioHttpClient
    async def go():
        async with AsyncOpenAI(http_client=DefaultAioHttpClient()) as client:
            stream = await client.chat.completions.create(
                model="gpt-5", messages=[{"role": "user", "content": "hi"}], stream=True)
            return [chunk async for chunk in stream]
    assert len(asyncio.run(go())) > 3

@pytest.mark.parametrize("stream", [False, True])
def test_boto3(stream):
    import boto3
    place = os.environ.get("BEDROCK_URL")
    client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=place,
        aws_access_key_id="k", aws_secret_access_key="s")
    call = client.converse_stream if stream else client.converse
    said = call(modelId="anthropic.claude-x", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    parts = list(said["stream"]) if stream else said["output"]
    assert parts

@pytest.mark.parametrize("stream", [False, True])
def test_google_genai_async(stream):
    from google import genai
    place = os.environ.get("GEMINI_URL")
    async def go():
        client = genai.Client(api_key="k" * 30, http_options={"base_url": place} if place else None)
        if not stream:
            return (await client.aio.models.generate_content(model="gemini-x", contents="hi")).text
        parts = await client.aio.models.generate_content_stream(model="gemini-x", contents="hi")
        return "".join([part.text or "" async for part in parts])
    assert asyncio.run(go())
"""
COUNT = 13
_ABSENT = [name for name in ("requests", "urllib3", "aiohttp", "boto3") if importlib.util.find_spec(name) is None]


@pytest.mark.skipif(bool(_ABSENT), reason=f"not installed: {_ABSENT}")
def test_every_client_is_recorded_and_answered_in_process(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, CLIENTS)
    monkeypatch.setenv("BEDROCK_URL", server.url)
    monkeypatch.setenv("GEMINI_URL", server.url)
    recorded = project.runpytest_subprocess("--turntape-mode=once")
    recorded.assert_outcomes(passed=COUNT)
    tapes = list(project.path.glob("cassettes/test_it/*.jsonl"))
    assert len(tapes) == COUNT
    assert all(len(Cassette.load(tape)) for tape in tapes)
    streams = [
        trip for tape in tapes for trip in Cassette.load(tape) if trip.response and len(trip.response.chunks) > 3
    ]
    assert len(streams) >= 8
    live = {path.name: path.read_text().split() for path in project.path.glob("*.bytes")}
    assert len(live) == 8
    count = taken_away(server, monkeypatch)

    again = project.runpytest_subprocess("--turntape-check")
    again.assert_outcomes(passed=COUNT)
    assert len(server.requests) == count
    for name, digests in live.items():
        both = (project.path / name).read_text().split()
        assert both == digests * 2, name


OTHER_LIBRARY = """
import socket

@pytest.mark.turntape
def test_a_client_of_our_own():
    host, port = os.environ["OPENAI_BASE_URL"].removeprefix("http://").removesuffix("/v1").split(":")
    with socket.create_connection((host, int(port))) as sock:
        body = json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
        sock.sendall(head + body)
        assert sock.recv(9999)

@pytest.mark.turntape
def test_a_library_with_sockets_that_python_does_not_see():
    import pycurl
    handle = pycurl.Curl()
    handle.setopt(10002, os.environ["OPENAI_BASE_URL"] + "/chat/completions")
    assert handle.perform()

@pytest.mark.turntape
def test_a_process():
    code = "from agent_code import post; print(post())"
    subprocess.run([sys.executable, "-c", code], env=dict(os.environ), capture_output=True)
"""


OWN_SOCKETS = """
import _socket
from urllib.parse import urlsplit

class Curl:
    def setopt(self, option, value):
        self.url = urlsplit(value)

    def perform(self):
        sock = _socket.socket()
        sock.connect((self.url.hostname, self.url.port))
        body = b'{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}'
        sock.sendall(b"POST %s HTTP/1.1\\r\\nHost: x\\r\\n" % self.url.path.encode())
        sock.sendall(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
        return sock.recv(9999)
"""


@pytest.mark.parametrize("mode", ["none", "once", "new", "all"])
def test_a_test_that_reached_an_llm_unseen_fails_in_every_mode(
    project: pytest.Pytester, server: ScriptedServer, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, OTHER_LIBRARY)
    (project.path / "pycurl.py").write_text(OWN_SOCKETS)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    done = project.runpytest_subprocess(f"--turntape-mode={mode}")
    done.assert_outcomes(failed=3)
    said = "*the test reached the LLM API at 127.0.0.1:*nothing of that was recorded*"
    done.stdout.fnmatch_lines([said, said, said])
    assert len(server.requests) == (2 if mode == "none" else 3)


SIDE = """
import httpx, urllib.request

@pytest.mark.turntape(path="side.cassette.jsonl")
def test_a_file_of_github():
    assert httpx.get("https://raw.githubusercontent.com/a/b/main/c.txt").text == "recorded"
    with urllib.request.urlopen("https://raw.githubusercontent.com/a/b/main/c.txt") as answer:
        assert answer.read() == b"recorded"
"""


def test_side_traffic_that_is_in_the_cassette_is_answered(project: pytest.Pytester) -> None:
    url = "https://raw.githubusercontent.com/a/b/main/c.txt"
    with Recorder(project.path / "side.cassette.jsonl") as recorder:
        for _ in range(2):
            recorder.write(RoundTrip(Request("GET", url), Response(200, content=b"recorded"), started_at=1.0))
    write(project, SIDE)
    project.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("/v1/x?a=http://b", "https://a.example/v1/x?a=http://b"),
        ("/works/https://doi.org/10.1%2Fx?a=1", "https://a.example/works/https://doi.org/10.1%2Fx?a=1"),
        ("http://b.example:81/v1/x?a=1", "http://b.example:81/v1/x?a=1"),
        ("", "https://a.example/"),
    ],
)
def test_only_a_target_without_a_slash_at_its_beginning_is_a_whole_url(target: str, url: str) -> None:
    assert Target.of("https", "a.example", 443, target).url == url
