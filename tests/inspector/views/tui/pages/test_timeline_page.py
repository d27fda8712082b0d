"""The page of times."""

from dataclasses import replace

import pytest
from conversations import HELLO, chat, loop
from viewing import EXAMPLE

from turntape.cassettes.tape.model import Request
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.run_timeline import Axis, Phase, RunTimeline, Span, run_timeline
from turntape.inspector.run.stream_timeline import first_token
from turntape.inspector.views.tui.pages.timeline_page import drawn, timeline_page

RUN = Run.load(EXAMPLE)


def shown(width: int, place: int = 0, token: float | None = None) -> list[str]:
    return list(timeline_page(RUN.rows, place, token).laid_out(width, {}).text())


def test_the_first_line_has_the_times_of_the_turn() -> None:
    lines = shown(120, 0, 1.0)

    assert lines[0] == (
        "turn 1 of t1  786 ms to the first byte  1.0 s to the first token  2.5 s for the rest of the answer"
        "  5.7 s in the client"
    )
    assert "token" not in shown(120)[0]


def test_a_lane_for_each_thread_and_tool_leads_to_its_first_turn() -> None:
    page = timeline_page(RUN.rows, 0)
    lanes = [block for block in page.blocks if block.key.startswith("lane:")]

    assert [block.key.partition(":")[2] for block in lanes[:3]] == ["thread:t1", "thread:t2", "thread:t3"]
    assert all(block.goto is not None for block in lanes)
    assert "  ● write_file" in "\n".join(shown(78))
    assert "~2.4 s" in next(line for line in shown(78) if "write_file" in line)


@pytest.mark.parametrize("width", [16, 38, 78, 120, 198])
def test_lanes_and_turns_keep_within_the_width_and_below_their_heads(width: int) -> None:
    lines = shown(width)
    head = next(line for line in lines if line.strip().startswith("turn  "))
    first = lines[lines.index(head) + 1]

    if width >= 38:
        assert first.index("786 ms") + 6 == head.index("1st byte") + 8
        assert first.index("2.5 s") + 5 == head.index("answer") + 6
    assert max(len(line) for line in lines if "▸ t" in line) <= max(width, 31)


def test_a_cell_shows_what_took_longest_in_it() -> None:
    found = run_timeline(RUN.rows)
    main = found.lanes[0]

    whole = "".join(sign for sign, _ in drawn(main.spans, found, 200))
    assert len(whole) == 200 and set(whole) == {"░", "█", "▒", " ", "✗"}
    assert whole.count("█") > whole.count("░")
    assert {look for sign, look in drawn(main.spans, found, 200) if sign == "✗"} == {"bad"}


def spans(turns: int, *phases: tuple[Phase, float], rest: float = 0.0) -> list[Span]:
    """Each turn takes a second less `rest`: phases one after the other, with their parts of it."""
    out: list[Span] = []
    for turn in range(turns):
        at = float(turn)
        for phase, part in phases:
            out.append(Span(phase, at, at + part * (1 - rest), turn))
            at += part * (1 - rest)
    return out


def test_a_lane_with_more_turns_than_cells_has_as_many_cells_of_a_phase_as_its_part_of_the_time() -> None:
    made = spans(1000, ("wait", 0.2), ("stream", 0.5), ("client", 0.3))
    found = RunTimeline((), (), Axis(made))

    whole = "".join(sign for sign, _ in drawn(made, found, 100))
    assert (whole.count("░"), whole.count("█"), whole.count("▒")) == (20, 50, 30)
    half = spans(1000, ("stream", 1.0), rest=0.5)
    assert 49 <= "".join(sign for sign, _ in drawn(half, found, 100)).count(" ") <= 51


def test_a_cell_of_a_tool_is_as_high_as_its_part_of_the_time_and_never_empty() -> None:
    found = RunTimeline((), (), Axis(spans(1000, ("stream", 1.0))))

    half = drawn(spans(1000, ("tool", 1.0), rest=0.5), found, 20)
    assert {sign for sign, _ in half} == {"▄"}
    assert drawn([Span("tool", 500.0, 500.1, 0, failed=True)], found, 20)[10] == ("✗", "bad")
    assert drawn([Span("stream", 500.0, 500.1, 0)], found, 20)[10] == ("█", "api")


def test_a_long_pause_is_shortened_and_said() -> None:
    first, second = loop()
    late = replace(second, started_at=second.started_at + 3600, index=1)
    run = Run.of([replace(first, index=0, ended_at=1_000_000), replace(late, ended_at=2_000_000)])
    plain = [replace(row, calls=()) for row in run.rows.all]
    run.rows.all[:] = plain

    lines = list(timeline_page(run.rows, 0).laid_out(80, {}).text())
    assert "┆ 1 pause shortened, the longest 60 min" in "\n".join(lines)
    assert any("┆" in line for line in lines if "▸ t1" in line)


def test_the_first_token_is_between_the_first_byte_and_the_end() -> None:
    detail = RUN.detail(0)
    at = first_token(detail)

    assert at is not None and (detail.round_trip.first_byte_at or 0) < at < (detail.round_trip.ended_at or 0)
    overloaded = next(place for place, row in enumerate(RUN.rows.all) if row.status == 529)
    assert first_token(RUN.detail(overloaded)) is None


def test_an_empty_run() -> None:
    assert list(timeline_page(Run.of([]).rows, 0).laid_out(80, {}).text()) == ["no turns"]


def test_the_sign_of_a_failure_is_explained_where_there_is_one() -> None:
    assert "✗ something failed" in "\n".join(shown(120))
    assert "failed" not in "\n".join(timeline_page(Run.of(loop()).rows, 0).laid_out(120, {}).text())


@pytest.mark.parametrize("first", [1.0, 1.2, 1.37])
@pytest.mark.parametrize("cells", range(20, 90))
def test_a_pause_that_leaves_a_cell_empty_has_its_sign(first: float, cells: int) -> None:
    made = [Span("wait", 0.0, 0.3, 0), Span("stream", 0.3, first, 0), Span("stream", 60.0, 62.0, 1)]
    found = RunTimeline((), (), Axis(made))

    whole = "".join(sign for sign, _ in drawn(made, found, cells))
    assert len(found.axis.pauses) == 1
    assert " " not in whole or whole.count("┆") == 1


def test_a_turn_without_a_first_byte_has_only_its_whole_time() -> None:
    rows = Run.of([replace(chat([HELLO]), first_byte_at=None, ended_at=4_000_000)]).rows
    lines = list(timeline_page(rows, 0).laid_out(120, {}).text())

    assert lines[0] == "turn 1  4.0 s in all; no first byte is recorded"
    assert lines[-1].split()[:4] == ["1", "4.0", "s", "–"]


def test_a_request_outside_the_conversations_says_so() -> None:
    turn = replace(chat([HELLO]), ended_at=1_000_000)
    files = Request("GET", "https://api.openai.com/v1/files", (), b"")
    run = Run.of([turn, replace(turn, index=1, request=files)])
    assert run.rows.all[1].turn is None

    lines = list(timeline_page(run.rows, 1).laid_out(120, {}).text())

    assert lines[0] == "#1  no turn of a conversation: it is not in these times"
    assert lines[1] == "" and "threads and tools" in lines[2]
