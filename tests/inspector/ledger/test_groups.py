"""Pieces in groups: what a group sums up, and in which order groups are."""

from decimal import Decimal
from typing import Any, get_args

import pytest

from turntape.inspector.analysis.turn import Edge
from turntape.inspector.ledger import Figure, Group, GroupKey, OtherRequest, Piece
from turntape.inspector.ledger.groups import Paid, grouped

TEN = Figure.exact(10)


def piece(number: int, kind: str, **fields: Any) -> Piece:
    made: dict[str, Any] = {"id": number, "kind": kind, "name": f"piece {number}", "thread": "t1", "size": 7}
    return Piece(**made | fields)


def lines(found: dict[GroupKey, list[Group]], by: GroupKey) -> list[tuple[object, ...]]:
    return [(one.name, one.pieces, one.size, one.tokens_sent, one.output, one.cost) for one in found[by]]


def test_a_group_has_the_sums_of_its_pieces_and_answers() -> None:
    pieces = [
        piece(0, "result", tool="run", server="shelf", tokens_sent=30, cost=Decimal("0.3")),
        piece(1, "result", tool="run", server="shelf", tokens_sent=5, cost=Decimal("0.1"), thread="t2"),
        piece(2, "user", tokens_sent=1, cost=None),
    ]
    found = grouped(pieces, [Paid("t1", 4, Decimal("0.5")), Paid("t2", None, None)], {})

    assert set(found) == set(get_args(GroupKey.__value__))
    assert lines(found, "tool") == [("run", 2, 14, 35, 0, Decimal("0.4"))]
    assert lines(found, "server") == [("shelf", 2, 14, 35, 0, Decimal("0.4"))]
    assert lines(found, "thread") == [
        ("t1", 2, 14, 31, 4, Decimal("0.8")),
        ("t2", 1, 7, 5, 0, Decimal("0.1")),
    ]
    assert lines(found, "kind") == [
        ("output", 0, 0, 0, 4, Decimal("0.5")),
        ("result", 2, 14, 35, 0, Decimal("0.4")),
        ("user", 1, 7, 1, 0, None),
    ]


def test_a_cost_that_is_not_divided_is_a_kind_of_its_own() -> None:
    found = grouped([piece(0, "user")], [Paid("t1", 4, Decimal(1), divided=False), Paid("t1", 2, Decimal("0.5"))], {})

    assert [(one.name, one.output, one.cost) for one in found["kind"]][:2] == [
        ("undivided", 4, Decimal(1)),
        ("output", 2, Decimal("0.5")),
    ]
    assert [(one.name, one.output, one.cost) for one in found["thread"]] == [("t1", 6, Decimal("1.5"))]


def test_without_a_price_tokens_decide_the_order_and_then_bytes() -> None:
    pieces = [
        piece(0, "user", size=90),
        piece(1, "system", tokens_sent=3),
        piece(2, "result", size=91),
        piece(3, "call", cost=Decimal("0.1")),
    ]

    assert [one.name for one in grouped(pieces, [], {})["kind"]] == ["call", "system", "result", "user"]


@pytest.mark.parametrize(
    ("starts", "name"),
    [
        ({}, "main"),
        ({"t1": (Edge("fork"), "look for it")}, "main"),
        ({"t1": (Edge("subagent"), "look for it")}, "t1: look for it"),
        ({"t1": (Edge("subagent"), "")}, "t1"),
        ({"t2": (Edge("subagent"), "look for it")}, "main"),
    ],
)
def test_only_a_thread_that_another_agent_started_is_a_subagent(starts: dict[str, tuple[Edge, str]], name: str) -> None:
    found = grouped([piece(0, "user")], [Paid("t1", 4, None)], starts)

    assert [(one.name, one.pieces, one.output) for one in found["subagent"]] == [(name, 1, 4)]


def test_a_definition_was_never_called_when_no_piece_of_it_was() -> None:
    idle, used = piece(0, "tool", tool="idle", never_called=True), piece(1, "tool", tool="used", tokens=TEN)
    brought = piece(2, "result", tool="idle", never_called=True)

    found = grouped([idle, used, brought], [], {})
    assert {one.name: (one.never_called, one.counted) for one in found["definition"]} == {
        "idle": (True, False),
        "used": (False, True),
    }
    assert {one.name: one.never_called for one in found["tool"]} == {"idle": False, "used": False}


def test_answers_are_called_and_counted_when_they_have_tokens() -> None:
    found = grouped([], [Paid("t1", None, None), Paid("t2", 0, None)], {})

    assert {one.name: (one.never_called, one.counted) for one in found["thread"]} == {
        "t1": (False, False),
        "t2": (False, True),
    }


def test_requests_outside_generation_are_groups_by_what_they_are_for() -> None:
    others = [
        OtherRequest(3, "embeddings", 100, None, Decimal("0.2")),
        OtherRequest(4, "embeddings", 50, 1, Decimal("0.1")),
        OtherRequest(5, "images", None, None, None),
        OtherRequest(6, "audio", None, 9, Decimal(2)),
    ]

    found = grouped([], [], {}, others)
    assert [(one.name, one.tokens_sent, one.output, one.cost, one.counted) for one in found["kind"]] == [
        ("audio", 0, 9, Decimal(2), True),
        ("embeddings", 150, 1, Decimal("0.3"), True),
        ("images", 0, 0, None, False),
    ]
    assert not any(found[by] for by in found if by != "kind")
