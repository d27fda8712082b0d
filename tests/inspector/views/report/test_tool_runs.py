"""Tool runs in the report."""

import re

import tool_tapes
from conversations import HELLO, chat, said
from report_pages import Opened

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report import report

RUN = Run.of(tool_tapes.story().trips)
PAGE = Opened("".join(report(RUN, "run")))


def view(place: int) -> str:
    return PAGE.views[place]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_result_as_returned_is_beside_the_result_as_seen() -> None:
    turn = view(2)

    assert "<th>as returned</th><th>as seen by the model</th>" in turn
    assert "<td><del>5: five</del></td><td><ins>… cut</ins></td>" in turn
    assert "<td><del>6: six</del></td><td></td>" in turn
    assert '<td class="dim">4: four</td><td class="dim">4: four</td>' in turn


def test_the_tools_are_a_fourth_line_of_the_layers_and_lanes() -> None:
    turn = words(view(2))

    assert "● tool read 5 ms not seen as returned , search 80 ms not seen as returned" in turn
    assert "Timeline 280 ms to the last result, the next request 20 ms later ■ api 250 ms ● read 5 ms ● search" in turn
    assert "Timeline" not in words(view(8))


def test_messages_of_tool_servers_are_quiet_and_are_not_counted_as_other_round_trips() -> None:
    assert [place for place, quiet in enumerate(PAGE.index["quiet"]) if quiet] == [0, 1, 3, 4, 6, 9]
    assert (
        PAGE.rows[7].startswith('<a class="row other" href="#row-7"')
        and "stop on files, no call of the model" in PAGE.rows[7]
    )
    assert "3 turns · 4 tool runs · 300 tokens in" in PAGE.page
    assert "other round trip" not in PAGE.page


def test_with_several_threads_they_have_a_group_of_their_own() -> None:
    page = Opened("".join(report(Run.of([*tool_tapes.story().trips, chat([HELLO], said("Hi."), index=9)]), "run")))

    heads = [words(page.html(group["head"])) for group in page.index["groups"]]
    assert [head for head in heads if head.startswith("tool servers · 6 messages")]
    assert page.index["quiet"] == []


def test_a_message_of_a_tool_server_says_what_it_is() -> None:
    assert words(view(7)).startswith(
        "● tools/call files message of a tool server #7, answered after 5 ms ● stop on files"
    )
    assert "initialize files" in words(view(0))
