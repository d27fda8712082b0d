"""The page of costs in the report."""

import re
from dataclasses import replace
from decimal import Decimal
from html import unescape

from conversations import chat, loop, said, user

from turntape.inspector.ledger import CacheEntry, Miss, ledger_of
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report.costs import FIGURES, GROUPED, MOST, PRINTED, costs, printed_costs
from turntape.inspector.views.text.number_format import dollars
from turntape.inspector.views.vocabulary.misses import SHOWN
from turntape.inspector.views.vocabulary.pieces import SHORT_FIGURES


def words(html: object) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", str(html)).split())


def test_every_piece_is_listed_with_a_link_to_its_turn() -> None:
    run = Run.of(loop())
    page = str(costs(run.ledger, run.rows))

    for piece in run.ledger.pieces:
        assert words(piece.name) in words(page)
    assert 'href="#row-0"' in page and "$0.00061 in 2 requests:" in words(page)
    assert "By kind" in page and "By tool definition" in page
    assert SHORT_FIGURES in unescape(page)


def test_a_print_has_the_costs_with_fewer_pieces() -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "parameters": {}}} for n in range(PRINTED + 5)]
    run = Run.of([chat([user("x")], said("y"), tools=tools)])
    page = words(printed_costs(run.ledger, run.rows))

    assert page.startswith(f"Costs {dollars(run.ledger.total)} in 1 request") and "By kind" in page
    assert re.search(rf"… {len(run.ledger.pieces) - PRINTED} more pieces, together \$", page)
    empty = Run.of([])
    assert not printed_costs(ledger_of([]), empty.rows), "nothing is printed where nothing was counted"


def test_the_names_of_columns_of_numbers_are_above_the_numbers() -> None:
    run = Run.of(loop())
    page = str(costs(run.ledger, run.rows))

    named = {name: look for look, name in re.findall(r'<th scope="col"(?: class="(\w+)")?>([^<]+)</th>', page)}
    assert {name for name, look in named.items() if look == "figure"} == FIGURES
    assert {name for name, look in named.items() if not look} == {"turn", "what"}


def test_the_dearest_piece_comes_first() -> None:
    run = Run.of([chat([user("word " * 900)], said("x"), usage=(1000, 1))])
    page = str(costs(run.ledger, run.rows))
    pieces = words(page[page.index("<h2>Pieces") :])

    names = [piece.name for piece in run.ledger.ranked()]
    assert [pieces.index(words(name)) for name in names] == sorted(pieces.index(words(name)) for name in names)


def test_a_run_without_prices_or_without_turns_says_so() -> None:
    unpriced = Run.of([chat([user("x")], said("y"), model="some-model-of-ours")])
    empty = Run.of([])

    page = words(costs(unpriced.ledger, unpriced.rows))
    assert page.startswith("No turn of this run has a known price: the pieces are ordered by tokens, else by bytes.")
    assert "by tokens, else by bytes; tokens: " in page
    assert "unpriced" not in page and "share" not in page and " cost " not in page, "no columns without numbers"
    assert words(costs(ledger_of([]), empty.rows)) == "No turns."


def test_a_long_list_is_cut_and_says_what_the_rest_costs() -> None:
    messages = [user(f"message {n} " * 3) for n in range(MOST + 20)]
    run = Run.of([chat(messages, said("x"), usage=(9000, 1))])

    assert re.search(r"… \d+ more pieces, together \$", words(costs(run.ledger, run.rows)))


def test_a_cache_miss_has_its_cause_and_its_price() -> None:
    run = Run.of(loop())
    ledger = run.ledger
    miss = Miss(cause="expired", message="the cache had expired", at="/messages/1", tokens=4000, price=Decimal("0.02"))
    entry = CacheEntry(
        rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    turns = [type(turn)(**{**_fields(turn), "cache": entry}) for turn in ledger.turns[:1]]
    page = words(costs(type(ledger)(turns=turns, pieces=ledger.pieces, total=ledger.total, unpriced=0), run.rows))

    heads = "Cache misses 1, together $0.020 cost tokens turn why"
    assert f"{heads} $0.020 4.0k turn 1 expired the cache had expired /messages/1" in page


def test_small_cache_misses_are_folded() -> None:
    run = Run.of(loop())
    [turn, *_] = run.ledger.turns
    turns = [
        type(turn)(**{**_fields(turn), "cache": CacheEntry(
            rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0,
            miss=Miss(cause="expired", message="gone", tokens=tokens),
        )})
        for tokens in range(1, SHOWN + 4)
    ]  # fmt: skip
    page = str(costs(type(run.ledger)(turns=turns, pieces=(), total=None, unpriced=0), run.rows))
    listed, folded = page.split("<details>")

    assert listed.count("gone") == SHOWN and folded.count("gone") == 3
    assert "3 smaller ones" in folded and f">{SHOWN + 3}</td>" in listed


def test_misses_that_no_provider_promised_to_avoid_are_folded_with_their_sum() -> None:
    run = Run.of(loop())
    [turn, *_] = run.ledger.turns

    def page(*causes: str) -> str:
        turns = [
            type(turn)(**{**_fields(turn), "cache": CacheEntry(
                rule="grid of 128", expected="possible", read=None, written=None, actual_read=0, actual_written=0,
                miss=Miss(cause=cause, message="may be read", tokens=2_000, price=Decimal("0.25")),
            )})
            for cause in causes
        ]  # fmt: skip
        return str(costs(type(run.ledger)(turns=turns, pieces=(), total=None, unpriced=0), run.rows))

    listed, folded = page("expired", *["not-promised"] * 3).split("<details>")
    assert words(folded).startswith(
        "$0.750 6.0k tokens, 3 requests not-promised The prefix was unchanged; the API promises"
    )
    assert (listed.count("may be read"), folded.count("may be read")) == (1, 3) and "4, together $1.00" in listed
    alone = page("not-promised")
    assert "<details>" not in alone and alone.count("may be read") == 1
    only = page("not-promised", "not-promised").partition("Cache misses")[2].partition("</section>")[0]
    assert only.count("<table") == 1 and only.index("<details>") < only.index("<table"), "no table without lines"


def test_a_print_has_the_sums_of_the_misses_that_the_page_folds_and_not_thousands_of_lines() -> None:
    run = Run.of(loop())
    [turn, *_] = run.ledger.turns
    turns = [
        type(turn)(**{**_fields(turn), "cache": CacheEntry(
            rule="grid of 128", expected="possible", read=None, written=None, actual_read=0, actual_written=0,
            miss=Miss(cause=cause, message="may be read", tokens=2_000, price=Decimal("0.25")),
        )})
        for cause in ("expired", "not-promised")
        for _ in range(SHOWN + 3)
    ]  # fmt: skip
    page = str(printed_costs(type(run.ledger)(turns=turns, pieces=(), total=None, unpriced=0), run.rows))

    assert page.count("may be read") == SHOWN and "<details>" not in page
    assert f"$3.75 30.0k tokens, {SHOWN + 3} requests not-promised" in words(page) and "3 smaller ones" in page


def test_only_a_definition_is_called_idle() -> None:
    """The tools as a kind, and all that belongs to a tool, are more than its definition."""
    run = Run.of([chat([user("x")], said("y"))])
    kinds, _, rest = words(costs(run.ledger, run.rows)).partition("By tool: its definition")
    tools, _, definitions = rest.partition("By tool definition")

    assert "never called" not in kinds + tools and definitions.startswith(" 1, 1 never called")
    assert "look_up never called" in definitions


def test_groups_that_there_is_no_room_for_are_counted() -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "parameters": {}}} for n in range(GROUPED + 5)]
    run = Run.of([chat([user("x")], said("y"), tools=tools)])

    assert re.search(r"… 5 more groups, together [$<]", words(costs(run.ledger, run.rows)))
    unpriced = words(costs(replace(run.ledger, total=None), run.rows))
    assert "… 5 more groups" in unpriced and "5 more groups, together" not in unpriced


def test_a_run_whose_cache_is_not_known_has_its_sentence_in_the_form_of_the_other_parts() -> None:
    run = Run.of([chat([user("x")], error={"error": {"message": "slow down", "type": "rate_limit"}}, status=429)])
    page = str(costs(run.ledger, run.rows))

    assert page.count("<section") == page.count('class="costs"')
    assert "Cache misses Not known: no answer says how much was read from a cache." in words(page)


def _fields(turn: object) -> dict[str, object]:
    names = ("place", "thread", "turn", "attempt", "input", "added", "input_cost", "output_cost", "cost")
    return {name: getattr(turn, name) for name in names}


def test_tables_that_scroll_can_be_reached_by_keys_and_have_names() -> None:
    run = Run.of(loop())
    scrolls = re.findall(r'<div class="scrolls"([^>]*)>', str(costs(run.ledger, run.rows)))

    assert scrolls and all('tabindex="0" role="region" aria-label="' in one for one in scrolls)
    assert len(set(scrolls)) == len(scrolls)
