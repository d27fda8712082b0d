"""Pairing only what is new finds the same as pairing the whole history."""

from random import Random

import pytest

from turntape.inspector.findings.tool_pairing import pair_tools as module
from turntape.inspector.findings.tool_pairing import settled as settled_module
from turntape.inspector.findings.tool_pairing.model import Entry, ToolPairing
from turntape.inspector.findings.tool_pairing.pair_tools import pair_tools
from turntape.inspector.findings.tool_pairing.settled import Beginnings, Settled, is_whole, last_answer
from turntape.inspector.wire.protocols.traits import Pairing
from turntape.inspector.wire.shared_tuple import shared
from turntape.inspector.wire.values import Message, Part, RequestReading, ToolCall, ToolResult

RULES = [
    Pairing(),
    Pairing(anywhere=True),
    Pairing(one_message=True, results_first=True),
    Pairing(joins_answers=True, named_results=True),
]


def call(place: int, name: str | None) -> Part:
    return Part("call", f"/{place}/call", call=ToolCall("look", name, {}, "{}"))


def result(place: int, name: str | None) -> Part:
    return Part("result", f"/{place}/result", "said", result=ToolResult(name, "look", False, f"said {place // 7}"))


def history(random: Random, turns: int, faults: float, ids: bool) -> list[Message]:
    """Turns with calls and their results, some of which are lost, repeated, moved or unknown."""
    messages = [Message("user", (Part("text", "/0", "go"),), "/0", {})]
    for turn in range(turns):
        names = [f"c{turn}-{number}" if ids else None for number in range(random.randint(0, 3))]
        at = len(messages)
        parts = (Part("text", f"/{at}/text", "I look"), *(call(at, name) for name in names))
        messages.append(Message("assistant", parts, f"/{at}", {}))
        given = [name for name in names if random.random() > faults]
        if random.random() < faults:
            given.append(f"c{random.randint(0, turns)}-0" if ids else None)
        if random.random() < faults:
            random.shuffle(given)
        apart = random.random() < 0.5
        for group in [[name] for name in given] if apart else [given] if given else []:
            at = len(messages)
            messages.append(Message("tool", tuple(result(at, name) for name in group), f"/{at}", {}))
        if random.random() < faults:
            messages.append(Message("user", (Part("text", f"/{at}", "hm"),), f"/{len(messages)}", {}))
    return messages


def parts_of(found: ToolPairing) -> list[object]:
    return [getattr(found, name) for name in ToolPairing.__dataclass_fields__]


@pytest.mark.parametrize("rules", RULES, ids=["in place", "anywhere", "one message", "joined"])
@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("faults", [0.0, 0.03, 0.3])
def test_growing_histories_are_paired_as_if_they_were_new(
    rules: Pairing, ids: bool, faults: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(12):
        random = Random(seed)
        messages = history(random, 12, faults, ids)
        branch = [*messages[: len(messages) // 2], *history(random, 4, faults, ids)]
        monkeypatch.setattr(module, "_beginnings", Beginnings())
        for whole in (messages, branch, messages):
            for length in range(1, len(whole) + 1):
                request = RequestReading(messages=tuple(whole[:length]))
                step = pair_tools(request, rules)
                with monkeypatch.context() as alone:
                    alone.setattr(module, "_beginnings", Beginnings())
                    assert parts_of(step) == parts_of(pair_tools(request, rules)), (seed, length)


def test_a_healthy_history_is_settled_up_to_its_last_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Beginnings()
    monkeypatch.setattr(module, "_beginnings", kept)
    messages = history(Random(1), 9, 0.0, True)

    pair_tools(RequestReading(messages=tuple(messages)), Pairing())

    entries = [Entry.of(message) for message in messages]
    place = last_answer(entries)
    assert messages[place].role == "assistant" and all(one.role != "assistant" for one in messages[place + 1 :])
    (settled,) = kept._recent
    assert settled.count == place


def test_a_beginning_is_for_one_caller_and_one_protocol() -> None:
    kept, entries = Beginnings(), [Entry.of(message) for message in history(Random(1), 3, 0.0, True)]
    settled = Settled(Pairing())
    settled.take(entries[:2], entries)
    kept.give_back(settled)

    assert kept.of(entries, Pairing(anywhere=True)) is not settled
    assert kept.of([entries[0], *entries[2:]], Pairing()) is not settled
    assert kept.of(entries[:1], Pairing()) is not settled
    assert kept.of(entries, Pairing()) is settled
    assert kept.of(entries, Pairing()) is not settled


def test_a_piece_is_whole_when_each_id_has_its_call_and_its_result() -> None:
    asked = Entry.of(Message("assistant", (call(0, "a"), call(0, None)), "/0", {}))
    said = Entry.of(Message("tool", (result(1, "a"),), "/1", {}))

    assert is_whole([asked, said]) and is_whole([]) and is_whole([said], {"a"})
    assert not is_whole([asked])
    assert not is_whole([said])
    assert last_answer([said, asked, said]) == 1
    assert last_answer([said]) == 0


def test_a_beginning_that_ends_otherwise_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [Entry.of(message) for message in history(Random(1), 8, 0.0, True)]
    others = [Entry.of(message) for message in history(Random(2), 8, 0.0, True)]
    kept = Beginnings()
    for branch in ([*entries[:6], *others[6:9]], [*entries[:5], *others[5:9]], entries[:9]):
        settled = Settled(Pairing())
        settled.take(branch, branch)
        kept.give_back(settled)
    compared: list[int] = []
    monkeypatch.setattr(settled_module, "shared", lambda one, other: compared.append(1) or shared(one, other))

    assert kept.of(entries, Pairing()) is settled
    assert len(compared) == 1
