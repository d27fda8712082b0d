"""Values without their texts, whatever type holds them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from round_trips import CHAT, exchanged

from turntape.inspector.findings.finding import Finding
from turntape.inspector.views.report.neutral.neutral_values import NeutralValues
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.shared_tuple import sharing
from turntape.inspector.wire.values import Message, Part, Reading

SAID = "the wombat sleeps"


def message() -> Message:
    return Message("user", (Part("text", "/messages/0/content", text=SAID, raw=SAID),), "/messages/0")


@pytest.mark.parametrize("many", [tuple, list, sharing])
def test_no_sequence_keeps_a_text(many: Callable[[list[Message]], Sequence[Message]]) -> None:
    (kept,) = NeutralValues().value(many([message()]))

    assert SAID not in repr(kept) and len(kept.parts[0].text) == len(SAID)


def test_a_type_that_may_hold_a_text_and_is_not_known_is_not_shown() -> None:
    with pytest.raises(TypeError, match="may hold a text"):
        NeutralValues().value({SAID})


def reading(arguments: object, schema: object = None) -> Reading:
    """A turn whose history has a call with these arguments."""
    call = {"id": "call_1", "type": "function", "function": {"name": "book", "arguments": json.dumps(arguments)}}
    tool = {"name": "book", "description": "Book a room.", "parameters": schema}
    asked = {"model": "gpt-5", "messages": [{"role": "assistant", "tool_calls": [call]}]}
    return read(exchanged(CHAT, {**asked, "tools": [{"type": "function", "function": tool}]}, {"choices": []}))


def arguments_of(found: Reading) -> Any:
    call = found.request.messages[0].parts[0].call
    assert call is not None
    return call.arguments


def test_numbers_of_arguments_are_replaced_and_true_false_and_nothing_stay() -> None:
    kept = arguments_of(NeutralValues().reading(reading({"a": [True, False, None], "b": 7_654_321, "c": [12.75]})))
    found = [*kept.values()]

    assert [one for one in found if isinstance(one, list) and len(one) == 3] == [[True, False, None]]
    assert 7_654_321 not in found and [12.75] not in found
    assert sorted(type(one).__name__ for one in found) == ["int", "list", "list"]


def test_keys_that_become_equal_words_keep_their_values() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    kept = arguments_of(NeutralValues().reading(reading(dict.fromkeys(letters, True))))

    assert len(kept) == len(letters) and all(kept.values())
    assert max(map(len, kept)) <= 2


def test_only_names_of_parameters_that_a_tool_offers_stay() -> None:
    schema = {"type": "object", "properties": {"guest": {"type": "object", "properties": {"age": {}}}, "two words": {}}}
    kept = arguments_of(
        NeutralValues().reading(reading({"guest": {"age": "x", "Anna": "x"}, "two words": "x"}, schema))
    )

    assert list(kept)[0] == "guest" and "two words" not in kept
    assert list(kept["guest"])[0] == "age" and "Anna" not in kept["guest"]


def test_a_schema_keeps_its_form_and_not_its_words() -> None:
    schema = {"type": "object", "required": ["guest"], "description": "Who the wombat is.", "maximum": 12}
    (tool,) = NeutralValues().reading(reading({}, schema)).request.tools
    kept: Any = tool.schema

    assert (tool.name, kept["type"], kept["required"], kept["maximum"]) == ("book", "object", ["guest"], 12)
    assert "wombat" not in repr(tool) and "room" not in repr(tool)
    assert len(kept["description"]) == len(schema["description"])


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        ("#3 request /messages/12/content", "#3 request /messages/12/content"),
        ("#3.1 response event 7", "#3.1 response event 7"),
        ("#3: call call_abc", "#3: call"),
        ("#12 response 'secret'", "#12 response"),
        ("#12 /messages/0/secret more", "#12"),
        ("the secret /messages/0", ""),
        ("x#3 request", ""),
    ],
)
def test_evidence_says_where_and_not_what(evidence: str, kept: str) -> None:
    finding = Finding.from_json(
        {
            "id": "no-such-rule",
            "layer": "api",
            "severity": "error",
            "tier": "P",
            "message": SAID,
            "evidence": [evidence] * 2,
        }
    )
    neutral = NeutralValues().finding(finding)

    assert neutral.evidence == ((kept,) if kept else ())
    assert neutral.message == "" and (neutral.id, neutral.severity) == ("no-such-rule", "error")


def test_a_known_finding_says_what_its_class_means() -> None:
    finding = Finding.from_json(
        {"id": "api-stream-cut", "layer": "api", "severity": "error", "tier": "P", "message": SAID}
    )

    message = NeutralValues().finding(finding).message
    assert message and SAID not in message
