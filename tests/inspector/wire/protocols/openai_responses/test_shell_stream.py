"""A shell call and what its commands wrote, as events bring them."""

from typing import Any

from turntape.inspector.wire.protocols.openai_responses.stream import ResponseDraft


def drafted(*events: dict[str, Any]) -> list[dict[str, Any]]:
    draft = ResponseDraft()
    for event in events:
        draft.add("", {"output_index": 0, **event, "type": f"response.{event['type']}"})
    return [dict(item) for item in draft.whole()["output"]]  # type: ignore[union-attr]


ADDED = {"type": "output_item.added", "item": {"type": "shell_call", "call_id": "c", "action": {"timeout_ms": 5}}}
WRITES = {"type": "output_item.added", "item": {"type": "shell_call_output", "call_id": "c", "output": []}}


def test_commands_grow_each_at_its_place() -> None:
    (item,) = drafted(
        ADDED,
        {"type": "shell_call_command.added", "command_index": 0, "command": ""},
        {"type": "shell_call_command.delta", "command_index": 0, "delta": "ls "},
        {"type": "shell_call_command.delta", "command_index": 0, "delta": "-l"},
        {"type": "shell_call_command.delta", "command_index": 2, "delta": "pwd"},
    )

    assert item["action"] == {"timeout_ms": 5, "commands": ["ls -l", "", "pwd"]}


def test_the_end_of_a_command_has_it_whole() -> None:
    (item,) = drafted(
        ADDED,
        {"type": "shell_call_command.delta", "command_index": 0, "delta": "l"},
        {"type": "shell_call_command.done", "command_index": 0, "command": "ls -l"},
    )

    assert item["action"]["commands"] == ["ls -l"]


def test_output_grows_by_channel() -> None:
    (item,) = drafted(
        WRITES,
        {"type": "shell_call_output_content.delta", "command_index": 0, "delta": {"stdout": "a"}},
        {"type": "shell_call_output_content.delta", "command_index": 0, "delta": {"stdout": "b", "stderr": "!"}},
        {"type": "shell_call_output_content.delta", "command_index": 1, "delta": {"stderr": "x"}},
    )

    assert item["output"] == [{"stdout": "ab", "stderr": "!"}, {"stderr": "x"}]


def test_the_end_of_an_output_replaces_the_pieces() -> None:
    exited = {"type": "exit", "exit_code": 1}
    (one,) = drafted(
        WRITES,
        {"type": "shell_call_output_content.delta", "command_index": 0, "delta": {"stdout": "a"}},
        {
            "type": "shell_call_output_content.done",
            "command_index": 0,
            "output": [{"stdout": "ab", "stderr": "", "outcome": exited}],
        },
    )
    (several,) = drafted(
        WRITES,
        {
            "type": "shell_call_output_content.done",
            "command_index": 0,
            "output": [{"stdout": "a", "stderr": "x"}, {"stdout": "b", "stderr": "", "outcome": exited}],
        },
    )

    assert one["output"] == [{"stdout": "ab", "stderr": "", "outcome": exited}]
    assert several["output"] == [{"stdout": "ab", "stderr": "x", "outcome": exited}]


def test_events_of_an_item_that_was_not_announced_make_it() -> None:
    (call,) = drafted({"type": "shell_call_command.done", "command_index": 0, "command": "ls"})
    (output,) = drafted({"type": "shell_call_output_content.delta", "command_index": 0, "delta": {"stdout": "a"}})

    assert (call["type"], call["action"]) == ("shell_call", {"commands": ["ls"]})
    assert (output["type"], output["output"]) == ("shell_call_output", [{"stdout": "a"}])


def test_a_senseless_place_costs_no_memory() -> None:
    (low,) = drafted(ADDED, {"type": "shell_call_command.delta", "command_index": -5, "delta": "a"})
    (high,) = drafted(ADDED, {"type": "shell_call_command.delta", "command_index": 10**9, "delta": "a"})

    assert low["action"]["commands"] == ["a"]
    assert len(high["action"]["commands"]) == 1001
