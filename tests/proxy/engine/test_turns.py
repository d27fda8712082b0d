"""In each turn of the loop only so much of what waits is handled, and those who sent nothing ahead come first."""

import asyncio

from turntape.proxy.engine.turns import LONG, Turns

MANY = 300


class Loop:
    """A loop whose turns are counted, with peers that use processor time."""

    def __init__(self) -> None:
        self.turns = Turns(clock=lambda: 0.0)
        self.number = 0
        self.served: list[tuple[int, str]] = []

    async def count(self) -> None:
        while True:
            self.number += 1
            await asyncio.sleep(0)

    async def peer(self, name: str, part: int, seconds: float) -> None:
        await self.turns.wait(part)
        self.served.append((self.number, name))
        self.turns.used(seconds)

    async def run(self, *peers: tuple[str, int, float]) -> None:
        counting = asyncio.create_task(self.count())
        await asyncio.gather(*[asyncio.create_task(self.peer(*one)) for one in peers])
        counting.cancel()


def test_what_waits_is_spread_over_turns_and_the_rounds_are_kept() -> None:
    loop = Loop()
    flood = [(f"flood {part}", part, LONG) for part in (2, 1) for _ in range(MANY)]

    asyncio.run(loop.run(*flood, ("healthy", 0, LONG)))

    assert [name for _, name in loop.served] == ["healthy", *["flood 1"] * MANY, *["flood 2"] * MANY]
    in_turn = [sum(number == turn for turn, _ in loop.served) for number in range(loop.number + 1)]
    assert max(in_turn) <= 4 and max(in_turn[10:]) <= 2


def test_many_that_take_little_continue_in_one_turn() -> None:
    loop = Loop()

    asyncio.run(loop.run(*[(str(number), 1, LONG / 1000) for number in range(MANY)]))

    assert [name for _, name in loop.served] == [str(number) for number in range(MANY)]
    assert loop.number < MANY / 5


def test_a_turn_is_long_until_the_next_one() -> None:
    async def run() -> list[bool]:
        turns = Turns()
        turns.used(LONG / 2)
        seen = [turns.is_long]
        turns.used(LONG)
        seen.append(turns.is_long)
        await asyncio.sleep(0)
        seen.append(turns.is_long)
        waiting = asyncio.create_task(turns.wait())
        await asyncio.sleep(0)
        seen.append(turns.is_long)
        await waiting
        return [*seen, turns.is_long]

    assert asyncio.run(run()) == [False, True, False, True, False]


def test_one_that_is_gone_takes_no_turn() -> None:
    async def run() -> None:
        turns = Turns()
        gone, other = asyncio.create_task(turns.wait(1)), asyncio.create_task(turns.wait(2))
        await asyncio.sleep(0)
        gone.cancel()
        await other
        assert gone.cancelled()

    asyncio.run(run())
