"""The first line of the screen."""

from dataclasses import replace

import pytest
import tool_tapes
from conversations import HELLO, chat
from conversations import said as answered
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.headings import Summary, Title, summarize, title


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarize(Run.load(EXAMPLE).rows)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (82, "✗2 !2 first in turn 3 of t1  $0.071  11 turns  3 threads"),
        (66, "✗2 !2 first in turn 3 of t1  $0.071"),
        (50, "✗2 !2  $0.071  11 turns"),
        (36, "✗2 !2  $0.071"),
    ],
)
def test_with_little_room_the_number_of_problems_and_the_cost_are_left_out_last(
    summary: Summary, width: int, shown: str
) -> None:
    line = "".join(text for text, _ in title(Title("run.jsonl", reading=False), summary, width))

    assert line.startswith(" turntape  run.jsonl ")
    assert " ".join(line.split()[2:]) == " ".join(shown.split())
    assert len(line) <= width


def test_many_threads_are_written_as_many_turns(summary: Summary) -> None:
    many = replace(summary, totals=replace(summary.totals, turns=1200, threads=1200))
    line = "".join(text for text, _ in title(Title("run.jsonl", reading=False), many, 200))
    assert "  1,200 turns  " in line and "  1,200 threads  " in line


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("run.jsonl", 32, " run.jsonl        ✗2 !2  $0.071 "),
        ("run.jsonl", 25, " run.jsonl ✗2 !2  $0.071 "),
        ("a-recording-with-a-long-name.jsonl", 30, " a-recording-w… ✗2 !2  $0.071 "),
        ("a-recording-with-a-long-name.jsonl", 20, " a-recor…     ✗2 !2 "),
        ("a-recording-with-a-long-name.jsonl", 8, " a-recor… "),
    ],
)
def test_with_less_room_the_program_and_then_the_file_are_shortened(
    summary: Summary, name: str, width: int, shown: str
) -> None:
    assert "".join(text for text, _ in title(Title(name, reading=False), summary, width)) == shown


def test_a_run_whose_requests_were_all_refused_has_no_cost_and_no_unknown_one() -> None:
    refused = [chat([HELLO], error={"error": {"message": "no"}}, status=429, index=at) for at in range(2)]
    line = "".join(text for text, _ in title(Title("run.jsonl", reading=False), summarize(Run.of(refused).rows), 100))

    assert "no cost" in line and "unpriced" not in line


def test_tokens_that_nobody_counted_are_not_0() -> None:
    runs = [Run.of([chat([HELLO], answered("x"), usage=usage)]) for usage in ((100, 10), None)]
    lines = ["".join(text for text, _ in title(Title("f", reading=False), summarize(run.rows), 100)) for run in runs]

    assert [" 100 in 10 out " in line for line in lines] == [True, False]
    assert [" in " in line for line in lines] == [True, False]


@pytest.mark.parametrize(("reading", "said"), [(True, False), (False, True)])
def test_a_run_is_not_called_unpriced_while_it_is_read(reading: bool, said: bool) -> None:
    summary = summarize(Run.of([chat([HELLO], answered("yes"), usage=None)]).rows)

    line = "".join(text for text, _ in title(Title("run.jsonl", reading=reading), summary, 80))

    assert ("unpriced" in line) is said
    assert "1 turn" in line


def test_tool_runs_are_counted_and_their_messages_are_not_turns() -> None:
    summary = summarize(Run.of(tool_tapes.story().trips).rows)

    line = "".join(text for text, _ in title(Title("run.jsonl", reading=False), summary, 120))

    assert "3 turns" in line
    assert "4 tool runs" in line


def test_a_file_with_only_messages_of_tool_servers_is_not_empty() -> None:
    summary = summarize(Run.of(tool_tapes.story().trips[:2]).rows)

    assert "nothing recorded" not in str(title(Title("run.jsonl", reading=False, live=True), summary, 120))


@pytest.mark.parametrize(("share", "said"), [(0.0, "reading 0 %"), (0.999, "reading 99 %"), (1.0, "labelling")])
def test_reading_has_a_share_until_only_labels_are_left(share: float, said: str) -> None:
    summary = summarize(Run.of([]).rows)

    line = "".join(text for text, _ in title(Title("run.jsonl", share=share), summary, 80))
    assert f" {said} " in line


@pytest.mark.parametrize(("width", "words"), [(120, "! damaged file"), (82, "! damaged")])
def test_a_file_that_cannot_be_read_whole_is_never_called_without_problems(width: int, words: str) -> None:
    healthy = summarize(Run.of([chat([HELLO], answered("yes"))]).rows)
    whole, damaged = (
        "".join(text for text, _ in title(Title("run.jsonl", reading=False, damaged=damage), healthy, width))
        for damage in (False, True)
    )

    assert "no problems" in whole and "damaged" not in whole
    assert "no problems" not in damaged and f"{words} " in damaged
