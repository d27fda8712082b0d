import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from round_trips import MESSAGES
from tool_stories import Story, text

IMAGE: dict[str, Any] = {"type": "image", "data": "iVBORw0KGgo" + "A" * 200, "mimeType": "image/png"}
AUDIO: dict[str, Any] = {"type": "audio", "data": "UklGRiQAAABX" + "B" * 200, "mimeType": "audio/wav"}
LINK: dict[str, Any] = {"type": "resource_link", "uri": "file:///notes.md", "name": "notes"}
LONG = "".join(f"line {number} of a long text\n" for number in range(1_000))
ONE = ("c1", "add", '{"a":1}')


def shown(result: dict[str, Any], seen: str) -> Story:
    """A call whose result the next request shows in this way."""
    return Story().start().turn(ONE).call("add", {"a": 1}, result).results(("c1", seen)).turn()


def marked(result: object, seen: str, *, is_error: bool | None = None) -> Story:
    """The same over an API that marks errors."""
    made = Story().start().ask(ONE).call("add", {"a": 1}, result)
    return made.shows("c1", seen, is_error=is_error).ask()


def test_a_healthy_run_has_no_finding() -> None:
    assert shown(text("It is 42."), "It is 42.").found() == []
    assert marked(text("It is 42."), "Output:\nIt is 42.").found() == []
    assert marked(text("no", isError=True), "no", is_error=True).found() == [(2, "tool-reported-error", "tool", "info")]


def test_a_result_that_was_cut_without_a_word() -> None:
    story = shown(text(LONG), LONG[:900])

    assert story.found() == [(2, "client-tool-result-cut", "client", "warning")]
    assert story.says("client-tool-result-cut") == [
        "the model sees only 900 of 23,890 characters (the beginning) of the result of 'add' of server 'files'"
    ]


def test_a_client_that_says_that_it_cut_is_an_info() -> None:
    story = shown(text(LONG), f"{LONG[:900]}\n[12,000 characters truncated]\n{LONG[-500:]}")

    assert story.found() == [(2, "client-tool-result-cut", "client", "info")]
    assert "1,399 of 23,890 characters (the beginning and the end)" in story.says("client-tool-result-cut")[0]
    assert "(the end)" in shown(text(LONG), LONG[-900:]).says("client-tool-result-cut")[0]


@pytest.mark.parametrize(
    "notice",
    [
        "[13000 more characters]",
        "... 412 lines omitted ...",
        "<response clipped>",
        "[output cut off after 900 characters]",
        "(Results are truncated. 12 additional entries)",
        "showing lines 1-20 of 900",
        "[+11,200 bytes]",
        "--- snip ---",
        "[4 remaining pages]",
    ],
)
def test_a_notice_of_a_cut_in_other_words_is_an_info(notice: str) -> None:
    assert shown(text(LONG), f"{LONG[:900]}\n{notice}").found() == [(2, "client-tool-result-cut", "client", "info")]


@pytest.mark.parametrize("words", ["done", "see above for more", "[12:30:01] end", "900 items"])
def test_other_words_behind_a_cut_result_say_nothing(words: str) -> None:
    assert shown(text(LONG), f"{LONG[:900]}\n{words}").found() == [(2, "client-tool-result-cut", "client", "warning")]


def test_a_part_of_several_texts_is_cut_too() -> None:
    assert "sees only 3 of 7 characters" in shown(text("one", "two"), "one").says("client-tool-result-cut")[0]


def test_a_word_of_the_result_itself_says_nothing_about_a_cut() -> None:
    long = f"the list is truncated\n{LONG}"

    assert shown(text(long), long[:900]).found(severity="warning") != []


def test_a_file_in_place_of_a_result() -> None:
    story = shown(text(LONG), "Result too large. Saved to /home/me/.x/results/a.txt")

    assert story.found() == [(2, "client-tool-result-as-file", "client", "info")]
    assert "(24,929 bytes)" in story.says("client-tool-result-as-file")[0]


def test_structured_content_beside_a_text_is_an_info() -> None:
    both = text("It is warm.", structuredContent={"degrees": 21, "sky": "blue"})

    assert shown(both, "It is warm.").found() == [(2, "client-tool-structured-lost", "client", "info")]
    assert shown(both, '{"degrees":21,"sky":"blue"}').found() == [(2, "client-tool-text-lost", "client", "info")]


def test_structured_content_alone_must_be_shown() -> None:
    alone: dict[str, Any] = {"content": [], "structuredContent": {"degrees": 21}}

    assert shown(alone, "").found() == [(2, "client-tool-structured-lost", "client", "warning")]
    assert shown(alone, "(no output)").found() == [(2, "client-tool-structured-lost", "client", "warning")]
    assert shown(alone, '{"degrees": 21.0}').found() == []


@pytest.mark.parametrize(
    ("block", "name"),
    [(IMAGE, "client-tool-image-lost"), (AUDIO, "client-tool-audio-lost"), (LINK, "client-tool-resource-lost")],
)
def test_media_that_are_left_out(block: dict[str, Any], name: str) -> None:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "see this"}, block]}

    assert shown(result, "see this").found() == [(2, name, "client", "warning")]
    assert shown(result, "see this (one part was omitted)").found() == [(2, name, "client", "info")]


def test_an_image_that_is_shown_in_another_form_is_not_lost() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"content": [IMAGE]}).results(("c1", "see below"))
    story.messages.append({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]})

    assert story.turn().found() == []


@pytest.mark.parametrize("seen", ["[object Object]", "The user doesn't want to proceed with this tool use."])
def test_other_words_in_place_of_a_resource_are_another_text(seen: str) -> None:
    page = {"type": "resource", "resource": {"uri": "file:///page.txt", "text": "Depot 7 is open."}}
    said = {"type": "text", "text": "see the page"}

    assert shown({"content": [page]}, seen).found() == [(2, "client-tool-result-changed", "client", "warning")]
    assert shown({"content": [page]}, "").found() == [(2, "client-tool-resource-lost", "client", "warning")]
    assert shown({"content": [said, page]}, "see the page").found() == [
        (2, "client-tool-resource-lost", "client", "warning")
    ]


def test_a_result_of_which_nothing_is_shown() -> None:
    assert shown(text("It is 42."), " ").found() == [(2, "client-tool-result-lost", "client", "error")]
    assert shown(text(""), "").found() == []


def test_another_text_than_the_tool_returned() -> None:
    story = shown(text("It is 42."), "It is 43.")

    assert story.found() == [(2, "client-tool-result-changed", "client", "warning")]
    assert story.says("client-tool-result-changed") == [
        "'add' of server 'files' returned 'It is 42.', but the model sees 'It is 43.'"
    ]


def two(first: str, second: str) -> Story:
    """Two calls in a turn, and what the next request shows for each."""
    story = Story().start().turn(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    story.call("add", {"a": 1}, text("the sum is 1")).call("say", {"text": "x"}, text("you said x"))
    return story.results(("c1", first), ("c2", second)).turn()


def test_results_under_each_others_calls() -> None:
    story = two("you said x", "the sum is 1")

    assert story.found() == [(2, "client-tool-results-swapped", "client", "error")] * 2
    assert "shows the result of #4 and not its own" in story.says("client-tool-results-swapped")[0]
    assert two("the sum is 1", "you said x").found() == []


def test_the_result_of_an_earlier_turn() -> None:
    def again(seen: str) -> Story:
        story = shown(text("the sum is 1"), "the sum is 1")
        del story.trips[-1]
        story.messages.pop()
        story.turn(("c2", "add", '{"a":2}')).call("add", {"a": 2}, text("the sum is 2"))
        return story.results(("c2", seen)).turn()

    assert again("the sum is 1").found() == [(4, "client-tool-result-stale", "client", "error")]
    assert again("the sum is 2").found() == []


def test_an_earlier_result_without_another_run_is_a_warning() -> None:
    story = shown(text("the sum is 1"), "the sum is 1")
    del story.trips[-1]
    story.messages.pop()
    story.turn(("c2", "add", '{"a":2}')).results(("c2", "the sum is 1")).turn()

    assert story.found() == [(4, "client-tool-result-stale", "client", "warning")]


def test_the_mark_of_an_error_is_lost() -> None:
    failed = text("the disk is full", isError=True)

    assert marked(failed, "the disk is full").found()[0] == (2, "client-tool-error-mark-lost", "client", "warning")
    assert marked(failed, "the disk is full", is_error=True).says("client-tool-error-mark-lost") == []
    assert shown(failed, "the disk is full").found()[-1] == (2, "client-tool-error-mark-lost", "client", "info")
    assert shown(text("it failed", isError=True), "it failed").says("client-tool-error-mark-lost") == []
    plain = text("Error: the disk is full", isError=True)
    assert (2, "client-tool-error-mark-lost", "client", "info") in marked(plain, "Error: the disk is full").found()
    refused = marked("no such tool", "Error: no such tool").found()
    assert (2, "client-tool-error-mark-lost", "client", "info") in refused


def test_the_words_of_a_client_for_a_large_result_are_not_an_error_of_the_tool() -> None:
    story = marked(text(LONG), "Error: result exceeds the limit. Saved to file /home/me/.x/r/a.txt")
    found = [one for row in story.label() for one in row.label["findings"]]  # type: ignore[attr-defined]

    [as_success] = [one for one in found if one["id"] == "client-tool-error-as-success"]
    assert (as_success["severity"], as_success["because_of"]) == ("info", ["client-tool-result-as-file"])


def test_an_error_that_the_tool_did_not_report() -> None:
    assert marked(text("It is 42."), "It broke.", is_error=True).found() == [
        (2, "client-tool-error-invented", "client", "error")
    ]
    assert marked(text("It is 42."), "It is 42.", is_error=True).found()[0][3] == "error"
    assert marked(text("no", isError=True), "no", is_error=True).says("client-tool-error-invented") == []


def test_a_result_that_is_too_large_for_the_client_is_a_warning() -> None:
    story = marked(text(LONG), "The response exceeds 25000 tokens.", is_error=True)

    assert story.found() == [(2, "client-tool-error-invented", "client", "warning")]


def test_a_result_that_breaks_its_schema_must_be_refused() -> None:
    story = Story()
    story.tools = [{**story.tools[0], "outputSchema": {"type": "object", "required": ["sum"]}}]
    story.start().ask(ONE).call("add", {"a": 1}, text("1", structuredContent={}))

    found = story.shows("c1", "Structured content does not match", is_error=True).ask().found()

    assert [name for _, name, _, _ in found] == ["tool-invalid-result"]


def test_a_result_with_that_of_another_call_behind_it() -> None:
    one, two = ("c1", "add", '{"a":1}'), ("c2", "add", '{"a":2}')
    first, second = "Parcel 4711 waits in Turin.", "Parcel 4712 is at the door."
    story = Story().start().turn(one, two).call("add", {"a": 1}, text(first)).call("add", {"a": 2}, text(second))
    story.results(("c1", first + second), ("c2", second)).turn()

    assert story.found() == [(2, "client-tool-results-swapped", "client", "error")]
    assert "shows the result of #4 behind its own" in story.says("client-tool-results-swapped")[0]


ROWS = '{"rows":[{"depot":"Gent","late":true,"weight":17},{"depot":"Riga","late":false,"weight":9}]}'


def test_a_result_that_the_model_sees_twice() -> None:
    story = shown(text(ROWS), f"{ROWS}\n<extras>{ROWS}</extras>")

    assert story.found() == [(2, "client-tool-result-doubled", "client", "info")]
    assert "2 times" in story.says("client-tool-result-doubled")[0]


def test_the_text_of_an_error_that_the_model_does_not_see() -> None:
    story = shown("the quota is used up", "")  # type: ignore[arg-type]

    assert (2, "client-tool-result-lost", "client", "warning") in story.found()
    assert "the quota is used up" in story.says("client-tool-result-lost")[0]
    assert shown("the quota is used up", "Error: the quota is used up").says("client-tool-result-lost") == []  # type: ignore[arg-type]


INVOKE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-20250514-v1%3A0/invoke"


@pytest.mark.parametrize(("mark", "lost"), [(None, True), (False, True), (True, False)])
def test_a_form_with_a_mark_has_it_behind_another_api_too(mark: bool | None, lost: bool) -> None:
    story = marked(text("quota", isError=True), "quota", is_error=mark)
    story.trips[:] = [
        replace(trip, request=replace(trip.request, url=INVOKE)) if trip.request.url == MESSAGES else trip
        for trip in story.trips
    ]

    assert (story.says("client-tool-error-mark-lost") != []) is lost
    assert story.says("tool-reported-error") != []


@pytest.mark.parametrize("seen", ["Error running tool.", '{"result":"Error: no content"}'])
def test_an_empty_result_is_not_an_error(seen: str) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text()).results(("c1", seen)).turn()

    assert story.found() == [(2, "client-tool-error-invented", "client", "warning")]
    named = Story().start().turn(ONE).call("add", {"a": 1}, text()).results(("c1", "(no output)")).turn()
    assert named.found() == []


def test_an_image_that_is_written_as_text_is_not_seen() -> None:
    image = {"type": "image", "data": "iVBORw0KGgo" + "A" * 200, "mimeType": "image/png"}
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"content": [image]})
    story.results(("c1", json.dumps(image))).turn()

    assert story.found() == [(2, "client-tool-image-lost", "client", "warning")]
    assert "was written as text" in story.says("client-tool-image-lost")[0]
    own = Story().start().turn(ONE).call("add", {"a": 1}, text(json.dumps(image)))
    assert own.results(("c1", json.dumps(image))).turn().found() == []


@pytest.mark.parametrize("shown", ['{"order":1763900000123456800}', '{"order": 1763900000123456789}'])
def test_a_number_of_a_result_that_was_rounded(shown: str) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text('{"order": 1763900000123456789}'))
    story.results(("c1", shown)).turn()

    found = [(2, "client-tool-result-changed", "client", "warning")] if shown.endswith("800}") else []
    assert story.found() == found


WORDS = "one line\nanother line  with words\n\tand code(a,\n b)"


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        ("".join(WORDS.split("\n")), ["warning"]),
        (WORDS.replace("\n", ""), ["warning"]),
        (" ".join(WORDS.split()), []),
        (WORDS.replace("\n", "\r\n"), []),
        (json.dumps(WORDS), []),
        (WORDS.replace("(a,\n b)", "(a,b)"), []),
        ('{"text":' + json.dumps(WORDS) + "}", []),
    ],
)
def test_words_that_run_together_are_another_text(seen: str, found: list[str]) -> None:
    story = shown(text(WORDS), seen)

    assert [rank for _, name, _, rank in story.found() if name == "client-tool-result-changed"] == found
    said = story.says("client-tool-result-changed")
    assert ["white space between words of 'add'" in one for one in said] == [True for _ in found]


def test_json_in_other_white_space_is_the_same() -> None:
    pretty = '{\n  "a": [1, 2],\n  "b": "two words"\n}'

    assert shown(text(pretty), '{"a":[1,2],"b":"two words"}').found() == []


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        ("MCP error -32603", ["info"]),
        ("An error occurred while running the tool.", ["info"]),
        ("MCP error -32603: the warehouse is closed", []),
        ("Error: the warehouse is  closed", []),
    ],
)
def test_an_error_in_other_words(seen: str, found: list[str]) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, "the warehouse is closed").results(("c1", seen)).turn()

    assert [rank for _, name, _, rank in story.found() if name == "client-tool-result-lost"] == found


SMALL: dict[str, Any] = {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf", "mimeType": "image/png"}


def test_a_small_image_that_is_written_as_text_is_lost() -> None:
    written = shown({"content": [SMALL]}, json.dumps({"content": [SMALL]}))

    assert written.found() == [(2, "client-tool-image-lost", "client", "warning")]
    assert (
        shown({"content": [SMALL, {"type": "text", "text": "a dot"}]}, "a dot [image omitted]").found(
            severity="warning"
        )
        == []
    )


def blob(mime: str, data: bytes = b"interface Check { bool Alive(); }\n") -> dict[str, Any]:
    held = {"uri": "file:///srv/Check.cs", "mimeType": mime, "blob": base64.b64encode(data).decode()}
    return {"content": [{"type": "resource", "resource": held}]}


def test_a_text_that_comes_as_base64_is_lost_where_only_its_address_is_shown() -> None:
    address = "Resource URI: file:///srv/Check.cs"

    assert [row[1] for row in shown(blob("text/plain"), address).found(severity="warning")] == [
        "client-tool-result-changed"
    ]
    assert shown(blob("text/plain; charset=utf-8"), f"{address}\ninterface Check {{ bool Alive(); }}").found() == []
    assert shown(blob("text/plain"), f"{address}: {blob('text/plain')['content'][0]['resource']['blob']}").found() == []
    assert shown(blob("application/zip", b"PK\x03\x04\xff\xfe"), address).found() == []


CODE = "def f(x):\n    if x:\n        return 1\n    return 2\n\n\ndef g(y):\n    for i in y:\n        print(i)\n"


@pytest.mark.parametrize(
    "seen",
    [
        " ".join(CODE.split()),
        "\n".join(line.strip() for line in CODE.splitlines()),
        f"Output: {' '.join(CODE.split())}",
    ],
)
def test_indented_lines_that_lost_their_indentation_are_changed(seen: str) -> None:
    story = shown(text(CODE), seen)

    assert story.found() == [(2, "client-tool-result-changed", "client", "warning")]
    assert (
        "the indentation of 'add' of server 'files' is gone, as before 'if x:'"
        in story.says("client-tool-result-changed")[0]
    )


@pytest.mark.parametrize(
    ("returned", "seen"),
    [
        (CODE, CODE.strip()),
        (CODE, CODE.replace("\n\n\n", "\n")),
        (CODE, CODE.replace("    ", "\t")),
        (CODE, f"```python\n{CODE}```"),
        (CODE, json.dumps({"output": CODE})),
        ("\n".join(f"    {n}" for n in range(9)), "\n".join(str(n) for n in range(9))),
        ('{\n  "a": [\n    1,\n    2\n  ]\n}', '{"a": [1, 2]}'),
        ("One line\n  and another", "One line and another"),
    ],
)
def test_indentation_that_is_kept_or_means_nothing_is_silent(returned: str, seen: str) -> None:
    assert shown(text(returned), seen).found() == []


def test_a_short_result_that_is_all_that_the_model_sees_twice() -> None:
    assert shown(text("It is 23 degrees."), "It is 23 degrees.It is 23 degrees.").found() == [
        (2, "client-tool-result-doubled", "client", "info")
    ]
    assert shown(text("It is 23 degrees."), "It is 23 degrees. Yes: It is 23 degrees.").found() == []
    assert shown(text("42"), "4242").found() == []


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        ("     1\tone\n     2\ttwo\n     3\tthree", 0),
        ("Lines 4 to 6:\n4| one\n5| two\n6| three\n", 0),
        ("<file>\n4:\tone\n5:\ttwo\n6:\tthree\n</file>", 0),
        ("1\tone\n2\tthree\n3\ttwo", 1),
        ("1\tone\n3\ttwo\n2\tthree", 1),
    ],
)
def test_lines_with_their_numbers_are_the_same_text(seen: str, found: int) -> None:
    assert len(shown(text("one\ntwo\nthree"), seen).says("client-tool-result-changed")) == found


def test_a_result_that_says_how_to_get_its_rest_was_cut_on_purpose() -> None:
    note = "\n\n(Showing the first 9000 of 24929. Use offset=9000 to continue)"

    assert [one[1:] for one in shown(text(LONG), LONG[:9_000] + note).found()] == [
        ("client-tool-result-cut", "client", "info")
    ]
    assert [one[3] for one in shown(text(LONG), LONG[:9_000]).found()] == ["warning"]
