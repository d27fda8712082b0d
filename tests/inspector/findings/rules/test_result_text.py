"""Results with the escapes of a page, results that come twice, and those that say that they are not whole."""

from html import escape

import pytest
from conversations import CALL, HELLO, chat, result, said
from dialogues import APIS, asks, calls, gives, run, says
from judged import lines, only

from turntape.cassettes.tape.model import RoundTrip

DAMAGED, INCOMPLETE, TWICE = "client-result-damaged", "result-incomplete", "result-text-twice"
JSON = '{"word": "tape", "means": "a strip"}'
PROSE = 'He said "a tape" and <left> the room.'
NOTE = "A tape is a long and narrow strip of cloth, of paper or of metal."


def loop(text: str, tool: str = "look_up") -> list[RoundTrip]:
    """A run whose tool returned this text."""
    call = said(None, (CALL[0], tool, CALL[2]))
    return [chat([HELLO], call), chat([HELLO, call, result("call_1", text)], said("done"), index=1)]


def found(text: str, tool: str = "look_up", only: str = DAMAGED) -> list[str]:
    """Severity and message of what is found about this result."""
    heads = [line.partition(" | ")[0].partition(" (")[2] for line in lines(*loop(text, tool), only=only)]
    return [head.split(", ", 1)[1] for head in heads]


@pytest.mark.parametrize("api", APIS)
def test_a_result_that_was_escaped_for_a_page_is_found_in_every_api(api: str) -> None:
    steps = [asks("What is a tape?"), calls("tape"), gives(escape(JSON))]
    one = only(DAMAGED, *run(api, (steps[:1], steps[1]), (steps, says("A strip."))))

    assert (one.at, one.layer, one.severity) == (1, "client", "warning")
    assert "has '&quot;' in place of its signs: it was escaped for a page" in one.message


def test_prose_with_escapes_is_an_info() -> None:
    [one] = found(escape(PROSE))

    assert one.startswith("info, S): the result of 'look_up' has '&quot;' in place of its signs")


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (JSON, "look_up"),
        (escape(JSON), "read_file"),
        ("<p>Use &lt;b&gt; and &quot;x&quot;.</p>", "look_up"),
        ('<?xml version="1.0"?><item>&lt;p&gt;</item>', "look_up"),
        ('text.replace("<", "&lt;")', "look_up"),
        ('{"body": "<p>a &lt; b</p>"}', "look_up"),
        ("Tom &amp; Jerry &mdash; a film of 1940", "look_up"),
    ],
    ids=["JSON", "a reader", "a page", "XML", "code", "HTML in JSON", "other escapes"],
)
def test_escapes_that_belong_to_the_text(text: str, tool: str) -> None:
    assert found(text, tool) == []


@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
def test_a_text_that_comes_twice(between: str) -> None:
    long = " ".join(f"{NOTE} {n}" for n in range(4))

    assert found(f"{long}{between}{long}", only=TWICE)[0].startswith(
        f"warning, S): the result of 'look_up' is the same text twice, of {len(long)} characters: "
    )
    assert found(f"{NOTE}{between}{NOTE}", only=TWICE)[0].startswith(
        "info, S): the result of 'look_up' is the same text twice"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Row, row!\nRow, row!",
        "passed test_a in file b and then c\n" * 4,
        "-" * 80,
        f"{NOTE}\n{NOTE} And more.",
        f"{NOTE} {NOTE} {NOTE}",
    ],
    ids=["short", "lines", "a rule", "more follows", "three times"],
)
def test_texts_that_repeat_on_purpose(text: str) -> None:
    assert found(text, only=TWICE) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTE} [truncated]",
        f"{NOTE}\n[... 1,200 characters omitted ...]\n{NOTE}",
        f"{NOTE}\n…812 tokens truncated…\n{NOTE}",
        f"{NOTE}\n... 40 more lines",
        f"{NOTE}\n<response clipped>",
        "Output was truncated to 100 lines.",
    ],
)
def test_a_result_that_says_that_a_part_is_missing_is_an_info(text: str) -> None:
    [one] = found(text, only=INCOMPLETE)

    assert one.startswith("info, S): the result of 'look_up' says that a part of it is missing: ")


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user for tool use]",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "User rejected the call.",
        "Tool call was cancelled by the user",
    ],
)
def test_a_call_that_a_person_stopped_is_an_info(text: str) -> None:
    [one] = found(text, only=INCOMPLETE)

    assert one.startswith("info, S): the result of 'look_up' says that a person stopped the call: ")


@pytest.mark.parametrize(
    "text",
    [
        NOTE,
        "1. How to cook rice...\n2. Rice for beginners...",
        "The user rejected_at column is empty for 3 rows." * 30,
        "Users who cancelled: 3",
        "The list is sorted, and the oldest items come last ...",
    ],
)
def test_a_whole_result_is_silent(text: str) -> None:
    assert found(text, only=INCOMPLETE) == []


def test_the_same_note_of_one_tool_is_reported_once() -> None:
    first, second = said(None, CALL), said(None, ("call_2", CALL[1], '{"word":"reel"}'))
    history = [HELLO, first, result("call_1", f"{NOTE} [truncated]"), second]
    trips = [
        chat([HELLO], first),
        chat(history[:3], second, index=1),
        chat([*history, result("call_2", f"{NOTE} {NOTE} [truncated]")], said("done"), index=2),
    ]

    assert len(lines(*trips, only=INCOMPLETE)) == 1
