"""What a `[[protocols]]` table may say, and the sentence for what it may not."""

from typing import Any

import pytest

from turntape.cassettes.errors import CassetteError
from turntape.inspector.wire.declared.declaration import Declaration, parse

LEAST: dict[str, object] = {"name": "acme", "path": "converse", "messages": "/msgs", "text": "/out/text"}


def test_the_least_that_is_needed() -> None:
    found = parse(LEAST)

    assert (found.name, found.path, found.messages, found.text) == ("acme", "converse", "/msgs", "/out/text")
    assert found == Declaration(name="acme", path="converse", messages="/msgs", text="/out/text")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"tex": "/x"}, "has the unknown key 'tex'; did you mean 'text'?"),
        ({"zzzzzz": "/x"}, "the known keys are name, path"),
        ({"text": "out"}, "has text = 'out'; write a JSON pointer such as '/out/text'"),
        ({"path": ""}, "has path = ''; write a string"),
        ({"finish": 7}, "has finish = 7; write a string"),
        ({"ignore": "/x"}, "has ignore = '/x'; write a list of JSON pointers"),
        ({"ignore": ["x"]}, "write a list of JSON pointers"),
        ({"streams": "websocket"}, "write one of sse, ndjson"),
        ({"finish_words": {"done": "finished"}}, "a label of complete, tool_calls"),
        ({"finish_words": ["done"]}, "write WORD = LABEL"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(CassetteError) as raised:
        parse(LEAST | more)

    assert str(raised.value).startswith("the protocol 'acme' in the settings has")
    assert problem in str(raised.value)


@pytest.mark.parametrize("name", LEAST)
def test_each_required_key_is_required(name: str) -> None:
    table = {key: value for key, value in LEAST.items() if key != name}

    with pytest.raises(CassetteError, match=f"has no '{name}'; it needs name, path, messages, text"):
        parse(table)


def test_an_empty_place_is_one_that_the_gateway_does_not_have() -> None:
    assert parse(LEAST | {"calls": "", "ignore": ["/a", ""]}).calls == ""
