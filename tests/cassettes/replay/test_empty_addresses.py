"""A request to an address of this machine where nothing listens is refused in a replay, as the network refuses it."""

import socket
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from plugin_project import write

from turntape.cassettes import vcr
from turntape.cassettes.replay.empty_addresses import is_empty, refusal
from turntape.cassettes.replay.recorded_places import RecordedPlaces
from turntape.cassettes.tape.model import Request, RoundTrip
from turntape.cassettes.vcr import context  # now: a pytest inside a test forgets what it was the first to import
from turntape.cassettes.vcr.errors import CannotOverwriteExistingCassetteException

pytest_plugins = ["pytester"]

CLIENTS = """
import asyncio, contextlib, aiohttp, boto3, botocore.exceptions, requests, urllib3, urllib.request
from turntape.cassettes import vcr

SENT = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}

async def by_httpx_async(url):
    async with httpx.AsyncClient() as client:
        await client.post(url, json=SENT)

async def by_aiohttp(url):
    async with aiohttp.ClientSession() as client:
        await client.post(url, json=SENT)

def by_boto3(url):
    bedrock = boto3.client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=url, aws_access_key_id="a", aws_secret_access_key="b",
        config=boto3.session.Config(retries={"total_max_attempts": 1}),
    )
    bedrock.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}])

CLIENTS = [
    (lambda url: httpx.post(url, json=SENT), httpx.ConnectError),
    (lambda url: httpx2.post(url, json=SENT), httpx2.ConnectError),
    (lambda url: asyncio.run(by_httpx_async(url)), httpx.ConnectError),
    (lambda url: asyncio.run(by_aiohttp(url)), aiohttp.ClientConnectorError),
    (lambda url: requests.post(url, json=SENT), requests.ConnectionError),
    (lambda url: urllib3.PoolManager().request("POST", url, json=SENT, retries=False),
     urllib3.exceptions.NewConnectionError),
    (lambda url: urllib.request.urlopen(url, b"{}"), urllib.error.URLError),
    (by_boto3, botocore.exceptions.EndpointConnectionError),
]
EMPTY = "http://localhost:PORT/v1/chat/completions"

@pytest.mark.parametrize("number", range(len(CLIENTS)))
@pytest.mark.parametrize("opened", [
    pytest.param(contextlib.nullcontext(), id="marked", marks=pytest.mark.turntape),
    pytest.param(vcr.use_cassette("gone.yaml", record_mode="none"), id="opened"),
])
def test_refused(number, opened):
    send, error = CLIENTS[number]
    with opened, pytest.raises(error):
        send(EMPTY)

@pytest.mark.turntape
def test_marked():
    httpx.post(EMPTY, json=SENT)

def test_opened():
    with vcr.use_cassette("gone.yaml", record_mode="none"), contextlib.suppress(httpx.ConnectError):
        httpx.post(EMPTY, json=SENT)
    assert not "this"

def test_another():
    assert not "that"
"""


@pytest.fixture
def port() -> int:
    """One where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as open_:
        yield open_


def test_every_client_gets_its_own_error_and_a_failed_test_says_why(
    project: pytest.Pytester, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://localhost:{port}/v1")
    write(project, CLIENTS.replace("PORT", str(port)))
    done = project.runpytest_subprocess("-v")
    done.assert_outcomes(passed=16, failed=3)
    said = f"nothing is recorded of localhost:{port}, and nothing listens there*--turntape-mode=new"
    done.stdout.fnmatch_lines(["*test_marked*", said, "*test_opened*", said, "*test_another*"])
    assert done.stdout.str().count("nothing listens there") == 2


def test_where_something_listens_or_is_recorded_a_request_is_a_miss_as_anywhere(
    port: int, listener: socket.socket
) -> None:
    here = listener.getsockname()[1]
    use = vcr.use_cassette("gone.yaml", record_mode="none")
    with pytest.raises(CannotOverwriteExistingCassetteException), use:
        assert httpx.post(f"http://localhost:{here}/v1/chat/completions", json={}).status_code == 400
    listener.settimeout(0.2)
    line, _ = listener.accept()  # that it listens was asked
    assert line.recv(10) == b""
    with pytest.raises(TimeoutError):
        listener.accept()
    places = RecordedPlaces([trip(f"http://127.0.0.1:{port}/v1/messages")])
    assert not is_empty(places, "localhost", port, "/v1/chat/completions")
    assert is_empty(RecordedPlaces([]), "localhost", port, "/v1/chat/completions")
    assert not is_empty(RecordedPlaces([]), "localhost", here, "/v1/chat/completions")
    assert not is_empty(RecordedPlaces([]), "api.openai.com", port, "/v1/chat/completions")


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_what_listens_on_ipv6_alone_is_found_under_localhost() -> None:
    with closing(socket.create_server(("::1", 0), family=socket.AF_INET6)) as only_6:
        here = only_6.getsockname()[1]
        assert not is_empty(RecordedPlaces([]), "localhost", here, "/v1/chat/completions")
        assert not is_empty(RecordedPlaces([]), "::1", here, "/v1/chat/completions")
        assert is_empty(RecordedPlaces([]), "127.0.0.1", here, "/v1/chat/completions")


def test_every_address_that_was_asked_is_named_once() -> None:
    assert refusal(["localhost:1", "localhost:2", "localhost:1"]).startswith(
        "nothing is recorded of localhost:1 and localhost:2, and nothing listens there"
    )


def test_the_endpoint_of_another_host_answers_where_addresses_are_not_compared(port: int) -> None:
    places = RecordedPlaces([trip("https://api.openai.com/v1/chat/completions")])
    assert not is_empty(places, "localhost", port, "/chat/completions")
    assert is_empty(places, "localhost", port, "/chat/completions", of_any_host=False)
    assert is_empty(places, "localhost", port, "/v1/embeddings")
    assert not is_empty(RecordedPlaces([trip("**REDACTED**")]), "localhost", port, "/v1", of_any_host=False)


def test_an_error_within_use_cassette_says_it_outside_pytest_too(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "observers", [])
    with pytest.raises(httpx.ConnectError) as found, vcr.use_cassette("gone.yaml", record_mode="none"):
        httpx.get(f"http://[::1]:{port}/v1/models")
    assert found.value.__notes__ == [refusal([f"::1:{port}"])]


def trip(url: str) -> RoundTrip:
    return RoundTrip(Request("POST", url, (), b"{}"), None, 0.0)
