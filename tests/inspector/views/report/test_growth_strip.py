"""The growth of a run in the report."""

import re
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from conversations import HELLO, chat, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.report.growth_strip import BARS, LANE_BARS, growth_strip
from turntape.inspector.views.text.number_format import dollars

TROUBLE = Finding("x", "model", "error", "P", "it is wrong", (), "fix it")


def drawn(trips: list[RoundTrip]) -> str:
    return str(growth_strip(strip_of(Run.of(trips).rows.all)))


def growing(turns: int) -> list[RoundTrip]:
    return [
        chat([HELLO, *[said("a"), user("b")] * n], said("c"), index=n, usage=(1000 + 100 * n, 10)) for n in range(turns)
    ]


def test_the_picture_is_in_dollars_and_in_tokens_and_only_the_first_is_seen() -> None:
    page = drawn(growing(3))

    assert re.findall(r'<div class="strip (\w+)"( hidden)?', page) == [("dollars", ""), ("tokens", " hidden")]
    assert "no price is known" in drawn([chat([HELLO], said("x"), model="ours")])


def test_a_run_without_counts_says_so() -> None:
    assert "No turn of this run reports its tokens." in drawn([chat([HELLO], said("x"), usage=None)])


def test_equal_turns_have_equal_bars_and_the_dearest_fits() -> None:
    page = drawn([chat([user(f"{n}")], said("x"), index=n, at=900.0 * n, usage=(500, 10)) for n in range(2)])

    heights = re.findall(r'height="([0-9.]+)" class="new"', page)
    assert len(heights) == 4 and len(set(heights[:2])) == len(set(heights[2:])) == 1
    assert 0 < float(heights[0]) <= 100


def test_each_thread_is_a_lane_and_many_are_folded() -> None:
    page = drawn([chat([user(f"question {n}")], said("x"), index=n, at=900.0 * n) for n in range(8)])

    first = page[: page.index('class="strip tokens"')]
    assert first.count('class="strip-lane"') == 8 and "<summary>5 more threads</summary>" in first


def test_a_long_run_folds_into_ranges_that_say_so() -> None:
    (row,) = Run.of(growing(1)).rows.all
    many = [replace(row, key=(n, 0.0, 0), index=n, turn=n + 1) for n in range(2 * (BARS + LANE_BARS))]
    page = str(growth_strip(strip_of(many)))

    first = page[: page.index('class="strip tokens"')]
    assert first.count("<g ") == BARS + LANE_BARS
    mean = dollars(row.cost)
    assert f'data-caption="turns 1–2 of t1, on average: {mean}, so far' in page and 'class="highest"' in page


def test_marks_without_room_on_a_phone_are_hidden_there() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    trips = [chat([user(f"{n}")], status=529, error=error, index=n, at=900.0 * n) for n in range(60)]
    rows = [replace(row, thread="t1", turn=n + 1) for n, row in enumerate(Run.of(trips).rows.all)]
    (answered,) = Run.of([chat([HELLO], said("x"))]).rows.all
    rows.append(replace(answered, key=(60, 0.0, 0), index=60, turn=61))
    page = str(growth_strip(strip_of(rows)))

    first = page.partition('class="strip tokens"')[0]
    shown = [
        (float(left), bool(tight))
        for tight, left in re.findall(r'class="sign bad( tight)?" style="left:([\d.]+)%', first)
    ]
    assert len(shown) == 60
    wide = sorted(left for left, tight in shown if not tight)
    assert 10 < len(wide) < 30 and all(b - a >= 4.49 for a, b in pairwise(wide))


def test_marks_are_over_their_turn_with_words() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    page = drawn([chat([HELLO], status=529, error=error), chat([HELLO], said("x"), index=1)])

    assert '<span class="sign bad" style="left:25.00%" title="HTTP 529: overloaded">⊘</span>' in page
    assert '<span class="sign dim" style="left:75.00%" title="attempt 2 of turn 1">↻</span>' in page
    assert "a failed attempt" in page


def test_what_a_turn_added_is_named() -> None:
    call = ("c1", "read_file", '{"path":"build.log"}')
    result = {"role": "tool", "tool_call_id": "c1", "content": "line\n" * 900}
    asked = [HELLO, said(None, call)]
    trips = [
        chat([HELLO], said(None, call), usage=(100, 5)),
        chat([*asked, result], said("x"), index=1, usage=(5100, 5)),
    ]

    assert ">+5.0k read_file build.log</span>" in drawn(trips)


def test_the_cost_so_far_rises_to_the_total_of_the_run() -> None:
    trips = growing(2)
    total = sum((row.cost or Decimal(0) for row in Run.of(trips).rows.all), Decimal(0))
    page = drawn(trips)

    points = re.findall(r'<polyline points="([^"]*)"', page)[0].split()
    heights = [float(point.split(",")[1]) for point in points]
    assert heights[0] == 100 and heights[-1] == 2 and heights == sorted(heights, reverse=True)
    assert total and f"so far ${total:.4f}" in page


def test_the_cost_so_far_is_at_least_that_of_the_turns_with_a_known_price() -> None:
    asked = [HELLO, said("x"), HELLO]
    trips = [chat([HELLO], said("x")), chat(asked, said("y"), model="some-model-of-ours", index=1)]
    page = drawn(trips)

    assert re.findall(r"so far (\S+);", page)[:2] == ["$0.00022", "≥$0.00022"]
    assert ">≥$0.00022</span>" in page


@pytest.mark.parametrize("turns", [2, 4, 5, 9])
def test_the_labels_of_large_additions_do_not_overlap(turns: int) -> None:
    run = Run.of(growing(turns))
    page = str(growth_strip(strip_of(run.rows.all, run.ledger))).split('class="strip tokens"')[0]
    found = re.findall(
        r'class="addition(?: tight)?" style="(left|right):([0-9.]+)%;.*?max-width:min\(24em,([0-9.]+)%\)', page
    )

    taken = sorted(
        (float(at), float(at) + float(room)) if side == "left" else (100 - float(at) - float(room), 100 - float(at))
        for side, at, room in found
    )
    assert taken and len(found) == page.count('class="addition')
    assert taken[0][0] >= 0 and taken[-1][1] <= 100.01
    assert all(end <= begin + 0.02 for (_, end), (begin, _) in pairwise(taken))
    assert all(end - begin > 21 for begin, end in taken)


def test_marks_that_would_cover_each_other_leave_room_to_the_more_important_one() -> None:
    run = Run.of(growing(200))
    run.rows.all[:] = [
        replace(row, findings=(TROUBLE,)) if at % 3 else replace(row, error="overloaded", status=529, finish="error")
        for at, row in enumerate(run.rows.all)
    ]
    page = str(growth_strip(strip_of(run.rows.all))).partition('class="strip tokens')[0]
    found = re.findall(r'class="sign [\w ]+" style="left:([0-9.]+)%"[^>]*>(.)', page)

    places = sorted(float(left) for left, _ in found)
    assert len(places) > 50 and min(after - before for before, after in pairwise(places)) >= 1.2
    assert {sign for _, sign in found} == {"✗"}


def test_a_label_is_above_the_bars_beside_its_own() -> None:
    sizes = (400, 1900, 3000, 3100, 6000, 6100, 6200)
    trips = [
        chat([HELLO, *[said("a"), user("b")] * n], said("c"), index=n, at=900.0 * n, usage=(size, 10))
        for n, size in enumerate(sizes)
    ]
    run = Run.of(trips)
    page = str(growth_strip(strip_of(run.rows.all, run.ledger))).split('class="strip tokens"')[0]
    bars = [sum(map(float, re.findall(r'height="([0-9.]+)" class="(?!hit)\w', one))) for one in page.split("<g ")[1:]]
    labels = re.findall(r'class="addition(?: tight)?" style="left:([0-9.]+)%;bottom:([0-9.]+)%', page)

    assert len(bars) == len(sizes) and labels
    for left, bottom in labels:
        place = int(float(left) / 100 * len(bars))
        assert float(bottom) >= min(86, max(bars[place : place + 2])) - 0.1, "its own bar, and the next one"


def test_a_turn_without_a_known_price_is_unpriced_in_words_and_a_refused_one_is_not() -> None:
    refused = chat([HELLO], status=529, error={"error": {"message": "overloaded", "type": "server_error"}})
    page = drawn([refused, chat([user("another")], said("x"), index=1, at=900.0, model="ours")])

    assert 'data-caption="turn 1 of t1: no cost, so far $0; ' in page
    assert 'data-caption="turn 1 of t2: unpriced, so far unpriced; 100 new input, 10 output' in page


def test_a_label_that_a_phone_would_cut_within_its_number_is_marked() -> None:
    found = re.findall(r'class="(addition[^"]*)".*?max-width:min\(24em,([0-9.]+)%\)', drawn(growing(8)))

    assert {look for look, _ in found} == {"addition", "addition tight"}
    assert all((look == "addition") == (float(room) >= 30) for look, room in found)
