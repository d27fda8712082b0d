"""The contents of a prompt: what each is called, how many tokens it can have, and which are the same."""

import base64
import struct
import zlib
from dataclasses import replace
from typing import Any, get_args

import pytest

from turntape.inspector.ledger import contents
from turntape.inspector.ledger.contents import (
    CALL_FRAMING,
    FRAMING,
    Content,
    calls_by_id,
    hidden,
    kept_by_api,
    message_contents,
    read_again,
    system_contents,
    tool_contents,
)
from turntape.inspector.ledger.model import PieceKind
from turntape.inspector.ledger.shape import NO_TEXT, begins_message, of_call, shape_of
from turntape.inspector.wire.json_value import compact
from turntape.inspector.wire.values import Message, Part, Tool, ToolCall, ToolResult

CALL = ToolCall("read", "c1", {"path": "a.py"}, '{"path":"a.py"}')
MARK = {"cache_control": {"type": "ephemeral"}}


def result(text: str = "found", name: str | None = None, call_id: str | None = "c1", raw: object = None) -> Part:
    return Part("result", "/messages/1", text, result=ToolResult(call_id, name, False, text), raw=raw)


def content(part: Part, role: Any = "user", calls: dict[str, ToolCall] | None = None) -> Content:
    [found] = message_contents(Message(role, (part,), "/messages/1"), calls or {})
    return found


def png(width: int, height: int) -> str:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    data = b"\x89PNG\r\n\x1a\n" + chunk + b"\0" * 200
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def picture(url: str, **more: Any) -> Part:
    raw = {"type": "image_url", "image_url": {"url": url, "detail": "low"}, **more}
    return Part("media", "/messages/1/content/0", "[image]", raw=raw)


def test_a_definition_is_written_out_as_its_name_words_and_schema() -> None:
    tool = Tool("read", "Read a file.", {"type": "object"}, "/tools/0")
    text = compact({"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}).encode()
    [one] = tool_contents([tool, replace(tool, deferred=True)])

    assert (one.kind, one.name, one.pointer, one.tool) == ("tool", "read (definition)", "/tools/0", "read")
    assert (one.size, one.weight, one.limited, one.shape) == (len(text), len(text), True, shape_of(text))
    assert one.ceiling == 3 * len(text) + CALL_FRAMING
    [other, served] = tool_contents([replace(tool, pointer="/tools/9"), replace(tool, server=True)])
    assert other.digest == one.digest and (served.limited, served.ceiling) == (False, None)
    [changed] = tool_contents([replace(tool, description="Read.")])
    assert changed.digest != one.digest


@pytest.mark.parametrize(
    ("part", "role", "kind", "name"),
    [
        (Part("text", "/s", "Be brief."), "system", "system", "system prompt: Be brief."),
        (Part("text", "/s", "  "), "system", "system", "system prompt"),
        (Part("other", "/s", "x"), "system", "system", "system prompt: x"),
        (Part("text", "/m", "Hello."), "user", "user", "Hello."),
        (Part("text", "/m"), "user", "user", "text"),
        (Part("text", "/m", "Hello."), "tool", "user", "Hello."),
        (Part("text", "/m", "Hello."), "assistant", "assistant", "Hello."),
        (Part("other", "/m", raw={"a": 1}), "user", "other", "other"),
        (Part("other", "/m", raw={"a": 1}), "assistant", "other", "other"),
        (Part("reasoning", "/m", "I think."), "assistant", "reasoning", "reasoning: I think."),
        (Part("reasoning", "/m", " "), "assistant", "reasoning", "reasoning"),
        (Part("reasoning", "/m", "I think."), "system", "reasoning", "reasoning: I think."),
        (Part("media", "/m", "[image]", raw={"a": 1}), "user", "media", "[image]"),
        (Part("call", "/m", call=CALL), "assistant", "call", "call of read a.py"),
        (result(), "tool", "result", "result of c1"),
        (result(call_id=None), "tool", "result", "result of a call"),
        (result(name="read"), "tool", "result", "result of read"),
    ],
)
def test_what_a_content_is_and_is_called(part: Part, role: Any, kind: str, name: str) -> None:
    one = content(part, role)

    assert (one.kind, one.name, one.pointer) == (kind, name, part.pointer)
    assert one.echo == (role == "assistant") and not one.marked
    assert kind in get_args(PieceKind.__value__)


def test_the_system_prompt_of_an_api_is_a_content_too() -> None:
    [one] = system_contents([Part("text", "/system", "Be brief.")])

    assert (one.kind, one.weight, one.size) == ("system", 9, len('"Be brief."'))
    assert one.digest == content(Part("text", "/messages/0", "Be brief."), "system").digest
    assert one.shape == shape_of(b"Be brief."), "no message begins with it"


def test_a_result_is_that_of_its_call() -> None:
    one = content(result("Grüße"), "tool", {"c1": CALL, "c2": replace(CALL, name="other")})
    assert (one.name, one.tool, one.call_id, one.weight) == ("result of read a.py", "read", "c1", len("Grüße".encode()))

    named = content(result("found", name="read"), "tool")
    assert (named.tool, named.weight) == ("read", len("read found")), "it is written with its name"
    assert content(result("found", name="find"), "tool", {"c1": CALL}).tool == "find"
    assert content(result(), "tool").tool is None


def test_a_call_is_its_name_and_its_arguments() -> None:
    one, text = content(Part("call", "/m", call=CALL), "assistant"), b'read {"path":"a.py"}'

    assert (one.tool, one.call_id, one.weight, one.ceiling) == ("read", "c1", len(text), 3 * len(text) + CALL_FRAMING)
    assert one.shape == begins_message(of_call(shape_of(text)))
    other = content(Part("call", "/n", call=replace(CALL, id="c9"), raw={"id": "c9"}), "assistant")
    assert other.digest == one.digest, "ids do not count"


@pytest.mark.parametrize(
    ("part", "limited", "thinks"),
    [
        (Part("text", "/m", "Hello."), True, False),
        (Part("text", "/m", "Hello.", signature="s"), False, True),
        (Part("text", "", "Hello."), True, True),
        (Part("reasoning", "/m", "I think."), False, True),
        (Part("other", "/m", raw={"a": 1}), False, True),
        (Part("media", "/m", raw={"a": 1}), False, True),
        (result("x", raw={"a": "y" * 4_091}), True, False),
        (result("x", raw={"a": "y" * 4_093}), False, True),
        (result("x" * 1_000, raw={"a": "y" * 8_000}), True, False),
        (Part("text", "/m", "Hi.", raw={"a": "y" * 9_000}), True, False),
    ],
)
def test_whether_the_bytes_of_a_content_limit_its_tokens(part: Part, limited: bool, thinks: bool) -> None:
    one = content(part)

    assert (one.limited, one.may_think) == (limited, thinks)
    assert one.ceiling == (one.weight + FRAMING if limited else None)


def test_contents_are_equal_by_what_the_model_reads() -> None:
    def digest(part: Part, role: Any = "user") -> bytes:
        return content(part, role).digest

    text = Part("text", "/m", "Hello.", raw={"text": "Hello."})
    for role in ("user", "assistant", "system"):
        assert digest(text, role) == digest(replace(text, pointer="/n", raw={"text": "Hello.", "id": 7}), role)
    assert (
        len({digest(text), digest(replace(text, text="Hello")), digest(text, "assistant"), digest(text, "tool")}) == 4
    )
    assert digest(result(), "tool") == digest(result(call_id="c2"), "tool")
    assert digest(result(), "tool") != digest(result(name="read"), "tool")

    one = picture(png(40, 30))
    assert digest(one) == digest(picture(png(40, 30), **MARK)) != digest(picture(png(41, 30)))
    assert digest(replace(one, raw=None)) != digest(one)
    thought = Part("reasoning", "/m", "I think.", raw={"encrypted": "a"})
    assert digest(thought) != digest(replace(thought, raw={"encrypted": "b"}))
    large = result("x", raw={"data": "y" * 5_000})
    assert digest(large, "tool") != digest(result("x", raw={"data": "z" * 5_000}), "tool"), "it has a picture"
    assert content(Part("text", "/m", "\ud800")).weight == 3, "half of a pair of surrogates"


def test_the_size_of_a_picture_is_read_from_it() -> None:
    assert content(picture(png(40, 30))).pixels == (40, 30, "low")
    assert content(picture(png(0, 30))).pixels is content(picture(png(40, 0))).pixels is None
    assert content(picture("https://example.com/a.png")).pixels is None
    assert content(replace(picture(png(40, 30)), kind="other")).pixels is None


def test_marks_for_the_cache_end_a_part() -> None:
    def marked(*raws: Any, pointers: tuple[str, ...] = ("/m/content/0", "/m/content/1")) -> list[bool]:
        parts = tuple(Part("text", at, "x", raw=raw) for at, raw in zip(pointers, raws, strict=False))
        return [one.marked for one in message_contents(Message("user", parts, "/m", {"content": list(raws)}), {})]

    assert marked({"text": "a"}, {"text": "b"}) == [False, False]
    assert marked({"text": "a", **MARK}, {"text": "b"}) == [True, False]
    assert marked({"text": "a", "prompt_cache_breakpoint": {}}, "b") == [True, False]
    assert marked({"text": "a"}, {"text": "b"}, {"cachePoint": {"type": "default"}}) == [False, True]
    assert marked({"cachePoint": {}}, {"text": "b"}) == [False, False], "nothing is before it"


def test_the_first_content_begins_its_message() -> None:
    parts = (Part("text", "/m/0", "one"), Part("text", "/m/1", "two"))
    first, second = message_contents(Message("user", parts, "/m"), {})

    assert (first.shape, second.shape) == (begins_message(shape_of(b"one")), shape_of(b"two"))


def test_calls_without_an_id_have_no_result() -> None:
    parts = (
        Part("text", "/m", "x"),
        *(Part("call", "/m", call=replace(CALL, id=one)) for one in ("c1", None, "")),
    )

    assert list(calls_by_id([Message("assistant", parts, "/m")])) == [("c1", CALL)]


def test_what_no_byte_of_a_request_explains() -> None:
    kept, unseen, again = kept_by_api("resp_1"), hidden(1), read_again(1)

    assert [one.name for one in (kept, unseen, again)] == [
        "history that the API keeps", "text that the API adds", "read again by the API's own tools"
    ]  # fmt: skip
    for one in (kept, unseen, again):
        assert (one.kind, one.pointer, one.size, one.weight, one.ceiling) == ("other", "", 0, 0, None)
        assert (one.shape, one.may_think, one.tool) == (NO_TEXT, True, None)
    assert kept.digest == kept_by_api("resp_1").digest != kept_by_api("resp_2").digest
    assert unseen.digest != hidden(2).digest and again.digest != read_again(2).digest
    assert len({kept_by_api("1").digest, unseen.digest, again.digest}) == 3


def test_shapes_are_made_once_and_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_shapes", {})
    monkeypatch.setattr(contents, "_MOST_SHAPES", 2)
    for number in range(5):
        assert content(Part("text", "/m", f"text {number}")).shape == begins_message(shape_of(b"text 0"))
        assert len(contents._shapes) <= 2
    content(Part("text", "/m", "text 4"))
    assert len(contents._shapes) == 1, "after 2, 4 is the first again"
