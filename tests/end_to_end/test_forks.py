"""Forks, with the real SDKs: replayed up to a turn, live from there, and the new cassette replays on its own."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx2
import pytest
from end_to_end.loops import CLAUDE, LOOPS, Rig, Witness, rig

from turntape.cassettes import Cassette, Recorder, ReplayTransport
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.rewrite.answer_edit import edited, parse_edit
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.engine.fork_addon import PLAYED, Fork, ForkPlan, plan_fork
from turntape.proxy.scripted import Call, Fault, ScriptedServer, Step

ROUTES = pytest.mark.parametrize("route", ["base_url", "forward"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
OTHER_STORY = (
    Step("", (Call("generate_email", {"company": "never", "tone": "asked"}),)),
    Step("", (Call("generate_email", {"company": "never", "tone": "asked"}),)),
    Step("Another way.", (Call("send_email", {"to": "a", "subject": "b", "draft": 1}),)),
    Step("Sent it."),
)


@contextmanager
def fork_of(plan: ForkPlan, tape: Path, confdir: Path, **server: Any) -> Generator[tuple[Rig, list[Fork]]]:
    forks: list[Fork] = []

    def addon(recorder: Any, write: Any) -> Fork:
        forks.append(Fork(plan, recorder, write))
        return forks[0]

    with ScriptedServer(**server) as upstream, Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"*": upstream.url}, confdir=confdir, addon=addon)
        with running(engine):
            yield Rig(upstream, engine, confdir, SimpleQueue()), forks


def run(up: Rig, protocol: str, route: str, streamed: bool) -> list[list[bytes]]:
    """The loop through the proxy; the bytes that the SDK got."""
    loop, client_of = LOOPS[protocol]
    forward = route == "forward"
    inner = httpx2.HTTPTransport(proxy=up.base, verify=up.trust()) if forward else httpx2.HTTPTransport()
    seen = Witness(inner)
    with httpx2.Client(transport=seen, trust_env=False) as http:
        assert loop(client_of(None if forward else up.base, http), streamed)
    return seen.bodies


def replayed(tape: Path, protocol: str, streamed: bool) -> list[bytes]:
    loop, client_of = LOOPS[protocol]
    transport = ReplayTransport(tape)
    seen = Witness(transport)
    assert loop(client_of("http://gone.invalid", httpx2.Client(transport=seen)), streamed)
    assert (transport.misses, transport.player.unplayed) == ([], [])
    return [b"".join(body) for body in seen.bodies]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return tmp_path / "recorded.cassette.jsonl"


@ROUTES
@STREAMED
@pytest.mark.parametrize("protocol", LOOPS)
def test_turns_before_the_fork_are_played_and_the_rest_is_live(
    protocol: str, streamed: bool, route: str, recorded: Path, tape: Path, confdir: Path
) -> None:
    with rig(recorded, confdir) as up:
        old = run(up, protocol, route, streamed)

    plan = plan_fork(Cassette.load(recorded), 3)
    with fork_of(plan, tape, confdir, story=OTHER_STORY) as (up, forks):
        new = run(up, protocol, route, streamed)
        asked = len(up.server.requests)

    assert [b"".join(body) for body in new[:2]] == [b"".join(body) for body in old[:2]]
    assert (forks[0].played, forks[0].live, forks[0].waiting, forks[0].misses) == (2, 2, 0, [])
    assert asked == 2
    made = list(Cassette.load(tape))
    assert [trip.extra.get(PLAYED) for trip in made] == [
        {"file": "recorded.cassette.jsonl", "index": 0},
        {"file": "recorded.cassette.jsonl", "index": 1},
        None,
        None,
    ]
    assert {trip.route for trip in made} == {route}
    labels: list[dict[str, Any]] = [done.label for done in label_all(made)]
    assert [(label["thread"], label["turn"]) for label in labels] == [("t1", n) for n in range(1, 5)]
    assert [label["model"]["text"] for label in labels[2:]] == ["Another way.", "Sent it."]
    assert replayed(tape, protocol, streamed) == [b"".join(body) for body in new]


@ROUTES
@STREAMED
@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic-messages", "openai-responses"])
def test_an_edited_answer_is_what_the_client_gets_and_answers(
    protocol: str, streamed: bool, route: str, recorded: Path, tape: Path, confdir: Path
) -> None:
    with rig(recorded, confdir) as up:
        run(up, protocol, route, streamed)

    plan = plan_fork(Cassette.load(recorded), 3)
    for text in ("tool.1=send_email", 'arguments.1={"to":"the moon"}'):
        edit = parse_edit(text)
        plan = plan.changed(lambda trip, edit=edit: edited(trip, edit))
    with fork_of(plan, tape, confdir) as (up, forks):
        new = run(up, protocol, route, streamed)
        third = up.server.requests[0].body

    assert (forks[0].played, forks[0].live, forks[0].misses) == (2, 2, [])
    if protocol != "openai-responses":  # there the history is the server's
        assert b"the moon" in third
    made = list(Cassette.load(tape))
    assert made[1].extra[PLAYED] == {"file": "recorded.cassette.jsonl", "index": 1, "edited": True}
    calls = label_all(made)[1].label["model"]["tool_calls"]  # type: ignore[index]
    assert [(call["name"], call["arguments"]) for call in calls][0] == ("send_email", {"to": "the moon"})
    assert replayed(tape, protocol, streamed) == [b"".join(body) for body in new]


def test_a_fork_at_turn_one_is_a_live_run_and_one_after_the_end_plays_all(
    recorded: Path, tape: Path, tmp_path: Path, confdir: Path
) -> None:
    with rig(recorded, confdir) as up:
        run(up, "openai-chat", "base_url", False)

    with fork_of(plan_fork(Cassette.load(recorded), 1), tape, confdir) as (up, forks):
        run(up, "openai-chat", "base_url", False)
    assert (forks[0].played, forks[0].live) == (0, 4)

    with fork_of(plan_fork(Cassette.load(recorded), 5), tmp_path / "all.cassette.jsonl", confdir) as (up, forks):
        run(up, "openai-chat", "base_url", False)
        assert up.server.requests == []
    assert (forks[0].played, forks[0].live) == (4, 0)


def test_a_client_that_strays_before_the_fork_is_refused_and_costs_nothing(
    recorded: Path, tape: Path, confdir: Path
) -> None:
    with rig(recorded, confdir) as up:
        run(up, "openai-chat", "base_url", False)

    with (
        fork_of(plan_fork(Cassette.load(recorded), 3), tape, confdir) as (up, forks),
        httpx2.Client(trust_env=False, timeout=None) as http,
    ):
        body = {"model": "gpt-5", "messages": [{"role": "user", "content": "something else"}]}
        got = http.post(f"{up.base}/openai/v1/chat/completions", json=body)
        assert up.server.requests == []

    assert (got.status_code, got.headers["x-should-retry"]) == (400, "false")
    assert "/messages/0/content" in got.json()["error"]["message"]
    assert (forks[0].waiting, len(forks[0].misses)) == (2, 1)
    assert list(Cassette.load(tape)) == []


def test_strays_go_live_when_the_user_asks_for_it(recorded: Path, tape: Path, confdir: Path) -> None:
    with rig(recorded, confdir) as up:
        run(up, "openai-chat", "base_url", False)

    plan = plan_fork(Cassette.load(recorded), 3, strays_go_live=True)
    with fork_of(plan, tape, confdir) as (up, forks), httpx2.Client(trust_env=False, timeout=None) as http:
        body = {"model": "gpt-5", "messages": [{"role": "user", "content": "something else"}]}
        assert http.post(f"{up.base}/openai/v1/chat/completions", json=body).status_code == 200

    assert (forks[0].played, forks[0].live) == (0, 1)


@ROUTES
def test_a_cut_answer_is_cut_again_and_stays_so_in_the_new_cassette(
    route: str, recorded: Path, tape: Path, confdir: Path
) -> None:
    body = {"model": CLAUDE, "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "go"}]}

    def ask(up: Rig) -> bytes:
        got = b""
        url = "https://api.anthropic.com" if route == "forward" else f"{up.base}/anthropic"
        http = up.forward() if route == "forward" else httpx2.Client(trust_env=False, timeout=None)
        with (
            pytest.raises(httpx2.RemoteProtocolError),
            http,
            http.stream("POST", f"{url}/v1/messages", json=body) as response,
        ):
            for piece in response.iter_raw():
                got += piece
        return got

    with rig(recorded, confdir, faults={1: Fault("cut", 3)}) as up:
        before = ask(up)
    with fork_of(plan_fork(Cassette.load(recorded), 2), tape, confdir) as (up, _):
        after = ask(up)
        assert up.server.requests == []

    assert after == before != b""
    (made,) = Cassette.load(tape)
    assert made.failure is not None and made.failure.kind == "cut"
