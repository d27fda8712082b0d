"""What counts and marks say of a prompt."""

from collections.abc import Sequence
from dataclasses import replace

from round_trips import MESSAGES, exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Ledger, ledger_of
from turntape.inspector.run.labels import label_all

MARK = {"cache_control": {"type": "ephemeral"}}


def block(text: str, marked: bool = False) -> dict[str, object]:
    return {"type": "text", "text": f"{text} " * 300, **(MARK if marked else {})}


def turn(index: int, messages: Sequence[object], counts: tuple[int, int, int], system_marked: bool = True) -> RoundTrip:
    """A turn with its counts: read, written, fresh."""
    read, written, fresh = counts
    usage = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 10,
    }
    answer = {
        "id": f"msg_{index}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [block("fine")],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    asked = {"model": "claude-sonnet-4-6", "max_tokens": 50, "messages": messages}
    asked["system"] = [block("be brief", system_marked)]
    return replace(exchanged(MESSAGES, asked, answer), index=index, started_at=float(index))


def said(ledger: Ledger, place: int) -> list[tuple[int, str]]:
    return [(use.tokens.value, use.tokens.certainty) for use in ledger.turns[place].uses if use.tokens]


def test_a_write_up_to_a_mark_gives_the_tokens_before_it() -> None:
    made = ledger_of(label_all([turn(0, [{"role": "user", "content": [block("question")]}], (0, 1200, 300))]))

    assert said(made, 0) == [(1200, "estimated"), (300, "exact")]


def test_a_read_up_to_the_only_mark_gives_them_too() -> None:
    made = ledger_of(label_all([turn(0, [{"role": "user", "content": [block("question")]}], (1200, 0, 300))]))

    assert said(made, 0) == [(1200, "estimated"), (300, "exact")]


def test_of_two_marks_the_read_ends_at_the_first_and_the_write_at_the_last() -> None:
    messages = [{"role": "user", "content": [block("question", True), block("and more")]}]
    made = ledger_of(label_all([turn(0, messages, (1200, 200, 300))]))

    assert said(made, 0) == [(1200, "estimated"), (200, "exact"), (300, "exact")]


def test_a_read_that_may_end_at_several_marks_gives_nothing() -> None:
    messages = [{"role": "user", "content": [block("a", True), block("b", True), block("c")]}]
    made = ledger_of(label_all([turn(0, messages, (1200, 200, 300))]))

    assert [certainty for _, certainty in said(made, 0)] == ["estimated", "estimated", "estimated", "exact"]


def test_without_a_mark_nothing_is_concluded_from_the_cache() -> None:
    messages = [{"role": "user", "content": [block("question")]}]
    made = ledger_of(label_all([turn(0, messages, (0, 1200, 300), system_marked=False)]))

    assert [certainty for _, certainty in said(made, 0)] == ["estimated", "estimated"]
    assert sum(value for value, _ in said(made, 0)) == 1500
