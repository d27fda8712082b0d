"""Offers and functions that disagree, in every API."""

import pytest
from dialogues import APIS, asks, calls, gives, says
from judged import Said, ids, judged

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
            "lacks 'language', which its schema does not require and its function needs",
        ),
        (
            "look_up() missing 1 required keyword-only argument: 'word'",
            "passes 'word', but the function did not get it",
        ),
        (
            "2 validation errors for look_up\nlanguage\n  Field required [type=missing]",
            "lacks 'language', which its schema does not require and its function needs",
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
        "FAILED tests/test_a.py: f() missing 1 required positional argument: 'word2'",
    ],
)
def test_an_error_that_the_tool_reports_of_other_code(text: str) -> None:
    assert TAKEN not in {one.id for one in answered("chat", text) if one.severity == "error" and "slugify" in text}


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
            "lacks 'language', which its schema does not require",
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
