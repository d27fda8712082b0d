"""The keys of a request: what each of them keeps and leaves out."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from turntape.cassettes import Matching, Redactor
from turntape.cassettes.matching.fingerprints import LISTED, SHOWN, Fingerprint, Fingerprints, compared, model_in

CHAT = "chat/completions"
CALL = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}]}


def of(body: object, path: str = CHAT, matching: Matching | None = None, on_tape: frozenset[str] = frozenset()) -> Any:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Fingerprints(matching or Matching(), Redactor(salt="s"), on_tape).of("POST", path, (), sent)


def equal(one: object, other: object, **options: Any) -> tuple[bool, bool]:
    """Whether the exact and the stable keys of two requests are equal."""
    first, second = of(one, **options), of(other, **options)
    return first.exact == second.exact, first.stable == second.stable


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("chat/completions", ("chat/completions", None)),
        ("models/gemini-2.5-pro:generateContent", ("models/*:generateContent", "gemini-2.5-pro")),
        ("models/gemini-2.5-pro%3AgenerateContent", ("models/*%3AgenerateContent", "gemini-2.5-pro")),
        ("p/x/models/gemini:gen", ("p/x/models/*:gen", "gemini")),
        ("model/anthropic.claude/converse", ("model/*/converse", "anthropic.claude")),
        ("model/anthropic.v1%3A0/converse", ("model/*/converse", "anthropic.v1%3A0")),
        ("model/anthropic.v1:0/converse", ("model/*/converse", "anthropic.v1:0")),
        ("deployments/my-gpt/chat/completions", ("deployments/*/chat/completions", "my-gpt")),
        ("models", ("models", None)),
        ("models/gpt-5", ("models/gpt-5", None)),
        ("mymodels/a/b", ("mymodels/a/b", None)),
    ],
)
def test_the_model_in_a_path_is_separated(path: str, expected: tuple[str, str | None]) -> None:
    assert model_in(path) == expected


def test_key_order_does_not_count_and_values_do() -> None:
    assert equal({"a": 1, "b": 2}, {"b": 2, "a": 1}) == (True, True)
    assert equal({"a": 1}, {"a": 2}) == (False, False)


@pytest.mark.parametrize(
    "body", [b"plain text", b"", b"{broken", b"[1, 2", b"[" * 400 + b"]" * 400, b"[" * 5000 + b"]" * 5000]
)
def test_a_body_that_is_not_json_is_compared_by_its_bytes(body: bytes) -> None:
    assert equal(body, body) == (True, True)
    assert equal(body, body + b"x") == (False, False)


def test_ignored_text_counts_in_no_body_that_is_not_json() -> None:
    matching = Matching(ignore_text=("build-[0-9]+",))

    assert equal(b"at build-1", b"at build-2", matching=matching) == (False, True)
    assert equal(b"at build-1", b"in build-2", matching=matching) == (False, False)


def test_ignored_text_does_not_count_in_strings_and_in_the_path() -> None:
    matching = Matching(ignore_text=("build-[0-9]+",))

    assert equal({"a": ["x build-1"]}, {"a": ["x build-22"]}, matching=matching) == (False, True)
    assert equal({"a": "build-1" + "x" * 300}, {"a": "build-2" + "x" * 300}, matching=matching) == (False, True)
    assert equal({"a": "build-1"}, {"a": "build-2"}) == (False, False)
    one, other = (of({}, path=f"build-{n}/chat", matching=matching) for n in (1, 2))
    assert one.stable == other.stable
    assert one.exact != other.exact


def test_ignored_pointers_do_not_count() -> None:
    matching = Matching(ignore=("/x/run",), rules={"seed": "ignore", "/y": "ignore", "/z/*/id": "ignore"})

    assert equal({"a": 1, "x": {"run": 1}}, {"a": 1, "x": {"run": 2}}, matching=matching) == (False, True)
    assert equal({"seed": 1}, {"seed": 2}, matching=matching) == (False, True)
    assert equal({"y": 1}, {}, matching=matching) == (False, True)
    assert equal({"z": [{"id": 1, "b": 1}]}, {"z": [{"id": 2, "b": 1}]}, matching=matching) == (False, True)
    assert equal({"z": [{"id": 1, "b": 1}]}, {"z": [{"id": 1, "b": 2}]}, matching=matching) == (False, False)


@pytest.mark.parametrize(
    ("rule", "one", "other"),
    [
        (
            "system",
            {"messages": [{"role": "system", "content": "a"}]},
            {"messages": [{"role": "system", "content": "b"}]},
        ),
        ("system", {"system": "a"}, {"system": "b"}),
        (
            "messages",
            {"messages": [{"role": "user", "content": "a"}]},
            {"messages": [{"role": "user", "content": "b"}]},
        ),
        (
            "tool_results",
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "a"}]},
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "b"}]},
        ),
        (
            "messages",
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "a"}]},
            {"messages": [{"role": "tool", "tool_call_id": "c", "content": "b"}]},
        ),
        ("temperature", {"generationConfig": {"temperature": 1}}, {"generationConfig": {"temperature": 2}}),
        ("max_output_tokens", {"generationConfig": {"maxOutputTokens": 1}}, {}),
    ],
)
def test_a_rule_for_a_field_holds_wherever_an_api_puts_it(rule: str, one: object, other: object) -> None:
    assert equal(one, other) == (False, False)
    assert equal(one, other, matching=Matching(rules={rule: "ignore"})) == (False, True)


def test_a_rule_for_tool_results_is_stronger_than_one_for_messages() -> None:
    matching = Matching(rules={"messages": "ignore", "tool_results": "fail"})
    results = [{"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]} for text in "ab"]

    assert equal(*results, matching=matching) == (False, False)


def test_a_pointer_is_stronger_than_a_rule_for_the_field() -> None:
    matching = Matching(rules={"messages": "ignore", "/messages/0/name": "fail", "/options/seed": "fail"})

    assert equal({"messages": [{"name": "a"}]}, {"messages": [{"name": "b"}]}, matching=matching) == (False, False)
    assert equal({"options": {"seed": 1}}, {"options": {"seed": 2}}, matching=matching) == (False, False)


def test_a_field_of_the_table_counts_when_a_rule_names_it() -> None:
    assert equal({"user": "a"}, {"user": "b"}) == (False, True)
    assert equal({"user": "a"}, {"user": "b"}, matching=Matching(rules={"user": "fail"})) == (False, False)


def chat(call: str, *results: str) -> dict[str, object]:
    calls = [{"id": call, "type": "function", "function": {"name": "f"}}]
    answers = [{"role": "tool", "tool_call_id": one, "content": one[-1]} for one in results]
    return {"messages": [{"role": "assistant", "tool_calls": calls}, *answers]}


def test_ids_that_the_client_made_are_compared_by_who_refers_to_whom() -> None:
    assert equal(chat("x1", "x1"), chat("y1", "y1")) == (False, True)
    assert equal(chat("x1", "x1"), chat("y1", "z1")) == (False, False)


def test_ids_from_the_recording_are_compared_by_their_value() -> None:
    assert equal(chat("x1", "x1"), chat("y1", "y1"), on_tape=frozenset({"x1", "y1"})) == (False, False)


def test_parallel_results_may_come_in_any_order() -> None:
    tape = frozenset({"a1", "b2", "c3"})

    assert equal(chat("a1", "a1", "b2", "c3"), chat("a1", "c3", "a1", "b2"), on_tape=tape) == (False, True)
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("a1", "b2")]
    one, other = ({"messages": [{"role": "user", "content": list(order)}]} for order in (blocks, blocks[::-1]))
    assert equal(one, other, on_tape=tape) == (False, True)
    parts = [{"functionResponse": {"id": name}} for name in ("a1", "b2")]
    one, other = ({"contents": [{"role": "user", "parts": list(order)}]} for order in (parts, parts[::-1]))
    assert equal(one, other, path="models/g:generateContent", on_tape=tape) == (False, True)


TOOLS = [{"name": name, "description": name} for name in "abc"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (lambda tools: {"tools": tools}, "/tools"),
        (lambda tools: {"tools": [{"type": "function", "function": one} for one in tools]}, "/tools"),
        (lambda tools: {"tools": [{"functionDeclarations": tools}]}, "/tools/0/functionDeclarations"),
        (lambda tools: {"tools": [{"type": "namespace", "name": "n", "tools": tools}]}, "/tools/0/tools"),
        (lambda tools: {"toolConfig": {"tools": [{"toolSpec": one} for one in tools]}}, "/toolConfig/tools"),
    ],
)
def test_tools_in_another_order_are_equal_and_differ_only_in_their_words(
    body: Callable[[list[dict[str, str]]], dict[str, object]], place: str
) -> None:
    first, second, third = TOOLS

    assert equal(body(TOOLS), body(TOOLS[::-1])) == (False, True)
    found, _ = compared(of(body(TOOLS)), of(body([third, {**first, "description": "new"}, second])))
    assert [(one.kind, one.recorded, one.given) for one in found] == [("changed", "a", "new")]
    assert found[0].pointer.startswith(f"{place}/0/")
    found, _ = compared(of(body(TOOLS)), of(body([third, second, {"name": "d"}, first])))
    assert [(one.kind, one.pointer) for one in found] == [("added", f"{place}/3")]


def test_tools_with_one_name_are_compared_in_their_order() -> None:
    one, other = {"name": "a", "x": 1}, {"name": "a", "x": 2}

    found, _ = compared(of({"tools": [one, other]}), of({"tools": [other, one]}))

    assert [item.kind for item in found] == ["added", "removed"]


def test_a_tool_with_another_name_is_in_its_place_and_one_that_is_gone_is_named() -> None:
    first, second, third = TOOLS

    found, _ = compared(of({"tools": TOOLS}), of({"tools": [third, second, {**first, "name": "d"}]}))
    assert [(one.pointer, one.recorded, one.given) for one in found] == [("/tools/0/name", "a", "d")]
    found, _ = compared(of({"tools": TOOLS}), of({"tools": [third, first]}))
    assert [(one.kind, one.pointer) for one in found] == [("removed", "/tools/1")]


def test_tools_without_names_are_compared_in_their_order() -> None:
    found, _ = compared(of({"tools": [{"a": 1}, {"b": 2}]}), of({"tools": [{"b": 2}, {"a": 1}, {"c": 3}]}))

    assert [one.kind for one in found] == ["added", "removed", "added"]


def test_results_on_two_sides_of_a_message_keep_their_places() -> None:
    tape = frozenset({"a1", "b2"})
    between: list[Any] = [{"role": "user", "content": "and"}]
    one, other = chat("a1", "a1", "b2"), chat("a1", "b2", "a1")
    for body in (one, other):
        messages: Any = body["messages"]
        body["messages"] = [*messages[:2], *between, *messages[2:]]

    assert equal(one, other, on_tape=tape) == (False, False)


def turns(one: object, other: object, matching: Matching | None = None, **paths: str) -> tuple[bool, bool]:
    """Whether two requests have the same turn and the same place."""
    rules = matching or Matching("ordered")
    first = of(one, matching=rules, path=paths.get("first", CHAT))
    second = of(other, matching=rules, path=paths.get("second", CHAT))
    return first.same_turn == second.same_turn, first.same_place == second.same_place


USER = {"role": "user", "content": "a"}
OTHER = {"role": "user", "content": "b"}
SAID = {"role": "assistant", "content": "yes"}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"messages": [USER]}, {"messages": [OTHER]}, (True, True)),
        ({"messages": [USER, SAID]}, {"messages": [OTHER, SAID]}, (True, True)),
        ({"messages": [USER, SAID]}, {"messages": [USER, {**SAID, "content": "no"}]}, (False, True)),
        ({"messages": [USER, SAID]}, {"messages": [USER]}, (False, False)),
        ({"messages": [USER], "stream": True}, {"messages": [USER], "stream": False}, (False, False)),
        ({"messages": [USER], "stream": False}, {"messages": [USER]}, (True, True)),
        ({"input": "a", "previous_response_id": "r1"}, {"input": "a", "previous_response_id": "r2"}, (False, True)),
        ({"input": "a"}, {"input": "a", "conversation": "r2"}, (False, True)),
        ({"messages": [USER], "temperature": 1}, {"messages": [USER], "temperature": 2}, (True, True)),
    ],
)
def test_the_answers_so_far_make_the_turn(one: object, other: object, expected: tuple[bool, bool]) -> None:
    assert turns(one, other) == expected


def test_what_must_not_differ_is_part_of_the_turn() -> None:
    one, other = {"messages": [USER], "temperature": 1}, {"messages": [OTHER], "temperature": 2}

    assert turns(one, other, Matching("ordered", rules={"temperature": "fail"})) == (False, False)
    assert turns(one, other, Matching(rules={"messages": "warn", "temperature": "warn"})) == (True, True)
    assert turns(one, other, Matching(rules={"messages": "warn"})) == (False, False)


@pytest.mark.parametrize(
    ("rules", "one", "other", "same"),
    [
        ({"/z/0": "ignore", "system": "warn"}, [1, 3], [1, 2], False),
        ({"/z/0": "ignore", "system": "warn"}, [1, 3], [2, 3], True),
        ({"/z/0": "ignore", "/z/1": "warn"}, [1, 2, 3], [4, 5, 3], True),
        ({"/z/0": "ignore", "/z/1": "warn"}, [1, 2, 3], [1, 2, 4], False),
    ],
)
def test_an_ignored_item_of_a_list_does_not_move_a_rule_to_the_next(
    rules: Any, one: list[int], other: list[int], same: bool
) -> None:
    assert turns({"z": one}, {"z": other}, Matching(rules=rules)) == (same, same)
    ignored = tuple(pointer for pointer, rule in rules.items() if rule == "ignore")
    rest = {pointer: rule for pointer, rule in rules.items() if rule != "ignore"}
    assert turns({"z": one}, {"z": other}, Matching(ignore=ignored, rules=rest)) == (same, same)


def test_ignored_text_does_not_count_in_what_must_be_equal() -> None:
    matching = Matching(rules={"system": "warn"}, ignore_text=("build-[0-9]+",))

    assert turns({"z": "at build-1"}, {"z": "at build-2"}, matching) == (True, True)
    assert turns({"z": "at build-1"}, {"z": "in build-1"}, matching) == (False, False)


def test_the_model_in_the_path_may_differ_where_the_rules_allow_it() -> None:
    paths: dict[str, Any] = {"first": "models/a:generateContent", "second": "models/b:generateContent"}

    assert turns({}, {}, **paths) == (True, True)
    assert turns({}, {}, Matching("ordered", rules={"model": "fail"}), **paths) == (False, False)


def test_the_items_are_the_system_prompt_the_tools_and_the_history() -> None:
    body = {"model": "m", "system": "s", "tools": [1], "messages": [USER, SAID]}

    assert len(of(body).items) == 4
    assert len(set(of({"system": "s", "messages": []}).items) & set(of(body).items)) == 1
    assert of([1, 2]).items == []


def test_the_words_are_those_of_all_strings() -> None:
    assert of({"a": "x y", "b": [{"c": "y  z"}, 1, None]}).words == {"x", "y", "z"}


def test_a_body_can_be_seen_as_it_was_sent() -> None:
    assert of({"user": "a"}).value == {"user": "a"}
    assert of(b"text").value == "text"


def differing(one: Fingerprint, other: Fingerprint) -> tuple[list[str], list[str]]:
    counting, ignored = compared(one, other)
    return [str(d) for d in counting], [str(d) for d in ignored]


def test_differences_that_count_are_separate_from_those_that_do_not() -> None:
    assert differing(of({"a": 1, "user": "x"}), of({"a": 2, "user": "y"})) == (
        ["/a was 1 and is 2"],
        ['/user was "x" and is "y"'],
    )
    assert differing(of({"a": 1}), of({"a": 1})) == ([], [])


def test_another_path_is_the_first_difference() -> None:
    one, other = of({"a": 1}, path="models/a:gen"), of({"a": 2}, path="models/b:gen")

    assert differing(one, other)[0] == ['model was "a" and is "b"', "/a was 1 and is 2"]
    assert differing(of({}, path="a"), of({}, path="b"))[0] == ['path was "a" and is "b"']


def test_at_most_a_hundred_differences_are_listed() -> None:
    one, other = ({f"k{n}": value for n in range(130)} for value in (1, 2))

    assert (SHOWN, LISTED) == (10, 100)
    assert len(compared(of(one), of(other))[0]) == 100


def test_bytes_that_are_not_utf_8_are_compared_as_they_are() -> None:
    assert equal(b"\xff\xfe", b"\xff\xfe") == (True, True)
    assert equal(b"\xff\xfe", b"\xff\xfd") == (False, False)
    assert of(b"a\xff").value == "a\ufffd"


def test_an_empty_body_has_one_key_with_and_without_ignored_text() -> None:
    assert of(b"", matching=Matching(ignore_text=("build-[0-9]+",))).stable == of(b"").stable


def test_the_boundary_of_a_form_does_not_count() -> None:
    keys = Fingerprints(Matching(), Redactor(salt="s"), frozenset[str]())

    def form(boundary: str, text: str) -> Fingerprint:
        headers = (("content-type", f"multipart/form-data; boundary={boundary}"),)
        body = f"--{boundary}\r\n\r\n{text}\r\n--{boundary}--".encode()
        return keys.of("POST", "files", headers, body)

    one, same, other = form("b1", "text"), form("b2", "text"), form("b1", "other")
    assert (one.exact, one.stable) == (same.exact, same.stable)
    assert one.exact != other.exact and one.stable != other.stable


def test_a_secret_in_a_body_is_equal_to_its_recording() -> None:
    body = json.dumps({"a": "sk-ant-api03-" + "Ab1_" * 24}).encode()
    on_disk = Redactor(salt="of the recording").body(body)
    keys = Fingerprints(Matching(), Redactor(salt="s"), frozenset[str]())

    recorded = keys.of("POST", CHAT, (), on_disk)
    given = keys.of("POST", CHAT, (), body)

    assert given.body == recorded.body
    assert (given.exact, given.stable) == (recorded.exact, recorded.stable)


@pytest.mark.parametrize(
    "body", [{"input": "ab"}, {"options": "ab"}, {"config": ["a", "b"]}, {"messages": "ab"}, [1, {"a": "b"}]]
)
def test_a_body_without_ignored_fields_is_kept_as_it_is(body: object) -> None:
    assert of(body).stable_value == body


@pytest.mark.parametrize(
    ("rules", "one", "other"),
    [
        ({"/messages": "ignore"}, {"messages": ["a"]}, {"messages": ["b"]}),
        ({"/options": "ignore"}, {"options": {"a": 1}}, {"options": {"a": 2}}),
        ({"/options/seed": "ignore"}, {"options": {"seed": 1}}, {"options": {"seed": 2}}),
        ({"/messages/0": "ignore", "messages": "fail"}, {"messages": ["a", "c"]}, {"messages": ["b", "c"]}),
        ({"messages": "ignore"}, {"messages": ["a"]}, {}),
    ],
)
def test_a_rule_for_a_whole_part_leaves_nothing_of_it(rules: Any, one: object, other: object) -> None:
    assert equal(one, other, matching=Matching(rules=rules)) == (False, True)


@pytest.mark.parametrize(
    ("rules", "one", "other"),
    [
        ({"messages": "ignore"}, {"stop": ["a"]}, {"stop": ["b"]}),
        ({"seed": "ignore"}, {"z": {"seed": 1}}, {"z": {"seed": 2}}),
        ({"seed": "ignore", "/options/seed": "fail"}, {"options": {"seed": 1}}, {"options": {"seed": 2}}),
        ({"messages": "ignore", "/messages/0": "fail"}, {"messages": ["a"]}, {"messages": ["b"]}),
        ({"messages": "ignore"}, {"temperature": 1}, {"temperature": 2}),
    ],
)
def test_a_rule_reaches_no_further_than_its_field(rules: Any, one: object, other: object) -> None:
    assert equal(one, other, matching=Matching(rules=rules)) == (False, False)


def test_long_texts_that_differ_are_not_equal() -> None:
    assert equal({"a": "x" * 300}, {"a": "y" * 300}) == (False, False)


def test_ids_that_the_client_made_are_numbered_from_one() -> None:
    body = chat("x1", "x1", "x2")

    messages: Any = of(body).stable_value["messages"]

    assert [item["tool_call_id"] for item in messages[1:]] == ["⟨id 1⟩", "⟨id 2⟩"]


def test_an_id_that_is_a_number_counts() -> None:
    one, other = ({"messages": [{"role": "tool", "tool_call_id": n, "content": "a"}]} for n in (1, 2))

    assert equal(one, other) == (False, False)


def test_a_difference_of_the_path_is_a_change() -> None:
    counting, _ = compared(of({}, path="a"), of({}, path="b"))

    assert [(d.pointer, d.kind, d.recorded, d.given) for d in counting] == [("path", "changed", "a", "b")]


def test_at_most_ten_ignored_differences_are_shown() -> None:
    rules = Matching(ignore=tuple(f"/k{n}" for n in range(30)))
    one, other = (of({f"k{n}": value for n in range(30)}, matching=rules) for value in (1, 2))

    assert [len(found) for found in compared(one, other)] == [0, SHOWN]


def test_an_ignored_text_leaves_a_body_that_is_not_text_alone() -> None:
    """A binary upload has no text to ignore, and must not break the match of other requests."""
    maker = Fingerprints(Matching(ignore_text=("[0-9]+",)), Redactor(salt="s"), frozenset[str]())

    one, same, other = (maker.of("POST", "v1/files", (), body) for body in (b"\xff1", b"\xff1", b"\xff2"))

    assert one.stable == same.stable
    assert one.stable != other.stable
