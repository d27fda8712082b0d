"""What a request body has in common with an earlier one is parsed once; the value is that of the whole body."""

import json
import random
from collections.abc import Callable
from typing import Any, cast

import orjson
import pytest

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.run.labels import Labeller
from turntape.inspector.wire import request_bodies
from turntape.inspector.wire.request_bodies import RequestBodies

SYSTEM = "You are a careful programmer. " * 800
"""About 24 KB."""


def request(turns: int, **more: object) -> dict[str, Any]:
    """A request with so many turns behind it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the tests."}]
    for turn in range(turns):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read", "input": {"path": f"src/{turn}.py"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": f"{turn}: " + "line\n" * 60}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {"model": "claude-opus-4-5", "max_tokens": 100, "system": SYSTEM, "messages": messages, **more}


def test_a_continued_body_shares_the_values_of_the_earlier_one() -> None:
    bodies = RequestBodies()

    first = cast(dict[str, Any], bodies.read(orjson.dumps(request(3))))
    second = cast(dict[str, Any], bodies.read(orjson.dumps(request(4, stream=True))))

    assert second == request(4, stream=True)
    assert all(one is other for one, other in zip(first["messages"], second["messages"], strict=False))
    assert second["system"] is first["system"]


def test_the_same_body_is_parsed_once() -> None:
    bodies, body = RequestBodies(), orjson.dumps(request(3))

    assert bodies.read(body) is bodies.read(body + b"")
    assert bodies.parsed == len(body)


def test_the_work_of_a_long_run_is_linear() -> None:
    def parsed(turns: int) -> int:
        bodies = RequestBodies()
        for turn in range(turns):
            bodies.read(orjson.dumps(request(turn, tools=[{"name": "read"}])))
        return bodies.parsed

    few, many = parsed(50), parsed(100)

    assert many - few < 1.2 * (few - parsed(2)) + 50_000
    assert many < 4 * len(orjson.dumps(request(100)))


CHANGES: dict[str, Callable[[dict[str, Any], int], None]] = {
    "a clock in the system prompt": lambda body, turn: body.update(system=f"It is {turn * 7}. " + SYSTEM),
    "a clock in the first message": lambda body, turn: body["messages"][0].update(content=f"It is {turn * 7}. Fix it."),
    "a window that drops the oldest": lambda body, turn: body["messages"].__delitem__(slice(1, 1 + turn // 4 * 2)),
    "a summary in front": lambda body, turn: body["messages"].__setitem__(
        slice(0, 1 + turn // 4 * 2), [{"role": "user", "content": f"Before that, {turn} things happened."}]
    ),
    "two changes": lambda body, turn: body.update(
        system=f"It is {turn * 7}. " + SYSTEM,
        messages=[{"role": "user", "content": f"It is {turn}"}, *body["messages"][1:]],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_behind_a_change_at_the_front_is_parsed_once(change: str) -> None:
    def parsed(turns: int) -> int:
        bodies = RequestBodies()
        for turn in range(20, turns):
            body = request(turn, tools=[{"name": "read"}])
            CHANGES[change](body, turn)
            assert bodies.read(orjson.dumps(body)) == body
        return bodies.parsed

    each = len(orjson.dumps(request(1))) + 3_000

    assert parsed(100) < 100 * each + len(orjson.dumps(request(20)))


def test_a_body_has_one_hash_however_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "_BLOCK", 1 << 10)
    bodies, hashes = RequestBodies(), list[int]()
    for turn in range(20, 30):
        for front in ("", f"It is {turn}. "):
            body = orjson.dumps(request(turn, system=front + SYSTEM))
            bodies.read(body)
            hashes.append(bodies.hash(body))
            assert hashes[-1] == RequestBodies().hash(body)

    assert len({*hashes}) == 20


def test_what_a_body_begins_with_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[int] = []
    blocks = request_bodies._blocks
    monkeypatch.setattr(request_bodies, "_BLOCK", 1 << 10)
    monkeypatch.setattr(
        request_bodies, "_blocks", lambda data, first=0: hashed.append(len(data) - (first << 10)) or blocks(data, first)
    )
    bodies, body = RequestBodies(), b""
    for turn in range(20, 60):
        body = orjson.dumps(request(turn))
        bodies.read(body)
        bodies.hash(body)

    assert sum(hashed) < len(body) + 40 * (1 << 11)


def test_agents_with_clocks_that_take_turns_each_continue_their_own_history() -> None:
    bodies, own = RequestBodies(), {"A": 40, "B": 40}
    for turn in range(40, 60):
        for name in own:
            body = request(turn, system=f"{turn}{name}: " + SYSTEM)
            body["messages"][0]["content"] = name
            for message in body["messages"]:
                message["by"] = name
            assert bodies.read(orjson.dumps(body)) == body

    assert bodies.parsed < 40 * (len(SYSTEM) + 6_000) + 2 * len(orjson.dumps(request(40)))


def test_agents_that_take_turns_are_not_mixed_up() -> None:
    bodies = RequestBodies()

    for turn in range(4):
        for system in ("A" + SYSTEM, "B" + SYSTEM):
            body = orjson.dumps(request(turn, system=system))
            assert bodies.read(body) == orjson.loads(body)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda body: body.replace(b'"max_tokens":100', b'"max_tokens":1000'), id="a longer number"),
        pytest.param(lambda body: body[:-1] + b',"model":"other"}', id="a name twice"),
        pytest.param(lambda body: body[:-1] + b',"messages":[]}', id="the history twice"),
        pytest.param(lambda body: body[:-1] + b',"\\u0000":[0,1]}', id="the name of what is shared"),
        pytest.param(lambda body: body[:-1] + b',"x":12345678901234567890123}', id="an integer beyond 64 bits"),
        pytest.param(
            lambda body: body.replace(b'"role":"user","content":[', b'"role":"user", "content" : [ '), id="space"
        ),
        pytest.param(lambda body: body.replace(b"src/2.py", "src/é漢.py".encode()), id="other characters"),
    ],
)
def test_the_value_is_that_of_the_whole_body(change: Any) -> None:
    bodies, body = RequestBodies(), orjson.dumps(request(3, stream=True))
    for given in (body, change(body), change(orjson.dumps(request(5, stream=True))), body):
        assert orjson.dumps(bodies.read(given)) == orjson.dumps(orjson.loads(given))


@pytest.mark.parametrize("rest", [b"", b"]", b"}}", b',"a":}', b",}"])
def test_a_body_that_breaks_off_is_not_json(rest: bytes) -> None:
    bodies, body = RequestBodies(), orjson.dumps(request(3))
    bodies.read(body)

    assert bodies.read(body[:-1] + rest) is None


@pytest.mark.parametrize("changed", [False, True])
def test_whatever_the_json_is_the_value_is_equal(changed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "WORTHWHILE", 40)
    monkeypatch.setattr(request_bodies, "_ANCHOR", 2)
    monkeypatch.setattr(request_bodies, "_ANCHORS", (2, 3))
    rng, bodies, made = random.Random(17), RequestBodies(), list[bytes]()
    shared = 0

    def value(depth: int = 0) -> object:
        if depth < 3 and rng.random() < 0.4:
            inner = [value(depth + 1) for _ in range(rng.randrange(4))]
            return inner if rng.random() < 0.5 else {f"é{place}": one for place, one in enumerate(inner)}
        return rng.choice(["text", "é漢字", 1, 12, 1.5, True, None, "", 'a\\"]}', "\0"])

    for _ in range(1500):
        body = rng.choice(made[-5:]) if made and rng.random() < 0.9 else b""
        fields: dict[str, Any] = orjson.loads(body) if body else {"first": value(), "messages": [], "last": value()}
        messages = [*(fields.get("messages") or []), value()]
        if changed and (place := rng.randrange(len(messages) * 2)) < len(messages):
            messages[place : place + rng.randrange(2)] = [value()]
        if changed and rng.random() < 0.3:
            fields["first"] = value()
        fields["messages"] = messages
        body = json.dumps(fields, indent=rng.choice([None, 1])).encode()
        if rng.random() < 0.3:
            place = rng.randrange(len(body))
            body = body[:place] + rng.choice([b"1", b"]", b",", b" ", b'"']) + body[place:]
        before = bodies.parsed
        found = bodies.read(body)
        try:
            whole = orjson.loads(body)
        except orjson.JSONDecodeError:
            continue
        assert orjson.dumps(found) == orjson.dumps(whole)
        made.append(orjson.dumps(whole))
        shared += bodies.parsed - before < len(body)
    assert shared > 100


def test_few_bytes_are_held() -> None:
    bodies = RequestBodies(held=100_000)
    for number in range(6):
        bodies.read(orjson.dumps(request(0, system=f"{number}" + SYSTEM)))
    before = bodies.parsed

    bodies.read(orjson.dumps(request(0, system="0" + SYSTEM)))

    assert bodies.parsed > before


def test_labelling_a_long_run_parses_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = RequestBodies()
    monkeypatch.setattr("turntape.inspector.wire.exchange.read_body", bodies.read)
    labeller, sent, kind = Labeller(), 0, (("content-type", "application/json"),)
    per_turn: list[int] = []
    for turn in range(40):
        body = orjson.dumps(request(turn))
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read", "input": {"path": f"src/{turn}.py"}}
        answer = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": [call],
                  "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
        sent += len(body)
        before = bodies.parsed
        labeller.add(
            RoundTrip(
                Request("POST", "https://api.anthropic.com/v1/messages", kind, body),
                Response(200, "OK", kind, orjson.dumps(answer)),
                1_780_000_000.0 + turn,
                index=turn,
            )
        )
        per_turn.append(bodies.parsed - before)

    assert max(per_turn[2:]) < 3_000
    assert sum(per_turn) < sent / 10


def test_a_body_that_cannot_share_more_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    prefix = request_bodies.common_prefix

    def counted(one: bytes, other: bytes, start: int = 0) -> int:
        compared.append(len(one))
        return prefix(one, other, start)

    monkeypatch.setattr(request_bodies, "common_prefix", counted)
    bodies = RequestBodies()
    for turns in (9, 8, 7, 6):  # each goes back behind the one before
        bodies.read(orjson.dumps(request(turns, branch=turns)))
    compared.clear()
    value = bodies.read(orjson.dumps(request(7, branch=0)))

    assert value == request(7, branch=0)
    assert len(compared) < 4


@pytest.mark.parametrize("seed", range(5))
def test_the_base_is_the_body_that_shares_most(seed: int) -> None:
    rng = random.Random(seed)
    bodies = RequestBodies(kept=50)
    for _ in range(20):
        messages = [{"role": "user", "content": f"{rng.randrange(2)} " * 100} for _ in range(rng.randrange(12))]
        data = orjson.dumps({"messages": messages, "end": rng.randrange(2)})
        if bodies._recent:
            shared, base = bodies._longest(data)
            lengths = [request_bodies.common_prefix(one.data, data) for one in bodies._recent]
            assert shared == max(lengths) == request_bodies.common_prefix(base.data, data)
        assert bodies.read(data) == {"messages": messages, "end": orjson.loads(data)["end"]}
