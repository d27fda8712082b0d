"""The viewer by its keys: what a user does with them."""

import asyncio
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from conversations import chat, loop, said, user
from textual.events import Key
from viewing import EXAMPLE, pause, press, screen, settle, viewing, when

from turntape.cassettes import Cassette, Recorder
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui import run_screen
from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.controllers import row_reader
from turntape.inspector.views.tui.controllers.loader import Loader
from turntape.inspector.views.tui.controllers.row_reader import RowReader
from turntape.inspector.views.tui.controllers.sent_searcher import SentSearcher
from turntape.inspector.views.tui.theme import PALETTES
from turntape.inspector.views.tui.widgets.dialogs import PageScreen
from turntape.inspector.views.tui.widgets.growth_plot import GrowthPlot
from turntape.inspector.views.tui.widgets.page_view import PageView


def run(flow: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(flow())  # type: ignore[arg-type]


def row(app: Viewer) -> tuple[str | None, int | None]:
    """Thread and number of the turn that is looked at."""
    assert app.run_screen.place is not None
    found = app.run_.rows.all[app.run_screen.place]
    return found.thread, found.turn


def cursor_line(page: PageView) -> str:
    """The line of the cursor, whether its part is folded or not."""
    return "".join(text for text, _ in page.layout_.line(page.cursor)).replace("▾", "▸")


def test_the_first_screen_lists_the_turns_by_thread_and_shows_the_first() -> None:
    async def flow() -> None:
        async with viewing() as (app, _):
            shown = screen(app)
            assert "2 errors" in shown and "first in turn 3 of t1" in shown
            assert "▾ t1 main" in shown and "▸ t2 side call" in shown and "▸ t3 subagent" in shown
            assert "Turn 1 of t1" in shown and "new in this request" in shown
            assert row(app) == ("t1", 1)

    run(flow)


def test_j_and_k_step_through_the_turns() -> None:
    async def flow() -> None:
        async with viewing(keys=["j", "j"]) as (app, pilot):
            assert row(app) == ("t1", 2)
            await press(pilot, "k", "k")
            assert row(app) == ("t1", 1)
            await press(pilot, "G")
            assert row(app) == ("t1", 7)
            assert "all tests pass" in screen(app)

    run(flow)


def test_enter_goes_into_the_page_and_escape_out_of_it() -> None:
    async def flow() -> None:
        async with viewing(keys=["enter"]) as (app, pilot):
            assert app.focused is not None and app.focused.id == "page"
            await press(pilot, "escape")
            assert app.focused is not None and app.focused.id == "turns"
            await press(pilot, "tab")
            assert app.focused is not None and app.focused.id == "page"

    run(flow)


def test_a_folded_thread_opens_and_shuts() -> None:
    async def flow() -> None:
        async with viewing(keys=["j"]) as (app, pilot):
            assert row(app) == ("t2", 1)
            assert "Failing date parser" not in screen(app).split("1 Turn")[0]
            await press(pilot, "l")
            assert "▾ t2" in screen(app)
            await press(pilot, "h")
            assert "▸ t2" in screen(app)

    run(flow)


def test_e_finds_the_first_error_and_n_the_next_findings() -> None:
    async def flow() -> None:
        async with viewing(keys=["e"]) as (app, pilot):
            assert row(app) == ("t1", 3)
            assert "api-length-truncated-tool-call" in screen(app)
            await press(pilot, "e")
            assert row(app) == ("t1", 4)
            await press(pilot, "n", "n")
            assert row(app) == ("t1", 4)
            await press(pilot, "E")
            assert row(app)[1] in (3, 4)
            await press(pilot, "G", "n")
            assert "no finding after this one" in screen(app)

    run(flow)


def test_c_goes_from_call_to_call_and_t_from_thread_to_thread() -> None:
    async def flow() -> None:
        async with viewing(keys=["c", "c", "c"]) as (app, pilot):
            assert row(app) == ("t1", 2)
            await press(pilot, "t")
            assert row(app) == ("t2", 1)
            await press(pilot, "t")
            assert row(app) == ("t3", 1)
            await press(pilot, "T", "T")
            assert row(app) == ("t1", 1)

    run(flow)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("1", "new in this request"),
        ("2", "content_block_delta"),
        ("3", "█ rewrite"),
        ("4", "≈ is an estimate"),
        ("5", "api-overloaded"),
        ("6", "this request against turn 2"),
        ("9", "by kind  tokens of all requests; Enter goes to the most expensive piece"),
        ("0", "to the first token"),
    ],
)
def test_a_number_opens_a_view(key: str, text: str) -> None:
    async def flow() -> None:
        async with viewing(keys=["e", key, "z"]) as (app, pilot):
            await press(pilot, "z", "enter", "z")
            assert text in screen(app)

    run(flow)


def test_r_shows_the_raw_bodies_and_goes_back() -> None:
    async def flow() -> None:
        async with viewing(keys=["r"]) as (app, pilot):
            assert app.run_screen.view == "wire" and "request headers" in screen(app)
            await press(pilot, "r")
            assert app.run_screen.view == "turn"

    run(flow)


def test_a_finding_leads_to_its_evidence() -> None:
    async def flow() -> None:
        async with viewing(keys=["5", "enter", "j", "j", "enter"]) as (app, _):
            assert app.run_screen.view == "turn" and row(app) == ("t1", 3)

    run(flow)


def test_the_growth_plot_moves_the_turn() -> None:
    async def flow() -> None:
        async with viewing(keys=["3", "enter", "right", "right"]) as (app, pilot):
            assert app.run_screen.place == 2
            await press(pilot, "G")
            assert row(app) == ("t1", 7)
            await press(pilot, "enter")
            assert app.run_screen.view == "turn" and row(app) == ("t1", 7)

    run(flow)


def test_the_page_of_growth_has_the_other_unit() -> None:
    async def flow() -> None:
        async with viewing(keys=["3"]) as (app, pilot):
            strip, plot = app.run_screen.panes.strip, app.query_one(GrowthPlot)
            assert (strip.unit, plot.unit, plot.place) == ("dollars", "tokens", 0)
            await press(pilot, "dollar_sign")
            assert (strip.unit, plot.unit) == ("tokens", "dollars")

    run(flow)


def test_the_mouse_over_the_growth_plot_shows_a_turn_and_leaves_the_cursor() -> None:
    async def flow() -> None:
        async with viewing(keys=["3"]) as (app, pilot):
            plot = app.query_one(GrowthPlot)
            bar = plot.layout_.bar_of(7)
            assert bar is not None
            await pilot.hover(GrowthPlot, offset=(bar.x, 5))
            assert plot.under == 7 and "turn 4 of t1  $0.028" in screen(app)
            assert row(app) == ("t1", 1) and plot.place == 0
            await pilot.hover("#turns", offset=(3, 1))
            assert plot.under is None

    run(flow)


def test_search_filters_as_it_is_typed_and_escape_shows_all() -> None:
    async def flow() -> None:
        async with viewing(keys=["/", *"tool:write"]) as (app, pilot):
            assert [app.run_.rows.all[p].turn for p in app.run_screen.panes.turns.places] == [3, 4]
            await press(pilot, "enter")
            assert "2 of 12 round trips" in screen(app)
            assert app.focused is not None and app.focused.id == "turns"
            await press(pilot, "escape")
            assert not app.run_screen.state.search.filter
            assert "of 12 round trips" not in screen(app)

    run(flow)


def test_n_goes_from_match_to_match_and_on_to_the_next_turn() -> None:
    async def flow() -> None:
        async with viewing(keys=["/", *"write_file", "enter"]) as (app, pilot):
            assert app.focused is not None and app.focused.id == "turns"
            first = app.run_screen.place
            assert "match 1 of" in screen(app)
            page = app.query_one(PageView)
            seen: list[tuple[int | None, str]] = []
            for _ in range(60):
                text = cursor_line(page)
                assert "write_file" in text
                seen.append((app.run_screen.place, text))
                await press(pilot, "n")
                if "no match after" in screen(app):
                    break
            places = [place for place, _ in seen if place is not None]
            assert places[0] == first and places == sorted(places) and len(set(places)) > 1
            # And all the way back.
            for place, text in reversed(seen[:-1]):
                await press(pilot, "N")
                assert app.run_screen.place == place
                assert cursor_line(page) == text

    run(flow)


def test_a_match_in_a_folded_part_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "long.cassette.jsonl"
    text = "\n".join(f"line {number}" for number in range(300)) + "\nhere is the needle"
    with Recorder(path) as recorder:
        recorder.write(chat([user(text)], said("Found."), index=0))

    async def flow() -> None:
        async with viewing(path) as (app, pilot):
            assert "needle" not in screen(app)
            await press(pilot, "/", *"needle", "enter")
            assert "here is the needle" in screen(app)
            await press(pilot, "4", "n")
            assert app.run_screen.view == "context"

    run(flow)


def test_escape_goes_back_to_where_the_search_began() -> None:
    async def flow() -> None:
        async with viewing(keys=["G"]) as (app, pilot):
            before = app.run_screen.place
            await press(pilot, "/", *"tool:write")
            assert app.run_screen.place != before
            await press(pilot, "escape")
            assert app.run_screen.place == before

    run(flow)


def test_a_word_that_nothing_says_leaves_an_empty_list_and_a_way_out() -> None:
    async def flow() -> None:
        async with viewing(keys=["/", *"zzzz", "enter"]) as (app, pilot):
            assert "0 of 12" in screen(app)
            await press(pilot, "j", "k", "n", ".", "enter", "escape", "escape")
            assert not app.run_screen.state.search.filter

    run(flow)


def test_the_page_steps_to_the_next_turn_without_leaving_it() -> None:
    async def flow() -> None:
        async with viewing(keys=["enter", "full_stop", "full_stop"]) as (app, pilot):
            assert app.focused is not None and app.focused.id == "page"
            assert row(app)[1] != 1 or row(app)[0] != "t1"
            before = app.run_screen.place
            await press(pilot, "comma")
            assert app.run_screen.place != before

    run(flow)


def test_playback_shows_the_answer_as_it_arrived_and_stops_on_p() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            await pilot.press("p")
            playing = app.run_screen.state.playback.turn
            assert playing is not None
            pause(app)
            playing.at = 1_900_000
            app.run_screen.playing.show()
            await settle(pilot)
            half = screen(app)
            playing.at = playing.length
            app.run_screen.playing.show()
            await settle(pilot)
            whole = screen(app)
            await press(pilot, "p")
            assert "→ run_tests" not in half.split("answer")[-1] and "\n  ▌\n" in half
            assert "→ run_tests" in whole.split("answer")[-1] and "\n  ▌\n" not in whole
            assert app.run_screen.state.playback.turn is None

    run(flow)


def test_the_line_of_a_turn_of_a_subagent_is_shown_when_it_is_played() -> None:
    async def flow() -> None:
        async with viewing(keys=["p"]) as (app, pilot):
            pause(app)
            turns = app.run_screen.panes.turns
            folded = [place for place in range(4) if turns.in_fold(place)]
            assert [app.run_.rows.all[place].thread for place in folded] == ["t2", "t3"]
            await press(pilot, "right")
            assert row(app) == ("t2", 1) and not turns.in_fold(folded[0]) and turns.in_fold(folded[1])
            line = turns.at(turns.cursor)
            assert line is not None and line.thread is None and line.place == folded[0]

    run(flow)


def test_playback_without_timing_reaches_the_end_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in loop():
            recorder.write(trip)

    async def flow() -> None:
        async with viewing(path, keys=["+"] * 6) as (app, pilot):
            await pilot.press("p")
            for _ in range(1000):
                await pilot.pause(0.01)
                if app.run_screen.state.playback.turn is None:
                    break
            await settle(pilot)
            assert row(app) == ("t1", 2)
            assert "played to the end" in screen(app)

    run(flow)


def test_y_copies_the_answer_and_the_request_as_curl() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            await press(pilot, "y", "a")
            await app.workers.wait_for_complete()
            await settle(pilot)
            assert app.clipboard.startswith("I'll run the tests") and '"grep"' in app.clipboard
            await press(pilot, "y", "u")
            await app.workers.wait_for_complete()
            await settle(pilot)
            assert app.clipboard.startswith("curl") and "$API_KEY" in app.clipboard

    run(flow)


def test_x_saves_a_picture_markdown_and_the_turn_and_overwrites_nothing(tmp_path: Path) -> None:
    async def flow() -> None:
        async with viewing(folder=tmp_path) as (app, pilot):
            for key in "smtqs":
                await press(pilot, "x", key)
                await app.workers.wait_for_complete()
                await settle(pilot)

    run(flow)

    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "t1-turn-1-2.svg",
        "t1-turn-1.cassette.jsonl",
        "t1-turn-1.md",
        "t1-turn-1.request.json",
        "t1-turn-1.svg",
    ]
    assert "http" not in (tmp_path / "t1-turn-1.svg").read_text().replace("http://www.w3.org/", "")
    first = Cassette.load(EXAMPLE)[0]
    assert Cassette.load(tmp_path / "t1-turn-1.cassette.jsonl")[0].request.body == first.request.body
    assert (tmp_path / "t1-turn-1.request.json").read_bytes() == first.request.body
    assert "The tests of the date parser have been failing" in (tmp_path / "t1-turn-1.md").read_text()


def test_help_and_the_palette_open_and_close() -> None:
    async def flow() -> None:
        async with viewing(keys=["question_mark"]) as (app, pilot):
            assert "next, previous finding" in screen(app)
            await press(pilot, "escape", "ctrl+p")
            assert "Next finding" in screen(app)
            await press(pilot, *"growth", "enter")
            await when(pilot, lambda: app.run_screen.view == "growth")

    run(flow)


@pytest.mark.parametrize(("typed", "turn"), [("12", None), ("4", 4), ("turn 6", 6)])
def test_a_number_after_the_colon_goes_to_that_turn(typed: str, turn: int | None) -> None:
    async def flow() -> None:
        async with viewing(keys=["colon"]) as (app, pilot):
            await pilot.press(*("space" if key == " " else key for key in typed), "enter")
            if turn is None:
                await when(pilot, lambda: f"there is no turn {typed} in this run" in screen(app))
            await when(pilot, lambda: row(app) == ("t1", turn or 1))

    run(flow)


def test_a_colon_a_number_and_enter_may_come_at_once() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            for key, character in (("colon", ":"), ("6", "6"), ("enter", "\r")):
                app.post_message(Key(key, character))
            await when(pilot, lambda: row(app) == ("t1", 6))

    run(flow)


def test_a_slash_and_its_words_may_come_at_once() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            for key, character in (("slash", "/"), *((one, one) for one in "zz"), ("slash", "/"), ("z", "z")):
                app.post_message(Key(key, character))
            await when(pilot, lambda: app.run_screen.state.search.filter.text == "zz/z")
            assert not app.run_screen.panes.has_class("list-only")

    run(flow)


@pytest.mark.parametrize(("keys", "found"), [("e", ("t1", 3)), ("G", ("t1", 7)), ("jjk", ("t2", 1))])
def test_keys_that_are_pressed_before_the_first_turn_is_read_wait_for_it(
    keys: str, found: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like the keys of a person who knows what to press, while the file is being opened."""
    pressed, read = threading.Event(), Run.read

    def late(run: Run) -> Iterator[list[Row]]:
        rows = [row for batch in read(run) for row in batch]
        pressed.wait()
        yield rows

    monkeypatch.setattr(Run, "read", late)

    async def flow() -> None:
        app = Viewer(Run(EXAMPLE, priced=False))
        async with app.run_test(size=(120, 40)) as pilot:
            for key in keys:
                await pilot.press(key)
            assert not app.run_screen.ready
            pressed.set()
            await settle(pilot)
            assert row(app) == found

    run(flow)


def test_quitting_and_help_wait_for_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = threading.Event()

    def never(run: Run) -> Iterator[list[Row]]:
        opened.wait()
        yield from ()

    monkeypatch.setattr(Run, "read", never)

    async def flow() -> None:
        app = Viewer(Run(EXAMPLE, priced=False))
        async with app.run_test() as pilot:
            await pilot.press("question_mark")
            assert isinstance(app.screen, PageScreen)
            await pilot.press("escape", "q")
            await pilot.pause()
            assert not app.is_running
            opened.set()

    run(flow)


def test_keys_for_turns_of_an_empty_recording_are_taken_back(tmp_path: Path) -> None:
    async def flow() -> None:
        path = tmp_path / "empty.cassette.jsonl"
        Recorder(path).close()
        async with viewing(path, keys=["e", "G", "p", "9"]) as (app, _):
            assert app.run_screen.view == "costs"

    run(flow)


def test_after_a_pause_in_the_shell_the_screen_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bool] = []

    async def flow() -> None:
        async with viewing() as (app, pilot):

            def refresh(*_: object, layout: bool = False) -> Viewer:
                drawn.append(layout)
                return app

            monkeypatch.setattr(app, "refresh", refresh)
            app.app_resume_signal.publish(app)
            await when(pilot, lambda: drawn == [True])

    run(flow)


def test_the_pictures_of_a_request_are_saved(tmp_path: Path) -> None:
    data = b"GIF89a" + bytes(90)
    asked = user("x")
    asked["content"] = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/gif;base64," + b64encode(data).decode()}},
    ]
    tape = tmp_path / "pictures.cassette.jsonl"
    with Recorder(tape) as recorder:
        recorder.write(chat([asked], said("a picture")))

    async def flow() -> None:
        async with viewing(tape, keys=["x", "i"], folder=tmp_path) as (app, pilot):
            await when(pilot, lambda: "t1-turn-1.gif" in screen(app))

    run(flow)
    assert (tmp_path / "t1-turn-1.gif").read_bytes() == data


def test_a_command_picked_in_the_list_of_the_palette_is_run() -> None:
    async def flow() -> None:
        async with viewing(keys=["colon"]) as (app, pilot):
            await pilot.press("down", "enter")
            await when(pilot, lambda: app.run_screen.view == "wire")

    run(flow)


def test_a_word_of_the_system_prompt_is_found_once_at_its_first_turn() -> None:
    async def flow() -> None:
        async with viewing(keys=["G", "/", *'"apologize', "space", *'and"', "enter"]) as (app, pilot):
            await when(pilot, lambda: "2 of 12 round trips" in screen(app))
            await when(pilot, lambda: "match 1 of 1 on this page" in screen(app))
            assert [app.run_.rows.all[p].index for p in app.run_screen.panes.turns.places] == [0, 7]

    run(flow)


def test_a_search_that_ends_at_once_also_goes_to_its_first_match(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(call: Callable[[], None]) -> None:
        call()

    async def flow() -> None:
        async with viewing(keys=["G", "/", *'"apologize', "space", *'and"', "enter"]) as (app, pilot):
            await when(pilot, lambda: "match 1 of 1 on this page" in screen(app))
            assert app.run_screen.state.place in app.run_screen.panes.turns.places

    monkeypatch.setattr(run_screen, "SentSearcher", partial(SentSearcher, start=at_once))
    run(flow)


def test_the_match_is_found_when_the_page_is_made_again_while_it_is_searched() -> None:
    async def flow() -> None:
        async with viewing(keys=["/", *"apologize", "enter"]) as (app, pilot):
            shown = app.run_screen.panes.page
            again = replace(shown.page)
            shown.page = replace(shown.page)
            shown.seek(1, edge=True)
            shown.show(again)
            app.run_screen.state.search.match = ""
            await when(pilot, lambda: app.run_screen.state.search.match.startswith("match 1 of"))

    run(flow)


def test_an_exclamation_mark_shows_errors_only_and_then_all() -> None:
    async def flow() -> None:
        async with viewing(keys=["!"]) as (app, pilot):
            assert [app.run_.rows.all[p].index for p in app.run_screen.panes.turns.places] == [6, 7]
            await press(pilot, "!")
            assert not app.run_screen.state.search.filter

    run(flow)


def test_control_z_suspends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            suspended: list[bool] = []
            monkeypatch.setattr(app, "action_suspend_process", lambda: suspended.append(True))
            await press(pilot, "ctrl+z")
            assert suspended == [True]

    run(flow)


def test_every_theme_can_be_put_on() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            names: list[str] = []
            for _ in PALETTES:
                await press(pilot, "ctrl+t")
                names.append(app.theme)
            assert sorted(names) == sorted(PALETTES)

    run(flow)


def test_a_click_selects_a_turn_and_a_tab_opens_its_view() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            await pilot.click("#turns", offset=(20, 5))
            await settle(pilot)
            assert row(app) == ("t1", 3)
            await pilot.click("#tabs", offset=(11, 0))
            await settle(pilot)
            assert app.run_screen.view == "wire"
            await pilot.click("#turns", offset=(3, 2))
            await settle(pilot)
            assert "▾ t2" in screen(app)

    run(flow)


def test_the_command_line_can_name_the_turn() -> None:
    async def flow() -> None:
        async with viewing(turn=4) as (app, _):
            assert row(app) == ("t1", 4)
        async with viewing(turn=99) as (app, _):
            assert "there is no turn 99" in screen(app)

    run(flow)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (160, 45), (200, 60), (40, 12)])
def test_it_fits_every_size(size: tuple[int, int]) -> None:
    async def flow() -> None:
        async with viewing(keys=["e", "enter", "2", "3", "4", "5", "6", "1"], size=size) as (app, pilot):
            assert all(len(line) <= size[0] for line in screen(app).splitlines())
            await pilot.resize_terminal(90, 28)
            await settle(pilot)
            assert "turntape" in screen(app)

    run(flow)


def test_a_damaged_file_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "torn.cassette.jsonl"
    path.write_bytes(EXAMPLE.read_bytes()[:-700] + b"\n{")

    async def flow() -> None:
        async with viewing(path) as (app, _):
            assert len(app.run_.rows.all) == 11
            assert "was skipped" in screen(app)

    run(flow)


def test_following_shows_what_is_added_and_leaves_the_cursor_where_a_person_put_it(tmp_path: Path) -> None:
    path = tmp_path / "live.cassette.jsonl"
    trips = list(Cassette.load(EXAMPLE))

    async def until(pilot: object, app: Viewer, count: int) -> None:
        for _ in range(1000):
            await pilot.pause(0.01)  # type: ignore[attr-defined]
            if len(app.run_.rows.all) >= count:
                break
        await settle(pilot)  # type: ignore[arg-type]
        await pilot.pause(0.2)  # type: ignore[attr-defined]

    async def flow() -> None:
        with Recorder(path) as recorder:
            recorder.write(trips[0])
            async with viewing(path, live=True) as (app, pilot):
                await until(pilot, app, 1)
                assert row(app) == ("t1", 1)
                # A side call does not take the cursor away; the next turn of the thread does.
                recorder.write(trips[1])
                await until(pilot, app, 2)
                assert row(app) == ("t1", 1)
                recorder.write(trips[2])
                await until(pilot, app, 3)
                assert row(app) == ("t1", 2)
                # Who goes back to look at something stays there.
                await press(pilot, "g")
                for trip in trips[3:7]:
                    recorder.write(trip)
                await until(pilot, app, 7)
                assert row(app) == ("t1", 1)
                assert "newer turns below" in screen(app)
                await press(pilot, "f", "f")
                assert row(app) == ("t1", 3)

    run(flow)


def test_growth_grows_while_it_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "live.cassette.jsonl"
    trips = list(Cassette.load(EXAMPLE))

    async def flow() -> None:
        with Recorder(path) as recorder:
            recorder.write(trips[0])
            async with viewing(path, live=True, keys=["3"]) as (app, pilot):
                for number, trip in enumerate(trips[1:3], start=2):
                    recorder.write(trip)
                    for _ in range(1000):
                        await pilot.pause(0.01)
                        if len(app.run_.rows.all) == number:
                            break
                    await settle(pilot)
                    await pilot.pause(0.2)
                    await settle(pilot)
                plot = app.query_one(GrowthPlot)
                assert [turn.place for turn in plot.strip.in_order] == [0, 1, 2]
                assert plot.place == app.run_screen.place

    run(flow)


def test_the_end_of_a_recording_settles_what_was_open(tmp_path: Path) -> None:
    path = tmp_path / "live.cassette.jsonl"
    going = [True]

    async def flow() -> None:
        with Recorder(path) as recorder:
            recorder.write(loop()[0])
            async with viewing(path, live=True, may_grow=lambda: going[0]) as (app, pilot):
                assert "● live" in screen(app)
                going[0] = False
                for _ in range(1000):
                    await pilot.pause(0.01)
                    if not app.run_screen.state.follow.live:
                        break
                await settle(pilot)
                assert "the recording has ended" in screen(app) and "● live" not in screen(app)

    run(flow)


def test_a_body_of_twenty_megabytes_opens_and_scrolls(tmp_path: Path) -> None:
    path = tmp_path / "huge.cassette.jsonl"
    text = "\n".join(f"line {number} of a very long log, with words enough to be wrapped" for number in range(330_000))
    with Recorder(path) as recorder:
        recorder.write(chat([user(text)], said("That is long."), index=0))

    async def flow() -> None:
        async with viewing(path, keys=["enter", "j", "j"]) as (app, pilot):
            assert "more lines" in screen(app)
            await press(pilot, "O", "G", "2", "O", "G")
            assert app.run_screen.view == "wire"

    run(flow)


def test_what_the_command_writes_is_a_view_of_its_own(tmp_path: Path) -> None:
    written = tmp_path / "output.log"
    written.write_text("agent: begun\n")

    async def flow() -> None:
        async with viewing(output=written, keys=["8"]) as (app, _):
            assert "agent: begun" in screen(app)
        async with viewing(keys=["8"]) as (app, _):
            assert app.run_screen.view == "turn"

    run(flow)


def test_the_list_is_sorted_by_cost_and_the_cursor_goes_to_the_dearest_turn() -> None:
    async def flow() -> None:
        async with viewing(keys=["j"]) as (app, pilot):
            app.run_.price()
            await press(pilot, "s")
            assert row(app) == ("t1", 4)
            lines = [line for line in screen(app).split("1 Turn")[0].splitlines() if "◆" in line][1:]
            assert lines[0].startswith("t1    4") and lines[1].startswith("t1    3") and "▾" not in "".join(lines)
            await press(pilot, "s", "s", "s")
            assert "▾ t1 main" in screen(app)

    run(flow)


def test_the_dearest_tool_result_is_three_keys_away() -> None:
    async def flow() -> None:
        async with viewing(keys=["9", "enter", "enter"]) as (app, _):
            assert app.run_screen.view == "turn" and row(app) == ("t1", 3)
            assert "read_file" in cursor_line(app.query_one(PageView))

    run(flow)


FIRST_PAGE = """
import sys
from pathlib import Path
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.controllers import row_reader
from turntape.inspector.views.tui.controllers.loader import Loader

loaded = []

def page_shown(loader):
    loaded.extend(loaded or sys.modules)
    app.exit()

row_reader.FIRST_PAGE = 600  # nothing is loaded until the first page is on the screen, however long that takes
Loader.page_shown = page_shown
app = Viewer(Run(Path(sys.argv[1]), priced=False))
app.run(headless=True, size=(120, 40))
print(*loaded)
"""


def test_rules_ledger_and_other_pages_are_loaded_after_the_first_page_is_shown() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_PAGE, EXAMPLE], capture_output=True, text=True, check=True)

    loaded = [name.removeprefix("turntape.inspector.") for name in done.stdout.split() if name.startswith("turntape")]
    later = ("findings.", "ledger", "tools.", "compare.", "run.labels", "run.row_maker", "views.tui.pages.")
    assert {name for name in loaded if name.startswith(later)} == {
        "findings.finding",
        *(f"tools.{name}" for name in ("flaw", "run_words", "spans", "tool_run")),
        *(f"views.tui.pages.{name}" for name in FIRST_PAGES),
    }
    assert 200 < len(loaded) < 300


FIRST_PAGES = (
    "answer_blocks", "blocks", "cost_orders", "finding_blocks", "help_page", "json_lines", "layer_lines",
    "message_blocks", "other_page", "page", "page_table", "picture_lines", "sections", "text_lines", "timeline",
    "tool_blocks", "turn_page",
)  # fmt: skip


def test_keys_typed_before_the_next_turns_are_read_wait_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_reader, "FIRST_PAGE", 600)
    monkeypatch.setattr(row_reader, "BATCH", 0.0)  # each row comes alone
    let_go: list[Callable[[], None]] = []
    monkeypatch.setattr(Loader, "page_shown", lambda loader: let_go.append(partial(RowReader.page_shown, loader._rows)))

    async def flow() -> None:
        app = Viewer(Run(EXAMPLE, priced=False))
        async with app.run_test(size=(120, 40)) as pilot:
            for _ in range(2000):
                if let_go:
                    break
                await pilot.pause(0.005)
            assert row(app) == ("t1", 1) and "Turn 1 of t1" in screen(app)
            assert not app.run_screen.ready
            await pilot.press("j", "j")
            assert row(app) == ("t1", 1)
            let_go[0]()
            await when(pilot, lambda: row(app) == ("t1", 2))

    run(flow)


@pytest.mark.parametrize(
    ("keys", "found", "on_turn"),
    [("j", ("t3", 1), False), ("jj", ("t1", 3), True), (".", ("t1", 3), True), ("j.", ("t1", 3), True)],
)
def test_keys_typed_below_the_last_line_stop_where_they_would_have_stopped(
    keys: str, found: tuple[str, int], on_turn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turn 2 of t1 starts the subagent t3, whose head comes next in the list."""
    pressed, read = threading.Event(), Run.read

    def late(run: Run) -> Iterator[list[Row]]:
        rows = [row for batch in read(run) for row in batch]
        cut = next(place for place, row in enumerate(rows) if row.thread == "t3")
        yield rows[:cut]
        pressed.wait()
        yield rows[cut:]

    monkeypatch.setattr(row_reader, "BATCH", -1.0)  # each batch is handed over at once
    monkeypatch.setattr(Run, "read", late)

    async def flow() -> None:
        app = Viewer(Run(EXAMPLE, priced=False))
        async with app.run_test(size=(120, 40)) as pilot:
            for _ in range(2000):
                if app.run_screen.panes.turns.count() == 4:  # two heads, two turns of t1
                    break
                await pilot.pause(0.005)
            await pilot.press("G")
            assert row(app) == ("t1", 2)
            for key in keys:
                await pilot.press("full_stop" if key == "." else key)
            assert row(app) == ("t1", 2)
            pressed.set()
            await when(pilot, lambda: row(app) == found)
            assert app.run_screen.panes.turns.on_turn is on_turn

    run(flow)
