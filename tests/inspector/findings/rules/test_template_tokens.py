"""Tokens of a chat template in the text of an answer."""

from typing import Any

import pytest
from conversations import HELLO, chat, said, user
from judged import (
    OLLAMA,
    anthropic,
    asked,
    emitted,
    gemini,
    ids,
    judged,
    lines,
    only,
    responses,
    trip,
    turn,
    use,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

NAME = "template-tokens-in-text"
LEAKED = "It is a strip.<|im_end|>\n<|im_start|>user\nThanks!"


@pytest.mark.parametrize(
    "token",
    ["<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "<|endoftext|>", "<|channel|>", "<|return|>",
     "<end_of_turn>", "<start_of_turn>", "[/INST]", "[INST]", "<｜end▁of▁sentence｜>", "<|assistant|>",
     "<|START_ACTION|>", "<|END_OF_TURN_TOKEN|>", "<|tool_calls_section_begin|>", "<|observation|>", "<|channel>",
     "<channel|>", "<turn|>", "<|tool_call>", "<|think>", "<|constrain|>", "<|endofprompt|>", "[TOOL_CALLS]", "</s>",
     "<eos>", "<0x0A>", "<pad><pad>", "<unused7><unused8>"],
)  # fmt: skip
def test_each_token_is_found(token: str) -> None:
    assert repr(token) in only(NAME, chat([HELLO], said(f"It is a strip.{token}"))).message


@pytest.mark.parametrize(
    "text",
    ["a <b> c", "<|", "x | y", "<|other|>", "<|a_|>", "<|x_1|>", "[INSTALL]", "<end>", "f(a)|>g|>h", "a <|> b",
     "<s>wrong</s>", "It is <s>wrong</s>", "<s>a</s> and b", "An <eos> ends it.", "The <unk> is one.", "xs |> f",
     "<toolbar|>"],
)  # fmt: skip
def test_other_signs_are_text(text: str) -> None:
    assert NAME not in ids(chat([HELLO], said(text)))


def local(text: str) -> RoundTrip:
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop",
              "prompt_eval_count": 100, "eval_count": 10}  # fmt: skip
    return trip(OLLAMA, {"model": "qwen3", "messages": [HELLO], "stream": False}, answer)


def message(text: str) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}  # fmt: skip


def answers(text: str) -> dict[str, RoundTrip]:
    return {
        "chat": chat([HELLO], said(text)),
        "ollama": local(text),
        "anthropic": anthropic([asked("hi")], [words(text)]),
        "gemini": gemini([turn("user", {"text": "hi"})], [{"text": text}]),
        "responses": responses([user("hi")], [message(text)]),
    }


@pytest.mark.parametrize("api", answers(""))
def test_a_leaked_token_is_the_servers_fault_in_every_api(api: str) -> None:
    one = only(NAME, answers(LEAKED)[api])

    assert (one.layer, one.severity, one.tier) == ("api", "warning", "S")
    assert NAME not in ids(answers("It is a strip.")[api])


def test_the_message_says_what_follows_the_token() -> None:
    assert lines(chat([HELLO], said(LEAKED)), only=NAME) == [
        f"#0 {NAME} (api, warning, S): the text contains the template token '<|im_end|>', followed by "
        "'<|im_start|>user\\nThanks!' | #0 response"
    ]
    assert only(NAME, chat([HELLO], said("A strip.<|im_end|>"))).message == (
        "the text ends with the template token '<|im_end|>'"
    )


def test_the_first_token_of_a_text_is_left_over() -> None:
    assert "'<bos>'" in only(NAME, chat([HELLO], said("<bos>It is a strip."))).message
    assert "'<s>'" in only(NAME, chat([HELLO], said(" <s> It is a strip."))).message
    assert NAME not in ids(chat([HELLO], said("A text begins with <bos> or <s>.")))


def test_a_token_in_code_does_not_hide_one_outside_it() -> None:
    assert NAME in ids(chat([HELLO], said("The end is `<|im_end|>`.<|im_end|>")))


@pytest.mark.parametrize("name", ["look_up<|channel|>commentary", "look_up<|call|>", "<|tool_call_begin|>look_up"])
def test_a_token_in_the_name_of_a_call_is_the_servers(name: str) -> None:
    found = [(one.id, one.layer, one.because_of) for one in judged(emitted(name)) if one.severity != "info"]

    assert found == [(NAME, "api", ()), ("model-unknown-tool", "model", (NAME,))]
    assert NAME not in ids(emitted("look<up>"))
    assert only("model-unknown-tool", emitted("look<up>")).because_of == ()


@pytest.mark.parametrize(("text", "is_found"), [(LEAKED, True), ("I look it up.", False), ("`<|im_end|>` ends", False)])
def test_a_token_beside_a_call_is_found_too(text: str, *, is_found: bool) -> None:
    assert (NAME in ids(anthropic([asked("hi")], [words(text), use()]))) is is_found
