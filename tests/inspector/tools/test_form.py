"""How the answer of a server to a call breaks the form that MCP gives it."""

import json
from typing import Any

import pytest
from tool_stories import text
from tool_wire import answers, asks, initialize, stdio

from turntape.inspector.tools.flaw import Flaw
from turntape.inspector.tools.form import bare_error, is_modern
from turntape.inspector.tools.tool_run import ToolRun
from turntape.inspector.tools.tool_sessions import ToolSessions

OLD, NEW = "2025-11-25", "2026-07-28"
BLOCK = {"type": "text", "text": "ok"}
IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def run(answer: object, version: str | None = OLD, *, number: object = 5) -> ToolRun:
    """A call in a session of this version, with any bytes as its answer; without a version, in one that had begun."""
    start = answers(0, protocolVersion=version, capabilities={}, serverInfo={"name": "files", "version": "1"})
    trips = [stdio(initialize(0, version or ""), start, answered=1, index=0)] if version is not None else []
    trips.append(stdio(asks(number, "tools/call", name="add", arguments={}), answer, sequence=2, answered=3, index=1))
    sessions = ToolSessions()
    return [one for trip in trips for one in sessions.add(trip).runs][-1]


def flaw(result: object, version: str | None = OLD) -> Flaw | None:
    return run({"jsonrpc": "2.0", "id": 5, "result": result}, version).flaw


@pytest.mark.parametrize(
    "result",
    [
        text("ok"),
        {"content": []},
        {"content": [BLOCK, IMAGE, {**IMAGE, "type": "audio", "mimeType": "audio/wav"}]},
        {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
        {"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}]},
        {"content": [BLOCK], "structuredContent": {"a": 1}, "isError": True, "_meta": {"x": 1}},
        text('{"a": 1}', structuredContent={"a": 1.0}),
        text('{"a": 1, "b": 2}', structuredContent={"a": 2}),
        text("{not JSON", '{"jsonrpc": "2.0"}'),
        {"task": {"taskId": "t", "status": "working", "createdAt": "x", "lastUpdatedAt": "x", "ttl": None}},
    ],
)
@pytest.mark.parametrize("version", [OLD, None])
def test_an_answer_of_the_form_of_mcp_has_no_flaw(result: dict[str, Any], version: str | None) -> None:
    assert flaw(result, version) is None


@pytest.mark.parametrize(
    ("result", "says", "mild"),
    [
        ("done", 'is "done", and must be an object', False),
        ({}, "is empty", False),
        ({"text": "ok"}, "has no `content`, only 'text'", False),
        ({"content": "ok"}, 'has "ok" as its `content`, which must be a list', False),
        ({"content": ["ok"]}, 'holds "ok" in its `content`, which has no type', False),
        ({"content": [{"text": "ok"}]}, 'holds {"text":"ok"} in its `content`, which has no type', False),
        ({"content": [{"type": "json"}]}, "holds a block of type 'json', which MCP does not have", True),
        ({"content": [{"type": "text"}]}, "holds a text block whose text is null", True),
        ({"content": [{"type": "text", "text": 3}]}, "holds a text block whose text is 3", True),
        ({"content": [{"type": "image", "mimeType": "a/b"}]}, "holds a block of type 'image' without any data", False),
        ({"content": [{**IMAGE, "data": ""}]}, "holds a block of type 'image' without any data", False),
        ({"content": [{**IMAGE, "data": "data:a/b;base64,AA"}]}, "whose data is a URL in place of base64", True),
        ({"content": [{**IMAGE, "mimeType": ""}]}, "holds a block of type 'image' without a `mimeType`", True),
        (
            {"content": [], "structuredContent": [1]},
            "has [1] as its `structuredContent`, which must be an object",
            True,
        ),
        ({"content": [], "isError": "no"}, 'has "no" as `isError`, which must be true or false', True),
        (text('{"a": 1}', structuredContent={"a": 2}), "says 1 for 'a' in its text, and 2 in its structured", True),
        (text('{"jsonrpc": "2.0", "result": {}}'), "holds a whole message of JSON-RPC as a text", True),
        (text('{"jsonrpc": "2.0", "error": {}}'), "holds a whole message of JSON-RPC as a text", True),
        (text(json.dumps({"content": [BLOCK]})), "holds a whole result of MCP as a text", True),
    ],
)
def test_the_first_flaw_is_named_and_whether_a_client_can_live_with_it(result: object, says: str, mild: bool) -> None:
    found = flaw(result)

    assert found is not None and says in found.text and found.mild is mild


@pytest.mark.parametrize("inner", [{"content": []}, {"content": [BLOCK], "other": 1}, {"content": [{"type": "json"}]}])
def test_a_text_that_only_resembles_a_result_is_a_text(inner: dict[str, Any]) -> None:
    assert flaw(text(json.dumps(inner))) is None


@pytest.mark.parametrize(
    ("result", "version", "says"),
    [
        ({"toolResult": "x"}, "2024-10-07", None),
        ({"toolResult": "x"}, OLD, "has no `content`, only 'toolResult'"),
        ({"resultType": "complete", "content": [], "structuredContent": [1]}, NEW, None),
        ({"content": []}, NEW, "has no `resultType`, which MCP requires"),
        ({"content": [], "structuredContent": [1]}, None, None),
        ({"resultType": "later", "content": []}, NEW, 'has "later" as its `resultType`'),
        ({"resultType": "later"}, OLD, None),
        ({"resultType": "task", "taskId": "t"}, NEW, None),
        ({}, "2027-01-01", None),
    ],
)
def test_what_differs_between_versions_is_held_against_that_of_the_session(
    result: dict[str, Any], version: str | None, says: str | None
) -> None:
    found = flaw(result, version)

    assert (found is None) is (says is None) and (says or "") in (found.text if found else "")


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ({}, "asks for input, and has neither `inputRequests` nor a `requestState`"),
        ({"inputRequests": {}}, "asks for input, and has neither"),
        ({"inputRequests": [1]}, "has [1] as its `inputRequests`, which must be an object"),
        ({"inputRequests": {"a": {"method": "roots/list"}}}, None),
        ({"inputRequests": {"a": {"method": "no/such"}}}, "asks the question 'a', which "),
        ({"requestState": "s"}, None),
        ({"requestState": 3}, None),
    ],
)
def test_an_answer_that_asks_for_input_says_what(questions: dict[str, Any], says: str | None) -> None:
    found = flaw({"resultType": "input_required", **questions}, NEW)

    assert (found is None) is (says is None) and (says or "") in (found.text if found else "")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"\xff"}]}}', "is not valid UTF-8"),
        ({"id": 5, "result": text("x")}, "has null as `jsonrpc`, which must be the text '2.0'"),
        ({"jsonrpc": 2.0, "id": 5, "result": text("x")}, "has 2.0 as `jsonrpc`"),
        ({"jsonrpc": "2.0", "id": 5, "result": text("x"), "error": None}, "comes with `error: null` beside it"),
        ({"jsonrpc": "2.0", "id": 5, "result": text("x"), "error": {"code": 1}}, "comes with an error beside it"),
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":[],"_meta":{"a":NaN}}}', "holds NaN or Infinity"),
        ({"jsonrpc": "2.0", "id": 5, "error": {"code": 1}}, 'is the error {"code":1}, without a code and a message'),
        ({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}}, None),
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"NaN"}]}}', None),
    ],
)
def test_what_is_around_a_result_has_its_form_too(answer: object, says: str | None) -> None:
    found = run(answer).flaw

    assert (found is None) is (says is None) and (says or "") in (found.text if found else "")
    assert found is None or found.mild


@pytest.mark.parametrize(
    ("error", "is_whole"),
    [
        ({"code": -1, "message": ""}, True),
        ({"code": "1", "message": "x"}, False),
        ({"code": 1, "message": None}, False),
    ],
)
def test_an_error_has_a_number_and_a_sentence(error: dict[str, Any], is_whole: bool) -> None:
    assert (bare_error(error) is None) is is_whole


def test_only_the_newest_known_version_has_no_handshake() -> None:
    assert [is_modern(one) for one in (NEW, OLD, "2027-01-01", None)] == [True, False, False, False]
