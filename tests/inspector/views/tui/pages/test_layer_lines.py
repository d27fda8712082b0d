"""The three layers of a turn, a line each."""

import tool_tapes
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.layer_lines import layer_lines


def lines(trips: list[RoundTrip], place: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in layer_lines(Run.of(trips).rows.all[place])]


def test_each_layer_says_what_it_did() -> None:
    model, api, client = lines(loop(), 0)

    assert model == "◆ model   calls: look_up tape"
    assert api == "■ api     tool_calls  first byte 200 ms, whole 250 ms"
    assert client == "▶ client  dispatched  1 result"


def test_a_changed_history_is_said_and_a_rebuilt_prompt_is_not_called_one() -> None:
    changed = [
        chat([HELLO], said(None, CALL)),
        chat([user("short"), said(None, CALL), result("call_1", "x")], said("y"), index=1),
    ]
    assert lines(changed, 1)[2] == "▶ client  ended  it had changed the history before this turn"

    answer = "Thought: I should look up the length of the Loire.\nAction: look_up"
    rebuilt = [
        chat([user("Which is longer?")], said(answer), tools=None),
        chat([user(f"Which is longer? {answer}\nObservation: 1,006 km")], said("x"), index=1, tools=None),
    ]
    assert lines(rebuilt, 1)[2] == "▶ client  ended"


def test_the_tools_are_a_fourth_line_where_their_wire_was_recorded() -> None:
    trips = tool_tapes.story().trips

    assert lines(trips, 2)[3] == "● tool    read 5 ms, search 80 ms  2 results not seen as returned"
    assert lines(trips, 5)[3] == "● tool    write 5 ms ✗"
    assert len(lines(trips, 8)) == 3
