"""Placeholders of a programming language in place of a result."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said
from judged import (
    CONVERSE,
    OLLAMA,
    anthropic,
    asked,
    calls,
    gemini,
    given,
    gives,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.findings.rules.unserialized import placeholder, represented

NAME = "client-unserialized-result"
COROUTINE = "<coroutine object look_up at 0x7f3ac8d2f140>"
CALLED = said(None, CALL)
ASKED = {"role": "user", "content": "what is a tape?"}

PLACEHOLDERS = [
    ("Promise { <pending> }", "a promise that nobody awaited"),
    ("System.Threading.Tasks.Task`1[System.String]", "a task of .NET that nobody awaited"),
    ("System.Threading.Tasks.ValueTask`1[System.Int32]", "a task of .NET that nobody awaited"),
    ("System.Collections.Generic.List`1[Shop.Order]", "a type of .NET in place of a value"),
    ("System.String[]", "a type of .NET in place of a value"),
    ("<MagicMock name='tool()' id='140231'>", "a mock of a test"),
    ("<AsyncMock spec='Shop' id='14'>", "a mock of a test"),
    ("[image omitted]", "the client's own note that it left out an image or a file"),
    ("(Screenshot not supported by this model)", "the client's own note that it left out an image or a file"),
    ("<1 file was removed from the output>", "the client's own note that it left out an image or a file"),
    ("[object Object]", "an object that JavaScript wrote as a string"),
    ("[object Object],[object Object]", "an object that JavaScript wrote as a string"),
    (" [object Promise]\n", "an object that JavaScript wrote as a string"),
    (COROUTINE, "a coroutine that nobody awaited"),
    ("<async_generator object stream at 0x10a>", "a coroutine that nobody awaited"),
    ("<Task pending name='Task-3' coro=<look_up() running at a.py:3>>", "a future or a task that nobody awaited"),
    ("<Future pending>", "a future or a task that nobody awaited"),
    ("<generator object pages at 0x7f3ac8d2f140>", "a generator that nobody read"),
    ("<bound method Shop.price of <shop.Shop object at 0x7f00>>", "a function that nobody called"),
    ("<function look_up at 0x7f00>", "a function that nobody called"),
    ("<shop.models.Order object at 0x7f00>", "a Python object without a text form"),
    ("com.example.shop.Order@1b6d3586", "a Java object without a text form"),
]


@pytest.mark.parametrize(("text", "what"), PLACEHOLDERS)
def test_each_placeholder_is_named(text: str, what: str) -> None:
    assert placeholder(text) == what


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a strip",
        "object",
        "[1, 2]",
        "[object]",
        "<p>text</p>",
        "<Order 7>",
        "rosa@1b6d3586",
        "a.b@c",
        "0x7f00",
        "an image was removed",
        "[image of a tape]",
        "[file.txt]",
        "Promise",
        "Promise {",
    ],
)
def test_other_text_is_a_result(text: str) -> None:
    assert placeholder(text) is None


def converse(text: str) -> list[RoundTrip]:
    def one(messages: list[object], content: list[object], index: int) -> RoundTrip:
        schema = {"json": {"type": "object", "properties": {"word": {"type": "string"}}}}
        body = {
            "messages": messages,
            "toolConfig": {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": schema}}]},
        }
        answer = {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "tool_use" if index == 0 else "end_turn",
            "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110},
        }
        return trip(CONVERSE, body, answer, index)

    call = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {"word": "tape"}}}
    back = {"toolResult": {"toolUseId": "t1", "content": [{"text": text}], "status": "success"}}
    first = {"role": "user", "content": [{"text": "what is a tape?"}]}
    history: list[object] = [first, {"role": "assistant", "content": [call]}, {"role": "user", "content": [back]}]
    return [one([first], [call], 0), one(history, [{"text": "x"}], 1)]


def ollama(text: str) -> list[RoundTrip]:
    call = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "look_up", "arguments": {"word": "t"}}}],
    }

    def one(messages: list[object], answer: object, index: int) -> RoundTrip:
        counts = {"prompt_eval_count": 100, "eval_count": 10}
        reply = {"model": "qwen3", "message": answer, "done": True, "done_reason": "stop", **counts}
        return trip(OLLAMA, {"model": "qwen3", "messages": messages, "stream": False}, reply, index)

    back = {"role": "tool", "tool_name": "look_up", "content": text}
    return [one([ASKED], call, 0), one([ASKED, call, back], {"role": "assistant", "content": "x"}, 1)]


def answered_with(text: str) -> dict[str, list[RoundTrip]]:
    """A call and its result, in each API."""
    asking = turn("user", {"text": "hi"})
    return {
        "chat": [chat([HELLO], CALLED), chat([HELLO, CALLED, result("call_1", text)], said("x"), index=1)],
        "anthropic": [
            anthropic([ASKED], [use()]),
            anthropic([ASKED, spoke(use()), asked(given(text=text))], [words("x")], 1),
        ],
        "responses": [
            responses([ASKED], [item_call()]),
            responses([ASKED, item_call(), item_output(text=text)], [], 1),
        ],
        "gemini": [
            gemini([asking], [calls()]),
            gemini([asking, turn("model", calls()), turn("user", gives(text))], [{"text": "x"}], 1),
        ],
        "converse": converse(text),
        "ollama": ollama(text),
    }


@pytest.mark.parametrize("api", answered_with(""))
@pytest.mark.parametrize("text", ["[object Object]", COROUTINE])
def test_a_placeholder_is_reported_in_every_api(api: str, text: str) -> None:
    one = only(NAME, *answered_with(text)[api])

    assert (one.layer, one.severity, one.at) == ("client", "warning", 1)
    assert text in one.message


@pytest.mark.parametrize("api", answered_with(""))
def test_a_real_result_is_not(api: str) -> None:
    assert NAME not in ids(*answered_with("a strip")[api])


def test_the_message_names_the_tool_and_what_was_sent() -> None:
    assert lines(*answered_with(COROUTINE)["chat"], only=NAME) == [
        f"#1 {NAME} (client, warning, S): the result of 'look_up' is a coroutine that nobody awaited: "
        f"'{COROUTINE}' | #1 request /messages/2"
    ]


def test_a_result_that_is_sent_again_is_reported_once() -> None:
    first, second = answered_with("[object Object]")["chat"]
    more = [HELLO, CALLED, result("call_1", "[object Object]"), said("x"), {"role": "user", "content": "and a reel?"}]

    assert only(NAME, first, second, chat(more, said("A spool."), index=2)).at == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("meta=None content=[TextContent(type='text', text='ok')] isError=False", "the result object of an MCP client"),
        (
            "CallToolResult(meta=None, content=[TextContent(type='text', text='a\nb')], isError=True)",
            "the result object",
        ),
        ("[TextContent(type='text', text='ok', annotations=None)]", "a list of content objects"),
        ("content='ok' name='look_up' tool_call_id='c1'", "a message object of a framework"),
        ("ToolMessage(content='ok', tool_call_id='c1')", "a message object of a framework"),
        ("[TextBlock(text='ok', type='text')]", "a message object of a framework"),
        ("[{'type': 'text', 'text': 'ok', 'id': 'lc_1'}]", "a list of content blocks"),
        ("CallToolResult[content=[TextContent[text=ok]], isError=false]", "an object of Java"),
        ("map[content:[map[text:ok type:text]]]", "a value of Go"),
        ("<Response [200]>", "an HTTP response object"),
        ("<Response [200 OK]>", "an HTTP response object"),
        ("CompletedProcess(args=['ls'], returncode=0, stdout='a', stderr='')", "a finished process"),
    ],
)
def test_an_object_around_the_value_is_named(text: str, what: str) -> None:
    assert (represented(text) or "").startswith(what)
    assert NAME in ids(*converse(text))


@pytest.mark.parametrize(
    "text",
    [
        "Order(id=3, state='sent')",
        "{'id': 3}",
        "[1, 2]",
        "content of the file",
        "Response: [200]",
        "Order[id=3, state=sent]",
        "map[3] is a room",
        "Result: [a=1]",
        "print(meta=None)",
        "",
    ],
)
def test_an_object_that_is_the_value_is_a_result(text: str) -> None:
    assert represented(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"json":{"kind":"text","content":"{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"a\\"}]}"}}', True),
        ('{"json":{"kind":"text","content":"{\\"content\\":[{\\"type\\":\\"note\\"}]}"}}', False),
        ('{"content":[{"type":"text","text":"a"}]}', False),
        ('{"text":"{\\"content\\":\\"a\\"}"}', False),
    ],
)
def test_a_result_inside_a_json_text_of_another_one(text: str, found: bool) -> None:
    assert (NAME in ids(*converse(text))) is found


@pytest.mark.parametrize("text", ['b\'{"name": "M\\xc3\\xbcller"}\\n\'', 'b"it\'s a strip"'])
def test_bytes_as_python_writes_them(text: str) -> None:
    def of(given_text: str, tool: str = "look_up") -> list[str]:
        answer = said(None, ("call_1", tool, '{"word":"tape"}'))
        turns = chat([HELLO], answer), chat([HELLO, answer, result("call_1", given_text)], said("x"), index=1)
        return [line for line in lines(*turns, only=NAME) if "is bytes that nobody decoded" in line]

    assert len(of(text)) == 1
    assert of(text, "run_python") == []
    assert of(f"a {text}") == of("b'seven'") == of(f"{text} and {text}") == []


def test_a_placeholder_in_a_document_of_cohere() -> None:
    document = {"type": "document", "document": {"data": '{"result": "[object Object]"}'}}
    history = [ASKED, CALLED, result("call_1", "") | {"content": [document]}]

    assert NAME in ids(chat([ASKED], CALLED), chat(history, said("x"), index=1))


@pytest.mark.parametrize(
    ("text", "is_note"),
    [
        ("[Tool result missing due to internal error]", True),
        ("<tool output unavailable>", True),
        ("[Old tool result content cleared]", False),
        ("The result of the search is missing.", False),
        ("[The output of step 3] is missing", False),
    ],
)
def test_a_note_of_the_client_that_it_has_no_result(text: str, is_note: bool) -> None:
    assert (placeholder(text) == "the client's own note that it has no result") == is_note


def looked_up(*results: object, word: str = "tape", before: tuple[str, str] | None = None) -> list[RoundTrip]:
    """Calls with these results; `before`: the word and the result of a call in the step before."""
    trips: list[RoundTrip] = []
    history: list[dict[str, Any]] = [ASKED]
    steps: list[list[tuple[str, object]]] = [[before]] if before is not None else []
    for number, step in enumerate([*steps, [(word, one) for one in results]]):
        made = [(f"call_{number}{n}", "look_up", f'{{"word":"{asked}"}}') for n, (asked, _) in enumerate(step)]
        trips.append(chat(history, said(None, *made), index=number))
        given = [
            {"role": "tool", "tool_call_id": call[0], "content": text}
            for call, (_, text) in zip(made, step, strict=True)
        ]
        history = [*history, said(None, *made), *given]
    return [*trips, chat(history, said("Hm."), index=len(trips))]


@pytest.mark.parametrize(
    ("trips", "severities"),
    [
        (looked_up(None), ["warning"]),
        (looked_up("None"), ["info"]),
        (looked_up(" null\n"), ["info"]),
        (looked_up('{"result": null}'), ["info"]),
        (looked_up("None", before=("tape", "a strip")), ["warning"]),
        (looked_up("None", before=("glue", "it sticks")), ["info"]),
        (looked_up("None", "None", before=("glue", "it sticks")), ["warning", "warning"]),
        (looked_up("None", "a strip", before=("glue", "it sticks")), ["info"]),
        (looked_up("None", before=("tape", "null")), ["info"]),
        (looked_up(""), []),
        (looked_up("null and void"), []),
        (looked_up('{"result": null, "found": 0}'), []),
    ],
)
def test_a_missing_value_is_the_clients_where_the_tool_had_returned_something(
    trips: list[RoundTrip], severities: list[str]
) -> None:
    last = [one for one in judged(*trips) if one.id == NAME and one.at == trips[-1].index]

    assert [(one.layer, one.severity) for one in last] == [("client", severity) for severity in severities]


def test_a_missing_value_is_shown_beside_what_came_before() -> None:
    assert lines(*looked_up("None", before=("tape", "a strip")), only=NAME) == [
        "#2 client-unserialized-result (client, warning, S): the result of 'look_up' is 'None': the tool returned "
        "nothing, or the client lost what it returned; the same call returned 'a strip' before | #0 call look_up, "
        "#2 request /messages/4"
    ]


def test_null_in_place_of_a_result_is_found_in_each_api() -> None:
    history = [asked("hi"), spoke(use()), asked(given() | {"content": None})]
    items = [ASKED, item_call(), item_output() | {"output": None}]

    assert only(NAME, anthropic(history[:1], [use()]), anthropic(history, [words("x")], 1)).severity == "warning"
    assert only(NAME, responses([ASKED], [item_call()]), responses(items, [], 1)).severity == "warning"
