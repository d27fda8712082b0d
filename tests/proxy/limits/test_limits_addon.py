"""A run at its limit gets an error that its client takes for the API's own, and nothing more goes upstream."""

import gc
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from turntape.cassettes import Cassette, Recorder
from turntape.proxy.engine.certificates import ensure_authority
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.limits.limits import MARK, Guard, Limits
from turntape.proxy.scripted import ScriptedServer


@dataclass(frozen=True, slots=True)
class Guarded:
    server: ScriptedServer
    base: str


@contextmanager
def guarded(tape: Path, **limits: Any) -> Generator[Guarded]:
    """The proxy with limits and without a reader: turns count by their paths, and nobody waits."""
    confdir = tape.parent / "home"
    ensure_authority(confdir)
    guard = Guard(Limits(**limits))
    guard.lost()
    with (
        ScriptedServer() as server,
        Recorder(tape) as recorder,
        running(Engine(recorder, upstreams={"*": server.url}, confdir=confdir, guard=guard)) as engine,
    ):
        yield Guarded(server, f"http://127.0.0.1:{engine.port}")


def by_openai(base: str) -> Callable[[], object]:
    import openai

    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1")
    return lambda: client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "go"}])


def by_openai_streamed(base: str) -> Callable[[], object]:
    import openai

    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1")
    return lambda: list(client.responses.create(model="gpt-5", input="go", stream=True))


def by_anthropic(base: str) -> Callable[[], object]:
    import anthropic

    client = anthropic.Anthropic(api_key="k", base_url=f"{base}/anthropic")
    said: Any = [{"role": "user", "content": "go"}]
    return lambda: client.messages.create(model="claude-scripted", max_tokens=9, messages=said)


def by_gemini(base: str) -> Callable[[], object]:
    from google import genai

    client = genai.Client(api_key="k", http_options={"base_url": f"{base}/gemini"})  # type: ignore[arg-type]
    return lambda: client.models.generate_content(model="gemini-scripted", contents="go")


def by_mistral(base: str) -> Callable[[], object]:
    from mistralai.client import Mistral

    client = Mistral(api_key="k", server_url=f"{base}/mistral")
    return lambda: client.chat.complete(model="m", messages=[{"role": "user", "content": "go"}])


def by_ollama(base: str) -> Callable[[], object]:
    import ollama

    client = ollama.Client(f"{base}/ollama")
    return lambda: client.chat("m", [{"role": "user", "content": "go"}])


def by_cohere(base: str) -> Callable[[], object]:
    import cohere

    client = cohere.ClientV2("k", base_url=f"{base}/cohere")
    said: Any = [{"role": "user", "content": "go"}]
    return lambda: client.chat(model="m", messages=said)


def by_bedrock(base: str) -> Callable[[], object]:
    import boto3

    client: Any = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        endpoint_url=f"{base}/bedrock",
    )
    said = [{"role": "user", "content": [{"text": "go"}]}]
    return lambda: client.converse(modelId="amazon.nova-lite-v1:0", messages=said)


CLIENTS = {
    "openai": (by_openai, "BadRequestError"),
    "openai streamed": (by_openai_streamed, "BadRequestError"),
    "anthropic": (by_anthropic, "BadRequestError"),
    "gemini": (by_gemini, "ClientError"),
    "mistral": (by_mistral, "SDKError"),
    "ollama": (by_ollama, "ResponseError"),
    "cohere": (by_cohere, "BadRequestError"),
    "bedrock": (by_bedrock, "ValidationException"),
}


# Some SDKs leave their sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("client", CLIENTS)
def test_the_next_turn_is_an_error_of_the_sdks_own_and_is_not_tried_again(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    tape = tmp_path / "t.cassette.jsonl"
    made, error = CLIENTS[client]

    def ask_twice(base: str) -> str:
        call = made(base)
        call()
        with pytest.raises(Exception, match="--max-turns 1") as raised:
            call()
        return type(raised.value).__name__

    with guarded(tape, max_turns=1) as up:
        name = ask_twice(up.base)
        received = len(up.server.requests)
    gc.collect()

    assert name == error
    assert received == 1
    first, refused = Cassette.load(tape)
    assert MARK not in first.extra
    assert refused.extra[MARK] == {
        "limit": "max-turns",
        "message": "turntape ended this run after 1 turn (--max-turns 1)",
    }
    assert refused.response is not None
    assert refused.response.status == 400
    assert refused.request.body == first.request.body


def test_what_is_no_turn_still_passes(tmp_path: Path) -> None:
    with guarded(tmp_path / "t.cassette.jsonl", max_turns=1) as up, httpx2.Client(trust_env=False) as http:
        asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
        turns = [http.post(f"{up.base}/openai/v1/chat/completions", json=asked).status_code for _ in range(3)]
        models = http.get(f"{up.base}/openai/v1/models")

    assert turns == [200, 400, 400]
    assert "x-should-retry" not in models.headers


def test_turns_under_way_at_once_are_counted(tmp_path: Path) -> None:
    """Ten at once under a limit of four: four go, six do not."""
    with guarded(tmp_path / "t.cassette.jsonl", max_turns=4) as up:
        statuses: list[int] = []

        def ask() -> None:
            asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
            headers = {"x-scripted-fault": "slow=100"}
            with httpx.Client(trust_env=False, timeout=30) as http:
                url = f"{up.base}/openai/v1/chat/completions"
                statuses.append(http.post(url, json=asked, headers=headers).status_code)

        threads = [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(statuses) == [200] * 4 + [400] * 6


def test_a_turn_over_a_websocket_is_refused_within_the_session(tmp_path: Path) -> None:
    from websockets.sync.client import connect
    from websockets.sync.server import ServerConnection
    from websockets.sync.server import serve as serve_sockets

    got: list[str] = []

    def answer(socket: ServerConnection) -> None:
        for message in socket:
            got.append(str(message))
            socket.send('{"type": "response.completed", "response": {}}')

    tape, confdir = tmp_path / "t.cassette.jsonl", tmp_path / "home"
    ensure_authority(confdir)
    guard = Guard(Limits(max_turns=1))
    guard.lost()
    prewarm = json.dumps({"type": "response.create", "generate": False, "model": "m"})
    ask = json.dumps({"type": "response.create", "model": "m", "input": "go"})
    with serve_sockets(answer, "127.0.0.1", 0) as server, Recorder(tape) as recorder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        upstreams = {"openai": f"http://127.0.0.1:{server.socket.getsockname()[1]}"}
        with (
            running(Engine(recorder, upstreams=upstreams, confdir=confdir, guard=guard)) as engine,
            connect(f"ws://127.0.0.1:{engine.port}/openai/v1/responses", proxy=None) as client,
        ):
            kinds: list[str] = []
            for message in (prewarm, ask, ask):
                client.send(message)
                kinds.append(json.loads(client.recv(10))["type"])
        server.shutdown()

    assert kinds == ["response.completed", "response.completed", "error"]
    assert got == [prewarm, ask]
    [trip] = Cassette.load(tape)
    assert trip.extra[MARK]
    assert b"--max-turns 1" in trip.frames[-1].data


LOOP = """
import sys, openai
client, usage = openai.OpenAI(api_key="k"), {"include_usage": True}
for number in range(6):
    asked = [{"role": "user", "content": f"go {number}"}]
    try:
        list(client.chat.completions.create(model=sys.argv[1], messages=asked, stream=True, stream_options=usage))
    except openai.BadRequestError as exc:
        print(number, exc.body["type"] if exc.body else exc)
        raise SystemExit(9)
    except openai.APIError:
        pass
"""


@pytest.mark.parametrize(
    ("limit", "model", "made", "kind"),
    [
        (["--max-turns", "2"], "gpt-5", 2, "turntape_max_turns"),
        (["--max-cost", "0.000001"], "gpt-5", 1, "turntape_max_cost"),
        (["--stop-on", "model-refusal,api-error-in-*"], "scripted:error_event", 1, "turntape_stop_on"),
    ],
)
def test_a_loop_is_ended_to_the_turn_by_what_the_reader_labelled(
    limit: list[str], model: str, made: int, kind: str, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", "run", "--out", "t.cassette.jsonl", *limit]
            + ["--upstream", f"*={server.url}", "--", sys.executable, "-c", LOOP, model],
            cwd=tmp_path,
            env={"TURNTAPE_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        received = len(server.requests)

    assert done.returncode == 9, done.stderr
    assert received == made
    assert done.stdout.endswith(f"{made} {kind}\n")
    assert "\nturntape: ended this run " in done.stderr
    cassette = Cassette.load(tmp_path / "t.cassette.jsonl")
    assert len(cassette) == made + 1
    assert [f["id"] for f in cassette.labels[made]["findings"]] == ["run-ended-by-limit"]  # type: ignore[union-attr]
