"""Rules about single steps of a run: for each exception, round trips at which a rule fires and twins that it spares.

Rows are as in `rule_exceptions_model_api`.
"""

from typing import Any

from conversations import CALL, HELLO, chat, result, said, user
from judged import anthropic, asked, given, item_call, item_output, responses, spoke, use, words
from rule_exceptions_model_api import Row

from turntape.cassettes.tape.model import RoundTrip

CALLED = said(None, CALL)
DONE = said("It is a strip.")
PROMPT = "You look words up."
SYSTEM = {"role": "system", "content": PROMPT}
LEAKED = "It is a strip.<|im_end|>"


def returned(text: str, **more: Any) -> list[RoundTrip]:
    """A call, and its result."""
    first = asked("what is a tape?")
    return [
        anthropic([first], [use()]),
        anthropic([first, spoke(use()), asked(given(text=text, **more))], [words("x")], 1),
    ]


def unprompted(*messages: dict[str, Any], answer: dict[str, Any] = CALLED) -> list[RoundTrip]:
    """A turn under a system prompt, and one with these messages after it."""
    return [chat([SYSTEM, HELLO], answer), chat([HELLO, answer, *messages], DONE, index=1)]


def held(**second: Any) -> list[RoundTrip]:
    first = responses([user("what is a tape?")], [item_call()], instructions=PROMPT)
    items = [item_output()] if second else [user("what is a tape?"), item_call(), item_output()]
    return [first, responses(items, [], 1, **second)]


STEPS: list[Row] = [
    ("client-unserialized-result", "The placeholder is only a part of the result",
     returned("[object Object]"), returned("console.log('x' + {})  // prints [object Object]")),
    ("client-unserialized-result", "The result is marked as an error",
     returned("[object Object]"), returned("[object Object]", is_error=True)),
    ("client-system-prompt-lost", "The API holds the conversation", held(), held(previous_response_id="resp_0")),
    ("client-system-prompt-lost", "The prompt, or its first line, is now in a message",
     unprompted(result("call_1", "a strip")),
     unprompted(result("call_1", "a strip"), user(f"Remember: {PROMPT}"))),
    ("client-system-prompt-lost", "The request brings no result: another agent may continue",
     unprompted(result("call_1", "a strip")), unprompted(user("and a reel?"), answer=DONE)),
    ("template-tokens-in-text", "The token is in code",
     chat([HELLO], said(LEAKED)), chat([HELLO], said("ChatML ends a message with `<|im_end|>`."))),
    ("template-tokens-in-text", "The token is in code",
     chat([HELLO], said(LEAKED)), chat([HELLO], said("So:\n```\n<|im_start|>user\nhi<|im_end|>\n```"))),
    ("template-tokens-in-text", "A message of the request contains the token",
     chat([HELLO], said(LEAKED)), chat([user("what does <|im_end|> mean?")], said(LEAKED))),
    ("template-tokens-in-text", "The text contains a tool call: then `call-as-text` says so",
     chat([HELLO], said('<|channel|>commentary to=functions.find<|message|>{"word":"tape"}')),
     chat([HELLO], said('<|channel|>commentary to=functions.look_up<|message|>{"word":"tape"}'))),
]  # fmt: skip
