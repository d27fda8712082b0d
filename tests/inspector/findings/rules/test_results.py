"""What the client gives back as results, and how the context grows with it."""

from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said
from judged import (
    anthropic,
    asked,
    calls,
    context_of,
    gemini,
    given,
    gives,
    ids,
    judged,
    lines,
    only,
    spoke,
    steps,
    turn,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.threads import Threads
from turntape.inspector.findings.memory import RunMemory, ThreadMemory
from turntape.inspector.findings.rule import Rule
from turntape.inspector.findings.rule_context import RuleContext
from turntape.inspector.findings.rules.results import (
    READERS,
    error_in_result,
    huge_result,
    new_results,
    reads_like_error,
)
from turntape.inspector.wire.parse import read

ASKED = {"role": "user", "content": "what is a tape?"}
FAILURES = ["Error: no such word", "Traceback (most recent call last):\n  x", '{"error": "no such word"}']


@pytest.mark.parametrize("text", FAILURES)
def test_an_error_that_is_not_marked_as_one_is_reported(text: str) -> None:
    opened, history = anthropic([ASKED], [use()]), [ASKED, spoke(use())]

    assert "client-tool-error-as-success" in ids(
        opened, anthropic([*history, asked(given(text=text))], [words("x")], 1)
    )
    marked = anthropic([*history, asked(given(text=text, is_error=True))], [words("x")], 1)
    assert "client-tool-error-as-success" not in ids(opened, marked)


def test_an_api_without_a_mark_makes_it_a_word_and_no_warning() -> None:
    first = said(None, CALL)
    following = chat([HELLO, first, result("call_1", FAILURES[0])], said("x"), index=1)

    found = only("tool-result-is-error", chat([HELLO], first), following)

    assert (found.layer, found.severity) == ("tool", "info")
    assert "client-tool-error-as-success" not in ids(chat([HELLO], first), following)


def test_a_log_that_speaks_of_failures_is_not_a_failure() -> None:
    call = use(name="read_log")
    text = "12:01 the charge failed\n12:02 HTTP 500"
    opened = anthropic([ASKED], [call], tools=())
    following = anthropic([ASKED, spoke(call), asked(given(text=text))], [words("x")], 1, tools=())

    assert "client-tool-error-as-success" not in ids(opened, following)


@pytest.mark.parametrize(("size", "huge"), [(60_000, True), (20_000, False)])
def test_a_result_that_takes_up_much_of_the_window_is_reported_once(size: int, huge: bool) -> None:
    first = said(None, CALL)
    history = [HELLO, first, result("call_1", "x" * size)]
    last = chat([*history, said("a"), {"role": "user", "content": "b"}], said("c"), index=2)

    reported = judged(chat([HELLO], first), chat(history, said("a"), index=1), last)

    assert [one.at for one in reported if one.id == "client-huge-tool-result"] == ([1] if huge else [])


def test_one_empty_result_says_nothing_and_the_next_does() -> None:
    assert "client-empty-tool-result" not in ids(*steps(2, answer="[]"))
    assert only("client-empty-tool-result", *steps(3, answer="[]")).at == 2


def test_a_context_that_grows_tenfold_is_reported() -> None:
    trips = steps(14, word=None)
    grown = [chat_with(trip, 3_000 * (n + 1)) for n, trip in enumerate(trips)]

    assert "client-context-growth" in ids(*grown)
    assert "client-context-growth" not in ids(*(chat_with(trip, 30_000) for trip in trips))


def chat_with(trip: RoundTrip, tokens: int) -> RoundTrip:
    assert trip.response is not None
    body = trip.response.body.replace(b'"prompt_tokens":100', f'"prompt_tokens":{tokens}'.encode())
    body = body.replace(b'"total_tokens":110', f'"total_tokens":{tokens + 10}'.encode())
    return replace(trip, response=replace(trip.response, content=body))


def test_a_picture_that_every_request_carries_is_reported_at_the_third() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 40_000}
    picture = {"role": "user", "content": [words("look"), {"type": "image", "source": source}]}
    history = [picture]
    trips = []
    for n in range(3):
        trips.append(anthropic(history, [use(f"toolu_{n}", str(n))], n))
        history = [*history, spoke(use(f"toolu_{n}", str(n))), asked(given(f"toolu_{n}"))]

    assert only("client-image-or-blob-resent", *trips).at == 2


def error(text: str, name: str = "look_up", **more: Any) -> list[str]:
    call = use(name=name)
    trips = (
        anthropic([ASKED], [call]),
        anthropic([ASKED, spoke(call), asked(given(text=text, **more))], [words("x")], 1),
    )
    return lines(*trips, only="client-tool-error")


def test_an_unmarked_error_is_quoted_with_the_name_of_its_tool() -> None:
    first = said(None, CALL)
    unmarkable = chat([HELLO, first, result("call_1", "Error: no such word")], said("x"), index=1)

    assert error("Error: no such word") == [
        (
            "#1 client-tool-error-as-success (client, warning, S): the result of 'look_up' reads like an error "
            "and is not marked as one: 'Error: no such word' | #1 request /messages/2/content/0"
        ),
    ]
    assert error("Error: " + "x" * 100)[0].count("x") == 72
    assert lines(chat([HELLO], first), unmarkable, only="tool-result") == [
        "#1 tool-result-is-error (tool, info, S): the result of 'look_up' reads like an error: 'Error: no such word' | "
        "#1 request /messages/2"
    ]


@pytest.mark.parametrize(
    "text",
    ["error", "  Error: x", "Traceback (most recent call last):", "Exception in x", "API request failed", "HTTP 404 x",
     "http 500", '{"error": "x"}', '{ "isError" : true}', '{"ok": false}', "The call failed", "failed",
     "Rate limit exceeded. Try again in 60 s.", "Too many requests", "Service Unavailable", "Unauthorized: no token",
     "Permission denied (publickey)", "connection refused by 10.0.0.1"],
)  # fmt: skip
def test_a_text_that_begins_so_is_an_error(text: str) -> None:
    assert error(text) != []


@pytest.mark.parametrize(
    "text",
    ["errors are many", "No exceptions", '{"error": null}', '{"error": false}', '{"error": ""}', '{"ok": true}',
     "HTTP 200", "x" * 41 + " failed", "It was unfailed",
     "3 failed", "2 tests failed, 1 passed", "tests failed: 2", "Test failed", " 1 failed",
     "Forbidden fruit is a song", "The rate limit exceeded", "Unauthorized biography of a band", "connections refused"],
)  # fmt: skip
def test_a_text_that_begins_so_is_not_an_error(text: str) -> None:
    assert error(text) == []


@pytest.mark.parametrize(
    "name", ["read_x", "get_log", "file", "Cat", "grep", "search", "fetch", "view", "open", "query"]
)
def test_what_a_reader_reads_may_speak_of_failures(name: str) -> None:
    assert error("The charge failed", name) == []
    assert error("The charge failed", "charge") != []
    for text in ("Error: no such x", "Traceback (most recent call last)", '{"error": "x"}'):
        assert error(text, name) != [], "these words are the tool's own"


PAGE = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PAGE, True),
        (PAGE.removeprefix("<!DOCTYPE html>") + "\n<!-- a padding -->\n", True),
        (PAGE.replace("502 Bad Gateway</title>", "404 Not Found</title>"), False),
        (PAGE.replace("502 Bad Gateway</title>", "5,021 gateways</title>"), False),
        (PAGE.replace("<body>", f"<body>{'x' * 2_000}"), False),
        (f"{PAGE}\n{PAGE} and more", False),
    ],
    ids=["a gateway's", "with a comment", "not found", "of a number", "long", "more follows"],
)
def test_the_error_page_of_a_server_is_not_what_a_tool_should_read(text: str, found: bool) -> None:
    assert bool(error(text, "fetch_page")) is found


def test_several_errors_are_each_reported_once() -> None:
    both = [use("t1"), use("t2", "b")]
    history = [ASKED, spoke(*both), asked(given("t1", "fine"), given("t2", "Error: x"))]
    later = [*history, spoke(words("Well.")), asked("and?")]
    trips = anthropic([ASKED], both), anthropic(history, [words("Well.")], 1), anthropic(later, [words("x")], 2)

    assert [line.split(" | ")[1] for line in lines(*trips, only="client-tool-error")] == [
        "#1 request /messages/2/content/1",
    ]


def test_an_error_without_an_id_is_known_by_its_name_and_place() -> None:
    hi = turn("user", {"text": "hi"})
    history = [hi, turn("model", calls()), turn("user", gives("Error: x"))]

    assert lines(gemini([hi], [calls()]), gemini(history, [{"text": "x"}], 1), only="tool-result") == [
        "#1 tool-result-is-error (tool, info, S): the result of 'look_up' reads like an error: 'Error: x' | #1 request "
        "/contents/2/parts/0"
    ]


def huge(size: int, **fields: Any) -> list[str]:
    first = said(None, CALL)
    second = chat([HELLO, first, result("call_1", "x" * size)], said("a"), index=1, **fields)
    return lines(chat([HELLO], first), second, only="client-huge")


def test_a_huge_result_is_reported_with_its_size() -> None:
    assert huge(60_000) == [
        (
            "#1 client-huge-tool-result (client, warning, P): the result of 'look_up' has 60,000 characters "
            "(about 15,000 tokens), and every later turn sends them again | #1 request /messages/2"
        ),
    ]
    assert huge(50_001) != []
    assert huge(50_000) == []


def test_a_huge_result_that_filled_the_window_is_an_error() -> None:
    full = {"error": {"message": "This model's maximum context length is 131072 tokens.", "type": "x"}}
    first = said(None, CALL)
    history = [HELLO, first, result("call_1", "x" * 60_000)]
    rejected = chat(history, status=400, error=full, index=1)
    call = use()
    labelled = anthropic([ASKED, spoke(call), asked(given(text="x" * 60_000))], [words("x")], 1,
                         stop="model_context_window_exceeded")  # fmt: skip
    other = chat(history, status=400, error={"error": {"message": "no", "type": "x"}}, index=1)

    assert lines(chat([HELLO], first), rejected, only="client-huge")[0].startswith(
        "#1 client-huge-tool-result (client, error"
    )
    assert lines(anthropic([ASKED], [call]), labelled, only="client-huge")[0].startswith(
        "#1 client-huge-tool-result (client, error"
    )
    assert lines(chat([HELLO], first), other, only="client-huge")[0].startswith(
        "#1 client-huge-tool-result (client, warning"
    )


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "None", " [] "])
def test_empty_results_that_come_again_are_reported_once(text: str) -> None:
    assert lines(*steps(5, answer=text), only="client-empty-tool") == [
        "#2 client-empty-tool-result (client, info, P): the result of 'look_up' is empty again | #2 request /messages/4"
    ]
    assert lines(*steps(4, answer="[1]"), only="client-empty-tool") == []


def grown(*tokens: int) -> list[str]:
    return lines(*(chat_with(one, count) for one, count in zip(steps(len(tokens), word=None), tokens, strict=True)),
                 only="client-context-growth")  # fmt: skip


def test_a_context_that_grows_is_reported_once_with_its_slope() -> None:
    assert grown(3_000, *[4_000] * 8, 30_001, 40_000) == [
        (
            "#9 client-context-growth (client, info, P): the input grew from 3,000 to 30,001 tokens, about "
            "3,000 per turn | #0 usage input 3000, #9 usage input 30001"
        ),
    ]
    assert grown(3_000, *[4_000] * 8, 30_000) == []
    assert grown(1_000, *[2_000] * 8, 20_000) == []
    assert grown(1_000, *[2_000] * 8, 20_001) != []
    assert grown(3_000, *[4_000] * 7, 60_000) == [], "too few turns"


def test_a_picture_is_reported_by_its_place_at_the_third_time() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 40_000}
    history: list[dict[str, Any]] = [{"role": "user", "content": [words("look"), {"type": "image", "source": source}]}]
    trips: list[RoundTrip] = []
    for n in range(5):
        trips.append(anthropic(history, [use(f"toolu_{n}", str(n))], n))
        history = [*history, spoke(use(f"toolu_{n}", str(n))), asked(given(f"toolu_{n}"))]

    assert lines(*trips, only="client-image") == [
        (
            "#2 client-image-or-blob-resent (client, info, P): the same image or file is sent for the third "
            "time | #2 request /messages/0/content/1"
        ),
    ]


def test_an_attempt_and_a_turn_after_a_failure_bring_their_results_once() -> None:
    call = use()
    history = [ASKED, spoke(call), asked(given(text="Error: x"))]
    failed = anthropic(history, index=1, error="overloaded", status=529)
    again = anthropic(history, [words("Well.")], 2)
    longer = anthropic([*history, spoke(words("Well.")), asked("and?")], [words("x")], 3)

    found = lines(anthropic([ASKED], [call]), failed, again, longer, only="client-tool-error")
    assert [line.split(" ")[0] for line in found] == ["#1"]
    gave_up = anthropic([*history, asked("and?")], [words("x")], 2)
    found = lines(anthropic([ASKED], [call]), failed, gave_up, only="client-tool-error")
    assert [line.split(" ")[0] for line in found] == ["#1"]


def brought(*trips: RoundTrip) -> list[str]:
    """The results that the last round trip brings, with those before it as turns of its thread."""
    threads = Threads()
    *earlier, last = [threads.add(one, read(one)) for one in trips]
    context = RuleContext(last, ThreadMemory(), RunMemory(), earlier[-1] if earlier else None)
    found = new_results(context)
    assert all(part.result is result for part, result in found)
    return [result.text for _, result in found]


def test_new_results_are_those_that_no_earlier_request_brought() -> None:
    first, second = said(None, CALL), said(None, ("call_2", "look_up", '{"word":"strip"}'))
    history = [HELLO, first, result("call_1", "a strip")]
    more = [*history, second, result("call_2", "a band")]
    opened, error = chat([HELLO], first), {"error": {"message": "no", "type": "server_error"}}
    failed = chat(history, status=500, error=error, index=1)

    assert brought(chat(history, said("x"))) == ["a strip"]
    assert brought(opened, chat(history, said("x"), index=1)) == ["a strip"]
    assert brought(opened, failed, chat(more, said("x"), index=2)) == ["a band"]
    assert brought(opened, failed, chat(history, said("x"), index=2)) == [], "another attempt"
    assert brought(chat(history, second), chat(more, said("x"), index=1)) == ["a band"]


def test_a_result_of_the_apis_own_tool_is_not_the_clients() -> None:
    ran = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ]

    assert brought(anthropic([ASKED, spoke(*ran, use()), asked(given())], [words("x")])) == ["a strip"]


def test_a_result_that_names_nothing_is_one() -> None:
    nameless = chat([HELLO, said(None, CALL), result("call_9", "Error: x")], said("x"))

    assert lines(nameless, only="tool-result")[0].startswith(
        "#0 tool-result-is-error (tool, info, S): the result of 'call_9' reads like an error"
    )


def rule_on(rule: Rule, one: RoundTrip, key: object) -> list[str]:
    """What the rule finds when it has reported this key before."""
    thread = ThreadMemory(reported={(rule.id, key)})
    return [finding.message for finding in rule.apply(context_of(one, thread=thread))]


@pytest.mark.parametrize("rule", [error_in_result, huge_result], ids=lambda rule: rule.id)
def test_a_result_is_known_by_the_id_of_its_call_or_by_its_place(rule: Rule) -> None:
    text = "Error: " + "x" * 60_000
    named = chat([HELLO, said(None, CALL), result("call_1", text)], said("x"))
    nameless = gemini(
        [turn("user", {"text": "hi"}), turn("model", calls()), turn("user", gives(text))], [{"text": "x"}]
    )

    assert rule_on(rule, named, "call_1") == []
    assert len(rule_on(rule, named, "/messages/2")) == 1
    assert rule_on(rule, nameless, "/contents/2/parts/0") == []
    assert len(rule_on(rule, nameless, None)) == 1


def test_any_empty_result_of_an_earlier_turn_makes_the_next_one_a_repetition() -> None:
    def pair(n: int) -> list[dict[str, Any]]:
        both = [use(f"a{n}", f"a{n}"), use(f"b{n}", f"b{n}")]
        return [spoke(*both), asked(given(f"a{n}", f"a strip {n}"), given(f"b{n}", "[]"))]

    history: list[dict[str, Any]] = [ASKED]
    trips: list[RoundTrip] = []
    for n in range(3):
        [answer, back] = pair(n)
        trips.append(anthropic(history, answer["content"], n))
        history = [*history, answer, back]

    [line] = lines(*trips, anthropic(history, [words("x")], 3), only="client-empty-tool")
    assert line.endswith("| #2 request /messages/4/content/1")


def test_lines_of_a_log_that_begin_with_errors_are_what_was_read() -> None:
    lines_ = ["Error: connection refused"] * 3

    assert error("\n".join(lines_), "read_log") == []
    assert error("\n\n".join(lines_[:2]), "read_log") != []
    assert error("\n".join(lines_), "charge") != []
    assert error("Traceback (most recent call last):\n" + "\n".join(lines_), "read_log") != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<html>\r\n<head><title>502 Bad Gateway</title></head>", True),
        ("<!DOCTYPE html>\n<html lang='en'><title>404 Not Found</title>", True),
        ("<html><head><title>4040 things</title>", False),
        ("<html><head><title>Words</title></head><body>502</body>", False),
    ],
)
def test_an_error_page_reads_like_an_error(text: str, expected: bool) -> None:
    assert reads_like_error(text) is expected


def test_a_result_of_line_breaks_is_read_once() -> None:
    """What was read again for each of the 64,000 took minutes."""
    assert not reads_like_error("\n" * 64_000 + "ok")
    assert not reads_like_error("\n" * 64_000 + "3 tests failed")
    assert reads_like_error("\n" * 64_000 + "build failed")


@pytest.mark.parametrize(
    "wrapped", ['{"result": "Error: no such word"}', '{"output": {"text": "Traceback (most recent call"}}']
)
def test_an_error_that_a_client_wraps_in_an_object_is_read(wrapped: str) -> None:
    assert error(wrapped) != []
    assert error(wrapped.replace("Error: ", "").replace("Traceback (", "I see (")) == []


def test_an_object_that_says_that_the_call_failed_is_an_info() -> None:
    failed = '{"success": false, "error": "quota exceeded"}'
    first = said(None, CALL)
    unmarkable = chat([HELLO, first, result("call_1", failed)], said("x"), index=1)

    [marked] = error(failed)
    [plain] = lines(chat([HELLO], first), unmarkable, only="tool-result-is-error")
    assert "(client, info, S): the result of 'look_up' says in its own fields that the call failed: " in marked
    assert "(tool, info, S): the result of 'look_up' says in its own fields that the call failed: " in plain
    assert error(failed, is_error=True) == []
    assert error('{"success": false}') == []
    assert error('{"status": 404, "error": "Not Found"}') != []
    assert error('{"statusCode": 503, "message": "try again"}') != []
    assert error('{"status": 200, "message": "OK"}') == []
    assert error('{"status": 404}') == []
    assert error('{"status": true, "message": "OK"}') == []
    assert error('{"success": true, "error": "none"}') == []


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("read_file", True), ("readFile", True), ("cat", True), ("web_search", True), ("get_logs", True),
        ("view_page", True), ("list_files", True), ("get_location", False), ("catalog_lookup", False),
        ("get_user_profile", False), ("login", False), ("review_text", False), ("new_thread", False),
    ],
)  # fmt: skip
def test_a_tool_that_reads_is_known_by_a_word_of_its_name(name: str, reads: bool) -> None:
    assert bool(READERS.search(name)) is reads


@pytest.mark.parametrize(
    "text",
    [
        "'NoneType' object has no attribute 'get'",
        "'int' object is not subscriptable",
        "list index out of range",
        "unsupported operand type(s) for +: 'int' and 'str'",
        "Cannot read properties of undefined (reading 'map')",
        "name 'requests' is not defined",
        "response.json is not a function",
        "invalid literal for int() with base 10: 'a'",
        "division by zero",
        "[Errno 2] No such file or directory: 'notes.md'",
        "look_up() missing 1 required positional argument: 'word'",
        "look_up() got an unexpected keyword argument 'words'",
        "Expecting value: line 1 column 1 (char 0)",
        "Object of type datetime is not JSON serializable\n",
    ],
)
def test_the_message_of_an_exception_is_an_error(text: str) -> None:
    assert reads_like_error(text)
    assert not reads_like_error(f"The log says: {text}")
    assert not reads_like_error(f"{text}\nThis is what pandas 2 prints.")


@pytest.mark.parametrize(
    "text",
    ["A list is out of stock.", "tape is not defined", "'tape' object", "division 5: open", "none", "name 'a'"],
)
def test_other_texts_are_not_exceptions(text: str) -> None:
    assert not reads_like_error(text)
