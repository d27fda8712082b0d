"""Rules about single steps of a run: for each exception, round trips at which a rule fires and twins that it spares.

Rows are as in `rule_exceptions_model_api`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conversations import CALL, HELLO, START, TOOLS, chat, result, said, user
from judged import anthropic, asked, emitted, given, item_call, item_output, responses, spoke, use, words
from rule_exceptions_model_api import Row, edited, looped

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


def ran(tool: str) -> list[RoundTrip]:
    """A call of this tool, which returned bytes."""
    call = said(None, ("call_1", tool, '{"word":"tape"}'))
    return [chat([HELLO], call), chat([HELLO, call, result("call_1", "b'a strip of something'")], DONE, index=1)]


def unprompted(*messages: dict[str, Any], answer: dict[str, Any] = CALLED, **second: Any) -> list[RoundTrip]:
    """A turn under a system prompt, and one with these messages after it."""
    return [chat([SYSTEM, HELLO], answer), chat([HELLO, answer, *messages], DONE, index=1, **second)]


def reprompted(now: str) -> list[RoundTrip]:
    """A call under one system prompt, and its result under another."""
    before, after = ({"role": "system", "content": text} for text in (f"{PROMPT} Quote the dictionary.", now))
    history = [after, HELLO, CALLED, result("call_1", "a strip")]
    return [chat([before, HELLO], CALLED), chat(history, DONE, index=1)]


SAID = said("It is a strip of plastic that holds the recording of a voice.")


def withdrawn(*system: dict[str, Any]) -> list[RoundTrip]:
    """The model calls a tool again that the second request does not offer."""
    history = [*system, HELLO, CALLED, result("call_1", "a strip")]
    other = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}}]
    again = said(None, ("call_2", "look_up", '{"word":"reel"}'))
    return [chat([HELLO], CALLED), chat(history, again, index=1, tools=other)]


def without_tools() -> list[RoundTrip]:
    """A call in the answer to a request that offers no tools."""
    return [anthropic([asked("what is a tape?")], [use()], tools=[])]


def held(*, as_message: bool = False, **second: Any) -> list[RoundTrip]:
    """A call and its result; the instructions are in their field, or in a message, which the API holds."""
    asked = [{"role": "system", "content": PROMPT}] if as_message else []
    fields = {} if as_message else {"instructions": PROMPT}
    first = responses([*asked, user("what is a tape?")], [item_call()], 0, error=None, **fields)
    items = [item_output()] if second else [user("what is a tape?"), item_call(), item_output()]
    return [first, responses(items, [], 1, **second)]


def demanded(tool: str = "look_up", results: Sequence[str] = ("none",) * 4) -> list[RoundTrip]:
    """The same call several times, with `tool_choice` in every request; a second tool is offered."""
    other = {"type": "function", "function": {"name": tool, "parameters": {"type": "object", "properties": {}}}}
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n, text in enumerate(results):
        call = said(None, (f"call_{n}", "look_up", '{"word":"tape"}'))
        trips.append(chat(history, call, index=n, tools=[*TOOLS, other], tool_choice="required"))
        history = [*history, call, result(f"call_{n}", text)]
    return trips


def polled(name: str) -> list[RoundTrip]:
    return [
        replace(one, request=replace(one.request, content=one.request.body[:-1] + b',"tool_choice":"required"}'))
        for one in looped(["none"] * 4, name)
    ]


def replayed(first: str = "It is a strip.", second: str | None = None, *, again: bool = False) -> list[RoundTrip]:
    """Two answers under one id: to two requests, or to one that is sent again."""
    one = chat([HELLO], said(first))
    two = chat([HELLO] if again else [HELLO, said(first), user("and a reel?")], said(second or first), index=1)
    return [one, edited(two, "chatcmpl-1", "chatcmpl-0")]


def asked_on(question: str, **fields: Any) -> list[RoundTrip]:
    """A complete answer, a request that says this, and an empty answer."""
    return [chat([HELLO], DONE, **fields), chat([HELLO, DONE, user(question)], said(""), index=1, **fields)]


def windowed(*, answer_first: bool) -> list[RoundTrip]:
    """A conversation of which the second request drops the beginning: whole exchanges, or one and a half."""
    past: list[dict[str, Any]] = []
    for number in range(4):
        past += [user(f"What is number {number} on the list of media?"), said(f"Number {number} is a kind of tape.")]
    ask = user("And which of them came first?")
    answer = said("The wire came first; it was wound on a spool before there was any tape at all.")
    now = [*past[3 if answer_first else 2 :], ask, answer, user("And last?")]
    return [chat([*past, ask], answer), chat(now, said("The disc."), index=1)]


def drafted(answer: dict[str, Any]) -> list[RoundTrip]:
    """One request twice at the same time."""
    return [chat([HELLO], answer, at=0.0), chat([HELLO], answer, index=1, at=0.01)]


STEPS: list[Row] = [
    ("client-forced-tool-loop", "A tool for the final answer is offered", demanded(), demanded("final_answer")),
    ("client-forced-tool-loop", "The arguments or the results change",
     demanded(), demanded(results=("1 of 4", "2 of 4", "3 of 4", "4 of 4"))),
    ("client-forced-tool-loop", "The tool is one that waits or polls", polled("look_up"), polled("check_status")),
    ("api-answer-replayed", "The same request was sent again", replayed(), replayed(again=True)),
    ("api-answer-replayed", "The content differs: some servers give every answer the same id",
     replayed(), replayed(second="It is a spool.")),
    ("api-id-repeated", "The content is the same: then `api-answer-replayed` says so",
     replayed(second="It is a spool."), replayed()),
    ("api-id-repeated", "The same request was sent again",
     replayed(second="It is a spool."), replayed(second="It is a spool.", again=True)),
    ("client-continued-after-end",
     "No tools are offered and the request says something: a person may ask for more, so it is an info",
     asked_on("next"), asked_on("next", tools=None), "info"),
    ("client-continued-after-end",
     "The request says something and comes three seconds later: a person may ask for more, so it is an info",
     asked_on("next"), [asked_on("next")[0], replace(asked_on("next")[1], started_at=START + 30)], "info"),
    ("client-history-truncated",
     "Whole exchanges are missing at the beginning, as with a sliding window: then it is an info",
     windowed(answer_first=True), windowed(answer_first=False), "info"),
    ("client-duplicate-request",
     "It opens a conversation and is answered in words: drafts or an evaluation may be wanted, so it is an info",
     drafted(CALLED), drafted(DONE), "info"),
    ("model-empty-response", "The request ends with an answer, so nothing was asked: then it is an info",
     chat([HELLO], said("")), chat([HELLO, DONE], said("")), "info"),
    ("client-unserialized-result", "The placeholder is only a part of the result",
     returned("[object Object]"), returned("console.log('x' + {})  // prints [object Object]")),
    ("client-unserialized-result", "The result is marked as an error",
     returned("[object Object]"), returned("[object Object]", is_error=True)),
    ("client-unserialized-result", "It is bytes, and the tool runs code", ran("look_up"), ran("run_python")),
    ("client-unserialized-result",
     "It is a whole result of an MCP server as JSON in another one: the model reads all of it, and it is an info",
     returned("[object Object]"),
     returned('{"text": "{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"a\\"}]}"}'), "info"),
    ("client-unserialized-result",
     "It is `None`, `null` or JSON with only null, and nothing shows that there was a result: then it is an info",
     returned("[object Object]"), returned("None"), "info"),
    ("client-system-prompt-lost", "The API holds the conversation with its instructions",
     held(previous_response_id="resp_0"), held(as_message=True, previous_response_id="resp_0")),
    ("client-system-prompt-lost", "The prompt, or its first line, is now a part of a message",
     unprompted(result("call_1", "a strip")),
     unprompted(result("call_1", "a strip"), user(f"Remember: {PROMPT}"))),
    ("client-system-prompt-lost", "The request brings no result and offers other tools: another agent may continue",
     unprompted(user("and a reel?"), answer=SAID), unprompted(user("and a reel?"), answer=SAID, tools=None)),
    ("client-system-prompt-lost",
     "Another prompt is in its place, which shares words with it, or is sent to another model or with other tools",
     reprompted("Speak as a poet of old. Every line that is written must rhyme."),
     reprompted("You look words up, but now in an encyclopedia. Never quote it.")),
    ("client-tool-withdrawn", "The system prompt changed as well: another agent may have taken over",
     withdrawn(), withdrawn({"role": "system", "content": "You count words."})),
    ("model-unknown-tool", "An earlier request of the same agent offered it: then `client-tool-withdrawn` says so",
     withdrawn({"role": "system", "content": "You count words."}), withdrawn()),
    ("model-unknown-tool", "The body of the request is missing in the recording",
     without_tools(), [replace(trip, request=replace(trip.request, content=b"")) for trip in without_tools()]),
    ("template-tokens-in-text", "The token is in code, or a word in the middle of a sentence",
     chat([HELLO], said(LEAKED)), chat([HELLO], said("ChatML ends a message with `<|im_end|>`."))),
    ("template-tokens-in-text", "The token is in code, or a word in the middle of a sentence",
     chat([HELLO], said(LEAKED)), chat([HELLO], said("So:\n```\n<|im_start|>user\nhi<|im_end|>\n```"))),
    ("template-tokens-in-text", "The token is in code, or a word in the middle of a sentence",
     chat([HELLO], said("Write it only in templates. <|im_start|> User")),
     chat([HELLO], said("Write <|im_start|> only in templates, where it begins a message."))),
    ("template-tokens-in-text", "A tool that the request offers has this name",
     emitted("look_up<|call|>"),
     emitted("look_up<|call|>", tools=[{"type": "function", "function": {"name": "look_up<|call|>"}}])),
    ("template-tokens-in-text", "A message of the request contains the token",
     chat([HELLO], said(LEAKED)), chat([user("what does <|im_end|> mean?")], said(LEAKED))),
    ("template-tokens-in-text", "The text contains a tool call: then `call-as-text` says so",
     chat([HELLO], said('<|channel|>commentary to=functions.find<|message|>{"word":"tape"}')),
     chat([HELLO], said('<|channel|>commentary to=functions.look_up<|message|>{"word":"tape"}'))),
]  # fmt: skip
