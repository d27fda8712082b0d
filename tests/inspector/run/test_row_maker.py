"""Rows with their costs: at once, or when the table of prices has been loaded."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from conversations import HELLO, chat, loop, said, user

from turntape.cassettes.tape.model import Frame, Request, RoundTrip
from turntape.inspector.analysis import pricing
from turntape.inspector.run.row_maker import RowMaker


def stating(cost: float) -> RoundTrip:
    """A turn whose answer states its cost."""
    choice = {"index": 0, "message": said("hi"), "finish_reason": "stop"}
    details = {"upstream_inference_prompt_cost": cost / 2}
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "cost": cost, "cost_details": details}
    return chat([HELLO], error={"model": "acme-1", "choices": [choice], "usage": counts})


def test_a_row_has_the_cost_its_source_and_its_part_for_the_input() -> None:
    [row] = RowMaker().add(stating(0.5))

    assert (row.cost, row.cost_source, row.input_cost) == (Decimal("0.5"), "stated", Decimal("0.25"))


def test_a_row_without_a_price_has_neither() -> None:
    [row] = RowMaker().add(chat([HELLO], said("hi"), model="acme-1"))

    assert (row.cost, row.cost_source, row.input_cost) == (None, None, None)


def test_the_price_of_a_turn_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, price = list[float](), pricing._price
    monkeypatch.setattr(pricing, "_price", lambda *known: asked.append(known[2]) or price(*known))
    maker = RowMaker()

    rows = [row for trip in loop() for row in maker.add(trip)]

    assert maker.ledger.ledger().total == sum(row.cost or 0 for row in {row.key: row for row in rows}.values())
    assert len(asked) == len(loop())


def test_rows_that_came_without_a_price_get_it_later() -> None:
    maker = RowMaker(priced=False)
    [first] = maker.add(stating(0.5))
    [priced] = maker.price()
    [second] = maker.add(replace(stating(0.25), index=1))

    assert (first.cost, first.cost_source) == (None, None)
    assert (priced.cost, priced.cost_source, priced.input_cost) == (Decimal("0.5"), "stated", Decimal("0.25"))
    assert (second.cost, second.cost_source) == (Decimal("0.25"), "stated")


def test_a_turn_without_a_price_does_not_come_again() -> None:
    maker = RowMaker(priced=False)
    list(maker.add(chat([HELLO], said("hi"), model="acme-1")))

    assert list(maker.price()) == []


def test_a_turn_keeps_its_cost_when_a_failed_attempt_before_it_comes_again() -> None:
    overloaded = chat([HELLO], status=529, error={"error": {"type": "overloaded_error", "message": "Overloaded"}})
    answered = replace(stating(0.5), index=1, started_at=overloaded.started_at + 60)
    following = chat([HELLO, said("hi"), HELLO], said("bye"), index=2, model="acme-1", at=120)
    maker = RowMaker(priced=False)

    [*_, again] = [row for trip in (overloaded, answered) for row in maker.add(trip)]
    priced = {row.index: row.cost for row in maker.price()}
    settled = next(iter(maker.add(following)))

    assert (again.index, [finding.severity for finding in again.findings]) == (0, ["info"])
    assert priced == {1: Decimal("0.5")}
    assert (settled.index, settled.outcome, settled.cost) == (1, "ended", Decimal("0.5"))


def test_each_turn_of_a_session_keeps_its_place_when_its_label_comes_again() -> None:
    """The label of a turn comes again with what the next turn shows; that is not another turn."""

    def message(number: int, **fields: object) -> Frame:
        return Frame("client" if "input" in fields else "server", 10 * number, json.dumps(fields).encode(), True)

    def answered(number: int) -> dict[str, object]:
        return {"id": f"resp_{number}", "object": "response", "status": "completed", "model": "m", "output": []}

    frames = [
        frame
        for number in range(3)
        for frame in (
            message(
                2 * number, type="response.create", model="m", input="hi", previous_response_id=f"resp_{number - 1}"
            ),
            message(2 * number + 1, type="response.completed", response=answered(number)),
        )
    ]
    session = RoundTrip(Request("GET", "wss://api.openai.com/v1/responses"), None, 1.0, index=0, frames=tuple(frames))

    rows = {row.key: row for row in RowMaker().add(session)}

    assert [row.session for _, row in sorted(rows.items())] == [0, 1, 2]


def test_few_rows_with_large_bodies_wait_for_their_price() -> None:
    big = chat([user("x" * 5_000_000)], said("ok"))
    maker = RowMaker(priced=False)
    rows = [list(maker.add(replace(big, index=at, started_at=big.started_at + at))) for at in range(3)]

    assert all(row.cost is None for row in [*rows[0], *rows[1]])
    assert [row.index for row in rows[2] if row.cost is not None][:2] == [0, 1]
