"""Tool runs as text: beside their turns, in full, and all of a cassette."""

from dataclasses import replace
from pathlib import Path

import tool_tapes
from conversations import chat, loop, said, user

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.views.text.run_text import show_text
from turntape.inspector.views.text.terminal_text import plain
from turntape.inspector.views.text.tool_text import call_of, console_tool_line, run_spans, tools_text, unjoined_lines

RUN = tool_tapes.story().runs()[0]


def test_a_line_of_the_console_says_how_a_run_ended() -> None:
    run = {"name": "read", "server": "files", "duration_ms": 1500.0, "outcome": "unanswered", "is_error": None}

    assert console_tool_line({**run, "returned_bytes": None}, colour=False) == "● read on files  1.5 s  unanswered"
    assert "\x1b[" in console_tool_line({**run, "returned_bytes": 3}, colour=True)
    waits = {**run, "outcome": "input_required", "duration_ms": None, "returned_bytes": 3}
    assert console_tool_line(waits, colour=False) == "● read on files  input required  3 B returned"


def test_runs_are_below_the_client_of_their_turn_and_messages_are_left_out(tmp_path: Path) -> None:
    lines = list(show_text(Cassette.load(tool_tapes.record(tmp_path / "t.cassette.jsonl")), width=120))

    assert lines[1].startswith("$0.00068 · 3 turns · 300 tokens in · 4 tool runs · 2026")
    at = next(number for number, line in enumerate(lines) if line.startswith("  ▶ client dispatched  2 results"))
    assert lines[at + 1 : at + 3] == [
        "  ● tool   read on files  5 ms  a part of it was seen  89 B returned, 38 B seen",
        "           search on files  80 ms  only the structured content was seen  112 B returned, 34 B seen",
    ]
    assert "  ● tool   write on files  5 ms  the tool reported an error  seen whole  67 B returned" in lines
    assert "● stop on files  #7  5 ms  46 B returned  no call of the model" in lines
    assert not any("stdio://" in line for line in lines)


def test_a_run_that_a_span_reported_says_so() -> None:
    shown = plain(run_spans(replace(RUN, source="span")))

    assert shown.startswith("read on files (from a span)  5 ms")


def test_runs_without_a_call_and_a_finding_come_last() -> None:
    lines = [plain(line) for line in unjoined_lines([replace(RUN, joined=None, seen_as=None, seen_bytes=None)], 100)]

    assert lines == ["", "● 1 tool run without a call of the model", "    read on files  #3  5 ms  89 B returned"]
    assert list(unjoined_lines([], 100)) == []


def test_messages_without_runs_are_counted_apart_from_other_round_trips(tmp_path: Path) -> None:
    first, second, *_, handshake_end = tool_tapes.story().trips
    trips = [first, second, handshake_end]
    lines = list(show_text(Cassette.load(tool_tapes.record(tmp_path / "t.cassette.jsonl", trips))))

    assert lines[1].startswith("0 turns · 3 messages of tool servers · ")
    assert len(lines) == 2


def test_one_turn_shows_the_result_against_what_was_seen(tmp_path: Path) -> None:
    text = "\n".join(show_text(Cassette.load(tool_tapes.record(tmp_path / "t.cassette.jsonl")), turn=1))

    order = ["● read on files  #3", '\n    read(path="notes.txt")', "− as returned  + as seen", "    − 5: five"]
    places = [
        text.index(piece) for piece in [*order, "    + … cut", "● search on files  #4", "    − 2 hits: tape, reel"]
    ]
    assert places == sorted(places)


def test_all_runs_of_a_cassette_are_listed_with_their_servers(tmp_path: Path) -> None:
    cassette = Cassette.load(tool_tapes.record(tmp_path / "t.cassette.jsonl"))

    lines = [plain(line) for line in tools_text(cassette, "t", width=120)]

    assert lines[:4] == [
        "t",
        "4 tool runs · 7 messages of tool servers · 1 without a call of the model",
        "",
        "files  npx -y @example/server-files /data  pid 4711  exit 0",
    ]
    heads = [line for line in lines if line.startswith("● ")]
    assert [head.split()[1] for head in heads] == ["read", "search", "write", "stop"]
    assert "no call of the model" in heads[-1]
    assert "    no space left" in lines
    assert [line for line in tools_text(cassette, "t", thread="t7") if plain(line).startswith("●")] == []


def test_a_cassette_without_tool_servers_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in loop():
            recorder.write(trip)

    text = " ".join(plain(line) for line in tools_text(Cassette.load(path), "t"))

    assert "no messages of tool servers were recorded" in text


def test_a_long_result_is_cut_with_the_number_of_lines(tmp_path: Path) -> None:
    story = tool_tapes.Story(tools=tool_tapes.TOOLS).start().turn(("c1", "read", "{}"))
    story.call("read", {}, tool_tapes.text("\n".join(map(str, range(40)))))
    lines = [plain(line) for line in
             tools_text(Cassette.load(tool_tapes.record(tmp_path / "t.cassette.jsonl", story.trips)), "t")]  # fmt: skip

    assert lines[-2:] == ["    11", "    … 28 more lines"]


def test_arguments_other_than_an_object_are_shown_as_they_are() -> None:
    assert call_of(RUN) == 'read(path="notes.txt")'
    assert call_of(replace(RUN, arguments=[1], arguments_raw="[1]")) == "read([1])"
    assert call_of(replace(RUN, arguments=None, arguments_raw="")) == "read()"


def test_the_head_is_wrapped_and_a_turn_has_its_thread_where_there_are_several(tmp_path: Path) -> None:
    path = tool_tapes.record(tmp_path / "t.cassette.jsonl")
    lines = [plain(line) for line in tools_text(Cassette.load(path), "t", width=50)]
    assert lines[1:4] == ["4 tool runs · 7 messages of tool servers · 1", "  without a call of the model", ""]
    assert any(line.endswith("  turn 1") for line in lines) and max(map(len, lines)) <= 50

    trips = [*tool_tapes.story().trips, chat([user("else")], said("yes"), index=20, at=1_790_000_000.0)]
    both = tool_tapes.record(tmp_path / "u.cassette.jsonl", trips)
    assert "turn 1 of t1" in "\n".join(plain(line) for line in tools_text(Cassette.load(both), "t", width=120))
