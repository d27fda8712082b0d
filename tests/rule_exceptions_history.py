"""Rules about what came back of the history: for each exception, a run in which a rule fires and its twin.

Rows are as in `rule_exceptions_model_api`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import Piece, asks, held, run, says
from dialogues import calls as calls_
from dialogues import gives as gives_
from judged import again, calls, gemini, gives, item_call, item_output, responses, turn
from rule_exceptions_client import CALLED, DONE, GIVEN, after, observed
from rule_exceptions_model_api import Row

from turntape.cassettes.tape.model import RoundTrip

NOTE = "Careful: the index is old."
SECOND = ("call_2", "look_up", '{"word":"strip"}')
OTHER = ("call_9", "look_up", '{"word":"reel"}')
OPAQUE = {"reasoning_opaque": "EqoBCkYIBxgCKkD" * 6}
PARCEL = [user("Where is my parcel?"), said("It left the depot.")]
TURNED = [HELLO, CALLED, GIVEN]
LONGER = [*TURNED, said("A strip of what?", SECOND), result("call_2", "a band")]


def follows(*history: dict[str, Any], answer: dict[str, Any] = CALLED, **fields: Any) -> list[RoundTrip]:
    """A first turn with this answer, and a second one with this history."""
    return [chat([HELLO], answer), chat([*history], DONE, index=1, **fields)]


def third(*history: dict[str, Any]) -> list[RoundTrip]:
    """A loop of two calls, and a third request with this history."""
    return [
        chat([HELLO], CALLED),
        chat(TURNED, LONGER[3], index=1),
        chat([*history], DONE, index=2),
    ]


def drawn(*parts: dict[str, Any]) -> list[RoundTrip]:
    """Parts of an answer of Gemini beside a call, and a request that writes words in its place."""
    hi = turn("user", {"text": "hi"})
    echoed = turn("model", {"text": "Here is a picture."}, calls())
    return [gemini([hi], [*parts, calls()]), gemini([hi, echoed, turn("user", gives())], [{"text": "done"}], 1)]


def seen(*later: dict[str, Any], before: Sequence[dict[str, Any]] = (), note: str = "") -> list[RoundTrip]:
    """The user shows an image, which the second request does not have; it may have a note in its place."""
    words = {"type": "text", "text": "What is in this picture?"}
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    first = [{"role": "user", "content": [words, shown]}, *before]
    left = [words, {"type": "text", "text": note}] if note else [words]
    return [chat(first, CALLED), chat([{"role": "user", "content": left}, *before, *later], DONE, index=1)]


IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
MADE_UP = follows(HELLO, said(NOTE, CALL), GIVEN)
"""The client puts words beside a call."""
PUT_IN = third(*TURNED, said(NOTE, OTHER), result("call_9", "a reel"), *LONGER[3:])
MIXED = third(*PARCEL, *LONGER)
"""Another conversation comes before it."""


REFUND = "Please refund order 88213, which arrived with a broken lamp."
SEND = "Please send order 88213 again, and bill the customer for it."
STEPS = [calls_("the order with the broken lamp"), gives_("a lamp")]
ENDED, LAST = says("Shall I refund the order with the broken lamp, or send it again?"), says("It is done.")
OPENED = [asks(REFUND), *STEPS]
DOUBLED = run("gemini", (OPENED[:1], STEPS[0]), ([*OPENED, *OPENED], LAST))
HELD = run("responses", (OPENED[:1], STEPS[0]))[0]


def rewritten(*history: Piece, ask: str = REFUND, api: str = "chat") -> list[RoundTrip]:
    return run(api, ([asks(ask)], STEPS[0]), (history, LAST))


REWRITTEN = rewritten(asks(SEND), *STEPS)


TALK = [asks("One."), ENDED, asks("Two."), LAST]


def moved(*history: Piece) -> list[RoundTrip]:
    """A request after two exchanges, and a second one with this in the place of them."""
    first = run("chat", ([*TALK, asks(REFUND)], STEPS[0]))
    return again([*first, *run("chat", ([*history, asks(REFUND), *STEPS], LAST))])


def turned_round() -> list[RoundTrip]:
    """Two messages of the user that come back in the other order; an image is with the first one both times."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    asked, noted = "What is in this picture?", "Answer in one word."
    first, second = (
        [{"role": "user", "content": [{"type": "text", "text": one}, image]}, user(other)]
        for one, other in ((asked, noted), (noted, asked))
    )
    return [chat(first, said("I look.", CALL)), chat([*second, CALLED, GIVEN], DONE, index=1)]


def swapped() -> list[RoundTrip]:
    """Two calls of one answer that come back in the other order, with their results."""
    one, two = CALL, SECOND
    results = result("call_1", "a strip"), result("call_2", "a band")
    return [chat([HELLO], said(None, one, two)), chat([HELLO, said(None, two, one), *results], DONE, index=1)]


def shown_again() -> list[RoundTrip]:
    """An image of the question that comes again with the next message, when the question is gone."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    asked, then = ([{"type": "text", "text": text}, image] for text in ("What is it?", "Only use the result."))
    return [
        chat([{"role": "user", "content": asked}], CALLED),
        chat([CALLED, GIVEN, {"role": "user", "content": then}], DONE, index=1),
    ]


def restored() -> list[RoundTrip]:
    """A history that is cut for one request and whole again in the next one."""
    whole = [*PARCEL, *TURNED]
    return [
        chat(whole[:3], CALLED),
        chat([*TURNED], LONGER[3], index=1),
        chat([*PARCEL, *LONGER], DONE, index=2),
    ]


def handed(*history: dict[str, Any], name: str = "transfer_to_search") -> list[RoundTrip]:
    """A call that hands over to an agent with other tools, which gets this history behind its call and result."""
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "name": name}}
    call = said(None, ("call_1", name, '{"word":"tape"}'))
    other = {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {}}}
    return [
        chat([HELLO], call, tools=[tool]),
        chat([*history, call, GIVEN], DONE, index=1, tools=[other]),
    ]


LOST = follows(CALLED, GIVEN)
"""The user's question is gone."""
REPLACED = follows(user("Continue."), CALLED, GIVEN)
ASKS = user("Which words describe the recording of a voice on a thin strip?")


def asks_long(*history: dict[str, Any]) -> list[RoundTrip]:
    return [chat([ASKS], CALLED), chat([*history], DONE, index=1)]


def front_cut(answer: str) -> list[RoundTrip]:
    """An answer in words, and a request that begins with it and ends with the client's words."""
    return [chat([HELLO], said(answer)), chat([said(answer), result("call_7", "x")], DONE, index=1)]


LONG = "It holds a recording of voices, which a machine reads from a thin strip."


def defined(text: str) -> list[RoundTrip]:
    """A loop whose second request describes the tool in these words."""
    function = TOOLS[0]["function"] | {"description": text}
    return follows(HELLO, CALLED, GIVEN, tools=[{"type": "function", "function": function}])


def named(name: str, parameter: str) -> dict[str, Any]:
    """A tool of this name, with one parameter and the description of all others."""
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}}
    return {
        "type": "function",
        "function": {"name": name, "description": "Do one thing for the user.", "parameters": schema},
    }


APART = [chat([HELLO], said(None, CALL, SECOND)),
         chat([HELLO, CALLED, GIVEN, said(None, SECOND), result("call_2", "a band")], DONE, index=1)]  # fmt: skip
"""The calls of one answer, sent back as two answers."""

HISTORY: list[Row] = [
    ("client-tool-definition-damaged",
     "The description has other words than before: then `client-tools-changed` says so",
     defined("undefined"), defined("Find a word in the index.")),
    ("client-tool-definition-damaged", "Tools with the same parameters have one description",
     chat([HELLO], DONE, tools=[named("look_up", "word"), named("send", "to"), named("end", "why")]),
     chat([HELLO], DONE, tools=[named("look_up", "word"), named("send", "word"), named("end", "word")])),
    ("client-tool-definition-damaged",
     "Two tools have one description, as when one was copied from the other: then it is an info",
     chat([HELLO], DONE, tools=[named("look_up", "word"), named("send", "to"), named("end", "why")]),
     chat([HELLO], DONE, tools=[named("look_up", "word"), named("send", "to")]), "info"),
    ("client-assistant-mutated", "The API takes calls and results in any order: then calls of one answer may be apart",
     APART, [responses([HELLO], [item_call(), item_call("call_2")]),
             responses([HELLO, item_call(), item_output(), item_call("call_2"), item_output("call_2")], [], 1)]),
    ("client-assistant-mutated", "The calls of one answer came back as several answers: then it is an info",
     third(HELLO, CALLED, GIVEN, said("Not at all.", SECOND), LONGER[4]), APART, "info"),
    ("client-assistant-mutated", "The answer came back whole, with more text: then `client-forged-answer` says so",
     after(DONE, said("It was a strip.")), after(DONE, said("It is a strip. Really."))),
    ("client-assistant-mutated",
     "The client gives a call of an unknown tool the name of an offered one: then it is an info",
     follows(HELLO, said(None, ("call_1", "find", CALL[2])), GIVEN),
     follows(HELLO, CALLED, GIVEN, answer=said(None, ("call_1", "lookup", CALL[2]))), "info"),
    ("client-history-truncated",
     "Only the user's messages are missing, and a new one of the user comes at the end: then it is an info",
     third(HELLO, *LONGER[3:]),
     [chat([ASKS], CALLED), chat([CALLED, GIVEN, user("Which words describe the voice?")], DONE, index=1)], "info"),
    ("client-history-truncated", "Only notes of the client are missing, such as a reminder in tags: then it is an info",
     [chat([HELLO, user("Be brief, please.")], CALLED), chat(TURNED, DONE, index=1)],
     [chat([HELLO, user("<note>Be brief.</note>")], CALLED), chat(TURNED, DONE, index=1)], "info"),
    *[("client-forged-answer", "The first request of a thread contains them: examples, or an earlier conversation",
       MADE_UP, run) for run in
      (chat([HELLO, said(NOTE, CALL), GIVEN], DONE), [chat([*PARCEL, HELLO], CALLED),
                                                      chat([*PARCEL, *TURNED], DONE, index=1)])],
    ("client-forged-answer",
     "A few words are between a result and a message of the user, for an API that wants them there",
     follows(*TURNED, said(NOTE, OTHER), result("call_9", "a reel")),
     follows(*TURNED, said("OK"), user("Look at it."))),
    ("client-forged-answer",
     "The user speaks there too: a turn may not have been recorded, or a cache answered it; then it is an info",
     follows(*TURNED, said(NOTE, OTHER), result("call_9", "a reel")),
     follows(*TURNED, said(NOTE), user("Look at it.")), "info"),
    ("client-forged-answer",
     "They are a whole step, and the recording lacks a round trip there or was imported: then it is an info",
     follows(*TURNED, said(NOTE, OTHER), result("call_9", "a reel")),
     [replace(one, route="import") for one in follows(*TURNED, said(NOTE, OTHER), result("call_9", "a reel"))], "info"),
    ("client-forged-answer", "They are a whole step with a signature, which only an API can make: then it is an info",
     follows(*TURNED, said(NOTE, OTHER) | OPAQUE, result("call_9", "a reel"), answer=CALLED | OPAQUE),
     follows(*TURNED, said(NOTE, OTHER) | OPAQUE, result("call_9", "a reel")), "info"),
    *[("client-forged-answer", "The last message begins the next answer", made_up, run) for made_up, run in (
        (after(DONE, said(f"It is a strip. {NOTE}")), [chat([HELLO], DONE), chat(
            [HELLO, said(f"It is a strip. {NOTE}")], DONE, index=1)]),
        (MADE_UP, follows(HELLO, CALLED, said(NOTE))),
    )],
    *[("client-forged-answer", "The answer contains the text elsewhere, such as its reasoning",
       MADE_UP, follows(HELLO, said(text, CALL), GIVEN, answer=CALLED | {"reasoning_content": NOTE}))
      for text in (NOTE, f"<think>{NOTE}</think>", "careful the index is old")],
    *[("client-forged-answer", "The answer was cut, filtered or refused",
       after(DONE, said(f"It is a strip. {NOTE}")), after(DONE, said(f"It is a strip. {NOTE}"), finish=finish))
      for finish in ("length", "content_filter")],
    *[("client-forged-answer", "The text describes a call that the model made", MADE_UP, run) for run in (
        follows(HELLO, said("I called look_up, as call_1.", CALL), GIVEN),
        follows(HELLO, said("I look it up. Calling look_up as call_1.", CALL), GIVEN,
                answer=said("I look it up.", CALL)))],
    ("client-forged-answer", "The answer has content that a client may describe in words, such as an image",
     drawn(), drawn(IMAGE)),
    ("client-forged-answer", "The client of an agent without tools writes its observations into the answer",
     observed("I look it up."), observed("Action: look_up\nObservation: made up")),
    ("client-forged-answer", "The history was shortened as well: they may be a summary, or another branch",
     PUT_IN, third(HELLO, said(NOTE), user("Go on."), *LONGER[3:])),
    ("client-forged-answer", "The history was shortened as well: they may be a summary, or another branch",
     PUT_IN, third(HELLO, said(NOTE), *LONGER[3:])),
    ("client-forged-answer", "Nothing of the recorded answer came back: another answer may have replaced it",
     follows(HELLO, said(None, CALL, OTHER), GIVEN, result("call_9", "a reel")),
     follows(HELLO, said(None, OTHER), result("call_9", "a reel"))),
    *[("client-forged-answer", "A framework notes a handoff to another agent: then it is an info", MADE_UP, run, "info")
      for run in (follows(HELLO, said("Transferring back to the supervisor", CALL), GIVEN),
                  follows(HELLO, said(None, CALL, ("call_9", "transfer_back_to_boss", "{}")), GIVEN,
                          result("call_9", "ok")),
                  after(DONE, said("It is a strip. Handing over to the supervisor")),
                  handed(HELLO, said(NOTE)))],
    ("client-forged-answer", "A framework loads tools with a call that it wrote: then it is an info",
     follows(HELLO, said(None, CALL, OTHER), GIVEN, result("call_9", "a reel")),
     follows(HELLO, said(None, CALL, ("auto_load_9", *OTHER[1:])), GIVEN, result("auto_load_9", "a reel")), "info"),
    ("client-forged-answer", "The text replaces an answer that was empty: then it is an info",
     MADE_UP, after(said(""), said("(no content)")), "info"),
    ("client-forged-answer",
     "They are a short thought where the model showed none: frameworks fill the field; then it is an info",
     follows(HELLO, CALLED | {"reasoning_content": f"{NOTE} " * 4}, GIVEN),
     follows(HELLO, CALLED | {"reasoning_content": "I use the tools."}, GIVEN), "info"),
    ("client-user-media-lost", "The model had ended its answer, or the user says something new",
     seen(CALLED, GIVEN), seen(CALLED, GIVEN, user("And what is a reel?"))),
    ("client-user-media-lost", "An older message had it",
     seen(CALLED, GIVEN), seen(CALLED, GIVEN, before=[user("And a reel?")])),
    ("client-user-media-lost", "A note in its place says so: then it is an info",
     seen(CALLED, GIVEN), seen(CALLED, GIVEN, note="[image removed to save tokens]"), "info"),
    ("client-foreign-history", "The first request of a thread contains them", MIXED, chat([*PARCEL, HELLO], DONE)),
    ("client-foreign-history", "An earlier request of the thread contained them", MIXED, restored()),
    ("client-foreign-history", "The history was shortened: they may be a summary",
     MIXED, third(user("So far: a strip."), said("I see."), *LONGER[3:])),
    *[("client-user-text-lost", "Their words are elsewhere in the request", LOST, run) for run in (
        follows(said(None, ("call_1", "look_up", '{"word":"what is a tape?"}')), GIVEN,
                answer=said(None, ("call_1", "look_up", '{"word":"what is a tape?"}'))),
        follows({"role": "system", "content": "User: What is a tape?"}, CALLED, GIVEN),
        follows(CALLED, result("call_1", "You asked: what is a tape?")),
        follows(said("They asked: what is a tape?"), user("?"), CALLED, GIVEN))],
    *[("client-user-text-lost", "A summary replaces them", REPLACED, run) for run in (
        follows(user("So far: " + "a strip, " * 30), CALLED, GIVEN),
        follows({"role": "system", "content": "They want to know about tape."}, CALLED, GIVEN),
        follows(user("They want a tape."), CALLED, GIVEN),
        handed(user("Explain tape.")),
        run("chat", ([asks("Sum it up.")], says("Nothing is decided as yet.")), (OPENED[:1], STEPS[0]),
            ([asks("So far:\n\nNothing is decided as yet.\n\nGo on."), *STEPS], LAST)))],
    ("client-user-text-lost", "The user says something new after a complete answer",
     asks_long(CALLED, GIVEN, user("Continue.")), [chat([HELLO], said(LONG)), chat([said(LONG), user("Why?")], DONE,
                                                                                   index=1)]),
    ("client-user-text-lost",
     "Only a short answer links the two requests, and the second one has a message of the user",
     front_cut(LONG), front_cut("It holds voices.")),
    *[("client-user-text-changed", clause, REWRITTEN, rewritten(asks(text), *STEPS, ask=ask)) for clause, ask, text in (
        ("Only numbers, dates, blocks in tags or code changed, as clients keep them up to date",
         "It is Monday, 10:01.", "It is Tuesday, 9:47."),
        ("Something was added to the text, or its beginning is left, up to the end of a sentence",
         REFUND, f"{REFUND} Be brief."),
        ("A part of a long text changed, or a long text came for a short one: it may be a template",
         "word " * 100 + "state: idle", "word " * 100 + "state: busy"),
        ("A part of a long text changed, or a long text came for a short one: it may be a template",
         REFUND, "Some other words. " * 20))],
    ("client-user-text-changed",
     "The model had ended its answer: people edit their messages, but do not damage or cut them",
     REWRITTEN, run("chat", ([asks(REFUND)], ENDED), ([asks(SEND), ENDED, asks("Yes.")], LAST))),
    ("client-user-text-changed", "Something else in the history changed too: it may be a summary",
     REWRITTEN, run("chat", ([asks(REFUND), *STEPS], calls_("x")), ([asks(SEND), STEPS[0], gives_("-"), calls_("x"),
                                                                  gives_("y")], LAST))),
    ("client-user-text-changed", "Only a short answer links the two requests",
     rewritten(asks(SEND), *STEPS, api="gemini"),
     run("gemini", ([asks(REFUND)], calls_("x")), ([asks(SEND), calls_("x"), gives_("y")], LAST))),
    ("client-user-text-changed", "The new text holds an answer of the model: it is a newer summary",
     REWRITTEN, run("chat", ([asks("Sum it up.")], says(SEND)), (OPENED[:1], STEPS[0]),
                    ([asks(f"So far: {SEND}"), *STEPS], LAST))),
    ("client-history-reordered",
     "Only messages of the user have moved, and the history still begins with one: then it is an info",
     moved(*TALK[2:], *TALK[:2]), moved(TALK[2], *TALK[:2], TALK[3]), "info"),
    ("client-history-reordered",
     "Only messages of the user have moved, and the history still begins with one: then it is an info",
     moved(*TALK[2:], *TALK[:2]), turned_round(), "info"),
    ("client-history-reordered",
     "Only images and files of the user have moved, as when they are shown again: then it is an info",
     moved(*TALK[2:], *TALK[:2]), shown_again(), "info"),
    ("client-history-reordered",
     "Only calls of one answer have changed places, and their ids say which result is whose: then it is an info",
     moved(*TALK[2:], *TALK[:2]), swapped(), "info"),
    ("client-history-duplicated", "The first request of a thread contains it twice",
     DOUBLED, run("gemini", ([*OPENED, *OPENED], LAST))),
    ("client-history-duplicated", "The user asks the same again, and the model answers the same", DOUBLED,
     run("gemini", *((([asks(REFUND), ENDED, asks(SEND), LAST] * 2)[:count] + [asks("Why?")] * (count % 2 == 0),
                      (ENDED, LAST)[count // 2 % 2]) for count in (1, 3, 5, 7, 8)))),
    ("client-history-duplicated", "The API holds the conversation, and only messages of the user are repeated",
     [HELD, held([*OPENED], LAST, 1, 0)], [HELD, held([OPENED[0], OPENED[2]], LAST, 1, 0)]),
]  # fmt: skip
