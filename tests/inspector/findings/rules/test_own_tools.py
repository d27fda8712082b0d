"""Offers and functions that disagree, in every API."""

from typing import Any

import pytest
from dialogues import APIS, asks, calls, gives, says
from judged import SCHEMA, Said, anthropic, asked, gemini, given, ids, judged, spoke, turn, use, words
from judged import gives as gemini_result

UNKNOWN, TAKEN = "client-offers-unknown-tool", "call-args-not-taken"
NAMES = sorted(APIS)


def answered(api: str, text: str) -> list[Said]:
    called = calls("tape")
    history = [asks("look"), called, gives(text)]
    return judged(APIS[api]([asks("look")], called, 0), APIS[api](history, says("I could not."), 1))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "Error: tool 'look_up' not found in registry",
        "Unknown tool: look_up",
        "No tool named look_up is registered",
        "Function look_up does not exist. Available: read, write",
        "look_up is not a valid tool, try one of [read, write].",
    ],
)
def test_an_offered_tool_that_the_executor_does_not_know(api: str, text: str) -> None:
    [one] = [one for one in answered(api, text) if one.id == UNKNOWN]

    assert (one.at, one.layer, one.severity) == (1, "client", "error")
    assert one.message.startswith("the request offers 'look_up', and the client answers its call with")


@pytest.mark.parametrize("text", ["tool not found in the shed", "file look_up.py not found", "look_up: 3 entries", ""])
def test_other_results_say_nothing_of_the_offer(text: str) -> None:
    assert UNKNOWN not in {one.id for one in answered("chat", text)}


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "TypeError: look_up() got an unexpected keyword argument 'word'",
            "passes 'word', which its schema declares and its function does not take",
        ),
        (
            "look_up() missing 1 required positional argument: 'language'",
            "lacks 'language', which its schema does not have and its function needs",
        ),
        (
            "look_up() missing 1 required keyword-only argument: 'word'",
            "passes 'word', but the function did not get it",
        ),
        (
            "2 validation errors for look_up\nlanguage\n  Field required [type=missing]",
            "lacks 'language', which its schema does not have and its function needs",
        ),
        (
            'Invalid: [{"path": ["language"], "message": "expected string, received undefined"}]',
            "lacks 'language', which its schema does not have and its function needs",
        ),
        (
            "Error: missing required argument 'language'",
            "lacks 'language', which its schema does not have and its function needs",
        ),
        (
            "look_up() got an unexpected keyword argument 'config'",
            "fails because the client passes 'config', which neither the call nor the schema has",
        ),
    ],
)
def test_a_function_that_does_not_take_what_its_schema_says(api: str, text: str, what: str) -> None:
    [one] = [one for one in answered(api, text) if one.id == TAKEN]

    assert (one.at, one.layer, one.severity) == (1, "client", "error")
    assert one.message == f"the call of 'look_up' {what}: {one.message.partition(': ')[2]}"


@pytest.mark.parametrize(
    "text",
    [
        "E   TypeError: slugify() got an unexpected keyword argument 'sep'",
        "look_up() missing 1 required positional argument",
        "FAILED tests/test_a.py: f() missing 1 required positional argument: 'word'" + " and so on" * 240,
        "1 validation error for look_up\nword\n  Field required",
    ],
    ids=["another function", "no name", "long", "required"],
)
def test_an_error_that_the_tool_reports_of_other_code(text: str) -> None:
    called = anthropic([asked("look")], [use() | {"input": {}}])
    history = [asked("look"), spoke(use() | {"input": {}}), asked(given(text=text))]

    assert TAKEN not in ids(called, anthropic(history, [words("I could not.")], 1))


def failed(text: str, schema: dict[str, Any] = SCHEMA, **arguments: Any) -> list[Said]:
    """What is said of one failed call with this schema and these arguments."""
    call = use() | {"input": arguments or {"word": "tape"}}
    tools = ({"name": "look_up", "input_schema": schema},)
    history = [asked("look"), spoke(call), asked(given(text=text))]
    first = anthropic([asked("look")], [call], tools=tools)
    return [one for one in judged(first, anthropic(history, [words("No.")], 1, tools=tools)) if one.id == TAKEN]


OPEN = {"type": "object", "properties": {"word": {"type": "string"}}}
INVALID = "1 validation error for look_up: the value is not good"


@pytest.mark.parametrize(
    ("text", "arguments", "layer", "severity", "what"),
    [
        ("f() got an unexpected keyword argument 'tone'", {"tone": 1}, "model", "warning", "passes 'tone', which its"),
        (
            "got an unexpected argument 'tone'",
            {"tone": 1},
            "model",
            "warning",
            "passes 'tone', which its schema does not",
        ),
        ("tone\n  Extra inputs are not permitted", {"tone": 1}, "model", "warning", "passes 'tone', which its schema"),
        ("must NOT have additional properties", {"word": "a", "tone": 1}, "model", "warning", "passes 'tone', which"),
        ("additional property x is not allowed", {"word": "a"}, "client", "error", "passes only what its schema"),
        ("_run() got an unexpected keyword argument 'config'", {"word": "a"}, "client", "error", "fails because the"),
        (INVALID, {"word": "a"}, "model", "info", "has a value that its schema allows and its tool refuses"),
        ('{"error": "Invalid arguments"}', {"word": "a"}, "model", "info", "has a value that its schema allows"),
    ],
)
def test_whose_argument_it_is(text: str, arguments: dict[str, Any], layer: str, severity: str, what: str) -> None:
    [one] = failed(text, OPEN, **arguments)

    assert (one.layer, one.severity, one.tier) == (layer, severity, "S")
    assert what in one.message


@pytest.mark.parametrize(
    ("text", "schema", "arguments"),
    [
        (INVALID, OPEN, {"word": 1}),
        (INVALID, {"type": "object"}, {"word": "a"}),
        ("The report:\n\none\ntwo\nthree\nvalidation error", OPEN, {"word": "a"}),
        ("x" * 601 + INVALID, OPEN, {"word": "a"}),
        ("must NOT have additional properties", OPEN, {"word": 1}),
        ("must NOT have additional properties", {"type": "object"}, {"word": "a"}),
        ("x" * 601 + "must NOT have additional properties", OPEN, {"word": "a"}),
        ("look_up() missing 1 required positional argument: 'word'", SCHEMA, {"other": "a"}),
    ],
    ids=["broken", "open", "long", "late", "closed, broken", "closed, open", "closed, late", "required"],
)
def test_a_failure_that_the_schema_explains_is_silent(
    text: str, schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    assert failed(text, schema, **arguments) == []


@pytest.mark.parametrize(
    "function",
    ["look_up", "_run", "_arun", "run", "execute", "invoke", "call", "__call__", "handler", "func", "fn", "forward"],
)
def test_the_function_behind_a_tool_has_one_of_these_names(function: str) -> None:
    [one] = failed(f"{function}() got an unexpected keyword argument 'config'")

    assert "fails because the client passes 'config'" in one.message


def test_the_line_with_the_error_is_quoted() -> None:
    text = "Traceback (most recent call last):\n  File x\n  look_up() got an unexpected keyword argument 'word'\nBye"
    [one] = failed(text)
    assert one.message.endswith(": \"look_up() got an unexpected keyword argument 'word'\"")

    [one] = failed(INVALID + " at all" * 40, OPEN)
    assert one.message.endswith(f": {(INVALID + ' at all' * 40)[:120]!r}")


def test_an_error_in_json_has_its_line_breaks() -> None:
    [one] = failed('{"error": "language\\n  Field required"}', OPEN)

    assert "lacks 'language', which its schema does not have and its function needs" in one.message


@pytest.mark.parametrize("at", [0, 1])
def test_one_of_two_results_is_named(at: int) -> None:
    texts = ["a strip", "a strip"]
    texts[at] = "look_up() got an unexpected keyword argument 'word'"
    both = [use("toolu_1"), use("toolu_2", "reel")]
    results = [given(f"toolu_{n + 1}", text) for n, text in enumerate(texts)]
    history = [asked("look"), spoke(*both), asked(*results)]
    said = judged(anthropic([asked("look")], both), anthropic(history, [words("No.")], 1))

    assert [one.id for one in said].count(TAKEN) == 1


def test_a_longer_text_that_speaks_of_a_tool_is_content() -> None:
    for text, found in (("a\n\nb\nUnknown tool: look_up", True), ("a\nb\nc\nUnknown tool: look_up", False)):
        assert (UNKNOWN in {one.id for one in answered("chat", text)}) == found
    assert UNKNOWN in {one.id for one in answered("chat", '{"a":\n1,\n"b":\n"Unknown tool: look_up"}')}
    assert UNKNOWN not in {one.id for one in answered("chat", "x" * 601 + " Unknown tool: look_up")}


def test_a_tool_that_was_not_offered_before_is_the_models_mistake() -> None:
    first = anthropic([asked("look")], [use()], tools=())
    history = [asked("look"), spoke(use()), asked(given(text="Unknown tool: look_up"))]

    assert UNKNOWN not in ids(first, anthropic(history, [words("No.")], 1))


def test_the_last_call_of_a_name_is_the_one_that_failed() -> None:
    text = "look_up() got an unexpected keyword argument 'tone'"
    first = turn("model", {"functionCall": {"name": "look_up", "args": {"word": "a"}}})
    second = turn(
        "model", {"text": "Again."}, {"functionCall": {"name": "look_up", "args": {"word": "a", "tone": "b"}}}
    )
    start = turn("user", {"text": "look"})
    history = [start, first, turn("user", gemini_result("a strip")), second, turn("user", gemini_result(text))]
    trips = [
        gemini([start], first["parts"]),
        gemini(history[:3], second["parts"], 1),
        gemini(history, [{"text": "No."}], 2),
    ]

    [one] = [one for one in judged(*trips) if one.id == TAKEN]
    assert (one.layer, one.at) == ("model", 2)


def test_words_of_a_refusal_within_a_longer_result_are_content() -> None:
    said = answered("chat", "x" * 201 + " Invalid result")

    assert "call-result-refused" not in {one.id for one in said}


def test_the_disagreement_explains_what_follows() -> None:
    called = calls("tape")
    text = "Error: tool 'look_up' not found in registry"
    history = [asks("look"), called, gives(text)]
    found = judged(APIS["anthropic"]([asks("look")], called, 0), APIS["anthropic"](history, says("No."), 1))

    assert {one.because_of for one in found if one.id == "client-tool-error-as-success"} == {(UNKNOWN,)}
    assert UNKNOWN in ids(APIS["anthropic"]([asks("look")], called, 0), APIS["anthropic"](history, says("No."), 1))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    ("text", "severity", "what"),
    [
        ("params must NOT have additional properties", "error", "passes only what its schema declares"),
        (
            "params must have required property 'language'",
            "error",
            "lacks 'language', which its schema does not have",
        ),
        ("'language' is a required property", "error", "lacks 'language', which its schema does"),
    ],
)
def test_a_validation_that_is_stricter_than_the_offer(api: str, text: str, severity: str, what: str) -> None:
    [one] = [one for one in answered(api, text) if one.id == TAKEN]

    assert (one.layer, one.severity) == ("client", severity)
    assert what in one.message


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "MCP error -32602: Invalid tools/call result: expected string, received undefined",
        "Tool look_up has an output schema but did not return structured content",
        "Structured content does not match the tool's output schema",
    ],
)
def test_a_result_that_the_client_does_not_take(api: str, text: str) -> None:
    [one] = [one for one in answered(api, text) if one.id == "call-result-refused"]

    assert (one.at, one.layer, one.severity) == (1, "client", "warning")
    assert one.message == f"the client refuses the result of 'look_up': {text!r}"
