"""Calls in the text of an answer, in all kinds of markup, and texts that only mention a tool."""

import pytest

from turntape.inspector.wire.values import Tool
from turntape.inspector.wire.written_calls import asks_about, is_made, written_calls

READ = {"type": "object", "properties": {"path": {"type": "string"}, "first": {}}, "required": ["path"]}
SEARCH = {"type": "object", "properties": {"query": {"type": "string"}, "days": {}}, "required": ["query"]}
TOOLS = (
    Tool("read_file", None, READ, "/tools/0"),
    Tool("search", None, SEARCH, "/tools/1"),
    Tool("now", None, {"type": "object", "properties": {}}, "/tools/2"),
    Tool("list_all", None, {"type": "object", "properties": {"kind": {}}}, "/tools/3"),
    Tool("weather", None, {"city": {"type": "str", "required": True}}, "/tools/4"),
    Tool("anything", None, None, "/tools/5"),
)


def names(text: str) -> list[str]:
    return [call.name for call in written_calls(text, TOOLS)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('Thought: I look.\nAction: search\nAction Input: {"query": "x", "days": 7}', ["search"]),
        ('Action: search({"query": "x"})\nObservation: found it\nFinal answer: 3', ["search"]),
        ("[search(query='x', days=7)]", ["search"]),
        ("[search(query='x', days=7), read_file(path=\"a b\")]", ["search", "read_file"]),
        ('search(query="x")\nread_file(path="y")', ["search", "read_file"]),
        ('search{"query": "x"}</function>', ["search"]),
        (
            '<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="query" string="true">x y</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            ["search"],
        ),
        ('<｜DSML｜function_calls>\n<｜DSML｜invoke name="now">\n</｜DSML｜invoke>', ["now"]),
        (
            '<|open|>toolscall tool="search" index="1"<|sep|><|open|>argument key="query" type="string"<|sep|>x y'
            "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools",
            ["search"],
        ),
        ('call:search{query:<|"|>tidal power<|"|>,days:<|"|>7<|"|>}', ["search"]),
        ("I will look first.\n\n<read_file>\n<path>a/b.txt</path>\n</read_file>", ["read_file"]),
        ('<search query="x"/>', ["search"]),
        ('[Tool call: search({"query": "x"})]\n[Tool result: pending]', ["search"]),
        ('[Called tool search with {"query": "x"}]', ["search"]),
        (
            'Let me look.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "t.py"}}\n</tool_call>',
            ["read_file"],
        ),
        ('I will check.\n\nread_file(path="a.txt")', ["read_file"]),
        ("I will check.\n\nread_file('a.txt', 3)", ["read_file"]),
        ("weather('Oslo')", ["weather"]),
        ('```json\n{"name": "search", "arguments": {"query": "x"}}\n```', ["search"]),
        ('to=functions.search <|constrain|>json<|message|>{"query": "x"}', ["search"]),
        ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", ["search"]),
        ("<function=search>\n<parameter=query>\nx\n</parameter>\n</function>", ["search"]),
        ('```tool_code\nprint(default_api.search(query="x"))\n```', ["search"]),
        ('I look.\n```tool_code\nprint(default_api.search(query="x"))\n```', ["search"]),
        ('{"tool": "search", "tool_input": {"query": "x"}}', ["search"]),
        ('{"tool_calls": [{"function": {"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}}]}', ["search"]),
        ('✿FUNCTION✿: search\n✿ARGS✿: {"query": "x"}', ["search"]),
        ('Using tool: read_file\nInput: {"path": "x"}', ["read_file"]),
        ('search(query="a (b", days=None)', ["search"]),
        ("search(query='x', days={'a': [1, -2, (3,)]})", ["search"]),
        ("now()", ["now"]),
        ("list_all()", ["list_all"]),
        ('Action: anything\nAction Input: {"a": 1}', ["anything"]),
    ],
)
def test_a_call_is_read_in_any_markup(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        'I will use search with the query "x" and then read_file.',
        'You can call it like this:\n\nread_file(path="a.txt")',
        'The tool `read_file(path="a.txt")` reads a file.',
        '`read_file(path="a.txt")`',
        'I called search(query="x") and found nothing.',
        'For example:\nAction: search\nAction Input: {"query": "x"}',
        'Use read_file(path="a.txt") to read it.',
        'Here it is:\n```python\nsearch(query="x")\n```',
        "Plan:\n1. search for x\n2. read_file\n3. now",
        'Then\nsearch(query="x")\nIt returns a list. Good luck.',
        'result = search(query="x")',
        "search(query=text)",
        "search(query=[text for text in texts])",
        "search(*words)",
        "def search(query): pass",
        'The file says {"path": "search"} and so on.',
        "I searched. Next: run read_file",
        "<html><title>search</title><p>query</p></html>",
        'Done. search: {"results": []}',
        "The search (query: x) gave nothing.",
        "Sources: search (2 days), read_file (a.txt)",
        "now() gives the time, and search finds things.",
        "I updated read_file(path) to take a path.",
        'read_file: {"path"}',
        'search: {"query": "x"',
        "search(days=3)",
        'Action: search\nAction Input: {"days": 3}',
        "list_all(colour='red')",
        "weather(town='Oslo')",
        "searches(query='x')",
        "my-search(query='x')",
        "<search>\n<days>3</days>\n</search>",
        "<now>",
        "<b>search</b> takes a <i>query</i>",
    ],
)
def test_a_text_that_mentions_a_tool_holds_no_call(text: str) -> None:
    assert names(text) == []


def test_nothing_is_read_without_tools() -> None:
    assert written_calls('search(query="x")', ()) == []
    assert written_calls("(query='x')", (Tool("", None, SEARCH, "/tools/0"),)) == []


def test_a_bare_call_could_be_code_and_markup_could_not() -> None:
    assert [call.marked for call in written_calls('search(query="x")', TOOLS)] == [False]
    assert [call.marked for call in written_calls('[search(query="x")]', TOOLS)] == [True]
    assert [call.marked for call in written_calls('search(query="x")</function>', TOOLS)] == [True]
    assert [call.marked for call in written_calls('search{"query": "x"}', TOOLS)] == [True]
    assert [call.marked for call in written_calls('<search query="x"/>', TOOLS)] == [True]


def test_only_the_calls_at_the_end_count() -> None:
    text = 'search(query="first")\nThat gave nothing.\nsearch(query="second")'

    assert [call.text for call in written_calls(text, TOOLS)] == ['search(query="second")']


def test_a_real_call_that_says_the_same_is_known() -> None:
    [call] = written_calls('Action: read_file\nAction Input: {"path": "tests/test_text.py", "first": 7}', TOOLS)

    assert is_made(call, "read_file", {"path": "tests/test_text.py", "first": 7})
    assert not is_made(call, "read_file", {"path": "text.py"})
    assert not is_made(call, "read_file", {"path": "tests"})
    assert not is_made(call, "read_file", {"path": "tests/test_text.py", "first": 8})
    assert not is_made(call, "search", {"path": "tests/test_text.py"})


def test_a_question_about_a_tool_names_it() -> None:
    assert asks_about("How do I call search?", "search")
    assert asks_about("Show me a search for x", "search")
    assert not asks_about("Run a search for x", "search")
    assert not asks_about("How is the weather?", "search")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is the largest town there? Use the search tool and then what you know.", False),
        ("Call search now and describe what you received.", False),
        ("Please run `search` for it, and show me the best one.", False),
        ("Use search, and explain what you did.", True),
        ("Show me how to use the search tool.", True),
        ("Call search in an example, and describe it.", True),
        ("Describe it. I do not use search.", True),
        ("Describe what the search_all tool does, and search.", True),
    ],
)
def test_an_order_to_use_a_tool_asks_nothing_about_it(text: str, asks: bool) -> None:
    assert asks_about(text, "search") is asks


def test_a_code_block_that_never_begins_takes_no_time() -> None:
    assert written_calls("search ```json" + "é" * 300_000, TOOLS) == []
