"""What the model emitted."""

from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import anthropic, asked, ids, item_call, judged, only, responses, steps

WRONG = "model-args-break-schema"


def emitted(name: str = "look_up", arguments: str = '{"word":"tape"}', **fields: Any) -> Any:
    return chat([HELLO], said(None, ("call_1", name, arguments)), **fields)


@pytest.mark.parametrize(
    ("name", "said_of_it"),
    [
        ("look_out", "was not offered"),
        ("multi_tool_use.parallel", "wrapped its calls"),
        ("default_api:look_up", "with a prefix"),
    ],
)
def test_a_tool_that_was_not_offered_is_the_models_fault(name: str, said_of_it: str) -> None:
    one = only("model-unknown-tool", emitted(name))

    assert (one.layer, one.tier) == ("model", "P")
    assert said_of_it in one.message


def test_a_tool_of_a_request_that_shows_none_is_notjudged() -> None:
    assert "model-unknown-tool" not in ids(emitted("look_out", tools=None))


def test_tools_that_the_api_loads_are_notjudged() -> None:
    search = {"type": "tool_search"}

    assert "model-unknown-tool" not in ids(
        responses([{"role": "user", "content": "hi"}], [item_call()], tools=[search])
    )


def test_a_previous_response_leaves_some_doubt() -> None:
    call = {**item_call(), "name": "look_out"}

    assert only("model-unknown-tool", responses([], [call], previous_response_id="resp_0")).tier == "S"


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [('{"word": tape}', True), ('{"word":"tape",}', True), ("", False), ('{"word":"tape"}', False)],
)
def test_arguments_are_json(arguments: str, broken: bool) -> None:
    free = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}

    assert ("model-args-not-json" in ids(emitted(arguments=arguments, tools=[free]))) is broken


def test_arguments_that_were_cut_are_not_the_models_fault() -> None:
    assert "model-args-not-json" not in ids(emitted(arguments='{"wo', finish="length"))
    assert "model-args-not-json" not in ids(emitted(arguments='{"wo', usage=(100, 50), max_completion_tokens=50))


SCHEMA = {
    "type": "object",
    "properties": {
        "word": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["near", "far"]},
    },
    "required": ["word"],
    "additionalProperties": False,
}
STRICT = [{"type": "function", "function": {"name": "look_up", "parameters": SCHEMA}}]


@pytest.mark.parametrize(
    ("arguments", "kind", "severity"),
    [
        ('{"count":1}', "missing-required", "error"),
        ('{"word":["tape"]}', "wrong-type", "error"),
        ('{"word":"tape","mode":"wide"}', "bad-enum", "error"),
        ('{"word":"tape","size":3}', "extra-argument", "error"),
        ('{"word":"tape","count":0}', "minimum", "error"),
        ('{"word":"tape","count":"3"}', "wrong-type", "warning"),
    ],
)
def test_each_way_to_break_a_schema_has_its_name(arguments: str, kind: str, severity: str) -> None:
    one = only(WRONG, emitted(arguments=arguments, tools=STRICT))

    assert kind in one.message
    assert one.severity == severity


def test_arguments_that_keep_to_the_schema_are_fine() -> None:
    assert ids(emitted(arguments='{"word":"tape","mode":"near","count":2}', tools=STRICT)) == set()


def test_a_schema_that_cannot_be_compiled_judges_nothing() -> None:
    broken = {"type": "object", "properties": {"word": {"type": "text"}}}
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": broken}}]

    assert WRONG not in ids(emitted(arguments='{"word":1}', tools=tools))


PROSE = '<tool_call>\n{"name": "look_up", "arguments": {"word": "tape"}}\n</tool_call>'


def test_a_call_in_prose_is_reported_when_the_tool_was_offered() -> None:
    assert only("model-call-as-text", chat([HELLO], said(PROSE))).tier == "S"
    assert ids(chat([HELLO], said(PROSE), tools=None)) == set()
    assert ids(chat([HELLO], said(PROSE.replace("look_up", "find")))) == set()
    assert ids(chat([HELLO], said(PROSE), tool_choice="none")) == set()


@pytest.mark.parametrize(
    ("answer", "fields", "empty"),
    [
        (said(""), {}, True),
        ({"role": "assistant", "content": "", "reasoning_content": "hm"}, {}, True),
        (said(""), {"max_tokens": 1}, False),
        (said("", CALL), {}, False),
        ({"role": "assistant", "content": "", "refusal": "no"}, {}, False),
    ],
)
def test_an_answer_without_anything_is_reported(answer: dict[str, Any], fields: dict[str, Any], empty: bool) -> None:
    assert ("model-empty-response" in ids(chat([HELLO], answer, **fields))) is empty


@pytest.mark.parametrize(("turns", "severity"), [(2, None), (3, "warning"), (4, "warning"), (5, "error"), (8, "error")])
def test_the_same_call_with_the_same_result_is_a_loop(turns: int, severity: str | None) -> None:
    reported = [one for one in judged(*steps(turns)) if one.id == "model-repeated-call"]

    assert [one.severity for one in reported][-1:] == ([severity] if severity else [])
    assert len(reported) <= 2


def test_other_results_or_other_arguments_are_progress() -> None:
    history: list[dict[str, Any]] = [HELLO]
    polled = []
    for n in range(6):
        call = said(None, (f"call_{n}", "look_up", '{"word":"tape"}'))
        polled.append(chat(history, call, index=n))
        history = [*history, call, result(f"call_{n}", f"{n * 20} %")]

    assert "model-repeated-call" not in ids(*polled)
    assert "model-repeated-call" not in ids(*steps(6, word=None))


def test_a_tool_that_waits_may_be_asked_again() -> None:
    tool = {
        "type": "function",
        "function": {"name": "check_status", "parameters": {"type": "object", "properties": {}}},
    }
    history: list[dict[str, Any]] = [HELLO]
    trips = []
    for n in range(6):
        call = said(None, (f"call_{n}", "check_status", "{}"))
        trips.append(chat(history, call, index=n, tools=[tool]))
        history = [*history, call, result(f"call_{n}", "running")]

    assert "model-repeated-call" not in ids(*trips)


@pytest.mark.parametrize(
    ("choice", "answer", "kept"),
    [
        ("required", said("x"), False),
        ("required", said(None, CALL), True),
        ("none", said(None, CALL), False),
        ("none", said("x"), True),
        ({"type": "function", "function": {"name": "look_up"}}, said(None, CALL), True),
        ({"type": "function", "function": {"name": "find"}}, said(None, CALL), False),
        ("auto", said("x"), True),
    ],
)
def test_a_choice_of_tools_is_kept(choice: object, answer: dict[str, Any], kept: bool) -> None:
    assert ("model-tool-choice-violated" not in ids(chat([HELLO], answer, tool_choice=choice))) is kept


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_choice_is_not_judged_by_half_an_answer(finish: str) -> None:
    half = chat([HELLO], said("x"), finish=finish, tool_choice="required")

    assert "model-tool-choice-violated" not in ids(half)


def test_one_call_at_a_time_is_one() -> None:
    two = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{"word":"b"}'))

    assert only("model-parallel-when-forbidden", chat([HELLO], two, parallel_tool_calls=False)).layer == "api"
    assert "model-parallel-when-forbidden" not in ids(chat([HELLO], two))
    assert "model-parallel-when-forbidden" not in ids(chat([HELLO], said(None, CALL), parallel_tool_calls=False))


def test_the_same_call_twice_in_one_answer_is_a_word() -> None:
    twice = said(None, ("c1", "look_up", '{"word":"a"}'), ("c2", "look_up", '{ "word": "a" }'))

    assert only("model-duplicate-call-in-batch", chat([HELLO], twice)).severity == "info"


def test_a_refusal_is_the_models() -> None:
    refused = chat([HELLO], {"role": "assistant", "content": None, "refusal": "I can't help with that."})

    assert only("model-refusal", refused).message == "the model refused: I can't help with that."
    assert ids(chat([HELLO, said("x"), user("and?")], said("I can't help with that."), tools=TOOLS)) == set()


CLICK = {"type": "tool_use", "id": "toolu_1", "name": "left_click", "input": {}, "toolset_name": "computer"}
FOUND = {"type": "function_call", "call_id": "call_1", "name": "found", "arguments": "{}", "status": "completed"}
FOUND_TOOL = {"type": "function", "name": "found", "parameters": {"type": "object", "required": ["x"]}}


def test_a_tool_of_an_offered_toolset_was_offered() -> None:
    toolset = {"type": "computer_toolset_20260801"}

    assert "model-unknown-tool" not in ids(anthropic([asked("hi")], [CLICK], tools=[toolset]))
    other = {key: value for key, value in CLICK.items() if key != "toolset_name"}
    assert "model-unknown-tool" in ids(anthropic([asked("hi")], [other], tools=[toolset]))


def test_a_tool_that_a_message_defines_was_offered_with_its_schema() -> None:
    brought = {"type": "additional_tools", "role": "developer", "tools": [FOUND_TOOL]}
    seen = ids(responses([{"role": "user", "content": "hi"}, brought], [FOUND]))

    assert "model-unknown-tool" not in seen and WRONG in seen
    assert "model-unknown-tool" in ids(responses([{"role": "user", "content": "hi"}], [FOUND]))
