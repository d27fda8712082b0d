"""What a client writes in any order is equal in every order, and what it writes differently is not."""

import json

import pytest

from turntape.cassettes import Matching, Player, ReplayMiss, Request, Response, RoundTrip
from turntape.cassettes.matching.unordered import text_in_order, write_in_order

URL = "https://api.anthropic.com/v1/messages"
NOTE = "<system-reminder>\n<total_tokens>9 tokens left</total_tokens>\n</system-reminder>"


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def results(*contents: object) -> dict[str, object]:
    """A turn in which these are the results of parallel calls."""
    found = [
        {"type": "tool_result", "tool_use_id": f"toolu_{place}", "content": content}
        for place, content in enumerate(contents)
    ]
    return {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": found}]}


def played(recorded: object, given: object) -> list[str]:
    """The ignored differences with which the recording is played in a strict replay. Raises ReplayMiss."""
    trip = RoundTrip(Request("POST", URL, content=json.dumps(recorded).encode()), Response(200, content=b"{}"), 0.0)
    found = Player([trip], matching=Matching()).play("POST", URL, (), json.dumps(given).encode())
    return [one.pointer for one in found.match.ignored]


FIRST = results([text("A\n"), text(NOTE)], "B")
LAST = results("A", [text("B\n"), text(NOTE)])
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        (FIRST, LAST),
        (LAST, FIRST),
        (results(f"A\n\n{NOTE}", "B"), results("A", f"B\n\n{NOTE}")),
        (results(f"A\n\n{NOTE}\n", "B"), results("A", f"B\n\n{NOTE}\n")),
        (results(f"A\n\n{NOTE}\n\n{NOTE}\n", "B"), results("A", [text("B\n"), text(NOTE), text(NOTE)])),
        (
            results([text("A"), IMAGE, text("a\n"), text(NOTE)], "B"),
            results([text("A"), IMAGE, text("a")], f"B\n\n{NOTE}"),
        ),
        (
            results("A", "B", [text("C\n"), text(NOTE), text(NOTE)]),
            results([text("A\n"), text(NOTE), text(NOTE)], "B", "C"),
        ),
    ],
)
def test_a_note_may_be_in_any_result_of_a_turn_and_that_is_reported(recorded: object, given: object) -> None:
    assert played(recorded, given)


@pytest.mark.parametrize(
    "given",
    [
        results("A", "B"),
        results("A", [text("B\n"), text(NOTE.replace("9", "8"))]),
        results("A", [text("C\n"), text(NOTE)]),
        results([text(NOTE), text("A\n")], "B"),
        results("A", [text("B\n"), text(f"so {NOTE}")]),
    ],
)
def test_another_note_and_another_result_are_changes(given: object) -> None:
    with pytest.raises(ReplayMiss):
        played(FIRST, given)


def tools(values: list[str], kind: str = "enum") -> dict[str, object]:
    schema = {"type": "object", "properties": {"name": {"type": "string", kind: values}}}
    return {"model": "claude-x", "max_tokens": 9, "messages": [], "tools": [{"name": "t", "input_schema": schema}]}


def test_the_values_of_an_enum_have_no_order_but_other_lists_have() -> None:
    assert played(tools(["a", "b"]), tools(["b", "a"]))
    for other in (tools(["a", "c"]), tools(["a"])):
        with pytest.raises(ReplayMiss):
            played(tools(["a", "b"]), other)
    with pytest.raises(ReplayMiss):
        played(tools(["a", "b"], "examples"), tools(["b", "a"], "examples"))


def skill(name: str) -> str:
    return f"  <skill>\n    <name>{name}</name>\n    <location>/{len(name)}</location>\n  </skill>\n"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("use (Available: 'b', 'a').", "use (Available: 'a', 'b').", True),
        ("use (Available: 'b', 'a').", "use (Available: 'a').", False),
        ("see 'b', 'a'", "see 'a', 'b'", False),
        (*(f"<available_skills>\n{a}{b}</available_skills>\n" for a, b in [("x", "y"), ("y", "x")]), False),
        (
            f"<available_skills>\n{skill('bb')}{skill('a')}</available_skills>\n<skill>z</skill>",
            f"<available_skills>\n{skill('a')}{skill('bb')}</available_skills>\n<skill>z</skill>",
            True,
        ),
        (f"<doc>\n{skill('b')}{skill('a')}</doc>", f"<doc>\n{skill('a')}{skill('b')}</doc>", False),
    ],
)
def test_only_a_list_of_skills_has_no_order_in_a_text(one: str, other: str, equal: bool) -> None:
    assert (text_in_order(one) == text_in_order(other)) is equal


def test_skills_are_written_in_the_order_of_their_names_with_what_is_between_them() -> None:
    lead, a, b = "<available_skills>\n  ", skill("a").strip(), skill("bb").strip()

    assert text_in_order(f"{lead}{b}\n, {a}\n</available_skills>") == f"{lead}{a}\n, {b}\n</available_skills>"


def test_results_of_parallel_calls_have_no_order_in_the_parts_of_a_message() -> None:
    def asked(*ids: str) -> dict[str, object]:
        parts = [{"functionResponse": {"id": one, "name": "f", "response": {"of": one}}} for one in ids]
        return {"contents": [{"role": "user", "parts": parts}]}

    one, other = asked("a", "b"), asked("b", "a")
    write_in_order(other)

    assert other == one
