"""Every method, notification and result of the MCP SDK is read, or listed with what happens to it."""

import inspect
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import pytest
from sdk_types import since

from turntape.inspector.wire.protocols.mcp.not_read import NOT_READ, READ
from turntape.inspector.wire.protocols.mcp.shape import CLIENT_REQUESTS, METHODS, NOTIFICATIONS, SERVER_REQUESTS

pytestmark = since("mcp-types", 2, 3)


def sdk() -> ModuleType:
    import mcp_types

    return mcp_types


def models(module: ModuleType) -> dict[str, Any]:
    return {name: one for name, one in vars(module).items() if inspect.isclass(one) and hasattr(one, "model_fields")}


def methods() -> dict[str, str]:
    """The methods that the SDK's types have, each with the name of its type."""
    found: dict[str, str] = {}
    for name, model in models(sdk()).items():
        field = model.model_fields.get("method")
        if field is not None and get_origin(field.annotation) is Literal:
            found |= dict.fromkeys(get_args(field.annotation), name)
    return found


def results() -> set[str]:
    base = models(sdk())["Result"]
    return {name for name, model in models(sdk()).items() if issubclass(model, base)}


def undecided(kind: str, found: set[str]) -> list[str]:
    """Words that are neither read nor listed, and words that are both."""
    read, listed = READ[kind], NOT_READ[kind].keys()
    return [*sorted(found - read - listed), *sorted(read & listed)]


def test_every_method_is_read_or_listed() -> None:
    assert len(methods()) > 30 and undecided("method", set(methods())) == []


def test_every_result_is_read_or_listed() -> None:
    assert len(results()) > 20 and undecided("result", results()) == []


def test_every_method_is_recognised() -> None:
    assert set(methods()) <= METHODS
    assert {one for one in METHODS if one not in methods()} == {"notifications/tasks", "tasks/update"}


@pytest.mark.parametrize(
    ("table", "known"),
    [("CLIENT_REQUESTS", CLIENT_REQUESTS), ("SERVER_REQUESTS", SERVER_REQUESTS),
     ("CLIENT_NOTIFICATIONS", NOTIFICATIONS), ("SERVER_NOTIFICATIONS", NOTIFICATIONS)],
)  # fmt: skip
def test_every_method_has_the_sender_that_the_sdk_says(table: str, known: frozenset[str]) -> None:
    from mcp_types import methods as by_version

    assert {method for method, _ in getattr(by_version, table)} <= known


def test_only_methods_are_listed() -> None:
    assert READ["method"] | NOT_READ["method"].keys() == METHODS


def test_the_guard_sees_a_word_that_nobody_knows() -> None:
    assert undecided("method", {"tools/call", "tools/rename"}) == ["tools/rename"]
