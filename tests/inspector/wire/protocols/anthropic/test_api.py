"""What two runs of one agent may differ in, for a replay of Anthropic Messages."""

import json

from turntape.cassettes import Matching, Redactor
from turntape.cassettes.matching.fingerprints import Fingerprints


def key(block: dict[str, object]) -> object:
    body = json.dumps({"model": "claude-x", "messages": [{"role": "assistant", "content": [block]}]}).encode()
    found = Fingerprints(Matching(), Redactor(salt="s"), frozenset()).of("POST", "v1/messages", (), body)
    return found.stable


def called_by(tool: str, toolset: str = "computer") -> dict[str, object]:
    caller = {"type": "code_execution_20260120", "tool_id": tool}
    return {"type": "tool_use", "id": "toolu_1", "name": "zoom", "input": {}, "caller": caller, "toolset_name": toolset}


def test_the_id_of_the_caller_may_differ_and_the_toolset_may_not() -> None:
    assert key(called_by("srv_a")) == key(called_by("srv_b"))
    assert key(called_by("srv_a")) != key(called_by("srv_a", "browser"))
