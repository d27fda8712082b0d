"""What a request is made of, by figures worked out by hand."""

from dataclasses import replace
from decimal import Decimal

from conversations import loop
from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.run.request_cost import context, flat, shared_out
from turntape.inspector.run.run_index import Run
from turntape.inspector.wire.values import Usage


def test_the_shares_are_in_proportion_and_whole() -> None:
    assert shared_out(100, [1, 1, 2]) == [25, 25, 50]
    assert shared_out(10, [1, 1, 1]) == [4, 3, 3]
    assert shared_out(7, [0, 0]) == [0, 0]


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**6), min_size=1).filter(any))
def test_the_shares_add_up_to_the_whole(total: int, sizes: list[int]) -> None:
    assert sum(shared_out(total, sizes)) == total


def test_a_request_is_tools_and_messages_in_their_order() -> None:
    run = Run.of(loop())

    found = context(run.detail(1), run.rows, 1)

    assert [(p.kind, p.name) for p in found.pieces] == [
        ("tools", "1 tool"),
        ("user", "what is a tape?"),
        ("assistant", "call of look_up"),
        ("tool", "result of look_up"),
    ]
    assert found.tokens == sum(p.tokens or 0 for p in found.pieces) == 150
    assert [depth for depth, _ in flat(found.pieces)] == [0, 1, 0, 0, 0]


def test_a_piece_knows_since_when_it_is_sent_and_what_that_came_to() -> None:
    run = Run.of(loop())

    tools, asked, *_, brought = context(run.detail(1), run.rows, 1).pieces

    assert (tools.since, tools.times) == (1, 2)
    assert (asked.since, asked.times) == (1, 2)
    assert (brought.since, brought.times) == (2, 1)
    # '{"role":"user","content":"what is a tape?"}' are 43 bytes; gpt-5 takes $1.25 a million in: 100 and 150 tokens.
    first, second = run.rows.all
    share = Decimal("0.000125") * 43 / first.request_bytes + Decimal("0.0001875") * 43 / second.request_bytes
    assert asked.size == 43
    assert asked.cost == share


def test_without_usage_there_are_bytes_and_no_tokens() -> None:
    run = Run.of(loop()[:1])
    run.rows.all[0] = replace(run.rows.all[0], usage=Usage(), input_cost=None)

    found = context(run.detail(0), run.rows, 0)

    assert found.tokens is None
    assert {p.tokens for _, p in flat(found.pieces)} == {None}
    assert {p.cost for _, p in flat(found.pieces)} == {None}
