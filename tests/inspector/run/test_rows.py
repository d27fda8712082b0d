"""All rows of a run: where trouble began, and how a round trip is named."""

from dataclasses import replace

from conversations import HELLO, chat, loop, said, titled, user
from round_trips import exchanged

from turntape.inspector.analysis.turn import Edge
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.row import Row
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run


def rows(*severities: str) -> Rows:
    """A row for each turn, with one finding of that severity; none where it is empty."""
    made = Rows()
    found = Run.of([replace(trip, index=n) for n, trip in enumerate([*loop(), *loop()][: len(severities)])]).rows.all
    made.put(with_finding(row, severity) for row, severity in zip(found, severities, strict=True))
    return made


def with_finding(row: Row, severity: str) -> Row:
    finding = Finding("x", "model", severity, "P", "m", (), "f")  # type: ignore[arg-type]
    return replace(row, findings=(finding,) if severity else ())


def test_trouble_begins_at_the_first_error_else_at_the_first_warning() -> None:
    assert rows("info", "warning", "error", "error").first_trouble() == 2
    assert rows("", "warning", "warning").first_trouble() == 1
    assert rows("info", "").first_trouble() is None


def test_a_turn_is_named_with_its_thread_only_if_there_are_several() -> None:
    one = Run.of(loop()).rows
    two = Run.of([chat([HELLO], said("x")), chat([user("other")], said("y"), index=1)]).rows

    assert [one.name_of(place) for place in (0, 1)] == ["turn 1", "turn 2"]
    assert [two.name_of(place) for place in (0, 1)] == ["turn 1 of t1", "turn 1 of t2"]


def test_a_round_trip_outside_of_turns_is_named_by_its_number() -> None:
    models = replace(exchanged("https://api.openai.com/v1/models", b"", {"data": []}, method="GET"), index=7)

    assert Run.of([models]).rows.name_of(0) == "#7"


def test_a_row_that_is_not_here_yet_has_no_name() -> None:
    """The ledger of a file that is being read is ahead of the rows."""
    assert [Run.of(loop()).rows.name_of(place) for place in (1, 2)] == ["turn 2", ""]


def test_the_turns_around_a_turn_are_those_of_its_thread_whatever_their_attempts() -> None:
    """Two threads, a request beside them, and a turn that failed once."""
    busy = {"error": {"message": "Overloaded", "type": "server_error"}}
    first, answer = [HELLO], said("a strip")
    more, other = [HELLO, answer, user("and a reel?")], [user("something else " * 9)]
    models = exchanged("https://api.openai.com/v1/models", b"", {"data": []}, method="GET")
    trips = [
        chat(first, answer),
        models,
        chat(other, said("y")),
        chat(more, status=500, error=busy),
        chat(more, said("round")),
        chat([*more, said("round"), user("why?")], said("because")),
    ]
    made = Run.of([replace(trip, index=n, started_at=1000.0 + n) for n, trip in enumerate(trips)]).rows

    assert [made.before(place) for place in range(6)] == [None, None, None, 0, 0, 4]
    assert [made.after(place) for place in range(6)] == [3, None, None, 5, 5, None]


def test_rows_that_come_again_replace_those_that_are_there() -> None:
    made = rows("", "", "")
    later = with_finding(made.all[1], "error")

    update = made.put([later])
    assert (update.first, update.again) == (3, (1,))
    assert made.all[1] is later and len(made.all) == 3


def test_a_run_begins_with_the_first_turn_of_its_agent() -> None:
    rows = Run.of(titled()).rows
    assert [rows.in_side_call(place) for place in range(3)] == [True, False, False]
    assert rows.first_of_agent() == 1

    assert Run.of(loop()).rows.first_of_agent() == 0


def test_a_run_of_side_calls_alone_begins_with_the_first_one() -> None:
    rows = Rows()
    title = replace(Run.of(loop()[:1]).rows.all[0], edge=Edge("side_call"))
    rows.put([title])

    assert rows.in_side_call(0) and rows.first_of_agent() == 0
    assert Rows().first_of_agent() is None


def test_a_new_row_that_comes_twice_at_once_is_new() -> None:
    first, second = rows("", "").all
    made, later = Rows(), with_finding(first, "error")

    update = made.put([first, second, later])

    assert (update.first, update.again) == (0, ())
    assert made.all == [later, second]


def test_a_round_trip_is_found_by_its_number_at_its_first_place() -> None:
    first, second = rows("", "").all
    made = Rows()
    made.put([first, second, replace(second, key=(second.key[0], second.key[1] + 1, *second.key[2:]))])

    assert len(made.all) == 3
    assert made.by_index == {first.index: 0, second.index: 1}
