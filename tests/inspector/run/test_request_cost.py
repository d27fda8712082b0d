"""What a request is made of, by figures worked out by hand."""

from conversations import TOOLS, chat, loop, said, user
from round_trips import MESSAGES, exchanged

from turntape.inspector.run.request_cost import context, flat
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of


def test_a_request_is_tools_and_messages_in_the_order_of_the_prompt() -> None:
    found = context(Run.of(loop()).ledger.at(1), 1000)

    assert [(p.kind, p.name) for p in found.pieces] == [
        ("tools", "1 tool"),
        ("user", "what is a tape?"),
        ("call", "call of look_up tape"),
        ("result", "result of look_up tape"),
    ]
    assert found.tokens == sum(p.tokens.value for p in found.pieces if p.tokens) == 150
    assert [depth for depth, _ in flat(found.pieces)] == [0, 1, 0, 0, 0]
    assert found.window == 1000


def test_the_window_is_as_full_as_the_growth_strip_says() -> None:
    run = Run.of(loop())
    bars = [turn for lane in strip_of(run.rows.all, run.ledger).lanes for turn in lane.turns]

    for turn in bars:
        assert turn.fill is not None and context(run.ledger.at(turn.place), turn.window).fill == turn.fill
    assert context(run.ledger.at(0)).fill is None and context(None, 1000).fill is None


def test_a_piece_knows_since_when_it_is_sent_and_how_often() -> None:
    tools, asked, *_, brought = context(Run.of(loop()).ledger.at(1)).pieces

    assert (tools.since, tools.times) == (1, 2)
    assert (asked.since, asked.times) == (1, 2)
    assert (brought.since, brought.times) == (2, 1)


def test_a_group_has_the_sums_of_its_parts() -> None:
    other = {"type": "function", "function": {"name": "idle", "parameters": {"type": "object"}}}
    tools, asked = context(Run.of([chat([user("hello")], said("hi"), tools=[*TOOLS, other])]).ledger.at(0)).pieces

    assert (tools.name, [one.name for one in tools.pieces]) == (
        "2 tools",
        ["look_up (definition)", "idle (definition)"],
    )
    assert tools.tokens is not None and asked.tokens is not None
    assert tools.tokens.value == sum(one.tokens.value for one in tools.pieces if one.tokens) == 100 - asked.tokens.value
    assert tools.size == sum(one.size for one in tools.pieces)
    assert tools.cost is not None
    assert tools.cost == sum(one.cost for one in tools.pieces if one.cost is not None)


def test_a_system_prompt_in_parts_is_a_group_and_one_in_one_part_is_that_part() -> None:
    def of(*texts: str) -> tuple[str, int]:
        system = [{"type": "text", "text": text} for text in texts]
        asked = {"model": "m", "max_tokens": 5, "system": system, "messages": [{"role": "user", "content": "a"}]}
        answer = {
            "type": "message",
            "role": "assistant",
            "content": [],
            "usage": {"input_tokens": 9, "output_tokens": 1},
        }
        first = context(Run.of([exchanged(MESSAGES, asked, answer)]).ledger.at(0)).pieces[0]
        return first.name, len(first.pieces)

    assert of("be brief") == ("system prompt: be brief", 0)
    assert of("be brief", "be kind") == ("system", 2)


def test_without_usage_there_are_bytes_and_no_tokens() -> None:
    found = context(Run.of([chat([user("hello")], said("hi"), usage=None)]).ledger.at(0))

    assert found.tokens is None
    assert {piece.tokens for _, piece in flat(found.pieces)} == {None}
    assert {piece.cost for _, piece in flat(found.pieces)} == {None}
    assert found.of("user") > 0


def test_a_round_trip_that_is_not_a_turn_has_no_pieces() -> None:
    assert context(None).pieces == ()
