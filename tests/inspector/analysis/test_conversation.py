import tracemalloc
from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.analysis import conversation as conversation_module
from turntape.inspector.analysis.conversation import (
    Conversation,
    call_meaning,
    common_units,
    conversation_of,
    joined,
    meanings_emitted,
    reasoning_of,
    same_messages,
    sorted_json,
    units_emitted,
    unmarked,
    without_space,
)
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Emission, Message, Part, ToolCall, ToolResult


def conversation(*messages: dict[str, Any]) -> Conversation:
    return conversation_of(read(chat(list(messages))).request.messages)


def meanings(*messages: dict[str, Any]) -> list[int]:
    return conversation(*messages).meanings


def emission(message: dict[str, Any]) -> Emission:
    found = read(chat([HELLO], message)).emission
    assert found is not None
    return found


def content(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def picture(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}, **more}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("what is it?"), content(text("what is it?"))),
        (user("what is it?"), user(" what  is\nit? ")),
        (user("x"), content(text("x", cache_control={"type": "ephemeral"}))),
        (content(picture("a")), content(picture("a", cache_control={"type": "ephemeral"}))),
        (said(None, CALL), said(None, ("other", "look_up", '{ "word": "tape" }'))),
        (said(None, ("c", "f", '{"a":1,"b":2}')), said(None, ("c", "f", '{"b":2,"a":1}'))),
        (said(None, ("c", "f", "")), said(None, ("c", "f", "{}"))),
        (result("call_1", "r"), result("other", " r\n")),
    ],
)
def test_two_ways_to_say_the_same_have_one_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert meanings(HELLO, one) == meanings(HELLO, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("a"), user("b")),
        (user("a"), said("a")),
        (content(picture("a")), content(picture("b"))),
        (said(None, CALL), said(None, ("call_1", "look_up", '{"word":"top"}'))),
        (said(None, CALL), said(None, ("call_1", "look_down", '{"word":"tape"}'))),
        (said(None, ("c", "f", '{"a":')), said(None, ("c", "f", '{"b":'))),
        (result("call_1", "r"), result("call_1", "s")),
        (result("call_1", "r"), user("r")),
        (user("a"), content(text("a"), text("b"))),
    ],
)
def test_what_is_said_and_by_whom_makes_the_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert meanings(HELLO, one) != meanings(HELLO, other)


def test_texts_and_calls_that_say_the_same_differ_in_their_spelling() -> None:
    a, b = conversation(user("a  b")).units, conversation(user("a b")).units
    c, d = conversation(said(None, CALL)).units, conversation(said(None, ("c", "look_up", '{"word": "tape"}'))).units

    assert a[0].spelling != b[0].spelling and a[0].meaning == b[0].meaning
    assert c[0].spelling != d[0].spelling and c[0].meaning == d[0].meaning


def test_a_unit_knows_its_kind_role_id_and_place() -> None:
    units = conversation(HELLO, said("Let me look.", CALL), result("call_1", "r"), content(picture("a"))).units

    assert [(unit.kind, unit.role, unit.call_id) for unit in units] == [
        ("text", "user", None),
        ("text", "assistant", None),
        ("call", "assistant", "call_1"),
        ("result", "tool", "call_1"),
        ("media", "user", None),
    ]
    assert units[2].pointer == "/messages/1/tool_calls/0"
    assert [unit.text for unit in units[:3]] == ["what is a tape?", "Let me look.", CALL[2]]
    assert not any(unit.emitted for unit in units)


def test_empty_texts_reasoning_and_the_tools_of_the_api_make_no_unit() -> None:
    call = ToolCall("search", "s", {}, "{}", server=True)
    parts = (
        Part("text", "/0", " \n"),
        Part("reasoning", "/1", "hm"),
        Part("call", "/2", call=call),
        Part("result", "/3", result=ToolResult("s", "search", False, "found")),
        Part("other", "/4", "x"),
    )

    assert conversation_of((Message("assistant", parts, "/m"),)).units == []


def test_system_messages_at_the_front_are_not_history() -> None:
    system = {"role": "system", "content": "Be brief."}
    made = conversation(system, HELLO, system)

    assert made.leading == 1
    assert [unit.role for unit in made.history] == ["user", "system"]
    assert made.ends == [0, 1, 2, 3]
    assert conversation(system).leading == 1


def test_a_prefix_hash_is_equal_for_equal_fronts() -> None:
    one = conversation(HELLO, said("a"), user("b")).prefixes
    other = conversation(HELLO, said("a"), user("c")).prefixes

    assert len(one) == 4
    assert one[:3] == other[:3] and one[3] != other[3]
    assert len(set(one)) == 4


def test_what_an_earlier_conversation_has_is_taken_from_it() -> None:
    first = conversation(HELLO, said("a"))
    other = conversation(user("else"), said("a"))
    longer = read(chat([HELLO, said("a"), user("b")])).request.messages
    made = conversation_of(longer, [other, first, other])

    assert [unit is old for unit, old in zip(made.units, first.units, strict=False)] == [True, True]
    assert made.messages[0] is first.messages[0]
    fresh = conversation_of(longer)
    assert (made.meanings, made.ends, made.prefixes) == (fresh.meanings, fresh.ends, fresh.prefixes)
    assert len(made.messages) == 3


def test_the_same_messages_are_counted_from_the_front_of_the_history() -> None:
    system = {"role": "system", "content": "Be brief."}
    before = conversation(system, HELLO, said("a"), user("b"))

    assert same_messages(before, conversation(system, HELLO, said("a"), user("c"))) == 2
    assert same_messages(before, conversation({**system, "content": "Be long."}, HELLO, said("a"), user("b"))) == 3
    assert same_messages(before, conversation(system, content(text("what is a tape?")))) == 0
    assert same_messages(before, conversation(HELLO, said("a"))) == 0  # other pointers


def test_messages_without_json_are_never_the_same() -> None:
    [message] = conversation(HELLO).messages
    bare = conversation_of((replace(message, raw=None),))

    assert same_messages(bare, conversation_of((replace(message, raw=None),))) == 0


def test_common_units_are_counted_by_what_they_say() -> None:
    before = conversation(HELLO, said("a"), user("b"))

    assert common_units(before, conversation(HELLO, said(" a"), user("c"))) == 2
    assert common_units(before, conversation(HELLO)) == 1
    assert common_units(before, before) == 3


def test_an_answer_is_what_a_client_appends() -> None:
    answered = said("I look.", CALL)

    assert [unit.meaning for unit in units_emitted(emission(answered))] == meanings(HELLO, answered)[1:]
    assert all(unit.emitted for unit in units_emitted(emission(answered)))


def test_an_answer_without_parts_is_its_text_and_its_calls() -> None:
    made = units_emitted(Emission(text="a", calls=(ToolCall("f", "c", {}, "{}"),)))

    assert [(unit.kind, unit.call_id) for unit in made] == [("text", None), ("call", "c")]
    assert units_emitted(Emission()) == []


def test_texts_of_the_assistant_in_a_row_are_one() -> None:
    parts = conversation(HELLO, {"role": "assistant", "content": [text("a"), text("b")]}, said(None, CALL), said("c"))
    made = joined(parts.units)

    assert [unit.text for unit in made] == ["what is a tape?", "ab", CALL[2], "c"]
    assert made[1].meaning == conversation(said("ab")).units[0].meaning
    users = conversation(content(text("a"), text("b"))).units
    assert joined(users) == users


def test_a_joined_answer_is_still_emitted() -> None:
    made = joined(units_emitted(Emission(content=(Part("text", "/0", "a"), Part("text", "/1", "b")))))

    assert [(unit.text, unit.emitted) for unit in made] == [("ab", True)]


def test_what_an_answer_says_is_known_split_and_joined() -> None:
    found = meanings_emitted(Emission(content=(Part("text", "/0", "a"), Part("text", "/1", "b"))))

    assert found == {*meanings(said("a")), *meanings(said("b")), *meanings(said("ab"))}


def test_equal_calls_have_one_meaning_and_raw_arguments_count_where_they_do_not_parse() -> None:
    def call(raw: str, parsed: object) -> int:
        return call_meaning(ToolCall("f", None, parsed, raw))

    assert call("{ }", {}) == call("", {}) == call("", None)
    assert call("{", None) != call("", None)
    assert call(" {", None) == call("{", None)


def test_json_is_sorted_and_cache_markers_are_left_out_at_any_depth() -> None:
    assert sorted_json({"b": [{"d": 1, "c": 2}], "a": 3}) == sorted_json({"a": 3, "b": [{"c": 2, "d": 1}]})
    assert sorted_json([1, 2]) != sorted_json([2, 1])
    assert sorted_json({"a": [1.0, 1e3]}) == sorted_json({"a": [1, 1000]})
    assert sorted_json(9007199254740993) != sorted_json(9007199254740992.0)
    assert unmarked([{"x": 1, "cache_control": {}}, {"cachePoint": {}}]) == [{"x": 1}, {}]


def test_reasoning_and_signatures_are_found_in_every_message() -> None:
    plain, sealed = Part("reasoning", "/0", "hm"), Part("call", "/1", signature="x")
    message = Message("assistant", (plain, Part("text", "/2", "a"), sealed), "/m")

    assert reasoning_of([message, message]) == [plain, sealed, plain, sealed]


def test_the_white_space_of_a_large_text_is_dropped_without_many_times_its_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation_module, "_BLOCK", 1000)
    text = "ab \n cd\u2003" * 10_000
    tracemalloc.start()
    found = without_space(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found == "abcd" * 10_000
    assert peak < 4 * len(text)


PIECES = [
    HELLO,
    user("b"),
    said("a"),
    said("a", CALL),
    result("call_1", "r"),
    content(text("a"), text("b"), picture("p")),
    {"role": "system", "content": "Be brief."},
]


@given(st.lists(st.tuples(st.integers(0, 9), st.lists(st.sampled_from(PIECES), max_size=5)), min_size=2, max_size=7))
def test_a_run_that_shares_beginnings_reads_as_single_requests_do(
    steps: list[tuple[int, list[dict[str, Any]]]],
) -> None:
    earlier, history = list[Conversation](), list[dict[str, Any]]()
    for kept, more in steps:
        history = [*history[:kept], *more]
        messages = read(chat(history)).request.messages
        made, alone = conversation_of(messages, earlier), conversation_of(read(chat(history)).request.messages)

        assert [unit.pointer for unit in made.units] == [unit.pointer for unit in alone.units]
        assert made.meanings == alone.meanings
        assert list(made.ends) == list(alone.ends)
        assert list(made.prefixes) == list(alone.prefixes)
        assert made.leading == alone.leading
        for other in earlier:
            pairs = zip(other.meanings, made.meanings, strict=False)
            same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(other.units), len(made.units)))
            assert common_units(other, made) == same
        earlier.append(made)


@pytest.mark.parametrize("marker", ["cache_control", "cachePoint", "prompt_cache_breakpoint"])
def test_a_mark_for_the_cache_says_nothing(marker: str) -> None:
    assert unmarked({"x": {marker: {"type": "default"}, "y": 1}}) == {"x": {"y": 1}}
