"""Markdown that says the run and means itself."""

import tool_tapes
from conversations import CALL, HELLO, chat, loop, result, said, user

from turntape.inspector.exporters.markdown import markdown


def test_a_run_reads_top_to_bottom() -> None:
    text = "\n".join(markdown(loop(), "run.cassette.jsonl"))

    order = [
        "# run.cassette.jsonl",
        "2 turns · 1 tool call",
        "## Turn 1 · gpt-5",
        "> what is a tape?",
        "**call** `look_up`",
        '{"word":"tape"}',
        "a strip that holds a recording",
        "finish `tool_calls` · client: dispatched · 100 tokens in",
        "## Turn 2",
        "> It holds a recording.",
    ]
    places = [text.index(piece) for piece in order]
    assert places == sorted(places)


def test_what_was_said_cannot_break_out_of_its_place() -> None:
    evil = "```\n# not a heading\n````\n</details>"
    trips = [
        chat([HELLO], said(None, CALL)),
        chat([HELLO, said(None, CALL), result("call_1", evil)], said("ok"), index=1),
    ]

    lines = list(markdown(trips, "a_b*c"))

    assert lines[0] == r"# a\_b\*c"
    assert "`````" in lines  # longer than any fence in the text
    assert [line for line in lines if line.startswith("# ")] == [lines[0], "# not a heading"]
    start = lines.index("# not a heading")
    assert "`````" in lines[:start]
    assert "`````" in lines[start:]


def test_threads_and_errors_are_shown() -> None:
    trips = [
        chat([HELLO], said("Hi.")),
        chat([user("x")], error={"error": {"message": "too *busy*"}}, status=503, index=1),
    ]

    text = "\n".join(markdown(trips))

    assert "## Thread t2" in text
    assert r"error: too \*busy\*" in text


def test_tool_runs_are_below_their_calls_and_the_others_last() -> None:
    text = "\n".join(markdown(tool_tapes.story().trips))

    assert "3 turns · 3 tool calls · 4 tool runs" in text
    order = [
        "**call** `mcp__files__read`",
        "**ran** `read` on `files` · 5 ms · a part of it was seen",
        "**as returned**",
        "6: six",
        "**call** `mcp__files__search`",
        "**ran** `search` on `files` · 80 ms · only the structured content was seen · joined by name, arguments",
        "**ran** `write` on `files` · 5 ms · the tool reported an error · seen whole",
        "## Tool runs without a call of the model",
        "**ran** `stop` on `files` · 5 ms · no call of the model",
    ]
    places = [text.index(piece) for piece in order]
    assert places == sorted(places)
