"""A run for views: rows without bodies, details with everything."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user
from round_trips import MESSAGES, exchanged
from viewing import EXAMPLE

from turntape.cassettes import Cassette, CassetteError, FormatError, Recorder, RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.totals import totals


def recorded(path: Path, round_trips: list[object]) -> Path:
    with Recorder(path, append=path.exists()) as recorder:
        for trip in round_trips:
            recorder.write(trip)  # type: ignore[arg-type]
    return path


def test_a_row_says_what_each_layer_did() -> None:
    rows = Run.of(loop()).rows.all

    first, second = rows
    assert (first.thread, first.turn, first.emitted, first.calls) == ("t1", 1, "calls", ("look_up",))
    assert (first.finish, first.outcome, first.results) == ("tool_calls", "dispatched", 1)
    assert (second.turn, second.emitted, second.finish, second.outcome) == (2, "text", "complete", "ended")
    assert second.said == "It holds a recording."
    assert (second.usage.input, second.usage.output) == (150, 20)


def test_no_row_holds_a_body() -> None:
    row = Run.of(loop()).rows.all[0]

    assert not [f.name for f in fields(row) if isinstance(getattr(row, f.name), bytes)]
    assert row.request_bytes == len(loop()[0].request.body)


def test_the_next_turn_settles_the_one_before() -> None:
    run = Run.of([])
    one, two = loop()
    (first,) = run.update([one])
    before = run.rows.put(first)
    open_then = run.rows.all[0].outcome
    (second,) = run.update([two])

    change = run.rows.put(second)

    assert (before.first, before.again) == (0, ())
    assert open_then == "open"
    assert (change.first, change.again) == (1, (0,))
    assert run.rows.all[0].outcome == "dispatched"


def test_a_detail_parts_what_is_new_from_what_was_sent() -> None:
    detail = Run.of(loop()).detail(1)

    assert [m.role for m in detail.history] == ["user"]
    assert [m.role for m in detail.new] == ["assistant", "tool"]


def test_a_rewritten_history_is_compared_message_by_message() -> None:
    first = said(None, CALL)
    trips = [
        chat([user("one"), user("two")], first, index=0),
        chat([user("one"), user("TWO"), first, result("call_1", "x")], said("done"), index=1),
    ]

    detail = Run.of(trips).detail(1)

    assert detail.row.history == "changed"
    assert detail.sent == 1


def test_calls_are_joined_with_what_the_next_request_brought() -> None:
    detail = Run.of(loop()).detail(0)

    assert {place: one.text for place, one in detail.results.items()} == {0: "a strip that holds a recording"}


def test_the_attempts_of_a_turn_have_the_same_predecessor() -> None:
    first, second = loop()
    failed = chat(
        [HELLO, said(None, CALL), result("call_1", "x")],
        None,
        index=1,
        status=529,
        error={"error": {"message": "busy"}},
    )
    again = replace(failed, index=2, response=second.response, started_at=failed.started_at + 1)

    rows = Run.of([first, failed, again]).rows

    assert [row.turn for row in rows.all] == [1, 2, 2]
    assert [rows.before(place) for place in range(3)] == [None, 0, 0]
    assert rows.after(0) == 1


def test_a_file_is_read_like_a_run_in_memory(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.cassette.jsonl", list(loop()))

    run = Run.load(path)

    assert [row.haystack for row in run.rows.all] == [row.haystack for row in Run.of(loop()).rows.all]
    assert run.detail(1).round_trip.request.body == loop()[1].request.body


def test_a_growing_file_gives_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    one, two = loop()
    run = Run(path)
    nothing = list(run.read())
    recorded(path, [one])
    first = [row.index for rows in run.read() for row in rows]
    with Recorder(path, append=path.exists()) as recorder:
        recorder.write(two)

    second = [row.index for rows in run.read() for row in rows]

    assert nothing == []
    assert first == [0]
    assert second == [0, 1]


def test_a_line_longer_than_a_block_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.cassettes.tape.reader.BLOCK", 64)
    path = recorded(tmp_path / "run.cassette.jsonl", list(loop()))

    assert len(Run.load(path).rows.all) == len(Cassette.load(path)) == 2


def test_what_is_not_a_cassette_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello\n")

    with pytest.raises(FormatError, match="is empty"):
        Run.load(tmp_path / "empty")
    with pytest.raises(FormatError, match="not a turntape cassette"):
        Run.load(tmp_path / "text")


def test_a_round_trip_that_the_file_lost_is_an_error_of_that_one(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.cassette.jsonl", list(loop()))
    run = Run.load(path)
    run._tail._lines._positions.pop(1)

    with pytest.raises(CassetteError, match="round trip 1"):
        run.detail(1)
    assert run.detail(0).row.index == 0


def test_what_is_new_can_be_searched_and_what_was_sent_is_not_found_twice() -> None:
    rows = Run.of(loop()).rows.all

    assert ["what is a tape" in row.haystack for row in rows] == [True, False]
    assert ["a strip that holds" in row.haystack for row in rows] == [False, True]


def test_totals_add_up() -> None:
    sums = totals(Run.of(loop()).rows.all)

    # gpt-5: $1.25 a million in, $10 out: 250 × 1.25 + 30 × 10 = 612.5 millionths.
    assert sums.cost == Decimal("0.0006125")
    assert (sums.turns, sums.threads, sums.input, sums.output, sums.seconds) == (2, 1, 250, 30, 1.25)
    assert totals([]).cost is None


def test_details_in_order_are_those_of_any_order() -> None:
    plain, straight = Run.load(EXAMPLE), Run.load(EXAMPLE)
    straight.in_order()

    for place in (*range(len(plain.rows.all)), 2):
        ours, theirs = straight.detail(place), plain.detail(place)
        assert ours.round_trip.request.body == theirs.round_trip.request.body
        assert ours.new == theirs.new


def test_the_first_row_comes_before_the_rules_and_then_again_with_the_others() -> None:
    run = Run(EXAMPLE, priced=False)

    first = run.first()
    assert first is not None and not first.findings
    run.rows.put([first])
    assert run.detail(0).reading.emission is not None
    for rows in run.read():
        run.rows.put(rows)
    run.rows.put(run.close())

    whole = Run.load(EXAMPLE).rows
    assert run.rows.all == whole.all and run.rows.threads == whole.threads


def test_a_file_whose_first_round_trip_has_no_first_row_is_read_whole(tmp_path: Path) -> None:
    other = exchanged(f"{MESSAGES}/count_tokens", {"model": "claude-opus-4-5"}, {"input_tokens": 3})
    run = Run(recorded(tmp_path / "a.cassette.jsonl", [other, *loop()]))

    assert run.first() is None
    assert [row.turn for rows in run.read() for row in rows] == [None, 1, 1, 2]


def test_an_empty_file_has_no_first_row(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    path.write_text("")
    run = Run(path)

    assert run.first() is None
    recorded(path, [*loop()])
    assert [row.turn for rows in run.read() for row in rows] == [1, 1, 2]


class Content:
    """A body that is made when it is used, and of which a test sees whether it is still there."""

    def __call__(self) -> bytes:
        return b"{}"


def test_a_round_trip_is_let_go_before_the_next_one_is_read() -> None:
    """Three prompts of 20 MB would be in memory together otherwise."""
    there: list[bool] = []

    def trips() -> Iterator[RoundTrip]:
        before: weakref.ref[Content] | None = None
        for number in range(3):
            gc.collect()
            if before is not None:
                there.append(before() is not None)
            content = Content()
            before = weakref.ref(content)
            trip = exchanged(f"{MESSAGES}/count_tokens", {"model": "claude-opus-4-5"}, {"input_tokens": 3})
            given = [replace(trip, index=number, request=replace(trip.request, content=content))]
            del content, trip
            yield given.pop()

    rows = [row for rows in Run(Path("memory")).update(trips()) for row in rows]

    assert len(rows) == 3 and there == [False, False]
