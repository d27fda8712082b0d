"""Heuristics: off unless asked for, and never above a warning."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, given, ids, judged, lines, only, spoke, use, words

from turntape.inspector.findings.rules import RULES

ASKED = {"role": "user", "content": "what is a tape?"}


def test_no_hint_is_more_severe_than_a_warning() -> None:
    assert {rule.severity for rule in RULES if rule.tier == "H"} == {"info", "warning"}


def failed(answer: str) -> list[Any]:
    error = asked(given(text="no such word", is_error=True))
    return [anthropic([ASKED], [use()]), anthropic([ASKED, spoke(use()), error], [words(answer)], 1)]


def test_a_failure_that_the_answer_passes_over_is_hinted_at() -> None:
    assert "model-ignored-tool-error" in ids(*failed("A tape is a strip."), hints=True)
    assert "model-ignored-tool-error" not in ids(*failed("The look-up failed, so I do not know."), hints=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, but I can't help with that.", "model-refused-in-text"),
        ("<think>so</think> It is a strip.", "reasoning-in-text"),
        ("I see. Now, let me look up the word tape.", "model-promised-no-action"),
        ("It is a strip that holds a recording.", None),
        ("Sorry for the wait: it is a strip.", None),
    ],
)
def test_words_hint_at_what_no_field_says(text: str, expected: str | None) -> None:
    assert ids(chat([HELLO], said(text)), hints=True) == ({expected} if expected else set())


def test_a_stop_string_that_ends_json_is_hinted_at() -> None:
    assert "cut-by-stop-string" in ids(chat([HELLO], said('{"a": 1'), stop=["}"]), hints=True)
    assert "cut-by-stop-string" not in ids(chat([HELLO], said('{"a": 1}'), stop=["\n\n"]), hints=True)


def repeated(error: str) -> list[Any]:
    history = [ASKED, spoke(use()), asked(given(text=error, is_error=True))]
    return [anthropic([ASKED], [use()]), anthropic(history, [use("toolu_2")], 1)]


def test_an_error_that_says_nothing_brings_the_same_call_again() -> None:
    assert "client-opaque-tool-error" in ids(*repeated("invalid"), hints=True)
    reported = "look_up: the field word must be in the singular and in lower case; got 'tape'"
    assert "client-opaque-tool-error" not in ids(*repeated(reported), hints=True)


def test_a_thread_that_ends_without_a_word_is_hinted_at() -> None:
    history = [HELLO, said("x"), user("and?")]
    left_open = chat(history, said(None, ("c1", "look_up", '{"word":"tape"}')), index=1)

    assert only("client-stopped-silently", chat([HELLO], said("x")), left_open, hints=True).severity == "info"
    assert ids(chat([HELLO], said("x")), chat(history, said("y"), index=1), hints=True) == set()


def test_a_failure_that_is_passed_over_is_shown_at_its_place() -> None:
    assert lines(*failed("A tape is a strip."), only="model-ignored", hints=True) == [
        (
            "#1 model-ignored-tool-error (model, warning, H): the answer ends the run right after a failed "
            "tool and does not mention it | #1 request /messages/2/content/0, #1 response"
        ),
    ]
    fine = [anthropic([ASKED], [use()]), anthropic([ASKED, spoke(use()), asked(given())], [words("A strip.")], 1)]
    assert lines(*fine, only="model-ignored", hints=True) == []
    error = asked(given(text="no such word", is_error=True))
    called = [fine[0], anthropic([ASKED, spoke(use()), error], [words("Again."), use("toolu_2", "b")], 1)]
    assert lines(*called, only="model-ignored", hints=True) == []
    capped = [fine[0], anthropic([ASKED, spoke(use()), error], [words("A strip is")], 1, stop="max_tokens")]
    assert lines(*capped, only="model-ignored", hints=True) == []


@pytest.mark.parametrize(
    "text",
    ["An error.", "It failed.", "I am unable to.", "I could not.", "I couldn't.", "I cannot.", "I can't.", "So sorry.",
     "There is a problem.", "An issue came up.", "Unfortunately no.", "Not found.", "It is not available.",
     "It is not possible."],
)  # fmt: skip
def test_words_that_mention_a_failure(text: str) -> None:
    assert lines(*failed(text), only="model-ignored", hints=True) == []


REFUSALS = [
    "I'm sorry, but I can't help with that.", "I’m sorry, I cannot assist you.", "I am sorry. I will not do that.",
    "Sorry, I can't comply.", "I can't provide this.", "I can’t support that.", "I cannot fulfil this request.",
    "I'm not able to help.", "I'm unable to help.", "I am not able to assist.", "I am unable to help.", "I won't help.",
    "I won’t provide it.",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSALS)
def test_an_answer_that_begins_like_a_refusal_is_quoted(text: str) -> None:
    [line] = lines(chat([HELLO], said(text)), only="model-refused", hints=True)

    assert line == (
        f"#0 model-refused-in-text (model, info, H): the answer begins like a refusal: {text!r} | #0 response"
    )


def test_words_of_regret_without_a_refusal_are_not_one() -> None:
    def refused(text: str, **fields: Any) -> bool:
        return bool(lines(chat([HELLO], said(text), **fields), only="model-refused", hints=True))

    assert not refused("I'm sorry for the delay: it is a strip.")
    assert not refused("You asked. I can't help with that.")
    assert not refused("I can't " + "x" * 81 + " help")
    assert refused("I can't " + "x" * 70 + " help")
    assert not refused("I can't help with that.", finish="length")
    [line] = lines(chat([HELLO], said("I can't help. " + "x" * 100)), only="model-refused", hints=True)
    assert f'. {"x" * 65}…"' in line, "eighty characters are quoted"


def test_a_stop_string_that_cuts_code_is_named() -> None:
    def stopped(text: str, stop: list[str], **fields: Any) -> list[str]:
        return lines(chat([HELLO], said(text), stop=stop, **fields), only="cut-by-stop", hints=True)

    assert stopped("Look:\n```python\nx = 1", ["a", "b", "c", "d"]) == [
        (
            "#0 cut-by-stop-string (client, warning, H): the answer ends inside JSON or code and the "
            "request asks to stop at 'a', 'b', 'c' and 1 more | #0 request stop, #0 response"
        ),
    ]
    assert stopped('  [{"a": 1', ["}"]) != []
    assert stopped('{"a": 1', ["}"], finish="length") == []
    assert stopped("Look:\n```python\nx = 1\n```", ["a"]) == []
    assert stopped('It is {"a": 1', ["}"]) == []
    assert stopped("", ["}"]) == []
    assert lines(chat([HELLO], said('{"a": 1')), only="cut-by-stop", hints=True) == []
    half = chat([HELLO], said(None, ("c1", "look_up", '{"word": "a"')), stop=["}"], finish="stop")
    assert lines(half, only="cut-by-stop", hints=True) != []


THOUGHT = "reasoning-in-text"


@pytest.mark.parametrize("tag", ["</think>", "</THINKING>", "\u25c1/think\u25b7", "[/THINK]", "</seed:think>"])
def test_the_end_of_a_thought_without_its_beginning_is_the_servers(tag: str) -> None:
    first = said(f"so {tag} It is a strip.")
    second = chat([HELLO, first, user("and?")], said(f"so {tag} It is."), index=1)

    assert lines(chat([HELLO], first), second, only=THOUGHT) == [
        f"#0 {THOUGHT} (api, warning, S): the text of the answer has {tag!r} and no beginning of a thought: "
        f"'so {tag} It is a strip.' | #0 response"
    ]
    whole = chat([HELLO], said(f"<think>so {tag} It is."))
    assert lines(whole, only=THOUGHT) == [
        f"#0 {THOUGHT} (api, info, S): the text of the answer begins with a thought in tags: '<think>so {tag} It is.' "
        "| #0 response"
    ]
    assert lines(chat([HELLO], said(f"It is <think>so {tag}")), only=THOUGHT) == [], "a hint"
    assert lines(chat([{"role": "system", "content": f"End with {tag}"}, HELLO], first), only=THOUGHT) == []
    assert lines(chat([HELLO, said(None, CALL), result("call_1", f"a {tag}")], first), only=THOUGHT) == []
    assert lines(chat([HELLO], said(f"It is ```{tag}``` in code.")), only=THOUGHT) == []


@pytest.mark.parametrize(("begins", "ends"), [("\u25c1think\u25b7", "\u25c1/think\u25b7"), ("[THINK]", "[/THINK]")])
def test_a_thought_in_the_tags_of_another_model_is_an_info(begins: str, ends: str) -> None:
    assert lines(chat([HELLO], said(f"{begins}so{ends}It is.")), only=THOUGHT) == [
        f"#0 {THOUGHT} (api, info, S): the text of the answer begins with a thought in tags: '{begins}so{ends}It is.' "
        "| #0 response"
    ]


def test_words_that_look_like_tags_give_no_hint() -> None:
    assert lines(chat([HELLO], said("I [think] it is (/think) a strip, <thinker>.")), only=THOUGHT, hints=True) == []


def test_a_thought_that_does_not_end_is_an_info() -> None:
    open_one = chat([HELLO], said("<think>The user wants a strip."))

    assert lines(open_one, only=THOUGHT) == [
        f"#0 {THOUGHT} (api, info, S): the text of the answer begins with a thought that does not end: "
        "'<think>The user wants a strip.' | #0 response"
    ]
    assert lines(chat([HELLO], said("<think>The user"), finish="length"), only=THOUGHT) == []
    assert lines(chat([HELLO], said("Use `<think>` as a tag.")), only=THOUGHT) == []


def test_the_names_of_channels_in_the_text_are_the_servers() -> None:
    text = "analysisThe user wants a word.\nWe have it.assistantfinalIt is a strip."

    assert lines(chat([HELLO], said(text)), only=THOUGHT) == [
        f"#0 {THOUGHT} (api, warning, S): the text of the answer holds the channels of the model as words: "
        "' wants a word.\\nWe have it.assistantfinal' | #0 response"
    ]
    assert lines(chat([HELLO], said("analysis We call.assistantcommentary to=x")), only=THOUGHT) != []
    assert lines(chat([HELLO], said("analysise that, assistantfinal")), only=THOUGHT) == []
    assert lines(chat([HELLO], said("An analysis. assistantfinal")), only=THOUGHT) == []


@pytest.mark.parametrize("tag", ["<think>", "<thinking>", "\u25c1think\u25b7", "[THINK]", "<seed:think>"])
def test_a_tag_of_thinking_in_the_text_is_reported_once(tag: str) -> None:
    first = said(f"so {tag} It is a strip.")
    second = chat([HELLO, first, user("and?")], said(f"so {tag} It is."), index=1)

    assert lines(chat([HELLO], first), second, only="reasoning-in-text", hints=True) == [
        f"#0 reasoning-in-text (api, info, H): the text of the answer contains the thinking tag {tag!r}: "
        f"'so {tag} It is a strip.' | #0 response"
    ]


@pytest.mark.parametrize(
    "text",
    ["Let me look it up.", "I see. I'll look it up", "Well:\nI will look it up…", "Now, I am going to look it up:",
     "Yes! I’m going to look it up.", "Fine? Next, I look it up.", "So: next I look it up."],
)  # fmt: skip
def test_an_answer_that_announces_an_action_is_quoted(text: str) -> None:
    [line] = lines(chat([HELLO], said(text)), only="model-promised", hints=True)

    assert line.startswith("#0 model-promised-no-action (model, info, H): the answer announces an action and calls ")
    assert line.endswith(" | #0 response")


def test_an_answer_that_acts_or_has_ended_announces_nothing() -> None:
    def promised(text: str, *calls: tuple[str, str, str], **fields: Any) -> list[str]:
        return lines(chat([HELLO], said(text, *calls), **fields), only="model-promised", hints=True)

    assert promised("I see. Let me look it up.") == [
        (
            "#0 model-promised-no-action (model, info, H): the answer announces an action and calls nothing: "
            "'Let me look it up' | #0 response"
        ),
    ]
    assert promised("Let me look it up. It is a strip.") == []
    assert promised("Let me look it up.", ("c1", "look_up", '{"word":"a"}')) == []
    assert promised("Let me look it up.", ("c1", "look_up", '{"word":"a"}'), finish="stop") == []
    assert promised("Let me look it up.", tools=None) == []
    assert promised("Let me look it up.", finish="length") == []
    assert promised("x" * 500 + ". Let me look it up.") != []
    assert promised("Let me " + "x" * 170) == []


def test_an_error_that_says_nothing_is_quoted() -> None:
    assert lines(*repeated("invalid"), only="client-opaque", hints=True) == [
        (
            "#1 client-opaque-tool-error (client, warning, H): the error 'invalid' names no field and no "
            "reason, and the same call came again | #1 request /messages/2/content/0, #1 response"
        ),
    ]
    assert lines(*repeated("x" * 59), only="client-opaque", hints=True) != []
    assert lines(*repeated("x" * 60), only="client-opaque", hints=True) == []
    history = [ASKED, spoke(use()), asked(given(text="invalid", is_error=True))]
    other = [anthropic([ASKED], [use()]), anthropic(history, [use("toolu_2", "another")], 1)]
    assert lines(*other, only="client-opaque", hints=True) == []
    unmarked = [ASKED, spoke(use()), asked(given(text="invalid"))]
    assert lines(other[0], anthropic(unmarked, [use("toolu_2")], 1), only="client-opaque", hints=True) == []
    assert lines(anthropic(history, [use("toolu_2")]), only="client-opaque", hints=True) == []
    assert lines(other[0], anthropic(history, [words("x")], 1), only="client-opaque", hints=True) == []


@pytest.mark.parametrize(
    ("tool", "text", "found"),
    [
        ("look_up", "Sure. I'll call the look_up tool now to get this for you.", True),
        ("transfer_to_billing", "I'll transfer you to the billing agent", True),
        ("getWeather", "Let me get the weather for Paris.", True),
        ("look_up", "I'll look at that.", False),
        ("search", "Let me search for it.", False),
        ("look_up", "You can call look_up yourself.", False),
        ("look_up", "Let me call look_up. It is a strip.", False),
    ],
)
def test_a_call_that_is_announced_by_the_name_of_the_tool_is_reported_without_hints(
    tool: str, text: str, found: bool
) -> None:
    offered = {"type": "function", "function": {"name": tool, "parameters": {"type": "object"}}}
    said_so = [one for one in judged(chat([HELLO], said(text), tools=[offered])) if one.id.startswith("model-promised")]

    assert [(one.layer, one.severity, one.tier) for one in said_so] == [("model", "warning", "S")] * found
