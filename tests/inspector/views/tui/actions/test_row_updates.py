"""Rows as they are read."""

from dataclasses import replace
from pathlib import Path

import pytest
import tool_tapes
from conversations import titled
from factories import round_trip
from viewer_parts import Parts, parts, trips
from viewing import EXAMPLE

from turntape.inspector.analysis.turn import Edge
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.tui.actions.row_updates import LONGEST, PAUSE, REFRESH
from turntape.inspector.views.tui.controllers.messages import (
    FirstRowRead,
    GrowthReady,
    LedgerReady,
    ReadingEnded,
    RowsRead,
)
from turntape.inspector.views.vocabulary.nothing import NOTHING_RECORDED

ROWS: list[Row] = Run.of(trips()).rows.all


class Clock:
    """The time, and the processor time of the screen and of all threads."""

    now = 100.0
    worked = 0.0
    all_worked = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.monotonic", lambda: made.now)
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.thread_time", lambda: made.worked)
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.process_time", lambda: made.all_worked)
    return made


def read(made: Parts, *rows: Row) -> None:
    made.updates.rows_read(RowsRead(list(rows)))


def end(made: Parts, problem: str | None = None, *, final: bool = True) -> None:
    made.updates.reading_ended(ReadingEnded(problem, final))


def test_the_first_rows_are_drawn_at_once_and_the_first_turn_selected() -> None:
    made = parts(empty=True, reading=True)

    read(made, *ROWS[:2])
    assert made.state.place == 0
    assert made.did("list") == [((0, 1), None)]
    assert made.did("request") == [("turn", 0, 80, "", True)]
    assert not made.updates.stale


def test_a_run_that_begins_with_a_list_of_models_is_shown_from_its_first_turn() -> None:
    listed = round_trip(b"", b'{"object": "list", "data": []}', url="https://api.openai.com/v1/models", index=0)
    models, one = Run.of([listed, replace(trips()[0], index=1)]).rows.all
    assert not models.is_turn
    made = parts(empty=True, reading=True)
    read(made, models, one)
    assert made.state.place == 1

    alone = parts(empty=True, reading=True)
    read(alone, models)
    assert alone.state.place == 0


def test_a_run_that_is_followed_begins_at_the_last_turn_of_its_first_thread() -> None:
    made = parts(empty=True, live=True)

    read(made, *ROWS)
    assert made.state.place == 1


def test_more_rows_are_drawn_after_a_while_and_only_once(clock: Clock) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    read(made, ROWS[1])
    made.calls.clear()

    read(made, ROWS[1])
    read(made, ROWS[2])
    assert made.updates.stale and made.did("list") == [] and made.delays == [pytest.approx(REFRESH)]
    clock.now += REFRESH
    for call in made.waiting:
        call()
    assert made.did("list") == [((0, 1, 2), 0)] and not made.updates.stale


def test_the_screen_takes_a_tenth_of_the_processor_time(clock: Clock) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    read(made, ROWS[1])
    # What the screen does after the drawing counts too. Of the 0.5 s, this program had the processor for 0.3 s.
    clock.now, clock.worked, clock.all_worked = clock.now + 0.5, clock.worked + 0.1, clock.all_worked + 0.3
    made.calls.clear()

    read(made, ROWS[1])
    assert made.updates.stale and made.delays == [pytest.approx(PAUSE * 0.1 - 0.3)]
    clock.now += PAUSE * 0.1 - 0.3  # in which another program had the processor half of the time
    clock.all_worked += 0.35
    made.waiting.pop()()
    assert made.updates.stale and made.delays[1:] == [pytest.approx(0.35)]
    clock.now += 0.36
    clock.all_worked += 0.36
    made.waiting.pop()()
    assert not made.updates.stale and len(made.did("list")) == 1


def test_however_much_the_screen_works_the_rows_are_drawn_after_a_while(clock: Clock) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    read(made, ROWS[1])
    clock.worked += 60

    read(made, ROWS[2])
    assert made.delays == [LONGEST]


def test_rows_after_a_pause_are_drawn_at_once() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])

    read(made, ROWS[1])
    assert not made.updates.stale and made.delays == []


def test_the_page_is_made_again_when_its_turn_got_a_next_turn() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.calls.clear()

    read(made, ROWS[2])
    assert made.did("request") == []
    read(made, ROWS[1])
    assert made.did("request") == [("turn", 0, 80, "", False)]


def test_the_page_is_made_again_when_its_own_row_changed() -> None:
    made = parts(empty=True, reading=True)
    read(made, *ROWS)
    made.calls.clear()

    read(made, ROWS[1])
    assert made.did("request") == []
    read(made, ROWS[0])
    assert len(made.did("request")) == 1


@pytest.mark.parametrize(("view", "again"), [("findings", 1), ("growth", 0), ("wire", 0)])
def test_a_page_of_the_whole_run_is_made_again_with_every_row(view: str, again: int) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.selection.show_view(view)
    made.calls.clear()

    read(made, ROWS[2])
    assert len(made.did("request")) == again


def test_nothing_is_requested_while_a_turn_is_played() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.playing.toggle()
    made.calls.clear()

    read(made, ROWS[1])
    assert made.did("request") == []


def test_the_cursor_follows_only_from_the_last_turn_of_its_thread() -> None:
    made = parts(empty=True, live=True)
    read(made, ROWS[0])
    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 1

    made.select(0)
    made.updates._drawn = float("-inf")
    read(made, ROWS[2])
    assert made.state.place == 0 and made.state.follow.behind == 2
    assert made.status == " 2 newer turns below  G goes there"


def test_the_cursor_stays_while_a_turn_is_played() -> None:
    made = parts(empty=True, live=True)
    read(made, ROWS[0])
    made.playing.toggle()
    made.updates._drawn = float("-inf")

    read(made, ROWS[1])
    assert made.state.place == 0


@pytest.mark.parametrize(
    ("live", "final", "recorded", "output", "notice"),
    [
        (True, True, True, False, "the recording has ended"),
        (True, True, True, True, "the command has ended; q quits and prints its output"),
        (True, True, False, False, "the recording has ended, and nothing was recorded"),
        (True, False, True, False, ""),
        (False, True, True, False, ""),
        (False, True, False, False, ""),
        (True, False, False, False, ""),
    ],
)
def test_the_end_of_the_file_says_what_one_should_know(
    live: bool, final: bool, recorded: bool, output: bool, notice: str
) -> None:
    made = parts(empty=True, live=live, reading=True, output=Path("out.txt") if output else None)
    if recorded:
        read(made, ROWS[0])

    end(made, final=final)
    assert made.notice.strip() == notice
    assert not made.state.reading
    assert made.state.follow.live == (live and not final)


@pytest.mark.parametrize(("live", "shown"), [(False, True), (True, False)])
def test_the_page_of_a_file_without_round_trips_says_so_until_more_may_come(live: bool, shown: bool) -> None:
    made = parts(empty=True, live=live, reading=True)

    end(made, final=not live)
    pages = [page for page, *_ in made.did("page shown")]
    texts = ["".join(page.laid_out(200, {}).text()) for page in pages]
    assert texts == [NOTHING_RECORDED] * shown and "turntape doctor" in NOTHING_RECORDED


def test_a_file_that_cannot_be_read_says_why() -> None:
    made = parts(empty=True, reading=True)

    end(made, "the file is not a cassette")
    assert made.notice.strip() == "the file is not a cassette"


def test_what_was_wrong_in_the_file_is_said_at_its_end() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.state.run.problems.extend(["line 3 is torn", "line 5 is torn"])

    end(made)
    assert made.notice.strip() == "line 3 is torn (and 1 more)"


def test_the_wanted_turn_is_selected_as_soon_as_it_is_there() -> None:
    made = parts(empty=True, reading=True, turn=2)
    read(made, ROWS[0])
    assert made.state.place == 0 and made.state.navigation.wanted_turn == 2

    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 1 and made.state.navigation.wanted_turn is None


def test_a_wanted_turn_that_never_comes_is_said_at_the_end() -> None:
    made = parts(empty=True, reading=True, turn=9)
    read(made, *ROWS)
    assert made.notice == ""

    end(made)
    assert made.notice.strip() == "there is no turn 9 in this run"
    assert made.state.navigation.wanted_turn is None and made.state.place == 0


TOOLS: list[Row] = Run.of(tool_tapes.story().trips).rows.all


def test_the_first_turn_is_selected_and_not_a_message_of_a_tool_server() -> None:
    made = parts(empty=True, reading=True)

    read(made, *TOOLS[:2])
    assert made.state.place is None
    read(made, TOOLS[2])
    assert made.state.place == 2


def test_a_file_with_only_messages_of_tool_servers_shows_the_first_one_at_its_end() -> None:
    made = parts(empty=True, reading=True)

    read(made, *TOOLS[:2])
    end(made)
    assert made.state.place == 0


def test_the_strip_grows_with_the_rows_and_gets_the_ledger_at_the_end() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    assert made.did("request growth") == [(1, None, False)]

    read(made, ROWS[1])
    assert made.did("request growth") == [(2, None, False)]
    made.updates.growth_ready(GrowthReady(strip_of(made.state.run.rows.all)))
    made.calls.clear()
    end(made)
    assert made.did("request growth") == [], "the ledger will be there soon"
    made.updates.ledger_ready(LedgerReady(ledger := made.state.run.ledger))
    assert made.did("request growth") == [(2, ledger, True)]
    made.updates.growth_ready(GrowthReady(strip_of(made.state.run.rows.all)))
    assert made.did("strip") == [(2, 0)]


def test_the_page_of_a_turn_with_a_cache_miss_is_made_again_when_the_ledger_says_why() -> None:
    made = parts()
    ledger = Run.load(EXAMPLE).ledger
    for place, wanted in ((0, False), (7, True)):
        made.state.navigation.go(place)
        made.updates.ledger_ready(LedgerReady(ledger))
        assert bool(made.did("request")) is wanted
    made.updates.ledger_ready(LedgerReady(None))
    assert made.did("request") == []


@pytest.mark.parametrize(("view", "wanted"), [("context", 1), ("costs", 1), ("compare", 1), ("wire", 0), ("diff", 0)])
def test_a_page_that_was_made_of_the_ledger_of_fewer_turns_is_made_again(view: str, wanted: int) -> None:
    made = parts()
    made.select(0)
    made.selection.show_view(view)
    made.calls.clear()

    made.updates.ledger_ready(LedgerReady(made.state.run.ledger))
    assert len([call for call in made.calls if call[0].startswith("request") and call[0] != "request growth"]) == wanted


@pytest.mark.parametrize(("problem", "final"), [("the file is gone", True), (None, False)])
def test_where_no_ledger_will_come_the_strip_does_not_wait_for_it(problem: str | None, final: bool) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.calls.clear()

    end(made, problem, final=final)
    assert made.did("request growth") == [(1, None, True)]


def test_a_strip_that_is_still_blank_at_the_end_does_not_wait_for_the_ledger() -> None:
    made = parts(empty=True, reading=True)
    unpriced = Run(Path("x"), priced=False)
    unpriced.rows, made.state.run = made.state.run.rows, unpriced
    read(made, ROWS[0])
    end(made)
    assert made.did("request growth") == [], "it would show tokens for a moment"

    made.state.reading = True
    unpriced.price()
    end(made)
    assert made.did("request growth") == [(1, None, True)]


def test_there_is_a_strip_without_a_ledger_too() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    end(made)
    made.calls.clear()

    made.updates.ledger_ready(LedgerReady(None))
    assert made.did("request growth") == [(1, None, True)]


def test_before_the_prices_are_known_no_strip_shows_tokens_instead() -> None:
    made = parts(empty=True, reading=True)
    unpriced = Run(Path("x"), priced=False)
    unpriced.rows, made.state.run = made.state.run.rows, unpriced
    read(made, ROWS[0])

    assert made.did("request growth") == []
    unpriced.price()
    read(made, ROWS[0])
    assert made.did("request growth") == [(1, None, False)]


@pytest.mark.usefixtures("clock")
def test_the_first_row_is_shown_and_replaced_when_it_comes_with_its_findings() -> None:
    made = parts(empty=True, reading=True)

    made.updates.first_read(FirstRowRead(ROWS[0]))
    assert made.state.alone and made.state.place == 0
    assert made.did("list") == [((0,), None)]
    assert made.did("request") == [("turn", 0, 80, "", True)]
    read(made, ROWS[0])
    assert made.state.alone
    read(made, *ROWS[:2])

    assert made.did("list")[-1] == ((0, 1), 0), "at once, for the keys that wait"
    assert not made.state.alone and made.state.run.rows.all == ROWS[:2]
    assert made.did("request") == [("turn", 0, 80, "", False)] * 2, "its page, with the cursor as it is"


def test_a_file_with_one_row_is_read_to_its_end() -> None:
    made = parts(empty=True, reading=True)
    made.updates.first_read(FirstRowRead(ROWS[0]))

    end(made, "it could not be read")

    assert not made.state.alone


TITLED: list[Row] = Run.of(titled()).rows.all
BEFORE = replace(TITLED[0], edge=Edge("main"))
"""The title call, while nothing is known of the agent."""


def test_a_run_that_begins_with_a_title_call_opens_on_the_agent() -> None:
    made = parts(empty=True, reading=True)

    made.updates.first_read(FirstRowRead(BEFORE))
    assert made.state.place == 0
    read(made, *TITLED[:2])
    assert made.state.place == 1 and not made.updates.stale
    read(made, TITLED[2])
    assert made.state.place == 1

    at_once = parts(empty=True, reading=True)
    read(at_once, *TITLED)
    assert at_once.state.place == 1


def test_a_live_run_that_begins_with_a_title_call_follows_the_agent() -> None:
    made = parts(empty=True, live=True)

    read(made, BEFORE)
    read(made, *TITLED[:2])
    assert made.state.place == 1
    read(made, TITLED[2])
    made.updates.reading_ended(ReadingEnded(None, final=False))
    assert made.state.place == 2


def test_a_user_who_pressed_a_key_stays_on_the_title_call() -> None:
    made = parts(empty=True, reading=True)
    read(made, BEFORE)

    made.updates.user_acted()
    read(made, *TITLED[:2])
    assert made.state.place == 0


def test_a_user_who_went_to_the_title_call_stays_there() -> None:
    made = parts(empty=True, reading=True)
    read(made, BEFORE, TITLED[1])
    made.selection.select(1)
    read(made, TITLED[2])
    made.selection.select(0)

    read(made, TITLED[0])
    assert made.state.place == 0


def test_the_requested_turn_is_shown_although_it_is_a_title_call() -> None:
    made = parts(empty=True, reading=True, turn=1)
    made.state.navigation.wanted_thread = "t1"

    read(made, BEFORE)
    read(made, *TITLED[:2])
    end(made)
    assert made.state.place == 0


def test_a_run_of_a_title_call_alone_is_shown() -> None:
    made = parts(empty=True, reading=True)

    read(made, BEFORE)
    read(made, TITLED[0])
    end(made)
    assert made.state.place == 0
