"""What is summed up over a run: the servers of tools, definitions that nobody called, and what has no price."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conversations import HELLO, chat, loop, said, user
from judged import trip
from round_trips import exchanged
from tool_stories import Story, text

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import Ledger, LedgerBuilder, ledger_of
from turntape.inspector.run.labels import label_all


def offered(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def asked_with(*names: str) -> Ledger:
    return ledger_of(label_all([chat([HELLO], said("Fine."), tools=[offered(name) for name in names])]))


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("mcp__shelf__search", "shelf"),
        ("mcp__shelf__search__all", "shelf"),
        ("mcp__shelf", None),
        ("mcp____search", None),
        ("our__shelf__search", None),
        ("search", None),
    ],
)
def test_a_tools_name_may_say_its_server(name: str, server: str | None) -> None:
    assert [piece.server for piece in asked_with(name).pieces if piece.kind == "tool"] == [server]


def test_the_wire_of_a_tool_says_its_server_and_its_name_need_not() -> None:
    story = Story(naming="{tool}").start().turn(("c1", "add", '{"a": 1, "b": 2}'))
    story.call("add", {"a": 1, "b": 2}, text("3")).results(("c1", "3")).turn()
    made = ledger_of(story.label())

    servers = {(piece.kind, piece.tool): piece.server for piece in made.pieces if piece.tool}
    # Nothing was asked of `say`, so no wire shows whose it is.
    assert servers == {
        ("tool", "add"): "files",
        ("tool", "say"): None,
        ("call", "add"): "files",
        ("result", "add"): "files",
    }


def test_the_call_decides_where_two_servers_have_tools_of_one_name() -> None:
    story = Story(naming="{tool}").start().turn(("c1", "add", '{"a": 1, "b": 2}'), ("c2", "add", '{"a": 3, "b": 4}'))
    story.call("add", {"a": 1, "b": 2}, text("3"))
    story.session, story.server, story.sequence = "b", "sums", 0
    story.start().call("add", {"a": 3, "b": 4}, text("7"))
    story.results(("c1", "3"), ("c2", "7")).turn()

    results = [piece for piece in ledger_of(story.label()).pieces if piece.kind == "result"]
    assert [piece.server for piece in results] == ["files", "sums"]


def test_a_tool_that_the_api_runs_needs_no_call_and_a_result_is_not_a_definition() -> None:
    body = {"model": "gpt-5", "input": "Hi", "tools": [{"type": "web_search"}, {"type": "function", "name": "idle"}]}
    got = {"object": "response", "status": "completed", "output": [], "usage": {"input_tokens": 9, "output_tokens": 1}}
    pieces = ledger_of(label_all([exchanged("https://api.openai.com/v1/responses", body, got)])).pieces
    assert {piece.tool: piece.never_called for piece in pieces if piece.kind == "tool"} == {
        "web_search": False,
        "idle": True,
    }

    lost = [HELLO, {"role": "tool", "tool_call_id": "gone", "name": "idle", "content": "an old result"}]
    pieces = ledger_of(label_all([chat(lost, said("Fine."), tools=[offered("idle")])])).pieces
    assert [(piece.kind, piece.never_called) for piece in pieces if piece.kind in ("tool", "result")] == [
        ("tool", True),
        ("result", False),
    ]


def test_a_stated_cost_without_counts_is_in_the_bill() -> None:
    answer = {"data": [], "usage": {"cost": 0.25}}
    made = ledger_of(label_all([trip("https://openrouter.ai/api/v1/embeddings", {"model": "ours"}, answer)]))

    assert [(one.input, one.output, one.cost) for one in made.others] == [(None, None, Decimal("0.25"))]
    assert (made.total, made.unpriced, made.beside) == (Decimal("0.25"), 0, Decimal("0.25"))


def test_others_may_work_between_two_turns() -> None:
    builder, rests = LedgerBuilder(), list[int]()
    for place, one in enumerate(label_all(loop())):
        builder.add(place, one)

    builder.ledger(lambda: rests.append(1))
    assert len(rests) >= 2


def refused() -> list[RoundTrip]:
    busy = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    return [chat([HELLO], status=429, error=busy), chat([HELLO], said("Fine."), index=1)]


def unknown_model() -> list[RoundTrip]:
    return [chat([HELLO], said("Fine."), model="our-own-model")]


@pytest.mark.parametrize(("trips", "unpriced"), [(refused, [False, False]), (unknown_model, [True])])
def test_what_was_refused_costs_nothing_and_what_has_no_price_says_so(
    trips: Callable[[], list[RoundTrip]], unpriced: list[bool]
) -> None:
    made = ledger_of(label_all(trips()))

    assert [turn.unpriced for turn in made.turns] == unpriced
    assert made.unpriced == sum(unpriced)


def test_turns_are_in_the_order_of_their_rows_whatever_their_threads() -> None:
    first, other = [user("one " * 40)], [user("another task " * 40)]
    answer = said("Fine.")
    trips = [
        chat(first, answer, index=0),
        chat(other, answer, index=1),
        chat([*first, answer, user("more")], answer, index=2, usage=(120, 10)),
        chat([*other, answer, user("more")], answer, index=3, usage=(120, 10)),
    ]

    made = ledger_of(label_all(trips))
    assert [turn.place for turn in made.turns] == [0, 1, 2, 3]
    assert len({turn.thread for turn in made.turns}) == 2


def test_a_stated_cost_is_divided_to_the_last_digit() -> None:
    def stated(place: int, messages: list[dict[str, Any]], cost: float) -> RoundTrip:
        body = {"model": "openai/gpt-4.1", "messages": messages}
        usage = {"prompt_tokens": 70 + place, "completion_tokens": 3, "total_tokens": 73 + place, "cost": cost}
        choice = {"index": 0, "message": said("Fine."), "finish_reason": "stop"}
        answer = {"object": "chat.completion", "model": "openai/gpt-4.1", "choices": [choice], "usage": usage}
        return trip("https://openrouter.ai/api/v1/chat/completions", body, answer, index=place)

    more = [HELLO, said("Fine."), user("And then?")]
    made = ledger_of(label_all([stated(0, [HELLO], 0.1), stated(1, more, 0.00007)]))

    for turn in made.turns:
        assert turn.input_cost is not None and turn.cost is not None
        assert sum(use.cost or Decimal(0) for use in turn.uses) == turn.input_cost
        assert sum(kind.cost or Decimal(0) for kind in turn.kinds) == turn.input_cost
    assert made.total == Decimal("0.10007")
    assert sum(piece.cost or Decimal(0) for piece in made.pieces) == sum(turn.input_cost or 0 for turn in made.turns)
    assert [piece.sent for piece in made.pieces] == [2, 1, 1]
