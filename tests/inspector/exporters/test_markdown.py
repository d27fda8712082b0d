"""Markdown that says the run and means itself."""

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
