"""The lines of the turn list."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest
import tool_tapes
from conversations import CALL, HELLO, chat, loop, result, said, user
from viewing import EXAMPLE

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.filters import parse
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.text.number_format import dollars
from turntape.inspector.views.text.status_styles import FINISH, OUTCOME
from turntape.inspector.views.tui.thread_tree import ThreadTree
from turntape.inspector.views.tui.turn_lines import (
    ALL,
    Known,
    calls_text,
    column_heads,
    other_line,
    thread_line,
    turn_line,
)
from turntape.inspector.wire.values import Usage


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (80, "▾ t1 main  7 turns · claude-sonnet-4-5  “The tests of the …    $0.066       ✗2!2"),
        (42, "▾ t1 main  7 turns  “The t…    $0.066 ✗2!2"),
        (33, "▾ t1 main  7 turn…    $0.066 ✗2!2"),
    ],
)
def test_the_head_of_a_thread_keeps_its_blanks_when_it_is_cut(width: int, shown: str) -> None:
    rows = Run.load(EXAMPLE).rows
    head = ThreadTree(rows, {}).lines[0]

    assert "".join(text for text, _ in thread_line(head, rows, width)) == shown


def listed(query: str = "") -> list[int]:
    rows = Run.of(tool_tapes.story().trips).rows
    tree = ThreadTree(rows, {}, parse(query) if query else None)
    assert tree.places == [line.place for line in tree.lines]
    return tree.places


def test_messages_of_tool_servers_are_left_out_unless_they_say_what_no_turn_does() -> None:
    assert listed() == [2, 5, 7, 8]


def test_a_filter_shows_the_messages_that_it_keeps() -> None:
    assert listed("api:mcp") == [0, 1, 3, 4, 6, 7, 9]


def test_with_several_threads_messages_are_left_out_too() -> None:
    trips = tool_tapes.story().trips
    rows = Run.of([*trips, chat([HELLO], said("Hi."), index=len(trips))]).rows

    assert [line.place for line in ThreadTree(rows, {}).lines if line.thread is None] == [2, 5, 8, 7, 10]


def test_a_run_that_no_call_explains_is_named_with_its_findings() -> None:
    rows = Run.of(tool_tapes.story().trips).rows

    assert "".join(text for text, _ in other_line(rows.all[7], "", 50)) == (
        "   ●  stop on files, no call of the model" + " " * 5 + "!1  "
    )
    assert "message of files" in "".join(text for text, _ in other_line(rows.all[0], "", 50))


def embedding(cost: Decimal | None) -> Row:
    trip = RoundTrip(
        Request("POST", "https://api.openai.com/v1/embeddings", (), b'{"model":"m","input":"x"}'),
        Response(200, "OK", (), b'{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":1204}}'),
        1_780_000_000.0,
        request_at=0,
        first_byte_at=900_000,
        ended_at=1_900_000,
    )
    return replace(Run.of([trip]).rows.all[0], cost=cost)


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_what_an_embedding_counts_and_costs_is_in_the_columns_of_the_turns(width: int) -> None:
    line = "".join(text for text, _ in other_line(embedding(Decimal("0.02")), "", width))
    turn = "".join(text for text, _ in turn_line(Run.load(EXAMPLE).rows.all[0], "", width, Decimal(1)))
    heads = "".join(text for text, _ in column_heads(width))

    assert len(line) == len(turn) == width
    for text, column in (("1.2k", "    in"), ("$0.020", "cost"), ("1.9s", "time")):
        assert line.index(text) + len(text) == heads.index(column) + len(column)
    assert "POST api.openai.com/v1/embeddin" in line and "  200" in line


def test_a_request_that_counts_nothing_has_only_its_time() -> None:
    row = replace(embedding(None), usage=Usage())

    assert "".join(text for text, _ in other_line(row, "", 80)).split()[-2:] == ["200", "1.9s"]


def test_the_problems_of_a_request_outside_generation_are_at_its_end() -> None:
    row = replace(embedding(None), findings=Run.load(EXAMPLE).rows.all[7].findings)

    assert row.findings
    text = "".join(text for text, _ in other_line(row, "", 80))
    assert re.search(r"[✗!]\d *$", text)


def test_the_head_of_a_subagent_has_its_task() -> None:
    rows = Run.load(EXAMPLE).rows
    head = next(line for line in ThreadTree(rows, {}).lines if line.thread == "t3")

    assert "“Which dates in tests/data have a year with two digits?" in "".join(
        text for text, _ in thread_line(head, rows, 140)
    )


@pytest.mark.parametrize(
    ("width", "models"),
    [(140, " · gpt-5, claude-haiku-4-5  “"), (70, " · gpt-5 +1  “"), (50, " turns  “what is")],
)
def test_the_models_of_a_thread_leave_room_for_its_task(width: int, models: str) -> None:
    first, again = loop()[0], [HELLO, said(None, CALL), result("call_1", "a strip")]
    second = chat(again, said("A strip."), index=1, model="claude-haiku-4-5")
    rows = Run.of([first, second, chat([user("hi")], said("Hi."), index=2)]).rows

    assert models in "".join(text for text, _ in thread_line(ThreadTree(rows, {}).lines[0], rows, width))


@pytest.mark.parametrize(
    ("calls", "done", "cells", "text"),
    [
        (["bash"], ["bash pytest -q"], 30, "bash pytest -q"),
        (["read", "bash"], ["read a.py", "bash pytest -q"], 30, "read a.py, bash pytest -q"),
        (["read", "read"], ["read a.py", "read b.py"], 30, "read a.py, b.py"),
        (["read", "read", "bash"], ["read a.py", "read b.py", "bash ls"], 20, "read a.py, b.py +1"),
        (["read", "task"], ["read a.py", "task Look at all dates"], 30, "read a.py, task Look at all d…"),
        (["read", "bash"], ["read src/very/long/path.py", "bash ls"], 20, "read src/very/lo… +1"),
        (["now", "now"], ["now", "now"], 20, "now, now"),
        (["now"], [], 20, "now"),
        (["mcp__files__add"], ["mcp__files__add a.txt"], 21, "mcp__files__add a.txt"),
        (["mcp__files__add"], ["mcp__files__add a.txt"], 20, "…add a.txt"),
        (["mcp__files__add", "mcp__files__cut"], ["mcp__files__add a", "mcp__files__cut b"], 12, "…add a +1"),
        (
            ["mcp__files__add", "mcp__files__cut"],
            ["mcp__files__add a.txt", "mcp__files__cut b"],
            19,
            "…add a.txt, …cut b",
        ),
        (["__init__"], ["__init__ a.txt"], 9, "__init__…"),
        (["_a"], [], 1, "…"),
    ],
)
def test_a_row_says_what_its_calls_do(calls: list[str], done: list[str], cells: int, text: str) -> None:
    assert calls_text(calls, done, cells) == text
    assert len(calls_text(calls, done, cells)) <= cells


@pytest.mark.parametrize("width", [36, 60, 76, 118])
def test_an_error_of_the_api_is_below_api_and_nothing_is_below_model(width: int) -> None:
    row = Run.load(EXAMPLE).rows.all[8]
    heads = "".join(text for text, _ in column_heads(width))
    line = "".join(text for text, _ in turn_line(row, "", width, Decimal(1)))

    api = heads.index("■")
    assert line[api:].startswith("■ 529" if width > 40 else "■ 52…")
    assert line[heads.index("◆") :][1 : api - heads.index("◆")].strip() == ""
    assert len(line) == len(
        "".join(text for text, _ in turn_line(Run.load(EXAMPLE).rows.all[9], "", width, Decimal(1)))
    )


def test_the_cost_is_the_last_figure_to_go_on_a_narrow_screen() -> None:
    heads = {width: "".join(text for text, _ in column_heads(width)) for width in range(20, 130)}

    assert all("cost" in head for head in heads.values() if "in" in head.split() or "time" in head)
    assert "cost" in heads[60] and "out" in heads[80]


@pytest.mark.parametrize("width", [76, 116])
def test_there_is_no_column_for_what_no_turn_has(width: int) -> None:
    row = Run.load(EXAMPLE).rows.all[0]

    def line(known: Known) -> tuple[str, str]:
        words = column_heads(width, known), turn_line(row, "", width, Decimal(1), known=known)
        heads, cells = ("".join(text for text, _ in spans) for spans in words)
        return heads, cells

    heads, cells = line(Known(times=False))
    assert "time" not in heads and "cost" in heads and len(cells) == width
    assert heads.index("■") > line(ALL)[0].index("■")
    heads, cells = line(Known(prices=False))
    assert "cost" not in heads and "$" not in cells and "█" not in cells and len(cells) == width


def test_a_thread_that_begins_in_playback_is_not_without_a_price() -> None:
    rows = Run.load(EXAMPLE).rows
    [line] = [line for line in ThreadTree(rows, {}).lines if line.thread == "t3"]
    head = "".join(text for text, _ in thread_line(line, rows, 120, line.places[0]))
    rows.put([replace(rows.all[line.places[0]], cost=None, cost_parts=None)])
    bare = "".join(text for text, _ in thread_line(line, rows, 120, line.places[0]))

    assert "1 turn · claude" in head and "unpriced" not in head
    assert "unpriced" not in bare and "$" not in bare


def test_a_thread_that_is_played_costs_what_has_arrived_of_its_turns() -> None:
    rows = Run.load(EXAMPLE).rows
    [line] = [line for line in ThreadTree(rows, {}).lines if line.thread == "t3"]
    first, second = (rows.all[place] for place in line.places[:2])

    def cost(share: float) -> str:
        head = "".join(text for text, _ in thread_line(line, rows, 120, line.places[1], share=share))
        return head.split()[-1]

    assert first.cost is not None and second.cost is not None and second.cost_parts is not None
    assert cost(0) == dollars(first.cost + second.cost - second.cost_parts.output)
    assert cost(1) == dollars(first.cost + second.cost)


def test_the_name_of_a_late_attempt_moves_no_column() -> None:
    (row, *_) = Run.of(loop()).rows.all
    lines = [
        "".join(text for text, _ in turn_line(replace(row, turn=turn, attempt=attempt), "", 80, Decimal(1)))
        for turn, attempt in ((1, 1), (1234, 2), (99_999, 12))
    ]

    assert [line[:9].split()[0] for line in lines] == ["1", "1234·2", "99999·12"]
    assert len({line.index("■") for line in lines}) == 1 and len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("width", [60, 76, 118])
def test_every_finish_and_outcome_fits_its_column(width: int) -> None:
    (row, *_) = Run.of(loop()).rows.all
    for label in FINISH:
        assert "…" not in "".join(text for text, _ in turn_line(replace(row, finish=label), "", width, Decimal(1)))
    for outcome in OUTCOME:
        assert "…" not in "".join(text for text, _ in turn_line(replace(row, outcome=outcome), "", width, Decimal(1)))


@pytest.mark.parametrize(
    ("outcome", "failed", "shown"),
    [
        ("dispatched", 1, "▶ ran ✗1 "),
        ("dispatched", 12, "▶ ran✗12 "),
        ("dispatched", 120, "▶ ✗120   "),
        ("partly", 3, "▶ part✗3 "),
        ("partly", 0, "▶ part   "),
    ],
)
def test_the_number_of_failed_results_is_never_cut(outcome: str, failed: int, shown: str) -> None:
    (row, *_) = Run.of(loop()).rows.all
    line = "".join(
        text for text, _ in turn_line(replace(row, outcome=outcome, failed_results=failed), "", 80, Decimal(1))
    )

    assert shown in line
    assert len(line) == 80


def test_a_turn_without_a_known_price_is_unpriced_once_prices_are_known() -> None:
    refused = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    unpriced = chat([user("another")], said("y"), index=1, at=900.0, model="ours")
    rows = Run.of([refused, unpriced]).rows.all

    def price(place: int, known: Known) -> str:
        words = "".join(text for text, _ in turn_line(rows[place], "", 100, Decimal(1), known=known))
        return next((word for word in ("unpriced", "no cost") if word in words), "")

    assert [price(1, ALL), price(1, Known(prices=False)), price(0, ALL)] == ["unpriced", "", "no cost"]


@pytest.mark.parametrize(
    ("errors", "warnings", "shown"), [(0, 0, ""), (3, 9, "✗3!9"), (3, 10, "✗3!+"), (10, 0, "✗+"), (100, 1200, "✗+!+")]
)
def test_more_findings_than_one_digit_has_are_not_written_as_nine(errors: int, warnings: int, shown: str) -> None:
    row = Run.load(EXAMPLE).rows.all[0]
    made = [Finding("x", "model", severity, "P", "it happened", ()) for severity in ("error", "warning")]
    row = replace(row, findings=(*made[:1] * errors, *made[1:] * warnings))

    words = "".join(text for text, _ in turn_line(row, "", 80, Decimal(1)))

    assert words[-5:].strip() == shown
