from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from conversations import HELLO, chat, loop, said
from inline_snapshot import snapshot
from judged import responses

from turntape.cassettes.tape.model import Failure
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.text.run_text import console_line, show_text
from turntape.inspector.views.text.terminal_text import width_of


def shown(*trips: object, **options: object) -> str:
    return "\n".join(show_text(Cassette.from_round_trips(trips), **options))  # type: ignore[arg-type]


def test_a_run_is_read_from_top_to_bottom() -> None:
    assert shown(*loop(), width=80) == snapshot("""\
a run
2 turns · 2026-05-28 20:26:40 UTC · gpt-5-2025-08-07

Turn 1  gpt-5-2025-08-07  openai-chat  250 ms  #0
    user: what is a tape?
  ◆ model  → look_up(word="tape")
  ■ api    tool_calls
  ▶ client dispatched  1 result
    100 in, 10 out  $0.000225  so far $0.000225

Turn 2  gpt-5-2025-08-07  openai-chat  250 ms  #1
    ← look_up a strip that holds a recording
  ◆ model  It holds a recording.
  ■ api    complete (said 'stop')
  ▶ client ended
    150 in (50 new, 100 resent), 20 out  $0.0003875  so far $0.0006125\
""")


def test_a_failed_turn_is_marked_with_what_had_arrived() -> None:
    text = shown(chat([HELLO], failure=Failure("refused", "connection refused")))

    assert "■ api    error" in text
    assert "0 bytes had arrived" in text
    assert "✗ api · api-unreachable" in text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = said("word " * 200, ("call_9", "look_up", '{"word":"' + "日本" * 100 + '"}'))

    for text in (shown(chat([HELLO], long), width=width), shown(chat([HELLO], long), width=width, turn=1)):
        assert max(width_of(line) for line in text.splitlines()) <= width


def test_one_turn_is_shown_whole_and_one_that_is_not_there_is_nothing() -> None:
    text = shown(*loop(), turn=2)

    assert "a strip that holds a recording" in text
    assert "look_up(word)" in text
    assert shown(*loop(), turn=9) == ""


def test_nothing_from_the_wire_drives_the_terminal() -> None:
    text = shown(chat([HELLO], said("\x1b[2J\x1b]0;owned\x07")), colour=False)

    assert "\x1b" not in text


def test_a_console_line_names_the_three_layers() -> None:
    [first, _] = label_all(loop())

    line = console_line(first.label, cast(Any, SimpleNamespace(cost=Decimal("0.5"))), colour=False)

    assert "look_up" in line and "tool_calls" in line and "first" in line and "$0.5" in line


def test_what_the_apis_own_tools_gave_is_shown_beside_their_calls() -> None:
    ask = {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "wiki", "arguments": '{"q":1}'}
    trip = responses(
        [{"role": "user", "content": "hi"}],
        [
            {"type": "mcp_list_tools", "id": "l", "server_label": "wiki", "tools": [{"name": "ask"}]},
            {**ask, "output": "a mountain"},
            {**ask, "id": "mcp_2", "error": "gone"},
        ],
    )

    assert shown(trip, colour=False).splitlines()[5:9] == [
        "  ◆ model  ⚙ ask(q=1)",
        "           ⚙ ask(q=1)",
        "             ← a mountain",
        "             ← gone",
    ]
    lines = [line.strip() for line in shown(trip, turn=1, colour=False).splitlines()]
    assert "[other] tools of wiki: ask" in lines
    assert lines[lines.index("← ask  mcp_1") + 1] == "a mountain"
