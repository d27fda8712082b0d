"""The page of a turn."""

from conversations import HELLO, chat, loop, said
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.page_table import PAGES
from turntape.inspector.views.tui.pages.turn_page import turn_page


def head(run: Run) -> str:
    block = turn_page(run.detail(0), run.rows, 0).blocks[0]
    return "\n".join("".join(text for text, _ in line) for line in block.body(100))  # type: ignore[operator]


def test_a_cost_that_the_api_stated_is_marked() -> None:
    answer = {"model": "gpt-5", "choices": [{"index": 0, "message": said("so"), "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.25}

    assert "$0.250 (stated by the API)" in head(Run.of([chat([HELLO], error=answer | {"usage": usage})]))
    assert "stated" not in head(Run.of(loop()))


def test_a_refused_turn_has_no_tokens_and_no_unknown_cost() -> None:
    refused = head(Run.of([chat([HELLO], error={"error": {"message": "no"}}, status=429)]))

    assert "no tokens were counted" in refused and "unpriced" not in refused and "?" not in refused
    assert "unpriced" in head(Run.of([chat([HELLO], said("x"), model="unheard-of")]))


def test_until_prices_are_known_nothing_is_said_of_the_cost() -> None:
    run = Run.of([chat([HELLO], said("x"), model="unheard-of")])
    page = turn_page(run.detail(0), run.rows, 0, priced=False)
    line = "".join(text for text, _ in page.blocks[0].body(100)[0])  # type: ignore[operator]
    assert line.endswith(" out") and "unpriced" in head(run)


def test_why_a_cache_miss_came_is_said_once_the_ledger_is_there() -> None:
    run = Run.load(EXAMPLE)
    missed = next(place for place, row in enumerate(run.rows.all) if (row.thread, row.turn) == ("t1", 4))

    def keys(place: int) -> list[str]:
        return [block.key for block in PAGES["turn"](run, place).blocks]

    assert "miss" not in keys(missed), "the page does not wait for the ledger"
    found = run.ledger.at(missed)
    assert found is not None and found.cache is not None and found.cache.miss is not None
    assert keys(missed)[:2] == ["head", "miss"]
    block = PAGES["turn"](run, missed).blocks[1]
    text = "".join(text for line in block.body(300) for text, _ in line)  # type: ignore[operator]
    assert text == (
        f"¢ cache miss: {found.cache.miss.tokens:,} tokens were paid again (changed-system), $0.011 more: "
        f"{found.cache.miss.message}"
    )
    assert all("miss" not in keys(place) for place, row in enumerate(run.rows.all) if row.is_turn and place != missed)
