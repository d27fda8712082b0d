"""A run at its limit gets an error in the API's own shape, and nothing more is sent to the API."""

import asyncio
import gc
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.test import tflow
from small_disks import NO_BYTECODE

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.cassettes.tape.model import Frame, Request
from turntape.proxy.capture.certificates import ensure_authority
from turntape.proxy.capture.pending import PendingRoundTrip
from turntape.proxy.capture.recorder_addon import RecorderAddon
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.limits import limits_addon
from turntape.proxy.limits.limit_checker import LimitChecker
from turntape.proxy.limits.limits import MARK, LimitReached, Limits
from turntape.proxy.limits.limits_addon import LimitsAddon
from turntape.proxy.limits.progress import NO_PROGRESS, ProgressReport
from turntape.proxy.scripted import ScriptedServer


@dataclass(frozen=True, slots=True)
class Limited:
    server: ScriptedServer
    base: str


@contextmanager
def limited(tape: Path, **limits: Any) -> Generator[Limited]:
    """The proxy with limits and without labels: turns count by their paths, and none waits."""
    confdir = tape.parent / "home"
    ensure_authority(confdir)
    checker = LimitChecker(Limits(**limits))
    checker.labels_ended("the test makes none")
    with (
        ScriptedServer() as server,
        Recorder(tape) as recorder,
        running(Engine(recorder, upstreams={"*": server.url}, confdir=confdir, limits=checker)) as engine,
    ):
        yield Limited(server, f"http://127.0.0.1:{engine.port}")


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

    client = genai.Client(api_key="k", http_options={"base_url": f"{base}/gemini"})
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
def test_the_next_turn_is_the_sdks_own_error_and_is_not_retried(
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

    with limited(tape, max_turns=1) as up:
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


def test_a_request_without_generation_still_passes(tmp_path: Path) -> None:
    with (
        limited(tmp_path / "t.cassette.jsonl", max_turns=1) as up,
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
        turns = [http.post(f"{up.base}/openai/v1/chat/completions", json=asked).status_code for _ in range(3)]
        models = http.get(f"{up.base}/openai/v1/models")

    assert turns == [200, 400, 400]
    assert "x-should-retry" not in models.headers


def test_messages_to_a_tool_server_of_2024_pass_a_limit_and_count_for_none(tmp_path: Path) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}
    with limited(tmp_path / "t.jsonl", max_turns=1) as run:
        url = f"{run.base}/anthropic/messages?session_id=1"
        before = httpx2.post(url, json=message).status_code
        answered = by_openai(run.base)
        answered()
        with pytest.raises(Exception, match="turntape ended this run after 1 turn"):
            answered()
        after = [httpx2.post(url, json=one).status_code for one in (message, {"jsonrpc": "2.0", "id": 2, "result": {}})]

    assert 429 not in (before, *after) and 403 not in (before, *after)
    assert sum(b'"jsonrpc"' in request.body for request in run.server.requests) == 3


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
    checker = LimitChecker(Limits(max_turns=1))
    checker.labels_ended("the test makes none")
    prewarm = json.dumps({"type": "response.create", "generate": False, "model": "m"})
    ask = json.dumps({"type": "response.create", "model": "m", "input": "go"})
    with serve_sockets(answer, "127.0.0.1", 0) as server, Recorder(tape) as recorder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        upstreams = {"openai": f"http://127.0.0.1:{server.socket.getsockname()[1]}"}
        with (
            running(Engine(recorder, upstreams=upstreams, confdir=confdir, limits=checker)) as engine,
            connect(f"ws://127.0.0.1:{engine.port}/openai/v1/responses", proxy=None) as client,
        ):
            kinds: list[str] = []
            for message in (prewarm, ask, ask):
                client.send(message)
                kinds.append(json.loads(client.recv())["type"])
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
def test_a_loop_is_ended_to_the_turn_by_its_labels(
    limit: list[str], model: str, made: int, kind: str, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", "run", "--out", "t.cassette.jsonl", *limit]
            + ["--upstream", f"*={server.url}", "--", sys.executable, "-c", LOOP, model],
            cwd=tmp_path,
            env={"TURNTAPE_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", **NO_BYTECODE},
            capture_output=True,
            text=True,
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


LARGE_SECOND = """
import openai

client = openai.OpenAI(api_key="k", max_retries=0)
for size in (10, 3_000_000, 10):
    asked = [{"role": "user", "content": "x" * size}]
    print(client.chat.completions.create(model="gpt-5", messages=asked).choices[0].finish_reason)
"""
"""The second request is larger than the file may become, so the cassette has the first and the third."""


def test_a_turn_after_one_that_the_disk_refused_does_not_wait_for_its_labels(tmp_path: Path) -> None:
    limited = "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000)); "
    with ScriptedServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", limited + "runpy.run_module('turntape.proxy.cli', run_name='__main__')"]
            + ["run", "--out", "t.cassette.jsonl", "--max-cost", "100"]
            + ["--upstream", f"*={server.url}", "--", sys.executable, "-c", LARGE_SECOND],
            cwd=tmp_path,
            env={"TURNTAPE_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        received = len(server.requests)

    assert done.stdout.count("\n") == 3, done.stderr
    assert received == 3
    assert "File too large" in done.stderr
    assert "--max-cost and --stop-on did not see 1 turn that could not be written" in done.stderr
    assert [trip.index for trip in Cassette.load(tmp_path / "t.cassette.jsonl")] == [0, 2]


# The addon alone


CHAT = "https://api.openai.com/v1/chat/completions"


class Addon:
    """The limits addon with a recorder addon, and what it would get from the labeller process."""

    def __init__(self, **limits: Any) -> None:
        self.checker = LimitChecker(Limits(**limits))
        self.reached: list[LimitReached] = []
        self.recorder = RecorderAddon(self._write)
        self.limits = LimitsAddon(self.checker, self.recorder, Proxyserver(), self.reached.append)
        self._written = 0

    def _write(self, trip: RoundTrip) -> None:
        self.limits.written(trip, self._written)
        self._written += 1

    def flow(self, url: str = CHAT) -> http.HTTPFlow:
        """A request that was recorded and not decided yet."""
        flow = tflow.tflow(req=http.Request.make("POST", url, b"{}"))
        self.recorder.begin(flow, PendingRoundTrip(url, 0.0, 0, None, "base_url", "openai"))
        self.recorder.request(flow)
        return flow

    def answer(self, flow: http.HTTPFlow, *pieces: bytes) -> None:
        """The response begins, and these pieces of it arrive."""
        flow.response = http.Response.make(200, b"", {"content-type": "text/event-stream"})
        self.recorder.responseheaders(flow)
        for piece in pieces:
            self.recorder.pending[flow.id].tee(piece)

    def end(self, flow: http.HTTPFlow) -> None:
        self.recorder.response(flow)
        self.limits.response(flow)

    async def turn(self, *pieces: bytes) -> None:
        """A whole turn, from request to response."""
        flow = self.flow()
        await self.limits.request(flow)
        self.answer(flow, *pieces)
        self.end(flow)

    def labels(self, read: int, cost: str = "0") -> None:
        self.checker.report({**NO_PROGRESS, "read": read, "turns": read, "cost": cost})


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.Event]:
    """No wait for the labeller process ever times out; each wait is listed."""
    waits: list[asyncio.Event] = []

    async def next_word(words: asyncio.Event) -> None:
        waits.append(words)
        await words.wait()

    monkeypatch.setattr(limits_addon, "next_word", next_word)
    return waits


async def settled() -> None:
    """Let the loop run until nothing happens any more."""
    for _ in range(50):
        await asyncio.sleep(0)


def is_refused(flow: http.HTTPFlow) -> bool:
    return flow.response is not None and flow.response.status_code == 400


@pytest.mark.parametrize(("cost", "refused"), [("0.49", False), ("0.50", True)])
def test_the_next_turn_waits_for_the_labels_of_the_turn_before(
    cost: str, refused: bool, words: list[asyncio.Event]
) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal("0.50"))
        await addon.turn()
        assert words == []  # nothing is before the first turn
        flow = addon.flow()
        request = asyncio.create_task(addon.limits.request(flow))
        await settled()
        assert not request.done()

        addon.labels(0, "9")  # a report that does not cover the turn before
        await settled()
        assert not request.done()
        addon.labels(1, cost)
        await request

        assert is_refused(flow) is refused
        assert [one.limit for one in addon.reached] == (["max-cost"] if refused else [])

    asyncio.run(run())


def test_a_sign_of_life_starts_the_patience_again(words: list[asyncio.Event]) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        await addon.turn()
        request = asyncio.create_task(addon.limits.request(addon.flow()))
        for waits in (1, 2, 3):
            await settled()
            assert len(words) == waits
            addon.checker.on_news()
        addon.labels(1)
        await request

    asyncio.run(run())


def test_a_turn_waits_only_for_turns_that_ended_before_it(words: list[asyncio.Event]) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        first, second = addon.flow(), addon.flow()
        await addon.limits.request(first)
        await addon.limits.request(second)
        addon.end(first)
        third = asyncio.create_task(addon.limits.request(addon.flow()))
        await settled()
        addon.end(second)

        addon.labels(1)
        await third

    asyncio.run(run())


def test_an_answer_that_the_client_has_in_whole_is_waited_for_to_its_end(words: list[asyncio.Event]) -> None:
    """A client stops to read at `data: [DONE]`: its next request can be here before the end of the stream."""

    async def run() -> None:
        addon = Addon(max_cost=Decimal("0.50"))
        first, second = addon.flow(), addon.flow()
        await addon.limits.request(first)
        addon.answer(first, b"data: {}\n\n", b"data: [DONE]\n\n")
        request = asyncio.create_task(addon.limits.request(second))
        await settled()
        assert not request.done()
        addon.end(first)
        await settled()
        assert not request.done()
        addon.labels(1, "0.50")
        await request

        assert is_refused(second)

    asyncio.run(run())


def test_an_answer_that_is_still_on_its_way_is_not_waited_for(words: list[asyncio.Event]) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        streaming, held = addon.flow(), addon.flow()
        for flow in (streaming, held):
            await addon.limits.request(flow)
        addon.answer(streaming, b"data: {}\n\n")
        addon.recorder.pending[held.id].held = True  # a breakpoint keeps it from the client
        addon.answer(held, b"data: [DONE]\n\n")

        await addon.limits.request(addon.flow())

        assert words == []

    asyncio.run(run())


@pytest.mark.parametrize(("limits", "warned"), [({"max_cost": Decimal(1)}, True), ({"max_turns": 9}, False)])
def test_a_silent_labeller_process_is_given_up_with_one_warning(
    limits: dict[str, Any], warned: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits_addon, "PATIENCE", 0)

    async def run() -> None:
        addon = Addon(**limits)
        for _ in range(4):
            await addon.turn()
        assert addon.checker.labels_missing == "the labeller process was silent for 0 s"
        assert addon.checker.decided_without_labels is warned

    asyncio.run(run())

    assert [record.getMessage() for record in caplog.records] == [
        "turntape: --max-cost and --stop-on no longer count new turns: labels are missing, because "
        "the labeller process was silent for 0 s"
    ] * warned


def test_a_labeller_process_that_dies_lets_the_waiting_turn_go(
    words: list[asyncio.Event], caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        await addon.turn()
        flow = addon.flow()
        request = asyncio.create_task(addon.limits.request(flow))
        await settled()
        threading.Thread(target=addon.checker.labels_ended, args=("the labeller process has ended",)).start()
        await request

        assert flow.response is None

    asyncio.run(run())

    assert len(caplog.records) == 1


def test_a_turn_that_the_disk_refused_holds_no_other_turn(words: list[asyncio.Event]) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        await addon.turn()
        flow = addon.flow()
        request = asyncio.create_task(addon.limits.request(flow))
        await settled()
        assert not request.done()
        addon.checker.on_news()  # signs of life of the labeller process do not end the wait
        await settled()
        assert not request.done()

        threading.Thread(target=addon.checker.lost, args=(0,)).start()
        await request

        assert flow.response is None
        assert addon.checker.labels_missing is None

    asyncio.run(run())


def test_when_the_proxy_stops_no_turn_waits(words: list[asyncio.Event], caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        addon = Addon(max_cost=Decimal(1))
        await addon.turn()
        request = asyncio.create_task(addon.limits.request(addon.flow()))
        await settled()
        addon.recorder.abandon()
        addon.limits.close()
        await request

    asyncio.run(run())

    assert caplog.records == []


def test_a_report_after_the_loop_has_ended_is_harmless(words: list[asyncio.Event]) -> None:
    addon = Addon(max_cost=Decimal(1))
    asyncio.run(addon.turn())

    addon.labels(1)


def test_turns_running_at_once_are_counted() -> None:
    async def run() -> list[bool]:
        addon = Addon(max_turns=4)
        flows = [addon.flow() for _ in range(10)]
        await asyncio.gather(*(addon.limits.request(flow) for flow in flows))
        assert len(addon.reached) == 1
        return [is_refused(flow) for flow in flows]

    assert sorted(asyncio.run(run())) == [False] * 4 + [True] * 6


def test_a_turn_that_failed_no_longer_runs() -> None:
    async def run() -> None:
        addon = Addon(max_turns=2)
        addon.checker.labels_ended("the test makes none")
        for _ in range(2):
            flow = addon.flow()
            await addon.limits.request(flow)
            addon.recorder.release(flow)  # as if nothing was recorded
            addon.limits.error(flow)
        flow = addon.flow()
        await addon.limits.request(flow)

        assert not is_refused(flow)

    asyncio.run(run())


def test_other_requests_and_unrecorded_ones_never_wait(words: list[asyncio.Event]) -> None:
    async def run() -> None:
        addon = Addon(max_turns=1)
        await addon.turn()
        models = addon.flow("https://api.openai.com/v1/models")
        unknown = addon.flow()
        addon.recorder.release(unknown)
        for flow in (models, unknown):
            await addon.limits.request(flow)
            assert flow.response is None

    asyncio.run(run())


def test_a_fault_in_the_limits_does_not_stop_the_traffic(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        addon = Addon(max_turns=1)
        flow = addon.flow()
        monkeypatch.setattr(addon.checker, "check", lambda running: 1 / 0)
        await addon.limits.request(flow)

        assert flow.response is None
        assert addon.recorder.pending[flow.id].faults == ["limits: ZeroDivisionError('division by zero')"]

    asyncio.run(run())

    assert "fault in the limits" in caplog.text


def test_the_turns_of_a_session_that_ended_count_until_it_is_labelled() -> None:
    addon = Addon(max_turns=3)
    ask = b'{"type": "response.create"}'
    frames = (Frame("client", 0, ask, True), Frame("server", 1, ask, True), Frame("client", 2, ask, True))
    addon.limits.written(RoundTrip(Request("GET", CHAT), None, 0.0, frames=frames), 0)

    assert addon.checker.check(0) is None
    assert addon.checker.check(1) is not None


def test_an_answer_of_a_session_that_nobody_asked_for_in_words_counts_too() -> None:
    addon = Addon(max_turns=2)
    ask, begun = b'{"type": "response.create"}', b'{"type": "response.created"}'
    spoken = (Frame("server", 1, begun, True), Frame("client", 2, ask, True), Frame("server", 3, begun, True))
    addon.limits.written(RoundTrip(Request("GET", CHAT), None, 0.0, frames=spoken), 0)

    assert addon.checker.check(0) is not None


# The whole proxy, with a labeller that keeps its labels


class HeldLabels:
    """Makes labels only when it is allowed to; on its own thread, as the labeller process is on its own."""

    def __init__(self, checker: LimitChecker, cost: str) -> None:
        self._checker = checker
        self._cost = Decimal(cost)
        self.read = 0

    def release(self) -> None:
        """Label one more round trip."""
        self.read += 1
        report: ProgressReport = {**NO_PROGRESS, "read": self.read, "cost": str(self._cost * self.read)}
        thread = threading.Thread(target=self._checker.report, args=(report,))
        thread.start()
        thread.join()


ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_no_turn_is_sent_before_the_labels_that_decide_about_it(
    streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns cost 25 cents, and the limit is 60: the fourth is refused, however long the labels take."""
    events = queue.SimpleQueue[object]()

    async def next_word(words: asyncio.Event) -> None:
        events.put("waits")
        await words.wait()

    monkeypatch.setattr(limits_addon, "next_word", next_word)
    checker = LimitChecker(Limits(max_cost=Decimal("0.60")))
    labels = HeldLabels(checker, "0.25")
    ensure_authority(tmp_path / "home")

    def ask(base: str) -> None:
        with httpx.Client(trust_env=False, timeout=None) as http:
            events.put(http.post(f"{base}/openai/v1/chat/completions", json={**ASKED, "stream": streamed}).status_code)

    with (
        ScriptedServer() as server,
        Recorder(tmp_path / "t.cassette.jsonl") as recorder,
        running(Engine(recorder, upstreams={"*": server.url}, confdir=tmp_path / "home", limits=checker)) as engine,
    ):
        base = f"http://127.0.0.1:{engine.port}"
        ask(base)
        assert events.get() == 200
        for number, status in ((2, 200), (3, 200), (4, 400)):
            asking = threading.Thread(target=ask, args=(base,))
            asking.start()
            while (event := events.get()) == "waits":
                assert len(server.requests) == number - 1
                if labels.read < number - 1:
                    labels.release()
            asking.join()
            assert (event, labels.read) == (status, number - 1)
        received = len(server.requests)

    assert received == 3
