"""The page of costs: kinds, pieces, groups and cache misses, each with the way to its turn."""

from dataclasses import replace
from decimal import Decimal

import pytest
from conversations import chat, loop, said, user
from viewing import EXAMPLE

from turntape.inspector.ledger import CacheEntry, Ledger, Miss, Piece
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.blocks import Goto
from turntape.inspector.views.tui.pages.costs_page import ORDERS, costs_page
from turntape.inspector.views.tui.pages.page import Page
from turntape.inspector.views.vocabulary.pieces import short_figure

RUN = Run.load(EXAMPLE)


def page(order: str = "cost", ledger: Ledger | None = None) -> Page:
    return costs_page(ledger or RUN.ledger, RUN.rows, order)


def shown(given: Page, width: int = 100) -> list[str]:
    return list(given.laid_out(width, {}).text())


def part(lines: list[str], title: str) -> list[str]:
    """The lines below a title, to the next gap."""
    start = next(at for at, line in enumerate(lines) if title in line) + 1
    return lines[start : next((at for at in range(start, len(lines)) if not lines[at]), len(lines))]


def test_the_bill_and_the_dearest_piece_of_each_kind_come_first() -> None:
    lines = shown(page(), 78)

    assert lines[0] == "$0.071 in 12 requests: $0.034 input, $0.038 output"
    output, results = part(lines, "by kind")[1:3]
    assert output.split() == ["$0.038", "53", "%", "2.5k", "output", "turn", "3", "of", "t1:", "1,024", "tokens"]
    assert results.endswith("tool results         turn 3 of t1: read_file src/statements/dates.py")


def test_a_piece_says_how_often_it_was_sent_read_and_written_and_leads_to_its_turn() -> None:
    found = page()

    piece = next(piece for piece in RUN.ledger.pieces if piece.name == "result of read_file src/statements/dates.py")
    assert piece.tokens is not None and piece.cost is not None
    line = next(line for line in part(shown(found), "━━ pieces") if line.endswith("read_file src/statements/dates.py"))
    assert line.split()[2:8] == [short_figure(piece.tokens), "6×", "3", "2", "t1:3", "result"]
    block = found.holding(f"piece:{piece.id}")
    assert block is not None and block.goto == Goto(piece.place, "/messages/4/content/0")
    first = found.holding("dearest")
    assert first is not None and first.key == "kind:result" and first.goto == block.goto


@pytest.mark.parametrize("order", ORDERS)
def test_each_order_puts_the_highest_first(order: str) -> None:
    pieces = sorted(RUN.ledger.pieces, key=ORDERS[order], reverse=True)

    keys = [block.key for block in page(order).blocks if block.key.startswith("piece:")]
    assert keys == [f"piece:{piece.id}" for piece in pieces]
    assert f"by {order};" in "\n".join(shown(page(order)))


def test_the_orders_differ() -> None:
    assert len({tuple(block.key for block in page(order).blocks) for order in ORDERS}) == len(ORDERS)


def test_groups_by_tool_definition_agent_and_thread() -> None:
    lines = shown(page())

    assert part(lines, "by tool:")[1].split()[-1] == RUN.ledger.groups("tool")[0].name
    assert len(part(lines, "by tool definition  6")) == 7
    assert [line.split()[-1] for line in part(lines, "by thread  3")[1:]] == ["t1", "t3", "t2"]
    assert " t3: Which dates in tests/data have" in part(lines, "by agent  2")[2]
    assert not any("MCP server" in line for line in lines)


def test_a_tool_that_was_never_called_is_said() -> None:
    ledger = RUN.ledger
    groups = [replace(group, never_called=group.name == "grep") for group in ledger.groups("definition")]
    lines = shown(page(ledger=replace(ledger, grouped={**ledger.grouped, "definition": groups})))

    assert "by tool definition  6, 1 never called" in "\n".join(lines)
    assert [line.endswith("never called") for line in part(lines, "by tool definition")[1:]].count(True) == 1


def test_many_groups_are_folded() -> None:
    ledger = RUN.ledger
    groups = [replace(ledger.groups("tool")[0], name=f"tool{n}") for n in range(20)]
    lines = part(shown(page(ledger=replace(ledger, grouped={**ledger.grouped, "tool": groups}))), "by tool:")

    assert len(lines) == 14 and lines[-1].strip() == "▸ 8 more"


def test_the_pieces_that_are_not_shown_at_first_can_be_opened() -> None:
    first = RUN.ledger.pieces[0]
    many = [replace(first, id=n, cost=Decimal(1000 - n)) for n in range(310)]
    found = page(ledger=replace(RUN.ledger, pieces=many))

    assert part(shown(found), "━━ pieces  310")[-1].strip() == "▸ 10 more pieces, together $6,955"
    opened = list(found.laid_out(100, {"pieces:rest": True}).text())
    assert len(opened) == len(shown(found)) + 10
    hidden = found.holding("piece:309")
    assert hidden is not None and hidden.goto == Goto(first.place, first.pointer)


def test_a_group_leads_to_its_own_first_piece() -> None:
    found = page()
    threads = {block.key: block.goto for block in found.blocks if block.key.startswith(("subagent:", "thread:"))}
    dearest = {
        thread: next(piece for piece in RUN.ledger.ranked() if piece.thread == thread) for thread in ("t1", "t2", "t3")
    }

    for thread, piece in dearest.items():
        assert threads[f"thread:{thread}"] == Goto(piece.place, piece.pointer)
    agent = next(key for key in threads if key.startswith("subagent:t3"))
    assert threads[agent] == threads["thread:t3"]
    assert threads["subagent:main"] == threads["thread:t1"]


def test_a_run_of_thousands_of_threads_looks_at_each_piece_once_per_kind_of_group() -> None:
    looks = 0

    class Counted(Piece):
        def __getattribute__(self, name: str) -> object:
            nonlocal looks
            looks += name == "thread"
            return super().__getattribute__(name)

    first, group = RUN.ledger.pieces[0], RUN.ledger.groups("thread")[0]
    names = [f"t{n}" for n in range(400)]
    fields = {name: getattr(first, name) for name in Piece.__dataclass_fields__}
    ledger = replace(
        RUN.ledger,
        pieces=[Counted(**fields | {"id": n, "thread": name}) for n, name in enumerate(names)],
        grouped={"thread": [replace(group, name=name) for name in reversed(names)]},
    )
    page(ledger=ledger)

    assert looks < 5 * len(names)


MISS = Miss(
    cause="changed-system", message="the system prompt changed", at="/system/0", tokens=2_400, price=Decimal("0.007")
)


def entry(miss: Miss | None) -> CacheEntry:
    return CacheEntry(
        rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )


def with_misses(*misses: Miss | None) -> Ledger:
    turns = [replace(turn, cache=None) for turn in RUN.ledger.turns]
    turns[: len(misses)] = [replace(turn, cache=entry(miss)) for turn, miss in zip(turns, misses, strict=False)]
    return replace(RUN.ledger, turns=turns)


def test_the_miss_of_a_changed_system_prompt_is_among_the_costs() -> None:
    lines = part(shown(page()), "━━ cache misses  1")

    assert lines[0].split()[-5:] == ["turn", "4", "of", "t1", "changed-system"] and "10:41" in lines[1]


def test_cache_misses_have_their_cause_and_price_the_dearest_first() -> None:
    small = replace(MISS, cause="expired", message="an hour had passed", at="", price=Decimal("0.001"))
    found = page(ledger=with_misses(small, MISS, None))

    assert part(shown(found), "cache misses  2, together $0.0080") == [
        "     $0.0070   2.4k tokens  turn 1 of t2  changed-system",
        "      the system prompt changed  (/system/0)",
        "     $0.0010   2.4k tokens  turn 1 of t1  expired",
        "      an hour had passed",
    ]
    assert [block.goto for block in found.blocks if block.key.startswith("miss:")] == [
        Goto(RUN.ledger.turns[1].place, "/system/0"),
        Goto(RUN.ledger.turns[0].place, "head"),
    ]


def test_misses_that_no_provider_promised_to_avoid_are_one_line_that_opens() -> None:
    unpromised = replace(MISS, cause="not-promised", message="the API may read it", at="", price=Decimal("0.5"))
    found = page(ledger=with_misses(unpromised, MISS, *[unpromised] * 3))

    assert part(shown(found), "cache misses  5, together $2.01") == [
        "     $0.0070   2.4k tokens  turn 1 of t2  changed-system",
        "      the system prompt changed  (/system/0)",
        "  ▸    $2.00   9.6k tokens  4 requests  not-promised",
    ]
    opened = part(list(found.laid_out(100, {"misses:unpromised": True}).text()), "4 requests")
    assert opened[0].strip().startswith("the prefix was unchanged; the API promises no reads")
    assert opened[1] == "      $0.500   2.4k tokens  turn 1 of t1  not-promised" and len(opened) == 5


def test_a_single_miss_that_was_not_promised_is_listed_as_the_others() -> None:
    lines = part(shown(page(ledger=with_misses(replace(MISS, cause="not-promised")))), "cache misses  1")

    assert lines[0].endswith("turn 1 of t1  not-promised") and lines[1].strip().startswith("the system prompt")


def test_without_misses_and_without_rules() -> None:
    assert (
        part(shown(page(ledger=with_misses(None))), "cache misses  0")[0]
        .strip()
        .startswith("none: the reads from the cache are as")
    )
    silent = with_misses(None)
    turns = [
        replace(turn, cache=turn.cache and replace(turn.cache, actual_read=None, miss=None)) for turn in silent.turns
    ]
    lines = shown(page(ledger=replace(silent, turns=turns)))
    assert "▾ ━━ cache misses" in lines, "0 would say that there were none"
    assert part(lines, "cache misses") == ["  not known: no answer says how much was read from a cache"]
    bare = replace(RUN.ledger, turns=[replace(turn, cache=None) for turn in RUN.ledger.turns])
    assert "cache misses" not in "\n".join(shown(page(ledger=bare)))


def test_without_prices_tokens_decide_and_without_counts_bytes() -> None:
    free = Run.of([replace(trip, index=at) for at, trip in enumerate(loop())])
    lines = shown(costs_page(replace(free.ledger, total=None), free.rows))
    assert lines[0] == "no turn of this run has a known price: the pieces are ordered by tokens, else by bytes"
    assert any(", by tokens, else by bytes; s changes the order" in line for line in lines)

    bare = Run.of([replace(chat([user("go")], said("done"), usage=None), index=0)])
    text = "\n".join(shown(costs_page(bare.ledger, bare.rows)))
    assert " B " in text and "$" not in text and "share" not in text and "unpriced" not in text.partition("\n")[2]
    assert "the largest one" in text and "most expensive" not in text
    assert text.startswith("unpriced: the API counted no tokens; the pieces are ordered by bytes")


def test_what_the_api_counted_as_nothing_has_no_tokens_and_not_its_bytes() -> None:
    kinds = [
        replace(group, tokens_sent=0, cost=Decimal(0)) if group.name == "reasoning" else group
        for group in RUN.ledger.groups("kind")
    ]
    ledger = replace(RUN.ledger, grouped={**RUN.ledger.grouped, "kind": kinds})
    line = next(line for line in part(shown(page(ledger=ledger)), "by kind") if "reasoning sent back" in line)

    assert line.split()[:4] == ["$0", "0", "%", "0"]


def test_an_empty_run() -> None:
    run = Run.of([])
    assert shown(costs_page(run.ledger, run.rows)) == ["no turns"]


@pytest.mark.parametrize("width", [16, 38, 60, 78, 100, 198])
def test_heads_are_above_their_columns(width: int) -> None:
    lines = shown(page(), width)
    head = part(lines, "━━ pieces")
    names = next(line for line in head if "cost" in line and "what" in line)
    row, first = head[head.index(names) + 1], RUN.ledger.ranked()[0]

    assert names.index("what") == row.index(" result " if first.kind == "result" else " system ") + 1
    assert names.index("cost") + 4 == row.index(row.split()[0]) + len(row.split()[0])


@pytest.mark.parametrize("read", range(1, len(RUN.rows.all)))
def test_the_ledger_may_be_ahead_of_the_rows_while_a_file_is_read(read: int) -> None:
    """One thread labels, and the rows come to the list in batches."""
    rows = Rows()
    rows.put(RUN.rows.all[:read])

    lines = shown(costs_page(RUN.ledger, rows))

    miss = next(line for line in lines if "changed-system" in line)
    assert ("turn 4 of t1" in miss) == (read > next(p for p, row in enumerate(RUN.rows.all) if row.turn == 4))
    assert not any(": " in line and line.split(": ")[0].endswith("  ") for line in part(lines, "by kind"))


def test_where_there_is_a_bill_the_page_ends_with_the_command_for_others() -> None:
    assert shown(page())[-1].endswith("turntape price")

    assert "turntape price" not in "\n".join(shown(page(ledger=replace(RUN.ledger, total=None))))
