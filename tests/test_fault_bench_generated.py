"""The bench's random changes of answers: each is real, is one, and comes again from its seed."""

import copy
import json
from random import Random
from typing import Any

import pytest

from bench.faults.generated.changes import Change, change
from bench.faults.generated.norm import norm_of
from bench.faults.recorded.bodies import Body, Event

MESSAGE = {"role": "assistant", "content": "A strip.", "note": None}
WHOLE = {"id": "c1", "model": "m", "choices": [{"index": 0, "message": MESSAGE}], "usage": {"output": 3}}


def whole(**fields: Any) -> Body:
    return Body("json", copy.deepcopy({**WHOLE, **fields}))


def stream() -> Body:
    pieces = [("start", {"id": "c1", "index": 0}), ("piece", {"text": "A "}), ("piece", {"text": "strip."}),
              ("end", {"id": "c1", "usage": {"output": 3}})]  # fmt: skip
    return Body("sse", events=[Event(kind, {"type": kind, **body}, b"") for kind, body in pieces])


USUAL = {"json": norm_of(whole() for _ in range(6)), "sse": norm_of(stream() for _ in range(6))}


def changed(body: Body, seed: int) -> tuple[Change | None, bytes]:
    done = change(body, USUAL[body.kind], Random(seed))
    return done, done.body if done is not None and done.body is not None else body.written()


@pytest.mark.parametrize("make", [whole, stream])
def test_each_change_is_real_and_comes_again_from_its_seed(make: Any) -> None:
    kinds: set[str] = set()
    for seed in range(300):
        done, data = changed(make(), seed)
        assert (data != make().written()) is (done is not None)
        assert (done, data) == changed(make(), seed)
        kinds |= {done.kind} if done is not None else set()

    fields = {"drop", "null", "type", "empty", "cut"}
    assert kinds == (fields if make is whole else {*fields, "id", "drop event", "double event", "swap events"})


def leaves(value: Any, path: str = "") -> dict[str, str]:
    """Each key of a value with its value; an object or a list is only its type."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        inner = {at: shown for key, one in items for at, shown in leaves(one, f"{path}/{key}").items()}
        return {path: type(value).__name__, **inner}
    return {path: json.dumps(value)}


def test_a_field_changes_alone() -> None:
    for seed in range(300):
        body = whole()
        done, _ = changed(body, seed)
        if done is None or done.kind == "cut":
            continue
        before, after = leaves(WHOLE), leaves(body.value)
        differ = {at for at in {*before, *after} if before.get(at) != after.get(at)}
        place = done.place.replace("[]", "/0").replace(".", "/")
        assert differ
        assert all(f"{at}/".startswith(f"{place}/") for at in differ)


def test_only_what_every_answer_has_can_be_noticed() -> None:
    usual = norm_of([*(whole() for _ in range(5)), whole(id=None, extra=1)])

    assert usual.is_usual("", "model")
    assert not usual.is_usual("", "id")
    assert not usual.is_usual("", "extra")
    assert not usual.is_usual(".choices[].message", "note")
    assert USUAL["sse"].comes_once("start")
    assert not USUAL["sse"].comes_once("piece")
