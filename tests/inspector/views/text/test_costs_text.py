"""`show --costs` as text."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from cached_turns import gpt, says
from conversations import CALL, HELLO, TOOLS, chat, loop, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.ledger import CacheEntry, Miss, ledger_of
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.text.costs_text import MOST, costs_text
from turntape.inspector.views.vocabulary.misses import SHOWN
from turntape.inspector.views.vocabulary.pieces import FIGURES, SHORT_FIGURES


def shown(*trips: RoundTrip, width: int = 100, thread: str | None = None) -> list[str]:
    lines = costs_text(ledger_of(label_all(trips)), "run", thread=thread, width=width)
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_the_dearest_piece_is_first_with_its_certainty() -> None:
    lines = shown(*loop())

    assert lines[:2] == ["run", "$0.00061 in 2 requests"]
    heads = next(at for at, line in enumerate(lines) if line.split()[:2] == ["cost", "tokens"])
    assert lines[heads + 1].split() == ["≈$0.00018", "≈", "71", "2×", "–", "–", "1", "look_up", "(definition)"]
    assert [line.split()[-1] for line in lines[heads + 2 : heads + 5]] == ["tape?", "tape", "tape"]


def test_groups_follow_by_kind_tool_and_definition() -> None:
    lines = shown(*loop())

    kinds = lines[lines.index("by kind") + 1 :]
    assert kinds[0].split() == ["$0.00030", "49", "%", "30", "tokens", "output"]
    assert "by tool: its definition, its calls, its results" in lines
    assert "by thread" not in lines
    assert "by MCP server" not in lines


def test_a_definition_that_was_never_called_is_marked() -> None:
    other = {"type": "function", "function": {"name": "idle", "parameters": {"type": "object"}}}
    lines = shown(chat([HELLO], said(None, CALL), tools=[*TOOLS, other]))

    assert [line.endswith("never called") for line in lines if "idle" in line] == [True, False, True]


def test_without_a_price_the_cost_is_unknown_and_never_zero() -> None:
    lines = shown(chat([HELLO], said("hi"), model="nobody-knows-this"))

    assert lines[1] == "unpriced in 1 request"
    both = shown(*loop(), chat([HELLO], said("hi"), model="nobody-knows-this", index=2, at=1_780_000_900.0))
    assert both[1] == "≥$0.00061 in 3 requests (1 request without a known price)"
    assert not [line for line in lines if "$0.0" in line]


def test_a_run_without_turns_has_one_line() -> None:
    assert len(shown()) == 2


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    lines = shown(*loop(), width=width)

    assert all(len(line) <= width for line in lines)
    said = " ".join(" ".join(lines).split())
    assert (FIGURES if width >= 96 else SHORT_FIGURES) in said, "the legend is never cut"


@pytest.mark.parametrize(("width", "has"), [(60, False), (72, True), (100, True)])
def test_what_a_piece_is_has_more_room_on_a_narrow_page_than_the_cache(width: int, has: bool) -> None:
    lines = shown(*loop(), width=width)
    heads = next(line for line in lines if line.split()[:2] == ["cost", "tokens"])

    assert ("written" in heads) is has
    assert any(line.endswith("look_up (definition)") for line in lines)
    row = lines[lines.index(heads) + 1]
    assert row.index("look_up") == heads.index("what")


def test_more_pieces_than_fit_are_counted() -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "parameters": {}}} for n in range(MOST + 5)]

    [more] = [line for line in shown(chat([HELLO], said("hi"), tools=tools)) if "6 more pieces" in line]
    assert re.fullmatch(r" *\$0\.0+\d+  6 more pieces", more)
    [more] = [line for line in shown(chat([HELLO], said("hi"), model="ours", tools=tools)) if "6 more pieces" in line]
    assert more == f"{'':12}6 more pieces"


@pytest.mark.parametrize(("output", "first"), [(5000, "output"), (1, "tool")])
def test_kinds_without_a_price_are_ordered_by_their_tokens_the_output_too(output: int, first: str) -> None:
    lines = shown(chat([HELLO], said(None, CALL), model="mine", usage=(100, output)))
    kinds = lines[lines.index("by kind") + 1 :]

    assert kinds[0].split()[-2 if first == "tool" else -1] == first


def unread(turns: int) -> list[RoundTrip]:
    """Turns of which an API without promises read nothing from its cache."""
    said = [message for n in range(turns) for message in ({"role": "user", "content": "x" * 8_000}, says("Fine."))]
    return [
        replace(gpt(said[: 2 * n + 1], (2_000 * (n + 1), 0, 2), at=1_780_000_000.0 + 20 * n), index=n)
        for n in range(turns)
    ]


def misses_of(lines: list[str]) -> list[str]:
    """The lines of the cache misses, without the heading."""
    start = next(at for at, line in enumerate(lines) if line.startswith("cache misses")) + 1
    return lines[start : next(at for at in range(start, len(lines)) if not lines[at])]


def test_misses_that_no_provider_promised_to_avoid_are_one_line() -> None:
    lines = shown(*unread(20))

    assert any(line.startswith("cache misses  19, together $") for line in lines)
    only, *words = misses_of(lines)
    assert all(line.startswith(" " * 12) for line in words) and " ".join(words).endswith("it did not read it")
    assert only.split()[2:6] == ["tokens", "19", "requests", "not-promised"]
    assert [line.split()[3:5] for line in misses_of(shown(*unread(2)))[:1]] == [["2", "not-promised"]]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_cause_of_a_miss_is_wrapped_and_never_cut(width: int) -> None:
    why = "the system prompt changed: '…local time 10:40' became '…local time 10:41'"
    ledger = ledger_of(label_all(loop()))
    miss = Miss(cause="changed-system", message=why, tokens=2_000, price=Decimal("0.25"))
    entry = CacheEntry(
        rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    made = replace(ledger, turns=[replace(ledger.turns[0], cache=entry)])
    lines = ["".join(text for text, _ in one) for one in costs_text(made, "run", width=width)]

    found = misses_of([line.rstrip() for line in lines])
    assert why in " ".join(" ".join(found).split()) and max(map(len, found)) <= width


def test_a_miss_has_its_turn_and_its_cause_and_small_ones_are_a_sum() -> None:
    ledger = ledger_of(label_all(loop()))
    miss = Miss(cause="expired", message="an hour had passed", tokens=2_000, price=Decimal("0.25"))
    entry = CacheEntry(
        rule="marks", expected="expected", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    turns = [replace(ledger.turns[0], cache=entry)] * (SHOWN + 4)
    lines = ["".join(text for text, _ in one).rstrip() for one in costs_text(replace(ledger, turns=turns), "run")]

    found = misses_of(lines)
    assert found[0] == "    $0.250    2.0k tokens  1       expired  an hour had passed"
    assert found[SHOWN:] == ["     $1.00    8.0k tokens  4 smaller ones"]
    assert not [line for line in shown(*loop()) if "cache misses" in line], "nothing is said where there is none"
