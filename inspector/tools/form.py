"""Whether the answer of a server to a call has the form that MCP gives it.

The official SDKs check each answer against the types of the specification
(https://modelcontextprotocol.io/specification/2025-11-25/schema, read 2026-11-23), and refuse the whole of one that
breaks them. The model then reads an error of its client, and the fault is the server's.
"""

import json

from turntape.cassettes.excerpts import cut, listed

from ..analysis.conversation import sorted_json
from ..wire.json_value import Object, as_array, as_object, as_text, compact, is_array, is_object, objects_in, parse_json
from .flaw import Flaw
from .message_forms import odd_answer, wrong_answer, wrong_question
from .tool_messages import ToolMessage

_MEDIA = frozenset({"image", "audio"})
"""Blocks that hold their data themselves."""
_LATER = frozenset({"task"})
"""Types of results, by version 2026-07-28 and its extensions, in place of which another one comes later."""
_BLOCKS = _MEDIA | {"text", "resource", "resource_link"}
_WITH_TOOL_RESULT = "2024-10-07"
"""The version in which `toolResult` was a result."""
_WITHOUT_BATCHES = "2025-06-18"
"""From this version on, several messages cannot come as one."""
ANY_JSON = "2026-07-28"
"""From this version on, structured content may be any JSON. It is the newest one that is known here."""


def is_modern(version: str | None) -> bool:
    """Whether this is the version without a handshake. What a later one says is not known here."""
    return version == ANY_JSON


def flaw_of(answer: ToolMessage, version: str | None) -> Flaw | None:
    """The first thing in the answer to a `tools/call` that MCP does not allow; None when there is none.

    `version` is the session's version of MCP; where it is not known, what differs between versions is allowed.
    """
    data = answer.data
    try:
        answer.raw.decode()
    except UnicodeDecodeError:
        return Flaw("is not valid UTF-8", mild=True)
    if (wrong := wrong_envelope(answer, version)) is not None:
        return Flaw(wrong, mild=True)
    if "result" in data and "error" in data:
        beside = "`error: null`" if data["error"] is None else "an error"
        return Flaw(f"comes with {beside} beside it, and an answer has only one of both", mild=True)
    if "error" in data:
        bare = bare_error(as_object(data["error"]))
        return None if bare is None else Flaw(bare, mild=True)
    if answer.result is None:
        return Flaw(f"is {cut(compact(data.get('result')), 40)}, and must be an object")
    return _of_result(answer.result, version)


def bare_error(error: Object) -> str | None:
    """How an error lacks what JSON-RPC requires; None when it has both. The end of a sentence that begins with it."""
    whole = isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return None if whole else f"is the error {cut(compact(error), 60)}, without a code and a message"


def wrong_envelope(message: ToolMessage, version: str | None) -> str | None:
    """How what is around the content of a message breaks JSON-RPC; None when it does not.

    The end of a sentence that begins with the message.
    """
    if message.data.get("jsonrpc") != "2.0":
        return f"has {cut(compact(message.data.get('jsonrpc')), 20)} as `jsonrpc`, which must be the text '2.0'"
    if message.batched and version is not None and version >= _WITHOUT_BATCHES:
        return f"comes in a batch, which version {version} does not have"
    if any(word in message.raw for word in _NO_NUMBERS) and not _is_strict(message.raw):
        return "holds NaN or Infinity, which JSON does not have"
    return None


_NO_NUMBERS = (b"NaN", b"Infinity")


def _is_strict(raw: bytes) -> bool:
    """False where one of those words is a number, and not in a text."""
    found: list[str] = []
    try:
        json.loads(raw, parse_constant=found.append)
    except ValueError:
        return True
    return not found


def _of_result(result: Object, version: str | None) -> Flaw | None:
    if "toolResult" in result and version in (None, _WITH_TOOL_RESULT):
        return None
    if is_object(task := result.get("task")):
        # its result comes later
        return None if (wrong := wrong_answer("tasks/get", task)) is None else Flaw(f"is a task that {wrong}")
    if version is not None and version > ANY_JSON:
        return None
    kind = result.get("resultType", "complete")
    if kind == "input_required":
        return _of_questions(result)
    if kind != "complete":
        unknown = kind not in _LATER and version == ANY_JSON
        return (
            Flaw(f"has {cut(compact(kind), 40)} as its `resultType`, which MCP does not have", True)
            if unknown
            else None
        )
    if "content" not in result:
        only = f"has no `content`, only {listed([*map(repr, result)], 3)}" if result else "is empty"
        return Flaw(only, mild="toolResult" in result)
    content = result["content"]
    if not is_array(content):
        return Flaw(f"has {cut(compact(content), 40)} as its `content`, which must be a list")
    for block in content:
        if (found := _of_block(as_object(block), block)) is not None:
            return found
    structured = result.get("structuredContent")
    if structured is not None and not is_object(structured) and version is not None and version < ANY_JSON:
        return Flaw(
            f"has {cut(compact(structured), 40)} as its `structuredContent`, which must be an object", mild=True
        )
    if not isinstance(result.get("isError", False), bool | None):
        return Flaw(f"has {cut(compact(result['isError']), 20)} as `isError`, which must be true or false", mild=True)
    wrong = (
        wrong_answer("tools/call", result, any_json=version is None or version >= ANY_JSON)
        or odd_answer("tools/call", result, modern=is_modern(version))
        or _two_values(result)
        or _enveloped(result)
    )
    return None if wrong is None else Flaw(wrong, mild=True)


def _enveloped(result: Object) -> str | None:
    """What is in a text of the result that should be the result itself: a whole message, or a whole result."""
    for block in objects_in(result.get("content")):
        text = as_text(block.get("text")) or ""
        if not text.startswith("{") or ('"jsonrpc"' not in text[:_START] and '"content"' not in text[:_START]):
            continue
        inner = as_object(parse_json(text))
        if inner.get("jsonrpc") == "2.0" and ("result" in inner or "error" in inner):
            return "holds a whole message of JSON-RPC as a text"
        blocks = inner.get("content")
        whole = is_array(blocks) and blocks and _RESULT.issuperset(inner)
        if whole and all(as_object(one).get("type") in _BLOCKS for one in as_array(blocks)):
            return "holds a whole result of MCP as a text"
    return None


_START = 400
"""Characters. The first keys of a message or a result are in them."""
_RESULT = frozenset({"content", "isError", "structuredContent", "_meta"})


def _two_values(result: Object) -> str | None:
    """The first field that has one value in the structured content and another one in the same JSON as a text."""
    structured = result.get("structuredContent")
    texts = [as_text(block.get("text")) for block in objects_in(result.get("content")) if block.get("type") == "text"]
    said = parse_json(texts[0]) if len(texts) == 1 and texts[0] is not None else None
    if not is_object(structured) or not is_object(said) or structured.keys() != said.keys():
        return None
    name = next((name for name in said if sorted_json(said[name]) != sorted_json(structured[name])), None)
    if name is None:
        return None
    one, other = compact(said[name])[:40], compact(structured[name])[:40]
    return f"says {one} for {name!r} in its text, and {other} in its structured content"


def _of_questions(result: Object) -> Flaw | None:
    """What is wrong with an answer that asks for input."""
    questions, state = result.get("inputRequests"), as_text(result.get("requestState"))
    if state is None and result.get("requestState") is not None:
        return None  # `undeclared` says it when it comes, since the call continues
    if questions is None or questions == {}:
        return (
            None if state is not None else Flaw("asks for input, and has neither `inputRequests` nor a `requestState`")
        )
    if not is_object(questions):
        return Flaw(f"has {cut(compact(questions), 40)} as its `inputRequests`, which must be an object")
    for name, question in questions.items():
        if (wrong := wrong_question(question)) is not None:
            return Flaw(f"asks the question {name!r}, which {wrong}")
    return None


def _of_block(block: Object, raw: object) -> Flaw | None:
    kind = as_text(block.get("type"))
    if kind is None:
        return Flaw(f"holds {cut(compact(raw), 40)} in its `content`, which has no type")
    if kind not in _BLOCKS:
        return Flaw(f"holds a block of type {kind!r}, which MCP does not have", mild=True)
    if kind == "text" and not isinstance(block.get("text"), str):
        return Flaw(f"holds a text block whose text is {cut(compact(block.get('text')), 40)}", mild=True)
    if kind in _MEDIA:
        data = block.get("data")
        if not isinstance(data, str) or not data:
            return Flaw(f"holds a block of type {kind!r} without any data")
        if data.startswith("data:"):
            return Flaw(f"holds a block of type {kind!r} whose data is a URL in place of base64", mild=True)
        if not as_text(block.get("mimeType")):
            return Flaw(f"holds a block of type {kind!r} without a `mimeType`", mild=True)
    return None
