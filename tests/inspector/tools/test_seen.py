import json
from typing import Any

import pytest
from tool_stories import text

from turntape.inspector.tools.returned import returned_of
from turntape.inspector.tools.seen import Shown, seen
from turntape.inspector.tools.tool_run import ToolRun

IMAGE = {"type": "image", "data": "iVBORw0KGgo" + "A" * 200, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "UklGRiQAAABX" + "B" * 200, "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///notes.md", "name": "notes"}
PAGE = {"type": "resource", "resource": {"uri": "file:///page.txt", "text": "the page"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "Q" * 200}}
LONG = "".join(f"line {number} of a long text\n" for number in range(1_000))


def run(result: dict[str, Any] | None = None, **fields: Any) -> ToolRun:
    known: dict[str, Any] = {"outcome": "answered", "result": result, "is_error": bool((result or {}).get("isError"))}
    base: dict[str, Any] = {"index": 3, "session": "s", "server": "files", "name": "add", "arguments": {}}
    return ToolRun(**base, started_at=1.0, **{**known, **fields})


def shown(text: str, **fields: Any) -> Shown:
    return Shown(5, text, **{"is_error": False, **fields})


def how(result: dict[str, Any], given: str, **fields: Any) -> tuple[str | None, tuple[str, ...]]:
    found = seen(run(result), shown(given, **fields))
    return found.seen_as, found.lost


def test_colours_of_a_terminal_and_a_byte_order_mark_are_left_out() -> None:
    assert how(text("\ufeff\x1b[32mok\x1b[0m depot 7"), "ok depot 7") == ("equal", ())
    assert how(text("\x1b[32mok\x1b[0m depot 7"), "\x1b[32mok\x1b[0m depot 7") == ("equal", ())
    assert how(text("\x1b[32mok\x1b[0m depot 7"), "depot 7")[0] == "cut"


@pytest.mark.parametrize(
    "given",
    [
        "It is 42.\n",
        "Wall time: 0.0126 seconds\nOutput:\nIt is 42.",
        "<untrusted_context>\nIt is 42.\n</untrusted_context>",
        '[{"type":"text","text":"It is 42."}]',
        'Output:\n[{"type":"text","text":"It is 42."}]',
        '{"result": "It is 42."}',
        '{"output": "{\\"text\\": \\"It is 42.\\"}"}',
        "It  is\n42.",
        "It is 42.\n\n<system-reminder>Be careful.</system-reminder>",
    ],
)
def test_a_text_is_equal_whatever_the_client_put_around_it(given: str) -> None:
    assert how(text("It is 42."), given) == ("equal", ())


def test_several_texts_may_be_joined() -> None:
    assert how(text("one", "two"), "one\n\ntwo") == ("equal", ())
    assert how(text("one", "two"), '["one", "two"]') == ("equal", ())
    assert how(text("one", "two"), "one") == ("cut", ("text",))


def test_text_and_structured_content_may_lose_one_half() -> None:
    both = text("It is warm.", structuredContent={"degrees": 21.0, "sky": "blue"})

    assert how(both, '{"sky":"blue","degrees":21}') == ("structured", ("text",))
    assert how(both, 'Wall time: 1 seconds\nOutput:\n{"sky":"blue","degrees":21}') == ("structured", ("text",))
    assert how(both, "It is warm.") == ("text", ("structured",))
    assert how(both, 'It is warm.\n{"sky":"blue","degrees":21}') == ("equal", ())


def test_nothing_is_lost_where_both_halves_say_the_same() -> None:
    both = text('{\n  "degrees": 21\n}', structuredContent={"degrees": 21})

    assert how(both, '{"degrees":21}') == ("equal", ())
    assert how(both, '{\n  "degrees": 21\n}') == ("equal", ())
    assert how(text("3", structuredContent={"result": 3}), "3") == ("equal", ())
    assert how(text("3", structuredContent={"result": 3}), '{"result":3}') == ("equal", ())
    assert how(text("x", structuredContent={"result": "x"}), "x") == ("equal", ())
    assert how(text("a", "b", structuredContent={"result": ["a", "b"]}), '["a","b"]') == ("equal", ())


def test_structured_content_alone_may_be_lost() -> None:
    alone: dict[str, Any] = {"content": [], "structuredContent": {"degrees": 21}}

    assert how(alone, '{"degrees":21}') == ("equal", ())
    assert how(alone, "") == ("dropped", ("structured",))
    assert how(alone, "[]") == ("dropped", ("structured",))


def test_an_empty_result_is_empty_whatever_is_said_about_it() -> None:
    assert how({"content": []}, "(add completed with no output)") == ("empty", ())
    assert how(text(""), "{}") == ("empty", ())


def test_a_cut_text_says_how_much_is_left_of_each_end() -> None:
    both = seen(run(text(LONG)), shown(f"{LONG[:5_000]}\n…2000 tokens truncated…\n{LONG[-3_000:]}"))
    beginning = seen(run(text(LONG)), shown(LONG[:900]))

    assert (both.seen_as, both.seen_kept, both.lost) == ("cut", (5_000, 3_000), ("text",))
    assert (beginning.seen_as, beginning.seen_kept) == ("cut", (900, 0))
    assert how(text("a short text"), "a short…")[0] == "cut"
    assert how(text(LONG), json.dumps([{"text": LONG}])[:2_000])[0] == "cut"


def test_a_file_in_place_of_the_text() -> None:
    given = (
        f"Output too large (24 KB). Full output saved to: /home/me/.x/tool-results/abc.txt\n\nPreview:\n{LONG[:2_000]}"
    )

    assert how(text(LONG), given)[0] == "file"
    assert how(text(f"see /home/me/notes.txt and {LONG}"), f"see /home/me/notes.txt and {LONG[:700]}")[0] == "cut"


def test_the_json_of_the_part_counts_where_the_reader_unwraps_it() -> None:
    raw = {"functionResponse": {"name": "add", "id": "It is 42.", "response": {"result": 11}}}

    assert how(text('{"result":11}'), "11", raw=raw) == ("equal", ())
    assert how(text('{"result":12}'), "11", raw=raw)[0] == "changed"
    assert how(text("It is 42."), "11", raw=raw)[0] == "changed"


@pytest.mark.parametrize(
    "given", ["", " ", "[]", "{}", "null", '{"result":""}', '[{"text":" "}]', '{"a":null}', "[input_text]"]
)
def test_what_says_nothing_is_blank(given: str) -> None:
    assert shown(given).blank
    assert how(text("It is 42."), given)[0] == "dropped"


@pytest.mark.parametrize("given", ["0", "{}x", '{"result":0}', "[false]", '["x"]'])
def test_what_says_anything_is_not_blank(given: str) -> None:
    assert not shown(given).blank


def test_a_text_in_a_resource_is_shown_or_goes_to_a_file() -> None:
    both: dict[str, Any] = {"content": [PAGE], "structuredContent": {"degrees": 21}}

    assert how({"content": [PAGE]}, "Saved to /home/me/.x/page.txt")[0] == "file"
    assert how(both, "the page") == ("text", ("structured",))


def test_other_text_is_changed_and_none_is_dropped() -> None:
    assert how(text("It is 42."), "It is 43.") == ("changed", ("text",))
    assert how(text("It is 42."), "") == ("dropped", ("text",))


def test_media_are_kept_made_smaller_or_lost() -> None:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "a chart"}, IMAGE]}
    kept: dict[str, Any] = {"content": [{"type": "image", "source": {"data": "other"}}]}

    assert how(result, "a chart\n[image]", raw=kept) == ("equal", ())
    assert how(result, "a chart", near=({"type": "image_url", "image_url": {"url": "x"}},)) == ("equal", ())
    assert how(result, json.dumps([IMAGE, "a chart"])) == ("equal", ("image",)), "written as text, no model sees it"
    assert how(result, "a chart\n[image saved to file /tmp/x/1.png]") == ("equal", ())
    assert how(result, "a chart") == ("equal", ("image",))
    assert how({"content": [IMAGE]}, "") == ("dropped", ("image",))
    assert how({"content": [IMAGE]}, "[image]", raw=kept) == ("equal", ())


def test_audio_is_lost_unless_its_data_or_a_file_is_shown() -> None:
    assert how({"content": [AUDIO]}, "(audio omitted)") == ("dropped", ("audio",))
    assert how({"content": [AUDIO]}, "", near=({"type": "image_url"},)) == ("dropped", ("audio",))
    assert how({"content": [AUDIO]}, json.dumps(AUDIO)) == ("equal", ())
    assert how({"content": [AUDIO]}, "Audio saved to /tmp/x/1.wav") == ("equal", ())


def test_resources_are_their_text_their_address_or_lost() -> None:
    assert how({"content": [PAGE]}, "the page") == ("equal", ())
    assert how({"content": [PAGE]}, "nothing here") == ("changed", ("resource",))
    assert how({"content": [LINK]}, '{"uri":"file:///notes.md"}') == ("equal", ())
    assert how({"content": [LINK]}, "") == ("dropped", ("link",))
    assert how({"content": [BLOB]}, "") == ("dropped", ("resource",))
    assert how({"content": [BLOB]}, "[file:///a.bin]") == ("equal", ())


def test_the_mark_of_an_error_is_lost_only_where_the_api_has_one() -> None:
    failed = text("disk full", isError=True)

    assert how(failed, "disk full", is_error=True, marks_errors=True) == ("equal", ())
    assert how(failed, "disk full", marks_errors=True) == ("equal", ("error_mark",))
    assert how(failed, "disk full") == ("equal", ())


def test_an_error_of_the_server_is_shown_or_replaced() -> None:
    broken = run(None, outcome="failed", error={"code": -1, "message": "no such tool"}, is_error=True)

    assert seen(broken, shown("MCP error -1: no such tool")).seen_as == "equal"
    assert seen(broken, shown("An error occurred while running the tool.")).seen_as == "replaced"
    assert seen(broken, shown(" ")).seen_as == "dropped"
    assert seen(run(None, outcome="unanswered", is_error=None), shown("Connection closed")).seen_as == "replaced"


def test_sizes_are_in_bytes() -> None:
    found = seen(run(text("é")), shown("é\n", is_error=True))

    assert (found.seen_by, found.seen_text, found.seen_bytes, found.seen_error) == (5, "é\n", 3, True)


def test_the_content_of_a_result_is_sorted_by_kind() -> None:
    found = returned_of({"content": [{"type": "text", "text": " "}, PAGE, IMAGE, {"type": "new"}, "odd"]})

    assert (found.texts, [block.kind for block in found.blocks]) == ((), ["resource", "image"])
    assert found.text == "the page"
    assert returned_of(None).empty and returned_of({"toolResult": 3}).structured == 3


@pytest.mark.parametrize(("audience", "seen_as"), [(["user"], "equal"), (["user", "assistant"], "cut"), (None, "cut")])
def test_what_is_for_the_user_alone_need_not_be_shown(audience: list[str] | None, seen_as: str) -> None:
    other = {"type": "text", "text": "Drawn for you.", **({"annotations": {"audience": audience}} if audience else {})}

    assert how({"content": [{"type": "text", "text": "It is 42."}, other]}, "It is 42.")[0] == seen_as


@pytest.mark.parametrize("given", ["{}", "nothing of it", '{"k": "y"}', '{"k": '])
def test_half_a_character_in_a_result_is_compared_as_any_other(given: str) -> None:
    def result(word: str) -> dict[str, Any]:
        texts = (f'{{"k": "{word}"}}', '{"k": 2}')
        return {**text(*texts), "structuredContent": {"result": [{"k": word}, {"k": 2}]}}

    assert how(result("x\ud800"), given) == how(result("xy"), given)
    assert how(result("x\ud800"), json.dumps([{"k": "x\ud800"}, {"k": 2}])) == ("equal", ())
