"""The list of turns, in an order while more rows are read."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from viewing import settle, viewing

from turntape.inspector.views.tui.controllers.messages import RowsRead

NEWS = 9
"""A turn that turns out to be the most expensive one."""


def place_after_news(keys: Sequence[str]) -> tuple[int | None, int | None]:
    """The selected round trip after these keys, and after news of another turn's cost."""

    async def flow() -> tuple[int | None, int | None]:
        async with viewing(keys=keys) as (app, pilot):
            screen = app.run_screen
            before = screen.place
            screen.post_message(RowsRead([replace(app.run_.rows.all[NEWS], cost=Decimal(9))]))
            await pilot.pause(0.3)
            await settle(pilot)
            return before, screen.place

    return asyncio.run(flow())


def test_the_first_turn_of_an_order_stays_selected_whichever_it_is() -> None:
    before, after = place_after_news(["s"])
    assert before != NEWS and after == NEWS


@pytest.mark.parametrize("keys", [["s", "j"], ["s", "enter"], ["s", "s", "s", "s"], []])
def test_a_turn_that_was_chosen_stays_selected(keys: Sequence[str]) -> None:
    before, after = place_after_news(keys)
    assert before == after != NEWS
