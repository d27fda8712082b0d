"""The pieces of a prompt as a cache sees them."""

from typing import Any

from cached_turns import MARK, TOOL, text
from round_trips import CHAT, MESSAGES, exchanged

from turntape.inspector.ledger.cache.blocks import Block, head_blocks, message_blocks
from turntape.inspector.wire.parse import read

USER = {"role": "user", "content": "x"}


def blocks(url: str, body: dict[str, Any]) -> list[Block]:
    request = read(exchanged(url, {"model": "m", "max_tokens": 1, **body}, {})).request
    return [*head_blocks(request), *(one for m in request.messages for one in message_blocks(m, "messages"))]


def test_blocks_are_in_the_order_of_the_prompt() -> None:
    body = {"messages": [USER], "system": [text("one"), text("two")], "tools": [TOOL]}
    assert [(one.level, one.pointer) for one in blocks(MESSAGES, body)] == [
        ("tools", "/tools/0"),
        ("system", "/system/0"),
        ("system", "/system/1"),
        ("messages", "/messages/0/content"),
    ]


def test_marks_and_spelling_do_not_count() -> None:
    plain, listed, marked = (
        blocks(MESSAGES, {"messages": [{"role": "user", "content": content}]})[0].text
        for content in ("x", [text("x")], [text("x", MARK)])
    )
    assert plain == listed == marked
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    bare, held = (
        blocks(MESSAGES, {"messages": [{"role": "user", "content": [one]}]})[0] for one in (image, image | MARK)
    )
    assert bare == held


def test_the_role_counts() -> None:
    one, other = (blocks(CHAT, {"messages": [{"role": role, "content": "x"}]})[0] for role in ("user", "assistant"))
    assert (one.role, other.role) == ("user", "assistant")
    assert (one.echo, other.echo) == (False, True)


def test_deferred_tools_and_the_billing_header_are_not_in_the_prompt() -> None:
    late = {**TOOL, "name": "late", "defer_loading": True}
    header = text("x-anthropic-billing-header: cc_version=2; cch=ab1;")
    assert len(blocks(MESSAGES, {"messages": [], "tools": [late, TOOL], "system": [header, text("one")]})) == 2


def test_the_id_of_a_result_is_before_it_and_a_call_behind_the_text() -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": [text("x"), text("y")]}
    assert [one.pointer for one in blocks(CHAT, {"messages": [result]})] == [
        "/messages/0",
        "/messages/0/content/0",
        "/messages/0/content/1",
    ]
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said = {"role": "assistant", "content": [text("x")], "tool_calls": [call]}
    assert [one.pointer for one in blocks(CHAT, {"messages": [said]})] == ["/messages/0/content/0", "/messages/0"]


def test_a_cache_point_is_not_a_block() -> None:
    content = [{"text": "x"}, {"cachePoint": {"type": "default"}}]
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"
    assert [one.pointer for one in blocks(url, {"messages": [{"role": "user", "content": content}]})] == [
        "/messages/0/content/0"
    ]


def test_signs_weigh_more_than_letters_and_a_picture_little() -> None:
    def weight(words: str) -> int:
        return blocks(CHAT, {"messages": [{"role": "user", "content": words}]})[0].weight

    assert weight("{[()]}1") - weight("abcdefg") == 7
    assert weight("a" * 100_000) == 6000
    assert weight("a b " * 25_000) > 100_000


def test_reasoning_that_is_sent_back_is_known() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    said = {"role": "assistant", "content": [thought, text("x")]}
    assert [one.thought for one in blocks(MESSAGES, {"messages": [said]})] == [True, False]
