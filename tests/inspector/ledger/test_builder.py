"""The ledger of whole runs: what each piece is, and that everything adds up."""

from dataclasses import replace
from decimal import Decimal

import pytest
from conversations import CALL, HELLO, TOOLS, chat, loop, result, said, user
from judged import anthropic, trip
from made_pictures import PNG
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Figure, Ledger, LedgerBuilder, builder, ledger_of
from turntape.inspector.run.labels import label_all, label_stream
from turntape.inspector.run.run_index import Run


def ledger(*trips: RoundTrip) -> Ledger:
    return ledger_of(label_all(trips))


def test_the_pieces_of_a_turn_are_in_the_order_of_the_prompt() -> None:
    _, second = ledger(*loop()).turns

    assert [(use.piece.kind, use.piece.name, use.pointer) for use in second.uses] == [
        ("tool", "look_up (definition)", "/tools/0"),
        ("user", "what is a tape?", "/messages/0/content"),
        ("call", "call of look_up tape", "/messages/1/tool_calls/0"),
        ("result", "result of look_up tape", "/messages/2"),
    ]
    assert second.new == 2


def test_what_a_turn_added_is_the_difference_of_the_counts() -> None:
    first, second = ledger(*loop()).turns

    assert first.added is None
    assert second.added == Figure.exact(50)


def test_pieces_add_up_to_the_input_and_to_its_price() -> None:
    for turn in ledger(*loop()).turns:
        assert sum(use.tokens.value for use in turn.uses if use.tokens) == turn.input
        assert sum((use.cost or Decimal(0) for use in turn.uses), Decimal(0)) == turn.input_cost


def test_a_piece_sums_up_all_requests_that_sent_it() -> None:
    made = ledger(*loop())

    tool, asked, call, brought = made.pieces
    assert [piece.sent for piece in made.pieces] == [2, 2, 1, 1]
    # The answer had 10 tokens as output, and here seems to have 11 around it; sent back, they cost $1.25 a million.
    assert (call.tokens_sent, call.cost) == (21, Decimal("0.00002625"))
    assert (brought.tokens_sent, brought.cost) == (29, Decimal("0.00003625"))
    assert sum(piece.tokens_sent for piece in made.pieces) == 250
    assert tool.tokens_sent + asked.tokens_sent == 200


def test_groups_add_up_to_the_bill() -> None:
    made = ledger(*loop())

    assert made.total == Decimal("0.0006125")
    for by in ("kind", "thread", "subagent"):
        assert sum((group.cost or Decimal(0) for group in made.groups(by)), Decimal(0)) == made.total
    assert [(group.name, group.output) for group in made.groups("kind")][0] == ("output", 30)
    assert [group.name for group in made.groups("tool")] == ["look_up"]


def test_a_definition_that_was_never_called_says_so() -> None:
    other = {"type": "function", "function": {"name": "idle", "parameters": {"type": "object"}}}
    made = ledger(chat([HELLO], said(None, CALL), tools=[*TOOLS, other]))

    assert [(piece.tool, piece.never_called) for piece in made.pieces if piece.kind == "tool"] == [
        ("look_up", False),
        ("idle", True),
    ]
    assert {group.name: group.never_called for group in made.groups("definition")} == {"look_up": False, "idle": True}


def test_the_same_words_twice_are_two_pieces() -> None:
    again = [user("go on"), said("one"), user("go on")]
    made = ledger(chat([user("go on")], said("one")), chat(again, said("two"), index=1, usage=(120, 5)))

    assert [piece.name for piece in made.pieces] == ["look_up (definition)", "go on", "one", "go on"]


def test_a_changed_history_keeps_the_pieces_that_are_still_there() -> None:
    first, text = said(None, CALL), "a long text that stays"
    made = ledger(
        chat([user("monday"), user(text)], first, index=0),
        chat([user("tuesday"), user(text), first, result("call_1", "x")], said("b"), index=1, usage=(140, 5)),
    )

    names = {piece.name: piece.sent for piece in made.pieces}
    assert names["monday"] == names["tuesday"] == 1
    assert names[text] == names["look_up (definition)"] == 2
    assert sum(use.tokens.value for use in made.turns[1].uses if use.tokens) == 140


def test_an_attempt_that_failed_costs_nothing_and_hides_nothing() -> None:
    first, second = loop()
    failed = replace(second, index=1, response=None, started_at=second.started_at - 0.5)
    made = ledger(first, failed, replace(second, index=2))

    assert [(turn.turn, turn.attempt, turn.input) for turn in made.turns] == [(1, 1, 100), (2, 1, None), (2, 2, 150)]
    assert [turn.added for turn in made.turns] == [None, None, Figure.exact(50)]
    assert made.turns[2].new == 2
    assert [use.tokens for use in made.turns[1].uses] == [None] * 4


def test_a_turn_after_one_without_counts_claims_nothing() -> None:
    messages = [HELLO, said("a"), user("b"), said("c"), user("d")]
    made = ledger(
        chat(messages[:1], said("a"), index=0),
        chat(messages[:3], said("c"), index=1, usage=None),
        chat(messages, said("e"), index=2, usage=(200, 5)),
    )

    assert [turn.added for turn in made.turns] == [None, None, None]
    assert sum(use.tokens.value for use in made.turns[2].uses if use.tokens) == 200


def test_fewer_tokens_for_a_longer_prompt_are_negative_and_still_add_up() -> None:
    messages = [HELLO, said("a"), user("b")]
    made = ledger(
        chat(messages[:1], said("a"), index=0, usage=(100, 5)), chat(messages, said("c"), index=1, usage=(90, 5))
    )

    second = made.turns[1]
    assert second.added is not None and second.added.value == -10
    assert sum(use.tokens.value for use in second.uses if use.tokens) == 90


def test_tokens_that_no_byte_explains_are_a_piece_of_their_own() -> None:
    made = ledger(chat([HELLO], said("a"), usage=(9_000, 5)))

    use = made.turns[0].uses[0]
    assert (use.piece.kind, use.piece.name) == ("other", "text that the API adds")
    assert sum(use.tokens.value for use in made.turns[0].uses if use.tokens) == 9_000


def response(index: int, text: str, previous: str | None, usage: int) -> RoundTrip:
    answer = {
        "id": f"resp_{index}",
        "object": "response",
        "status": "completed",
        "model": "gpt-5-2025-08-07",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"A{index}"}]}],
        "usage": {"input_tokens": usage, "output_tokens": 5, "total_tokens": usage + 5},
    }
    asked = {"model": "gpt-5", "input": [{"role": "user", "content": text}]}
    if previous:
        asked["previous_response_id"] = previous
    return replace(
        exchanged("https://api.openai.com/v1/responses", asked, answer), index=index, started_at=float(index)
    )


def test_a_history_that_the_api_keeps_is_in_the_prompt() -> None:
    made = ledger(response(0, "first", None, 50), response(1, "second", "resp_0", 80), response(2, "x", "resp_1", 99))

    assert [use.piece.name for use in made.turns[2].uses] == ["first", "A0", "second", "A1", "x"]
    assert [turn.added for turn in made.turns] == [None, Figure.exact(30), Figure.exact(19)]
    assert [use.pointer for use in made.turns[2].uses][-1] == "/input/0/content"


def test_a_history_from_before_the_recording_is_one_piece() -> None:
    made = ledger(response(1, "second", "resp_0", 80))

    assert [use.piece.name for use in made.turns[0].uses] == ["history that the API keeps", "second"]


def test_the_run_of_the_views_has_the_ledger_of_its_rows() -> None:
    run = Run.of(loop())

    assert [turn.place for turn in run.ledger.turns] == [0, 1]
    assert run.ledger.at(1) is run.ledger.turns[1]
    assert run.ledger is run.ledger


def test_a_row_that_comes_again_is_counted_once() -> None:
    builder = LedgerBuilder()
    for key, one in label_stream(loop()):
        builder.add(key[0], one)

    assert [piece.sent for piece in builder.ledger().pieces] == [2, 2, 1, 1]


@pytest.mark.parametrize("usage", [(0, 0), (1, 1), (3, 2)])
def test_counts_that_are_smaller_than_the_pieces_still_add_up(usage: tuple[int, int]) -> None:
    made = ledger(chat([HELLO], said("a"), usage=usage))

    assert sum(use.tokens.value for use in made.turns[0].uses if use.tokens) == usage[0]


def many_agents(agents: int, turns: int) -> list[RoundTrip]:
    """Agents that take turns, each with its own conversation."""
    trips: list[RoundTrip] = []
    history = [[user(f"agent {agent}, what is a tape?")] for agent in range(agents)]
    for turn in range(turns):
        for agent, messages in enumerate(history):
            answer, used = said(f"answer {agent} {turn}"), (50 + 10 * turn, 5)
            trips.append(chat([*messages], answer, index=len(trips), at=float(len(trips)), usage=used))
            messages += [said(f"answer {agent} {turn}"), user(f"more of {turn} for {agent}?")]
    return trips


def test_the_messages_of_few_agents_are_held_and_the_ledger_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    trips = many_agents(6, 4)

    def made(kept: int) -> tuple[Ledger, int]:
        monkeypatch.setattr(builder, "KEPT", kept)
        one = LedgerBuilder()
        for place, labelled in enumerate(label_all(trips)):
            one.add(place, labelled)
        return one.ledger(), sum(1 for thread in one._threads.values() if thread.prompt.messages)

    few, held = made(2)
    all_, held_by_all = made(100)

    assert (held, held_by_all) == (2, 6)
    assert few == all_


def test_messages_of_few_large_threads_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.inspector.ledger.builder._HELD", 12_000)
    made = LedgerBuilder()
    trips = [chat([user(f"{name} " * 1000)], said("yes"), index=at) for at, name in enumerate(("one", "two", "three"))]
    for place, done in enumerate(label_all(trips)):
        made.add(place, done)

    assert [bool(thread.prompt.messages) for thread in made._threads.values()] == [False, True, True]
    assert ledger(*trips).turns[0].uses and made.ledger().total == ledger(*trips).total


def test_a_thread_that_was_put_aside_continues_with_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, more = loop()
    other = chat([user("another task " * 500)], said("yes"), index=1, run="other")
    trips = [begun, other, replace(more, index=2)]
    whole = ledger(*trips)
    monkeypatch.setattr("turntape.inspector.ledger.builder._HELD", 1_000)
    put_aside = ledger(*trips)

    assert put_aside.pieces == whole.pieces and put_aside.total == whole.total
    assert [[*turn.uses] for turn in put_aside.turns] == [[*turn.uses] for turn in whole.turns]
    assert put_aside.turns[2].new == 2


def test_a_request_for_embeddings_is_in_the_bill_and_in_no_piece() -> None:
    embedded = trip(
        "https://api.openai.com/v1/embeddings",
        {"model": "text-embedding-3-small", "input": "a strip"},
        {"data": [], "usage": {"prompt_tokens": 1000, "total_tokens": 1000}},
        index=5,
    )
    turns = ledger_of(label_all(loop()))
    both = ledger_of(label_all([*loop(), embedded]))

    assert both.beside == Decimal("0.00002")
    assert turns.total is not None and both.total == turns.total + Decimal("0.00002")
    assert [piece.cost for piece in both.pieces] == [piece.cost for piece in turns.pieces]
    (group,) = (one for one in both.groups("kind") if one.name == "embeddings")
    assert (group.pieces, group.tokens_sent, group.cost) == (0, 1000, Decimal("0.00002"))
    assert both.groups("thread") == turns.groups("thread")


def test_embeddings_of_an_unknown_model_are_unpriced_and_a_moderation_is_free() -> None:
    def asked(path: str, **answer: object) -> Ledger:
        return ledger_of(label_all([trip(f"https://api.openai.com/v1/{path}", {"model": "ours"}, answer)]))

    unknown, free = asked("embeddings", usage={"prompt_tokens": 1000}), asked("moderations", results=[])

    assert (unknown.total, unknown.unpriced) == (None, 1)
    assert (free.total, free.unpriced, free.others) == (None, 0, [])


def test_a_picture_is_one_piece_wherever_the_client_puts_its_mark_for_the_cache() -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    asked = {"role": "user", "content": [{**block, "cache_control": {"type": "ephemeral"}}]}
    history = [{"role": "user", "content": [block]}, {"role": "assistant", "content": "A dot."}, HELLO]
    trips = [anthropic([asked], [{"type": "text", "text": "A dot."}]), anthropic(history, [], 1)]
    pieces = [piece for piece in ledger(*trips).pieces if piece.kind == "media"]

    assert [piece.sent for piece in pieces] == [2]
