"""What the next request does with an answer's reasoning."""

from dataclasses import replace
from typing import Any

import pytest
from cached_turns import asks, claude, text
from judged import gemini, gives, item_call, item_output, responses, turn

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.history_diff import diff_history
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read

ASKED = {"role": "user", "content": "What is a tape?"}
SEALED = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}


def reasoning_after(*returned: dict[str, Any]) -> object:
    first = responses([ASKED], [SEALED, item_call()], 0, store=False, include=["reasoning.encrypted_content"])
    following: RoundTrip = responses([ASKED, *returned, item_call(), item_output()], [], 1, store=False)
    echo: Any = label_all([first, following])[0].label["client"]
    return echo["echo"]["reasoning"]


@pytest.mark.parametrize(
    ("returned", "state"),
    [
        ((SEALED,), "kept"),
        ((), "dropped"),
        (({**SEALED, "id": {}},), "kept"),
        (({**SEALED, "id": [], "encrypted_content": "b3RoZXI="},), "dropped"),
    ],
    ids=["unchanged", "left out", "an object as id", "a list as id, sealed again"],
)
def test_sealed_reasoning_is_compared_by_what_the_api_sealed(returned: tuple[dict[str, Any], ...], state: str) -> None:
    assert reasoning_after(*returned) == state


class Claude:
    """Two turns of Claude: `returned` is what comes back of an answer that thought before its call."""

    THOUGHT = {"type": "thinking", "thinking": "A tape is long.", "signature": "c2Vj+/ret=="}
    HIDDEN = {"type": "redacted_thinking", "data": "aGlk+/den=="}
    CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}

    def __init__(self, *answer: dict[str, Any]) -> None:
        self.answer = answer or (self.THOUGHT, self.CALL)

    def lost(self, *returned: dict[str, Any]) -> tuple[str, list[tuple[str, str, str | None]]]:
        brought = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}
        first = claude([asks(text("Hi"))], (0, 0, 9), content=self.answer)
        history = {"role": "assistant", "content": [*returned, text("Fine.")]}
        second = claude([asks(text("Hi")), history, brought], (0, 0, 9), at=9)
        threads = Threads()
        before, now = (threads.add(trip, read(trip)) for trip in (first, replace(second, index=1)))
        found = diff_history(before, now)
        return found.reasoning, [(one.kind, one.before, one.now) for one in found.lost]


AT, BACK = "/content/0", "/messages/1/content/0"


@pytest.mark.parametrize(
    ("returned", "state", "lost"),
    [
        ((Claude.THOUGHT, Claude.CALL), "kept", []),
        (({**Claude.THOUGHT, "signature": "c2Vj-_ret"}, Claude.CALL), "kept", []),
        ((Claude.CALL,), "dropped", [("dropped", AT, None)]),
        (({**Claude.THOUGHT, "thinking": "A tape is short."}, Claude.CALL), "altered", [("altered", AT, BACK)]),
        (({**Claude.THOUGHT, "signature": "b3RoZXI="}, Claude.CALL), "altered", [("altered", AT, BACK)]),
        (
            ({"type": "thinking", "thinking": "Other.", "signature": "b3RoZXI="}, Claude.CALL),
            "dropped",
            [("dropped", AT, None)],
        ),
    ],
    ids=["unchanged", "another alphabet", "left out", "other words", "another signature", "another thought"],
)
def test_a_signed_thought_comes_back_with_its_words(
    returned: tuple[dict[str, Any], ...], state: str, lost: list[tuple[str, str, str | None]]
) -> None:
    assert Claude().lost(*returned) == (state, lost)


def test_a_thought_that_only_the_api_can_read_comes_back_as_it_was() -> None:
    hidden = Claude(Claude.HIDDEN, Claude.CALL)

    assert hidden.lost(Claude.HIDDEN, Claude.CALL) == ("kept", [])
    assert hidden.lost({**Claude.HIDDEN, "data": "b3RoZXI="}, Claude.CALL) == ("dropped", [("dropped", AT, None)])


def test_a_thought_without_a_signature_may_be_missing_or_there() -> None:
    plain = Claude({"type": "thinking", "thinking": "A tape is long."}, Claude.CALL)

    assert plain.lost({"type": "thinking", "thinking": " A tape is long. "}, Claude.CALL) == ("kept", [])
    assert plain.lost(Claude.CALL) == ("dropped", [("dropped", AT, None)])
    assert Claude({"type": "thinking", "thinking": " "}, Claude.CALL).lost(Claude.CALL) == ("kept", [])


def test_one_altered_thought_among_lost_ones_is_what_counts() -> None:
    second = {**Claude.THOUGHT, "thinking": "A reel is round.", "signature": "cmVlbA=="}
    both = Claude(Claude.THOUGHT, second, Claude.CALL)

    state, lost = both.lost({**second, "thinking": "A reel is flat."}, Claude.CALL)
    assert (state, [one[0] for one in lost]) == ("altered", ["dropped", "altered"])


def test_without_reasoning_there_is_none() -> None:
    assert Claude(Claude.CALL).lost(Claude.CALL) == ("none", [])


def test_a_signature_of_a_call_belongs_to_that_call() -> None:
    def signed(text: str | None, signature: str | None = "c2lnbg==") -> dict[str, Any]:
        made: dict[str, Any] = (
            {"text": text} if text else {"functionCall": {"name": "look_up", "args": {"word": "tape"}}}
        )
        return made | ({"thoughtSignature": signature} if signature else {})

    def state(*returned: dict[str, Any]) -> str:
        asked = turn("user", {"text": "Hi"})
        first = gemini([asked], [signed(None)])
        second = gemini([asked, turn("model", *returned), turn("user", gives("x"))], [{"text": "Fine."}], 1)
        threads = Threads()
        before, now = (threads.add(trip, read(trip)) for trip in (first, second))
        return diff_history(before, now).reasoning

    assert state(signed(None)) == "kept"
    assert state(signed(None, None)) == "dropped"
    assert state(signed("Look."), signed(None, None)) == "altered"


PROGRAM = {"id": "prog_1", "type": "program", "call_id": "call_p", "code": "return 1", "fingerprint": "c2VhbGVk"}
UNSEALED = {key: value for key, value in PROGRAM.items() if key != "fingerprint"}


@pytest.mark.parametrize(
    ("returned", "state"),
    [
        ((PROGRAM,), "kept"),
        (({"type": "item_reference", "id": "prog_1"},), "kept"),
        ((UNSEALED,), "dropped"),
        (({**PROGRAM, "fingerprint": "b3RoZXI="},), "altered"),
        ((), "dropped"),
    ],
    ids=["unchanged", "by its id", "without its fingerprint", "with another fingerprint", "left out"],
)
def test_the_fingerprint_of_a_program_comes_back(returned: tuple[dict[str, Any], ...], state: str) -> None:
    call = {**item_call(), "caller": {"type": "program", "caller_id": "call_p"}}
    first = responses([ASKED], [PROGRAM, call], 0, store=False)
    following: RoundTrip = responses([ASKED, *returned, call, item_output()], [], 1, store=False)
    echo: Any = label_all([first, following])[0].label["client"]

    assert echo["echo"]["reasoning"] == state
