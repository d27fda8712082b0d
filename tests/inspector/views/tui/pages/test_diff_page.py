"""The page of differences: this request against the one before, and the answer against what was sent back."""

from itertools import takewhile

import pytest
from conversations import CALL, HELLO, chat, loop, result, said, user
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.page_table import PAGES


def shown(trips: list[RoundTrip], place: int, width: int = 80) -> list[str]:
    page = PAGES["diff"](Run.of(trips), place)
    return list(page.laid_out(width, {block.key: True for block in page.blocks}).text())


def texts(old: str, new: str) -> list[str]:
    """The difference of two system prompts, line by line."""
    system = [{"role": "system", "content": text} for text in (old, new)]
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    trips = [chat([system[0], HELLO], said(None, CALL)), chat([system[1], *history], said("done"), index=1)]
    lines = shown(trips, 1)
    start = next(at for at, line in enumerate(lines) if "/messages/0/content" in line) + 1
    return [line[6:].rstrip() for line in takewhile(lambda line: "/messages/" not in line, lines[start:])]


def test_equal_lines_before_and_after_a_change_are_counted() -> None:
    front, back = ["a", "b", "c"], ["x", "y", "z", "end"]
    lines = texts("\n".join([*front, "old", *back]), "\n".join([*front, "new", "more", *back]))

    assert lines == [
        "− … 2 equal lines", "  c", "  old", "  x", "  … 3 equal lines",
        "+ … 2 equal lines", "  c", "  new", "  more", "  x", "  … 3 equal lines",
    ]  # fmt: skip


def test_a_line_that_was_only_added_is_shown_with_its_neighbours() -> None:
    assert texts("a\nb\nc", "a\nb\nnew\nc") == [
        "− … 1 equal line", "  b", "  c",
        "+ … 1 equal line", "  b", "  new", "  c",
    ]  # fmt: skip


def test_of_a_long_change_the_first_lines_are_shown() -> None:
    lines = texts("a", "\n".join(f"line {n}" for n in range(12)))

    assert lines[0] == "− a"
    assert lines[1:] == ["+ line 0", *(f"  line {n}" for n in range(1, 10)), "  … 2 more lines"]


def test_the_answer_is_compared_with_what_the_next_turn_sent_back() -> None:
    def state(kept: object) -> list[str]:
        history = [HELLO, said(None, kept), result("call_1", "x")]  # type: ignore[arg-type]
        return shown([chat([HELLO], said(None, CALL)), chat(history, said("done"), index=1)], 0)

    same, other = state(CALL), state(("call_1", "look_up", '{"word":"reel"}'))
    assert same[:2] == ["━━ emitted against sent back  by turn 2", "  ✓ the history and the answer came back unchanged"]
    assert other[1] == "  ~ came back changed"
    assert [line.split("  ")[1].strip() for line in other[2:3]] == ["arguments changed"]
    assert [line.strip() for line in other[3:5]] == ['emitted    {"word":"tape"}', 'sent back  {"word":"reel"}']


def test_changed_arguments_of_several_lines_are_shown_line_by_line() -> None:
    call = ("call_1", "write", '{"path":"a.py","text":"one\\ntwo"}')
    history = [HELLO, said(None, ("call_1", "write", "{}")), result("call_1", "x")]
    lines = shown([chat([HELLO], said(None, call)), chat(history, said("done"), index=1)], 0)

    at = next(number for number, line in enumerate(lines) if "emitted    " in line)
    assert [line.strip() for line in lines[at : at + 5]] == [
        "emitted    path: a.py",
        "text:",
        "one",
        "two",
        "sent back  {}",
    ]


def test_a_small_value_takes_one_line() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    turns = [{**HELLO, "content": [{"type": "text", "text": "go", **extra}]} for extra in (mark, {})]
    history = [turns[1], said(None, CALL), result("call_1", "x")]
    lines = shown([chat([turns[0]], said(None, CALL)), chat(history, said("done"), index=1)], 1)

    at = next(number for number, line in enumerate(lines) if line.endswith("/cache_control"))
    assert lines[at + 1].strip() == '{"type":"ephemeral"}'


def test_on_a_narrow_page_the_verdict_is_whole() -> None:
    trips = [
        chat([HELLO], said(None, CALL)),
        chat([HELLO, said(None, CALL), result("call_1", "x")], said("d"), index=1),
    ]

    assert shown(trips, 0, 30)[1:3] == ["  ✓ the history and the", "    answer came back unchanged"]


def test_a_rebuilt_prompt_comes_back_with_the_same_meaning() -> None:
    answer = "Thought: I should look up the length of the Loire.\nAction: look_up"
    prompt = "Question: which river is longer?\n"
    trips = [
        chat([user(prompt)], said(answer), tools=None),
        chat([user(f"{prompt}{answer}\nObservation: 1,006 km")], said("the Loire"), index=1, tools=None),
    ]

    assert shown(trips, 0)[1] == "  ✓ came back with the same meaning, written differently"


def test_first_last_and_failed_turns_have_nothing_to_compare() -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    trips = [
        chat([HELLO], said(None, CALL)),
        chat([HELLO, said(None, CALL), result("call_1", "x")], said("d"), index=1),
    ]
    failed = [chat([HELLO], status=529, error=error), chat([HELLO], said(None, CALL), index=1)]
    more = [*failed, chat([HELLO, said(None, CALL), result("call_1", "x")], said("d"), index=2)]

    assert shown(trips, 0)[-1] == "━━ this request against the one before  the first of its thread"
    assert shown(trips, 1)[0] == "━━ emitted against sent back  no later turn to compare with"
    assert shown(more, 0)[0] == "━━ emitted against sent back  it failed, so there is nothing to send back"


@pytest.mark.parametrize("page", ["diff", "context"])
def test_a_round_trip_beside_the_turns_has_no_thread_and_no_context(page: str) -> None:
    embeddings = exchanged("https://api.openai.com/v1/embeddings", {"model": "e", "input": "tape"}, {"data": []})
    run = Run.of([embeddings, *loop()])
    made = PAGES[page](run, 0)
    lines = [line.strip() for line in made.laid_out(80, {}).text()]

    assert run.rows.all[0].turn is None
    assert len(lines) == 1 and lines[0].startswith("no turn of a conversation: ")
    assert len(list(PAGES[page](run, 1).laid_out(80, {}).text())) > 1
