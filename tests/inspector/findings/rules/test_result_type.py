"""Results under another type of item than that of their call."""

from typing import Any

import pytest
from judged import judged, responses

NAME = "client-result-wrong-type"
HI = {"role": "user", "content": "hi"}
REFUSED = {"type": "invalid_request_error", "message": "No tool output found for this call."}


def call(kind: str) -> dict[str, Any]:
    made = {"id": "i_1", "type": kind, "call_id": "call_1", "status": "completed"}
    match kind:
        case "shell_call":
            return {**made, "action": {"commands": ["ls"]}}
        case "apply_patch_call":
            return {**made, "operation": {"type": "delete_file", "path": "a.py"}}
        case "custom_tool_call":
            return {**made, "name": "look_up", "input": "tape"}
        case _:
            return {**made, "name": "look_up", "arguments": '{"word":"tape"}'}


def found(kind: str, given: str, *, held: bool = False, refused: bool = True) -> list[tuple[str, str]]:
    output = {"type": given, "call_id": "call_1", "output": "a strip"}
    items, more = ([output], {"previous_response_id": "resp_0"}) if held else ([HI, call(kind), output], {})
    second = responses(items, [], 1, error=REFUSED if refused else None, **more)
    return [(one.severity, one.message) for one in judged(responses([HI], [call(kind)]), second) if one.id == NAME]


@pytest.mark.parametrize("held", [False, True], ids=["whole history", "held by the API"])
@pytest.mark.parametrize("kind", ["shell_call", "apply_patch_call", "custom_tool_call"])
def test_a_call_that_is_answered_as_a_function_is_found(kind: str, *, held: bool) -> None:
    [(severity, message)] = found(kind, "function_call_output", held=held)

    assert severity == "error"
    assert message.endswith(f"is a `function_call_output`, and its call a `{kind}`: the API wants a `{kind}_output`")


def test_a_server_that_takes_it_makes_it_an_info() -> None:
    assert [severity for severity, _ in found("shell_call", "function_call_output", refused=False)] == ["info"]


@pytest.mark.parametrize("kind", ["shell_call", "apply_patch_call", "custom_tool_call", "function_call"])
def test_an_output_of_the_type_of_its_call_is_right(kind: str) -> None:
    assert found(kind, f"{kind}_output") == []
