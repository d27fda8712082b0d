"""Rules about answers and repeated messages: for each exception, a run in which a rule fires and its twin.

Rows are as in `rule_exceptions_model_api`.
"""

from typing import Any

from conversations import CALL, HELLO, chat, result, said, user
from judged import again, emitted, responses, with_answer
from rule_exceptions_model_api import Row, Run, chunk, edited, stream

from turntape.cassettes.tape.model import RoundTrip

DONE = said("It is a strip.")
WOUND = "It is a strip that is wound on a reel."
SYSTEM = {"role": "system", "content": "You look words up and say what they mean. " * 4}
STOPPED = chat([HELLO], said("It is a strip.\nObservation: made up"), stop=["\nObservation:"])


def after(answer: dict[str, Any], *history: dict[str, Any], **fields: Any) -> list[RoundTrip]:
    return [chat([HELLO], answer, **fields), chat([HELLO, *history], DONE, index=1)]


def untooled(**fields: Any) -> RoundTrip:
    """A call in the answer to a request without tools."""
    return chat([HELLO], said(None, CALL), tools=None, **fields)


def as_object(ran: str | None = None) -> list[RoundTrip]:
    """A call whose arguments are an object, and the result that the client gives."""
    first = edited(chat([HELLO], said(None, CALL)), '"{\\"word\\":\\"tape\\"}"', '{"word":"tape"}')
    return [first, *([chat([HELLO, said(None, CALL), result("call_1", ran)], DONE, index=1)] if ran else [])]


def lost(text: str = "what is a tape?", ran: str | None = None) -> list[RoundTrip]:
    call = said(None, ("call_1", "look_up", '{"word":"t\ufffdpe"}'))
    first = chat([user(text)], call)
    return [first, *([chat([user(text), call, result("call_1", ran)], DONE, index=1)] if ran else [])]


def twice(word: str, ran: str | None = None) -> list[RoundTrip]:
    call = said(None, ("call_1", "look_up", f'{{"word":"tape","word":"{word}"}}'))
    return [chat([HELLO], call), *([chat([HELLO, call, result("call_1", ran)], DONE, index=1)] if ran else [])]


def retried(status: int) -> list[RoundTrip]:
    """A request with a result fails, and the client sends the one before it again."""
    first, second = said(None, CALL), said(None, ("call_2", "look_up", '{"word":"strip"}'))
    looked = [HELLO, first, result("call_1", "a strip")]
    error = {"error": {"message": "no", "type": "server_error"}}
    return again([
        chat([HELLO], first),
        chat(looked, second),
        chat([*looked, second, result("call_2", "a band")], status=status, error=error),
        chat(looked, second),
    ])  # fmt: skip


def repeated(*messages: dict[str, Any]) -> RoundTrip:
    return chat(list(messages), DONE)


def after_results(*texts: str) -> RoundTrip:
    """A history of calls, with these messages of the user after the results."""
    history: list[dict[str, Any]] = [HELLO]
    for place, text in enumerate(texts):
        call = said(None, (f"call_{place}", "look_up", f'{{"word":"{place}"}}'))
        history += [call, result(f"call_{place}", f"strip {place}"), user(text)]
    return chat(history, DONE)


def asked_twice() -> list[RoundTrip]:
    """A long question, its answer, and the same question."""
    ask = user("What is the oldest kind of magnetic tape?")
    return [chat([ask], DONE), chat([ask, DONE, ask], said("Paper."), index=1)]


def also_said(text: str, more: str = "") -> list[RoundTrip]:
    """A result, and a message of the user with the same text."""
    called = said(None, CALL)
    later = [HELLO, called, result("call_1", text), user(text + more)]
    return [chat([HELLO], called), chat(later, DONE, index=1)]


def in_words(answer: str = WOUND, held: str | None = None, **second: Any) -> list[RoundTrip]:
    """A turn after a call, and a request with the conversation as text; it may hold another answer."""
    history = [HELLO, said(None, CALL), result("call_1", "a strip")]
    return [
        chat([HELLO], said(None, CALL)),
        chat(history, said(answer), index=1),
        chat([user(f"User: what is a tape?\nAssistant: {held or answer}\nUser: Why?")], DONE, index=2, **second),
    ]


def searched(kind: str) -> RoundTrip:
    item = {"type": kind, "call_id": "call_1", "name": "look_up", "arguments": {"word": "tape"}, "status": "completed"}
    return responses([HELLO], [item])


WHAT = HELLO["content"]
TWICE = repeated(HELLO, HELLO, DONE, user("Why?"), user("Why?"))


def unarmed(tokens: int) -> Run:
    """A call without arguments that its tool needs, in an answer that counts so many tokens."""
    counts = {"prompt_tokens": 50, "completion_tokens": tokens, "completion_tokens_details": {"reasoning_tokens": 0}}
    return [with_answer(emitted(arguments="{}"), usage=counts)]


BOT = {"role": "system", "content": "You are a weather bot."}

ANSWERS: list[Row] = [
    *[("model-unknown-tool",
       "The request offers no tools, and the API may hold some: a session, a cache or an earlier request",
       untooled(), run)
      for run in (untooled(conversation="conv_1"), untooled(prompt={"id": "p"}), untooled(mcp_servers=[{}]),
                  responses([HELLO], [{"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"}],
                            tools=[], previous_response_id="resp_9"))],
    ("client-assistant-mutated", "A stop string of the request was put behind the answer again",
     after(said("<answer>4"), said("<answer>5</answer>"), user("Why?"), stop=["</answer>"]),
     after(said("<answer>4"), said("<answer>4</answer>"), user("Why?"), stop=["</answer>"])),
    ("api-stop-ignored", "The string ends the text",
     STOPPED, chat([HELLO], said("It is a strip.\nObservation: \n"), stop=["\nObservation:"])),
    ("api-stop-ignored", "The answer was cut or failed",
     stream(chunk({"content": "a b c"}), chunk({}, "stop"), done=True, fields={"stop": ["b"]}),
     stream(chunk({"content": "a b c"}), fields={"stop": ["b"]})),
    ("api-stop-ignored", "The answer was cut or failed",
     stream(chunk({"content": "a b c"}), chunk({}, "stop"), done=True, fields={"stop": ["b"]}),
     stream(chunk({"content": "a b c"}), chunk({}, "error"), done=True, fields={"stop": ["b"]})),
    ("client-system-prompt-repeated", "The copies are of a few characters",
     repeated(SYSTEM, SYSTEM, HELLO), repeated(*[{"role": "system", "content": "Be brief."}] * 2, HELLO)),
    ("client-system-prompt-repeated",
     "The copies are short, and other instructions come between them: one may be a reminder",
     repeated(BOT, BOT, HELLO), repeated(BOT, SYSTEM, BOT, HELLO)),
    ("client-system-prompt-repeated", "The copies are apart: a framework may begin a new task in one conversation",
     repeated(SYSTEM, SYSTEM, HELLO), repeated(SYSTEM, HELLO, DONE, SYSTEM, user("Why?"))),
    ("client-user-message-repeated", "One message is there twice behind an answer: the user may have sent it twice",
     TWICE, repeated(HELLO, HELLO, DONE, user("Why?"))),
    ("client-user-message-repeated", "A first request holds its message twice: then it is an info",
     TWICE, repeated(HELLO, HELLO), "info"),
    ("client-user-message-repeated", "An answer of the model comes between the copies",
     TWICE, repeated(HELLO, DONE, HELLO, DONE, user("Why?"), DONE, user("Why?"))),
    ("client-user-message-repeated", "A longer question that was answered comes again: then it is an info",
     TWICE, asked_twice(), "info"),
    ("client-user-message-repeated", "The first message comes again after one result: then it is an info",
     after_results(WHAT, WHAT), after_results(WHAT), "info"),
    ("client-result-as-user-text", "The result is short: then it is an info",
     also_said(WOUND), also_said("a strip"), "info"),
    ("client-result-as-user-text", "The user's message says more than the result",
     also_said(WOUND), also_said(WOUND, " What does that mean?")),
    ("client-history-as-text",
     "Another system prompt or other tools: a judge or a summary gets the conversation as text",
     in_words(), in_words(tools=None)),
    ("client-history-as-text", "The text has no answer or call of the run",
     in_words(), in_words(held="It is a kind of disc.")),
    ("client-history-as-text",
     "It begins a new conversation with what came before: a client may have compacted its history, so it is an info",
     in_words(), in_words(answer=f"{WOUND} It began as a wire."), "info"),
    ("client-user-message-repeated", "Another message is repeated after each result: a reminder of the client",
     after_results(WHAT, WHAT), after_results("Go on.", "Go on.")),
    ("api-arguments-wrong-type", "The client understood the calls and ran them all: then it is an info",
     as_object(), as_object("a strip"), "info"),
    ("api-arguments-wrong-type", "The call is of a tool of the API, which has its own format",
     searched("function_call"), searched("tool_search_call")),
    ("api-arguments-wrong-type", "The call was cut: what arrived of its arguments is text in every API",
     as_object(), edited(as_object()[0], '"finish_reason":"tool_calls"', '"finish_reason":"length"')),
    ("api-arguments-wrong-type", "They are empty, and no more tokens are counted than the answer can hold",
     unarmed(200), unarmed(14)),
    ("api-replacement-characters", "The request itself holds the character", lost(), lost("what is a t\ufffdpe?")),
    ("api-replacement-characters", "The client ran all calls, and no result is an error: then it is an info",
     lost(ran="Error: no such word"), lost(ran="a strip"), "info"),
    ("call-args-repeat-key", "Both values are the same", twice("strip"), twice("tape")),
    ("call-args-repeat-key", "The client ran all calls, and no result is an error: then it is an info",
     twice("strip", "Error: no such word"), twice("strip", "a strip"), "info"),
    ("client-retry-lost-results", "The API refused the request for its content", retried(500), retried(400)),
    ("client-retry-lost-results", "Another request was answered in between",
     retried(500), again([*retried(500)[:3], chat([user("Hi.")], DONE), *retried(500)[3:]])),
    ("reasoning-in-text", "The tag is in code: then it is an info",
     chat([HELLO], said("I look.</think> A strip.")), chat([HELLO], said("Write `</think>` at the end.")), "info"),
    ("reasoning-in-text", "The request talks about the tag: then it is an info",
     chat([HELLO], said("I look.</think> A strip.")),
     chat([user("What is </think> for?")], said("I look.</think> A strip.")), "info"),
    ("reasoning-in-text", "The answer begins with a whole thought in tags, as models write it: then it is an info",
     chat([HELLO], said("I look.</think> A strip.")),
     chat([HELLO], said("<think>I look.</think> A strip.")), "info"),
]  # fmt: skip
