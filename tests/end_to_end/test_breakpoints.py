"""Answers held before real clients see them: passed, edited, refused; and what the cassette says about it."""

import json
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import pytest
from end_to_end import test_other_clients as others
from end_to_end.loops import LOOPS

from turntape.cassettes import Cassette, Recorder
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.rewrite import document
from turntape.proxy.breakpoints.breakpoints_addon import Breakpoints
from turntape.proxy.breakpoints.condition import parse
from turntape.proxy.breakpoints.editing import edited
from turntape.proxy.breakpoints.held_answer import PASSED, Decision, HeldAnswer
from turntape.proxy.breakpoints.orders import refused
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import Fault, ScriptedServer
from turntape.proxy.scripted.story import Call, Step

ANN, NOBODY = "ann@example.com", "nobody@example.com"
MAIL = Step("I will send it.", (Call("send_email", {"to": ANN}),))
STORY = (MAIL, Step("Sent."))
ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}


class Person:
    """Decides by a function, and keeps what was asked."""

    def __init__(self, decide: Callable[[HeldAnswer], Decision] = lambda held: PASSED) -> None:
        self.finished = False
        self.asked: list[HeldAnswer] = []
        self.recorded = threading.Event()
        self._decide = decide

    def decide(self, held: HeldAnswer, gone: threading.Event) -> Decision:
        self.asked.append(held)
        return self._decide(held)


def redirect(held: HeldAnswer) -> Decision:
    decision, remark = edited(held, document(held.round_trip).replace(ANN, NOBODY))
    assert remark is None
    return decision


@contextmanager
def held(tape: Path, confdir: Path, person: Person, *on: str, **server: Any) -> Generator[tuple[ScriptedServer, str]]:
    with ScriptedServer(**{"story": STORY, **server}) as upstream, Recorder(tape) as recorder:
        breakpoints = Breakpoints(tuple(parse(text) for text in on), person)
        engine = Engine(
            recorder,
            upstreams={"*": upstream.url},
            confdir=confdir,
            breakpoints=breakpoints,
            on_round_trip=lambda _trip, _number: person.recorded.set(),
        )
        with running(engine):
            yield upstream, f"http://127.0.0.1:{engine.port}"


def ids(tape: Path) -> list[list[str]]:
    return [
        [str(finding["id"]) for finding in cast(list[dict[str, Any]], one.label["findings"])]
        for one in label_all(Cassette.load(tape))
    ]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", LOOPS)
def test_an_edited_call_is_what_the_sdk_gets_and_sends_back(
    protocol: str, streamed: bool, tape: Path, confdir: Path
) -> None:
    loop, client_of = LOOPS[protocol]
    person = Person(redirect)
    with (
        held(tape, confdir, person, "tool=send_*") as (upstream, base),
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        assert loop(client_of(base, http), streamed) == 2
        again = upstream.requests[1].body.decode()

    assert [one.on for one in person.asked] == ["tool=send_email"]
    if protocol != "openai-responses":  # there the API itself holds the history
        assert NOBODY in again and ANN not in again
    assert ids(tape) == [["answer-edited-by-hand"], []]
    first, second = Cassette.load(tape)
    assert first.response is not None and NOBODY.encode() in first.response.body.replace(b"\\", b"")
    mark = cast(dict[str, Any], first.extra["breakpoint"])
    assert (mark["on"], mark["did"]) == ("tool=send_email", "edited")
    assert mark["from_api"]["body"]["text"].count("send_email") == first.response.body.count(b"send_email")
    assert "breakpoint" not in second.extra


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", [others.gemini, others.bedrock, others.ollama, others.cohere, others.mistral])
def test_the_other_vendors_clients_take_an_edited_call_too(
    client: Callable[[str, bool], None], streamed: bool, tape: Path, confdir: Path
) -> None:
    person = Person(redirect)
    with held(tape, confdir, person, "tool=send_email") as (upstream, base):
        client(base, streamed)
        again = upstream.requests[1].body.decode()

    assert NOBODY in again and ANN not in again
    assert "answer-edited-by-hand" in ids(tape)[0]


@pytest.mark.parametrize("protocol", LOOPS)
def test_a_refused_answer_is_the_sdks_own_error(protocol: str, tape: Path, confdir: Path) -> None:
    loop, client_of = LOOPS[protocol]
    with (
        held(tape, confdir, Person(lambda one: refused("no mail today")), "tool=send_email") as (_, base),
        httpx2.Client(trust_env=False, timeout=None) as http,
        pytest.raises(Exception, match="no mail today") as raised,
    ):
        loop(client_of(base, http), True)

    assert type(raised.value).__name__ == "BadRequestError"
    assert ids(tape) == [["answer-refused-by-hand"]]
    [trip] = Cassette.load(tape)
    assert trip.response is not None and trip.response.status == 400
    mark = cast(dict[str, Any], trip.extra["breakpoint"])
    assert (mark["did"], mark["message"], mark["from_api"]["status"]) == ("refused", "no mail today", 200)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", None])
def test_a_passed_answer_is_the_apis_byte_for_byte_with_the_times_of_its_pieces(
    encoding: str | None, tape: Path, confdir: Path
) -> None:
    faults = {1: Fault(encoding)} if encoding else None  # type: ignore[arg-type]
    asked = {**ASKED, "stream": True}

    def raw(base: str) -> tuple[bytes, object]:
        with (
            httpx2.Client(trust_env=False, timeout=None) as http,
            http.stream("POST", f"{base}/v1/chat/completions", json=asked) as answer,
        ):
            return b"".join(answer.iter_raw()), sorted(answer.headers.items())

    with held(tape, confdir, Person(), "turn=1", faults=faults, chunk_delay=0.002) as (upstream, base):
        assert raw(f"{base}/openai") == raw(upstream.url)

    [trip] = Cassette.load(tape)
    assert trip.response is not None and len(trip.response.chunks) > 5
    assert trip.response.chunks[0].at < trip.response.chunks[-1].at
    assert cast(dict[str, Any], trip.extra["breakpoint"])["did"] == "passed"


def test_a_turn_is_held_by_its_number_and_the_others_stream(tape: Path, confdir: Path) -> None:
    person = Person()
    loop, client_of = LOOPS["openai-chat"]
    with held(tape, confdir, person, "turn=2") as (_, base), httpx2.Client(trust_env=False, timeout=None) as http:
        loop(client_of(base, http), True)

    assert [(one.number, one.on) for one in person.asked] == [(2, "turn=2")]
    assert ["breakpoint" in trip.extra for trip in Cassette.load(tape)] == [False, True]


def test_a_finding_is_known_before_the_client_has_the_answer(tape: Path, confdir: Path) -> None:
    """The second answer calls a tool that was not offered; nothing else of the run is held."""
    person = Person()
    story = (MAIL, Step(calls=(Call("format_disk", {}),)), Step("Done."))
    loop, client_of = LOOPS["openai-chat"]
    with (
        held(tape, confdir, person, "finding=model-unknown-*", story=story) as (_, base),
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        loop(client_of(base, http), True)

    assert [one.number for one in person.asked] == [2]
    assert person.asked[0].on.startswith("finding=model-unknown-")


def test_a_cut_stream_reaches_the_client_cut_and_nobody_is_asked(tape: Path, confdir: Path) -> None:
    person = Person()
    got = b""
    with (
        held(tape, confdir, person, "tool=*", faults={1: Fault("cut", 3)}) as (_, base),
        httpx2.Client(trust_env=False, timeout=None) as http,
        http.stream("POST", f"{base}/openai/v1/chat/completions", json={**ASKED, "stream": True}) as answer,
    ):
        assert answer.status_code == 200
        with pytest.raises(httpx2.TransportError):
            for piece in answer.iter_raw():
                got += piece

    assert got.count(b"data: ") == 3
    assert person.asked == []
    [trip] = Cassette.load(tape)
    assert trip.failure is not None and trip.failure.kind == "cut"
    assert trip.response is not None and trip.response.body == got


def test_a_client_that_leaves_releases_the_held_answer(tape: Path, confdir: Path) -> None:
    asked = threading.Event()

    class Waiting(Person):
        def decide(self, held: HeldAnswer, gone: threading.Event) -> Decision:
            asked.set()
            gone.wait()
            return PASSED

    person = Waiting()
    body = json.dumps(ASKED)
    with held(tape, confdir, person, "turn=1") as (_, base):
        place = urlsplit(base)
        with socket.create_connection((place.hostname, place.port)) as client:
            head = f"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\n"
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            asked.wait()
        person.recorded.wait()

    [trip] = Cassette.load(tape)
    assert trip.failure is not None and trip.failure.kind == "client_gone"
    assert trip.response is not None and trip.response.body


def test_secrets_in_the_apis_own_answer_do_not_reach_the_disk(tape: Path, confdir: Path) -> None:
    key = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5t" * 2
    story = (Step("I will send it.", (Call("send_email", {"to": ANN, "body": key}),)), Step("Sent."))
    with (
        held(tape, confdir, Person(redirect), "tool=send_email", story=story) as (_, base),
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        answer = http.post(f"{base}/openai/v1/chat/completions", json=ASKED).json()

    assert key in json.dumps(answer)
    assert key not in tape.read_text()
