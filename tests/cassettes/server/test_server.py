"""The replay server: the recorded bytes in the recorded pieces, and errors that every SDK takes for its API's own."""

import gc
import json
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, override

import pytest
import uvicorn
from asgi_requests import JSON, URL, Sent, ask, whole

from turntape.cassettes import CassetteError, Chunk, Failure, Player, Recorder, Request, Response, RoundTrip
from turntape.cassettes.server.asgi import App, Cut
from turntape.cassettes.server.folder_server import run_replay
from turntape.cassettes.server.server import app, serve

PIECES = [b"data: 1\n\n", b"data: 2\n\ndata:", b" 3\n\n"]
REFUSED = Failure("refused", "the host said no")


def streamed(failure: Failure | None = None, body: bytes = b"{}") -> RoundTrip:
    chunks = tuple(Chunk(len(piece), 1_000_000 * (place + 1)) for place, piece in enumerate(PIECES))
    headers = (("content-type", "text/event-stream"), ("content-encoding", "gzip"), ("x-request-id", "r"))
    response = Response(200, headers=headers, content=b"".join(PIECES), chunks=chunks)
    return RoundTrip(Request("POST", URL, content=body), response, 0.0, failure=failure)


def failed(body: bytes = b"{}", url: str = URL) -> RoundTrip:
    return RoundTrip(Request("POST", url, JSON, body), None, 0.0, failure=REFUSED)


def head(sent: Sent) -> tuple[int, dict[str, str]]:
    """Status and headers; not how a recording was found, which every answer says."""
    assert sent[0]["type"] == "http.response.start"
    headers = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    if headers["x-turntape"].startswith("exact"):
        del headers["x-turntape"]
    return sent[0]["status"], headers


def test_chunks_are_sent_as_they_were_recorded() -> None:
    sent = ask(app(Player([streamed()])))

    assert [m["body"] for m in sent[1:]] == [*PIECES, b""]
    assert [m.get("more_body", False) for m in sent[1:]] == [True, True, True, False]
    # The encoding was undone for the recording.
    assert head(sent) == (200, {"content-type": "text/event-stream", "x-request-id": "r"})


def test_an_answer_in_one_piece_says_its_length() -> None:
    sent = ask(app(Player([whole(b"answer", status=429)])))

    assert head(sent) == (429, {"content-type": "application/json", "content-length": "6"})
    assert [m["body"] for m in sent[1:]] == [b"answer"]


def test_a_request_that_comes_in_parts_is_put_together() -> None:
    sent = ask(app(Player([whole(b"yes", b'{"a":1}')])), b'{"a', b'":', b"1}")

    assert sent[1]["body"] == b"yes"


@pytest.mark.parametrize("part", [b"{}", b'{"a'], ids=["looks whole", "a part of JSON"])
def test_a_client_that_goes_before_its_request_is_whole_has_asked_nothing(part: bytes) -> None:
    player = Player([whole(b"{}")])

    assert ask(app(player), part, is_whole=False) == []

    assert player.misses == [] and player.unplayed == [0]


def test_a_request_that_is_too_long_is_refused_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.cassettes.server.server.MOST_IN_TOTAL", 5)
    serving = app(Player([whole(b"yes", b"12345"), whole(b"no", b"123456789")]))

    assert ask(serving, b"123", b"45")[1]["body"] == b"yes"
    refused = ask(serving, b"123", b"456", b"789")
    assert head(refused)[0] == 413 and head(refused)[1]["connection"] == "close"
    assert json.loads(refused[1]["body"])["error"]["type"] == "turntape_request_too_long"


@pytest.mark.parametrize(("failure", "cut"), [(Failure("cut", "gone"), True), (Failure("client_gone", "left"), False)])
def test_a_cut_answer_is_cut_again_after_its_last_byte(failure: Failure, cut: bool) -> None:
    """A client that went away once must not be cut off this time."""
    serving, sent = app(Player([streamed(failure)])), list[dict[str, Any]]()

    if cut:
        with pytest.raises(Cut, match="gone"):
            ask(serving, sent=sent)
    else:
        ask(serving, sent=sent)

    assert b"".join(m["body"] for m in sent[1:]) == b"".join(PIECES)
    assert sent[-1].get("more_body", False) is cut


@pytest.mark.parametrize(("pace", "pauses"), [("instant", []), ("recorded", [1.0, 1.0, 1.0]), (4, [0.25, 0.25, 0.25])])
def test_the_pace_is_none_or_the_recorded_one_or_faster(
    pace: str | float, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("turntape.cassettes.server.server.asyncio.sleep", sleep)

    ask(app(Player([streamed()]), pace=pace))

    assert slept == pauses


def test_a_miss_is_400_and_says_what_differs() -> None:
    sent = ask(app(Player([whole(b"", b'{"model":"a"}')])), b'{"model":"b"}')

    status, headers = head(sent)
    assert (status, headers["x-should-retry"], headers["x-turntape"]) == (400, "false", "miss")
    document = json.loads(sent[1]["body"])
    assert "/model" in document["error"]["message"] == document["message"]


def test_a_recording_without_an_answer_is_an_error_with_the_recorded_reason() -> None:
    sent = ask(app(Player([failed()])))

    status, headers = head(sent)
    assert (status, headers["x-should-retry"], headers["x-turntape"]) == (502, "false", "no answer")
    document = json.loads(sent[1]["body"])
    assert document["message"] == document["error"]["message"]
    assert document["message"] == "the recording of this request has no answer: the host said no"


def test_a_client_is_asked_to_try_again_where_the_recorded_one_did() -> None:
    serving = app(Player([failed(), failed(), whole(b"at last"), failed(b'{"other":1}')]))

    first, second, third = ask(serving), ask(serving), ask(serving)

    assert [head(sent)[1].get("x-should-retry") for sent in (first, second, third)] == ["true", "true", None]
    assert third[1]["body"] == b"at last"


def test_who_tries_again_unasked_gets_the_same_error_and_no_miss() -> None:
    serving = app(Player([failed(), whole(b"", b'{"other":1}')]))

    first, second = ask(serving), ask(serving)

    assert first == second
    assert head(ask(serving, b'{"third":1}'))[0] == 400


# Real SDKs, each against its own request that was recorded with no answer.


class Listening(BaseHTTPRequestHandler):
    """Keeps the first request, and says that it was wrong, which no SDK tries again."""

    kept: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        self.kept.append((self.path, body))
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def listening() -> Generator[tuple[str, list[tuple[str, bytes]]]]:
    kept: list[tuple[str, bytes]] = []
    handler = type("Handler", (Listening,), {"kept": kept})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", kept
        server.shutdown()


@contextmanager
def served(serving: App) -> Generator[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(serving, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


SAID: Any = [{"role": "user", "content": "hi"}]


def by_openai(base: str) -> None:
    from openai import OpenAI

    with OpenAI(api_key="k", base_url=f"{base}/openai/v1") as client:
        client.chat.completions.create(model="m", messages=SAID)


def by_openai_responses(base: str) -> None:
    from openai import OpenAI

    with OpenAI(api_key="k", base_url=f"{base}/openai/v1") as client:
        client.responses.create(model="m", input="hi")


def by_anthropic(base: str) -> None:
    from anthropic import Anthropic

    with Anthropic(api_key="k", base_url=f"{base}/anthropic") as client:
        client.messages.create(model="m", max_tokens=9, messages=SAID)


def by_gemini(base: str) -> None:
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=f"{base}/gemini"))
    client.models.generate_content(model="gemini-2.5-pro", contents="hi")


def by_mistral(base: str) -> None:
    from mistralai.client import Mistral

    with Mistral(api_key="k", server_url=f"{base}/mistral") as client:
        client.chat.complete(model="m", messages=SAID)


def by_cohere(base: str) -> None:
    import cohere

    cohere.ClientV2("k", base_url=f"{base}/cohere").chat(model="m", messages=SAID)


def by_ollama(base: str) -> None:
    import ollama

    with ollama.Client(host=f"{base}/ollama") as client:
        client.chat(model="m", messages=SAID)


def by_boto3(base: str) -> None:
    import boto3

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=f"{base}/bedrock",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}])


CLIENTS: dict[Callable[[str], None], tuple[str, bool]] = {
    by_openai: ("InternalServerError", True),
    by_openai_responses: ("InternalServerError", True),
    by_anthropic: ("InternalServerError", True),
    by_gemini: ("ServerError", True),
    by_mistral: ("SDKError", True),
    by_cohere: ("ApiError", False),
    by_ollama: ("ResponseError", True),
    by_boto3: ("ClientError", False),
}
"""The error that each raises, and whether it respects a request not to retry."""


@pytest.mark.filterwarnings("ignore")  # some clients leave their sockets to the garbage collector
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_every_sdk_raises_its_own_error_with_the_recorded_reason(
    client: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # between tries
    kind, minds = CLIENTS[client]
    with listening() as (base, kept), pytest.raises(Exception, match="."):
        client(base)
    (path, body), *_ = kept
    asked = 0
    answers = app(Player([failed(body, f"https://api.example{path}"), whole(b"", b'{"other":1}')]))

    async def counting(scope: Any, receive: Any, send: Any) -> None:
        nonlocal asked
        asked += 1
        await answers(scope, receive, send)

    with served(counting) as base, pytest.raises(Exception, match="the host said no") as raised:
        client(base)

    assert type(raised.value).__name__ == kind
    assert (asked == 1) is minds
    # The error holds its client; what that leaves open is warned of here, where it is expected.
    del raised
    gc.collect()


# The server as a command.


def test_a_port_that_is_taken_is_said_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(CassetteError, match=f"cannot listen on 127.0.0.1:{port}: .*; choose another --port"):
            serve(Player([]), port=port)


def test_replay_says_what_to_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda _, sockets: [s.close() for s in sockets])
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(whole(b""))

    assert run_replay([path, path], host="127.0.0.1") == 0

    out, err = capsys.readouterr()
    assert err.startswith("replaying 2 round trips at http://127.0.0.1:")
    base = err.splitlines()[0].split()[-1]
    assert f"{base}/s/run\n" in err and f"{base}/s/run-2\n" in err
    assert f"export OPENAI_BASE_URL={base}/openai/v1\nexport ANTHROPIC_BASE_URL={base}/anthropic\n" in out


def test_a_file_that_is_not_a_cassette_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("{}\n")

    assert run_replay([path]) == 2

    err = capsys.readouterr().err
    assert err.startswith("turntape: ") and err.count("\n") == 1 and "no.jsonl" in err
