"""How calls arrived."""

from dataclasses import replace
from typing import Any

import pytest
from chat_streams import ASKED, CALLED, call, stream
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import (
    LOOK_UP,
    anthropic,
    asked,
    emitted,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    trip,
    use,
)
from round_trips import CHAT, MESSAGES, sse

from turntape.cassettes.tape.model import RoundTrip


@pytest.mark.parametrize(
    ("second", "collides"),
    [(0, True), (None, True), (1, False), ([], False)],
    ids=["one index", "no index", "two indexes", "a list as index"],
)
def test_calls_that_a_client_would_join_are_reported(second: int | None, collides: bool) -> None:
    first = None if second is None else 0
    events = [
        call(first, "c1", "look_up", '{"word":"a"}'), call(second, "c2", "look_up", '{"word":"b"}'), CALLED,
    ]  # fmt: skip

    assert ("api-tool-call-index-collision" in ids(stream(sse(*events, done=True)))) is collides


@pytest.mark.parametrize(("second", "doubled"), [("c1", True), ("c2", False)])
def test_one_id_for_two_calls_is_the_apis(second: str, doubled: bool) -> None:
    events = [
        call(0, "c1", "look_up", ""), call(0, None, None, '{"word":"a"}'),
        call(1, second, "look_up", ""), call(1, None, None, '{"word":"b"}'), CALLED,
    ]  # fmt: skip
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    one = trip(CHAT, {**ASKED, "tools": [tool]}, sse(*events, done=True))

    assert ids(one) == ({"api-duplicate-tool-call-id"} if doubled else set())


def test_calls_that_share_an_index_are_named() -> None:
    def two(first: int | None, second: int | None, last: str | None = "c2") -> list[str]:
        events = [
            call(first, "c1", "look_up", '{"word":"a"}'),
            call(second, last, "find", '{"word":"b"}' if last == "c2" else ""),
            CALLED,
        ]
        return lines(stream(sse(*events, done=True)), only="api-tool-call-index")

    assert two(0, 0) == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the calls c1 and c2 (find) share index 0: "
            "clients will join their arguments | #0 call c1, #0 call c2"
        ),
    ]
    assert two(None, None) == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the calls c1 and c2 (find) have no index: "
            "clients will join their arguments | #0 call c1, #0 call c2"
        ),
    ]
    assert two(0, 1) == []
    assert two(0, 0, "c1") == []
    assert two(0, 0, "null") == []
    other = call(0, "c2", "find", "{}")
    other["choices"][0]["index"] = 1
    apart = [call(0, "c1", "look_up", "{}"), other, CALLED]
    assert lines(stream(sse(*apart, done=True)), only="api-tool-call-index") == [], "calls of two choices"


def test_arguments_that_are_several_documents_in_a_row_are_named() -> None:
    def joined(arguments: str, **fields: Any) -> list[str]:
        return lines(chat([HELLO], said(None, ("c1", "look_up", arguments)), **fields), only="api-tool-call-index")

    assert joined('{"word":"a"} {"word":"b"}{"word":"c"}') == [
        (
            "#0 api-tool-call-index-collision (api, error, P): the arguments of 'look_up' are 3 JSON documents "
            "in a row: clients cannot parse them | #0 call c1"
        ),
    ]
    assert joined('{"word":"a"}') == []
    assert joined('{"word":"a"}{"word":') == []
    assert joined('{"word":"}  {"}') == []
    after_another = said(None, ("c0", "look_up", '{"wo'), ("c1", "look_up", '{"word":"a"}{"word":"b"}'))
    assert "are 2 JSON documents" in only("api-tool-call-index-collision", chat([HELLO], after_another)).message


def test_an_id_that_was_given_twice_is_named_with_both_places() -> None:
    same = said(None, CALL, CALL)
    history = [HELLO, said(None, CALL), result("call_1", "x")]
    again = chat(history, said(None, ("call_1", "find", "{}")), index=1)
    fresh = chat([HELLO, said("I looked."), user("and?")], said(None, CALL), index=1)

    assert lines(chat([HELLO], same), only="api-duplicate") == [
        ("#0 api-duplicate-tool-call-id (api, error, P): two calls of one answer have the id call_1 | #0 call call_1"),
    ]
    assert lines(chat([HELLO], said(None, CALL)), again, only="api-duplicate") == [
        (
            "#1 api-duplicate-tool-call-id (api, info, P): the id call_1 already belongs to a call of 'look_up' "
            "in #0 | #0 call call_1, #1 call call_1"
        ),
    ]
    assert lines(chat([HELLO], said("I looked.", CALL)), fresh, only="api-duplicate") == [], "nothing holds the first"
    nameless = said(None, ("", "look_up", "{}"), ("", "look_up", "{}"))
    assert lines(chat([HELLO], nameless), only="api-duplicate") == []


def test_an_id_that_was_given_twice_where_the_api_holds_the_history_is_reported() -> None:
    first = responses([{"role": "user", "content": "hi"}], [item_call()])
    second = responses([item_output()], [item_call()], 1, previous_response_id="resp_0")

    assert "api-duplicate-tool-call-id" in ids(first, second)


def test_another_attempt_may_give_the_same_id_again() -> None:
    half = replace(stream(sse(call(0, "c1", "look_up", '{"word":"a"}'))), index=0)
    again = stream(sse(call(0, "c1", "look_up", '{"word":"a"}'), CALLED, done=True), index=1)

    assert "api-stream-cut" in ids(half, again)
    assert "api-duplicate-tool-call-id" not in ids(half, again)


def test_a_tool_of_the_api_may_not_share_the_id_of_a_call() -> None:
    server = {"type": "server_tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "x"}}

    assert "api-duplicate-tool-call-id" in ids(anthropic([asked("hi")], [use(), server]))


def test_calls_without_ids_are_shown_by_their_names() -> None:
    joined = said(None, ("", "look_up", '{"word":"a"}{"word":"b"}'))
    mixed = said(None, ("", "look_up", "{}"), CALL, CALL)

    assert lines(chat([HELLO], joined), only="api-tool-call-index")[0].endswith("| #0 call look_up")
    assert lines(chat([HELLO], mixed), only="api-duplicate") != []


A, B = '{"word":"a"}', '{"word":"b"}'
SPLIT = (call(0, "c1", "look_up", '{"wo'), call(1, None, None, 'rd":"a"}'))


def in_parts(*events: dict[str, Any]) -> RoundTrip:
    asked = {**ASKED, "tools": TOOLS}
    return trip(CHAT, asked, sse(*events, CALLED, done=True))


def after(first: RoundTrip, *calls: tuple[str, str, str], text: str = "a strip") -> list[RoundTrip]:
    """The answer, and a next request that holds these calls, each with a result."""
    results = [result(name, text) for name, _, _ in calls]
    return [first, chat([HELLO, said(None, *calls), *results], said("Done."), index=1)]


@pytest.mark.parametrize(
    ("pieces", "where"),
    [
        (SPLIT, "index 1"),
        ((call(0, "c1", "look_up", '{"wo'), call(None, None, None, 'rd":"a"}')), "no index"),
        ((call(None, "c1", "look_up", '{"wo'), call(0, None, None, 'rd":"a"}')), "index 0"),
    ],
)
def test_a_piece_where_no_call_began_is_named(pieces: tuple[dict[str, Any], ...], where: str) -> None:
    assert (
        f"a piece of arguments has {where}, but no call began there (the last call is c1)"
        in only("api-tool-call-index-collision", in_parts(*pieces)).message
    )
    assert "model-args-not-json" not in ids(in_parts(*pieces))


@pytest.mark.parametrize(
    "pieces",
    [
        (call(0, "c1", "look_up", ""), call(0, None, None, A)),
        (call(1, "c1", "look_up", ""), call(1, None, None, A)),
        (call(None, "c1", "look_up", ""), call(None, None, None, A)),
        (call(0, None, "look_up", ""), call(0, None, None, A)),
        (call(0, "c1", "look_up", ""), call(0, None, None, A), call(1, None, None, "")),
        (call(0, "c1", "look_up", '{"wo'), call(1, "c2", "look_up", '{"wo'), call(1, None, None, 'rd":"b"}'),
         call(0, None, None, 'rd":"a"}')),
        (call(0, None, None, ""), call(0, "c1", "look_up", A)),
    ],
)  # fmt: skip
def test_pieces_at_the_index_of_their_call_are_healthy(pieces: tuple[dict[str, Any], ...]) -> None:
    assert "api-tool-call-index-collision" not in ids(in_parts(*pieces))


SHARED = in_parts(call(0, "c1", "look_up", A), call(0, "c2", "look_up", B))


@pytest.mark.parametrize(
    "trips",
    [
        after(SHARED, ("c1", "look_up", A + B)),
        after(SHARED, ("c2", "look_up", A + B)),
        after(SHARED, ("c1", "look_uplook_up", A + B)),
        after(SHARED, ("c1c2", "look_uplook_up", A + B)),
        after(SHARED, ("c2", "look_up", B)),
        after(SHARED, ("c1", "look_up", "{}")),
        after(in_parts(*SPLIT), ("c1", "look_up", '{"wo')),
        after(in_parts(*SPLIT), ("c1", "look_up", '{"wo'), ("", "", 'rd":"a"}')),
        after(in_parts(*SPLIT), ("c1", "look_up", A)),
        after(in_parts(call(None, "c1", "look_up", A), call(None, "c2", "look_up", B)), ("c1", "look_up", A + B)),
    ],
)
def test_what_the_client_made_of_a_broken_index_follows_from_it(trips: list[RoundTrip]) -> None:
    reported = [one for one in judged(*trips) if one.severity != "info"]

    assert [(one.id, one.layer, one.severity) for one in reported if not one.because_of] == [
        ("api-tool-call-index-collision", "api", "error")
    ]
    assert all("api-tool-call-index-collision" in one.because_of for one in reported if one.because_of)


def test_a_broken_index_that_the_client_understood_is_an_info() -> None:
    both = (("c1", "look_up", A), ("c2", "look_up", B))

    assert [one.severity for one in judged(*after(SHARED, *both))] == ["info"]
    assert only("api-tool-call-index-collision", *after(SHARED, *both, text="error: no such word")).severity == "error"
    joined = chat([HELLO], said(None, ("c1", "look_up", A + B)))
    assert only("api-tool-call-index-collision", *after(joined, ("c1", "look_up", A + B))).severity == "error"


def test_arguments_that_arrived_under_another_index_are_not_the_models() -> None:
    misplaced = in_parts(
        call(0, "c1", "look_up", ""), call(1, "c2", "look_up", ""), call(0, None, None, A), call(0, None, None, B)
    )

    roots = [one.id for one in judged(misplaced) if not one.because_of]

    assert roots == ["api-tool-call-index-collision"]
    assert ("model-args-break-schema", ("api-tool-call-index-collision",)) in [
        (one.id, one.because_of) for one in judged(misplaced)
    ]


def test_a_change_of_the_history_elsewhere_is_not_the_streams() -> None:
    """The calls of an earlier answer were broken; this change is about a later one."""
    fine = ("c3", "look_up", A)
    history = [HELLO, said(None, ("c1", "look_up", A), ("c2", "look_up", B)), result("c1", "x"), result("c2", "y")]
    trips = [
        SHARED,
        chat(history, said(None, fine), index=1),
        chat([*history, said(None, ("c3", "look_up", B)), result("c3", "x")], said("Done."), index=2),
    ]

    assert only("client-assistant-mutated", *trips).because_of == ()


def of_choice(choice: int | None, event: dict[str, Any]) -> dict[str, Any]:
    """The same piece in another choice; None for a choice without a number."""
    [fields] = event["choices"]
    rest = {name: value for name, value in fields.items() if name != "index"}
    return {**event, "choices": [rest if choice is None else {"index": choice, **rest}]}


COLLIDES = "#0 api-tool-call-index-collision (api, error, P): "
JOINS = "clients will join their arguments"
LOSES = "clients will split the call or lose the piece"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((call(3, "c1", "look_up", A), call(3, "c2", None, B)), f"the calls c1 and c2 share index 3: {JOINS}"),
        ((call(0, "c1", "look_up", A), call(1, "c2", "find", B), call(0, "c3", "find", B)),
         f"the calls c1 and c3 (find) share index 0: {JOINS}"),
        ((of_choice(None, call(0, "c1", "look_up", A)), of_choice(0, call(0, "c2", "find", B))),
         f"the calls c1 and c2 (find) share index 0: {JOINS}"),
        ((of_choice(1, call(0, "c1", "look_up", A)), of_choice(1, call(0, "c2", "find", B))),
         f"the calls c1 and c2 (find) share index 0: {JOINS}"),
        ((of_choice(0, call(0, "c1", "look_up", A)), of_choice(1, call(0, "c2", "find", B))), None),
        ((call(0, "c1", "look_up", '{"wo'), of_choice(1, call(0, None, None, 'rd":"a"}'))),
         f"a piece of arguments has index 0, but no call began there (the last call is c1): {LOSES}"),
        ((call(0, None, "look_up", '{"wo'), call(1, None, None, 'rd":"a"}')),
         f"a piece of arguments has index 1, but no call began there (the last call is look_up): {LOSES}"),
        ((call(0, "c1", "look_up", A), call(1, "c2", "find", '{"wo'), call(2, None, None, 'rd":"b"}')),
         f"a piece of arguments has index 2, but no call began there (the last call is c2): {LOSES}"),
        ((call(0, "c1", "look_up", A), call(1, None, "find", '{"wo'), call(2, None, None, 'rd":"b"}')),
         f"a piece of arguments has index 2, but no call began there (the last call is find): {LOSES}"),
        ((call(0, None, None, A), call(0, "c1", "look_up", "")),
         "the arguments of a call begin before its id and its name, at index 0: clients lose them or split the call"),
        ((call(0, None, None, ""), call(0, "c1", "look_up", A)), None),
        ((call(0, "null", "look_up", A), call(0, "null", None, "")), None),
        ((call("0", "c1", "look_up", A), call("0", "c2", "find", B)),
         f"the calls c1 and c2 (find) have no index: {JOINS}"),
    ],
)  # fmt: skip
def test_what_the_index_of_each_piece_joins_or_splits(pieces: tuple[dict[str, Any], ...], expected: str | None) -> None:
    said_of_it = lines(in_parts(*pieces), only="api-tool-call-index")

    heads = [line.removeprefix(COLLIDES).partition(" | ")[0] for line in said_of_it]
    assert heads == ([expected] if expected else [])


def test_at_most_four_calls_are_the_evidence() -> None:
    events = [call(0, f"c{n}", "look_up", A) for n in range(6)]

    assert lines(in_parts(*events), only="api-tool-call-index") == [
        f"{COLLIDES}the calls c0 and c1 (look_up) share index 0: {JOINS} | "
        "#0 call c0, #0 call c1, #0 call c2, #0 call c3"
    ]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [(A + B, 2), (f"{A}\n{B}", 2), (f"{A} {B} {A}", 3), (A + "{", None), ("x" + A + B, None), (A, None),
     (A + "[]", None)],
)  # fmt: skip
def test_only_whole_documents_in_a_row_are_joined_calls(arguments: str, count: int | None) -> None:
    one = chat([HELLO], said(None, ("c1", "look_up", arguments)))

    said_of_it = f"the arguments of 'look_up' are {count} JSON documents in a row: clients cannot parse them"
    assert lines(one, only="api-tool-call-index") == ([f"{COLLIDES}{said_of_it} | #0 call c1"] if count else [])


def test_joined_arguments_of_an_answer_that_was_cut_prove_nothing() -> None:
    cut = stream(sse(call(0, "c1", "look_up", A + B)))

    assert "api-stream-cut" in ids(cut)
    assert "api-tool-call-index-collision" not in ids(cut)


def test_the_first_id_that_was_given_twice_is_reported_whatever_came_before() -> None:
    held = [HELLO, said(None, ("c1", "look_up", A)), result("c1", "x")]
    first = chat([HELLO], said(None, ("c1", "look_up", A)))

    def then(*calls: tuple[str, str, str]) -> list[str]:
        return lines(first, chat(held, said(None, *calls), index=1), only="api-duplicate")

    earlier = "the id c1 already belongs to a call of 'look_up' in #0 | #0 call c1, #1 call c1"
    twice = "two calls of one answer have the id c2 | #1 call c2"
    head = "#1 api-duplicate-tool-call-id (api, {}, P): {}"
    assert then(("", "find", B), ("c2", "find", B), ("c1", "find", B)) == [head.format("info", earlier)]
    assert then(("c2", "find", B), ("c3", "find", B), ("c2", "find", A)) == [head.format("error", twice)]
    assert then(("c1", "find", B), ("c1", "find", A)) == [head.format("info", earlier)]
    assert then(("c2", "find", B), ("c3", "find", B)) == []


@pytest.mark.parametrize("same_choice", [True, False])
def test_two_choices_may_have_one_id(same_choice: bool) -> None:
    events = [call(0, "c1", "look_up", A), of_choice(1 - same_choice, call(1, "c1", "look_up", B))]
    events.append(of_choice(1, CALLED))

    assert ("api-duplicate-tool-call-id" in ids(in_parts(*events))) is same_choice


COLLISION = "api-tool-call-index-collision"


def test_a_name_that_was_joined_twice_is_the_apis() -> None:
    blamed = {one.id: (one.layer, one.because_of) for one in judged(emitted("look_uplook_up"))}

    assert blamed[COLLISION] == ("api", ())
    assert blamed["model-unknown-tool"] == ("model", (COLLISION,))
    assert "is 'look_up' 3 times in a row" in only(COLLISION, emitted("look_uplook_uplook_up")).message


@pytest.mark.parametrize("name", ["look_up", "look_up_", "findfind", "look_uplook", ""])
def test_a_name_that_is_not_a_tools_several_times_is_the_models(name: str) -> None:
    assert COLLISION not in ids(emitted(name))


def test_a_tool_whose_name_says_the_same_twice_is_a_tool() -> None:
    bye = {"type": "function", "function": {"name": "byebye", "parameters": {"type": "object"}}}
    short = {"type": "function", "function": {"name": "bye", "parameters": {"type": "object"}}}

    assert COLLISION not in ids(emitted("byebye", "{}", tools=[short, bye]))
    assert COLLISION in ids(emitted("byebye", "{}", tools=[short]))


@pytest.mark.parametrize("arguments", ['{{"word":"tape"}', '{"word":"t{"word":"tape"}', '{"wo{"word":{"word":1}}'])
def test_arguments_that_begin_twice_are_the_apis(arguments: str) -> None:
    one = emitted(arguments=arguments)

    assert only(COLLISION, one).layer == "api"
    assert "begin twice" in only(COLLISION, one).message
    assert "call-args-not-json" not in ids(one)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"word": {"word": {"a":1}}',
        '{{"word":"tape"}}',
        '{"word":"tape"',
        '{"a":{"word":"tape"}',
        'word{"word":"tape"}',
        '{"word":"{"}',
    ],
)
def test_arguments_that_do_not_begin_twice_are_not(arguments: str) -> None:
    assert COLLISION not in ids(emitted(arguments=arguments))


def test_a_copy_without_arguments_does_not_come_from_the_model() -> None:
    first = said(None, CALL, ("call_1", "look_up", "{}"))
    history = [HELLO, first, result("call_1", "a strip"), result("call_1", "Error: no word")]

    reported = {one.id: one for one in judged(chat([HELLO], first), chat(history, said("done"), index=1))}

    assert reported["api-duplicate-tool-call-id"].because_of == ()
    assert reported["model-args-break-schema"].because_of == ("api-duplicate-tool-call-id",)


@pytest.mark.parametrize(
    "calls",
    [(CALL, ("call_1", "look_up", '{"words": 2}')), (CALL, ("call_2", "look_up", "{}"))],
    ids=["its own arguments", "its own id"],
)
def test_a_separate_call_that_breaks_the_schema_stays_the_models(calls: Any) -> None:
    reported = {one.id: one for one in judged(chat([HELLO], said(None, *calls)))}

    assert reported["model-args-break-schema"].because_of == ()


@pytest.mark.parametrize("twice", [True, False])
def test_a_block_that_ends_twice_is_why_the_client_has_it_twice(twice: bool) -> None:
    call, done = use(), {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a strip"}
    end = {"type": "content_block_stop", "index": 0}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": []}
    usage = {"input_tokens": 9, "output_tokens": 9}
    body = sse(
        {"type": "message_start", "message": {**start, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {**call, "input": {}}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"word":"tape"}'},
        },
        *([end, end] if twice else [end]),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
        names=True,
    )
    asks = {"role": "user", "content": "What is tape?"}
    history = [asks, {"role": "assistant", "content": [call, call]}, {"role": "user", "content": [done, done]}]
    wanted = {"model": "claude-opus-4-6", "max_tokens": 99, "messages": [asks], "tools": [LOOK_UP], "stream": True}

    reported = {
        one.id: one
        for one in judged(
            trip(MESSAGES, wanted, body),
            anthropic(history, index=1, error="messages.1.content.1: `tool_use` ids must be unique"),
        )
    }

    assert reported["client-duplicated-call"].because_of == (("api-stream-out-of-order",) if twice else ())


@pytest.mark.parametrize(("second", "cause"), [("call_1", ("api-duplicate-tool-call-id",)), ("call_2", ())])
def test_calls_that_share_an_id_explain_a_missing_result(second: str, cause: tuple[str, ...]) -> None:
    first = said(None, CALL, (second, "look_up", '{"word":"wire"}'))
    history = [HELLO, first, result("call_1", "a strip")]

    [missing] = [
        one
        for one in judged(chat([HELLO], first), chat(history, said("done"), index=1))
        if one.id == "client-missing-tool-result"
    ]

    assert missing.because_of == cause
