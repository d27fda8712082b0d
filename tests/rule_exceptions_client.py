"""Rules about the client: for each exception, a run in which a rule fires and its twin that the rule spares.

Rows are as in `rule_exceptions_model_api`.
"""

from collections.abc import Sequence
from dataclasses import replace
from json import dumps
from typing import Any

from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import asks, calls, run, says
from dialogues import gives as gives_
from judged import (
    CONVERSE,
    LOOK_UP,
    Ended,
    anthropic,
    asked,
    gemini,
    given,
    gives,
    item_call,
    item_output,
    responses,
    spoke,
    steps,
    trip,
    turn,
    use,
    words,
)
from realtime_sessions import CALL as REALTIME_CALL
from realtime_sessions import answer, client, gave, server, tool_session
from realtime_sessions import said as spoken
from rule_exceptions_model_api import HI, SEARCH, Row, edited, looped, moved
from sockets import REALTIME, say, session

from turntape.cassettes.tape.model import RoundTrip

CALLED = said(None, CALL)
GIVEN = result("call_1", "a strip")
DONE = said("It is a strip.")
NAMELESS = [chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN | {"tool_call_id": None}], DONE, index=1)]
NAMED = {"functionCall": {"id": "c1", "name": "look_up", "args": {"word": "tape"}}}
HEADER = "x-claude-code-prev-tool-durations"
THINKING = {"type": "thinking", "thinking": "I must look it up.", "signature": "c2lnbmVk" * 8}
OTHER_TOOL = {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {
    "type": "object", "properties": {}}}}  # fmt: skip


def redefined(first: str, second: str) -> list[RoundTrip]:
    """Two calls with these arguments. The tool takes a number at the first, and at the second a text alone."""
    called, again = said(None, ("call_1", "look_up", first)), said(None, ("call_2", "look_up", second))
    return [
        chat([HELLO], called, tools=[taking({"type": "integer"})]),
        chat([HELLO, called, GIVEN], again, index=1, tools=[taking({"type": "string"}, additionalProperties=False)]),
    ]


def typed(*, refused: bool) -> list[RoundTrip]:
    """A call of a shell, and its result as that of a function."""
    call = {
        "id": "sh_1",
        "type": "shell_call",
        "call_id": "call_1",
        "action": {"commands": ["ls"]},
        "status": "completed",
    }
    error = {"type": "invalid_request_error", "message": "No tool output found for shell call call_1."}
    history = [{"role": "user", "content": "hi"}, call, item_output()]
    return [responses(history[:1], [call]), responses(history, [], 1, error=error if refused else None)]


def taking(word: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A tool whose only parameter has this schema."""
    schema = {"type": "object", "properties": {"word": word}, **more}
    return {"type": "function", "function": {"name": "look_up", "description": "Look a word up.", "parameters": schema}}


def after(answer: dict[str, Any], echoed: dict[str, Any], **first: Any) -> list[RoundTrip]:
    """An answer, and how the next request repeats it."""
    return [chat([HELLO], answer, **first), chat([HELLO, echoed, user("and then?")], said("Nothing."), index=1)]


def thought(*echoed: dict[str, Any], call: bool = True, **second: Any) -> list[RoundTrip]:
    """A turn with thinking, and a request whose answer of the assistant holds these blocks."""
    content = [THINKING, use()] if call else [THINKING, words("It is a strip.")]
    reply = asked(given()) if call else asked("and then?")
    history = [asked("what is a tape?"), spoke(*echoed), reply]
    return [anthropic(history[:1], content), anthropic(history, [words("Done.")], 1, **second)]


def kept_as(word: str) -> list[RoundTrip]:
    """A call without an id, of which the history has a text in the form of its arguments."""
    begun = [turn("user", {"text": "hi"})]
    echoed = [*begun, turn("model", {"text": dumps({"word": word})}), turn("user", {"text": "and then?"})]
    call = {"functionCall": {"name": "look_up", "args": {"word": "tape"}}}
    return [gemini(begun, [call]), gemini(echoed, [{"text": "Nothing."}], 1)]


CLEARED = "[Old tool result content cleared]"


def shortened(became: str) -> list[RoundTrip]:
    """A long result that is sent again as this text, beside a newer one; the API counts that its cache gave nothing."""
    second = said(None, ("call_2", "look_up", '{"word":"b"}'))
    history = [HELLO, CALLED, result("call_1", "row of a long table " * 40)]
    later = [*history[:2], result("call_1", became), second, result("call_2", "x")]
    return [chat(history, second, usage=(5000, 10)), chat(later, DONE, index=1, usage=(5000, 10))]


def older() -> list[RoundTrip]:
    """Thinking that is sent back once, and left out two turns later."""
    ask, first, back = asked("what is a tape?"), spoke(THINKING, use()), asked(given())
    second = [words("It is a strip.")]
    return [
        anthropic([ask], [THINKING, use()]),
        anthropic([ask, first, back], second, 1),
        anthropic([ask, spoke(use()), back, spoke(*second), asked("and then?")], [words("Nothing.")], 2),
    ]


def plain_reasoning(*, kept: bool = False) -> list[RoundTrip]:
    """A chat answer with encrypted reasoning of an API that ignores it in requests."""
    answer = CALLED | {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2lnbmVk" * 8, "id": "r1"}]}
    return [chat([HELLO], answer), chat([HELLO, answer if kept else CALLED, GIVEN], DONE, index=1)]


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def with_system(before: str, now: str, *, failed: bool = False) -> list[RoundTrip]:
    """Two turns under two system prompts; or two attempts of one turn."""
    if failed:
        error = {"error": {"message": "try again", "type": "server_error"}}
        return [
            chat([system(before), HELLO], status=500, error=error),
            chat([system(now), HELLO], DONE, index=1),
        ]
    return [
        chat([system(before), HELLO], CALLED),
        chat([system(now), HELLO, CALLED, GIVEN], DONE, index=1),
    ]


def handed_over(*, to_system: str, name: str = "transfer_to_search") -> list[RoundTrip]:
    """A call that hands the conversation to another agent, with other tools and another system prompt."""
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "name": name}}
    call = said(None, ("call_1", name, '{"word":"tape"}'))
    history = [system("You look words up."), HELLO]
    return [
        chat(history, call, tools=[tool]),
        chat([system(to_system), HELLO, call, GIVEN], DONE, index=1, tools=[OTHER_TOOL]),
    ]


def with_tools(*, failed: bool = False) -> list[RoundTrip]:
    """The tools change between two turns; or between two attempts of one turn."""
    if failed:
        error = {"error": {"message": "try again", "type": "server_error"}}
        return [chat([HELLO], status=500, error=error), chat([HELLO], DONE, index=1, tools=[*TOOLS, OTHER_TOOL])]
    return [chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], DONE, index=1, tools=[*TOOLS, OTHER_TOOL])]


def inserted(tokens: int = 5000, *, counted: bool = True) -> list[RoundTrip]:
    """The first message changes; the API counts this many tokens, with or without cached ones."""

    def one(messages: list[dict[str, Any]], answer: dict[str, Any], index: int, read: int) -> RoundTrip:
        trip_ = chat(messages, answer, index=index, usage=(tokens, 10))
        if not counted:
            return edited(trip_, ',"prompt_tokens_details":{"cached_tokens":0}', "")
        return edited(trip_, '"cached_tokens":0', f'"cached_tokens":{read}')

    changed = user("07:01 what is a tape?")
    read = tokens * 8 // 10 if tokens > 1024 else 0
    return [one([HELLO], CALLED, 0, read), one([changed, CALLED, GIVEN], DONE, 1, 0)]


SEARCH_TOOL = {"name": "search", "description": "Search.", "input_schema": {"type": "object", "properties": {}}}


def marked(*, ask: str = "what is a tape?", read: int = 0, **second: Any) -> list[RoundTrip]:
    """Two turns at an API that caches what is marked. The first wrote 4,000 tokens; the second request may differ."""
    mark: dict[str, Any] = {"type": "text", "text": "what is a tape?", "cache_control": {"type": "ephemeral"}}
    first = {"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 4000}
    then = {"input_tokens": 60, "cache_read_input_tokens": read, "cache_creation_input_tokens": 4000 - read}
    fields: dict[str, Any] = {"system": "Now: 07:00"} if "system" in second else {}
    return [
        anthropic([asked(mark)], [use()], usage=first, **fields),
        anthropic([asked(ask), spoke(use()), asked(given())], [words("x")], 1, usage=then, **second),
    ]


def respelled(*, first_too: bool = False) -> list[RoundTrip]:
    """A client that writes the arguments of the last call with spaces; or those of an older call, too."""
    older, spaced = (
        said(None, ("call_0", "look_up", '{"word":"a"}')),
        said(None, ("call_0", "look_up", '{"word": "a"}')),
    )
    last = said(None, ("call_1", "look_up", '{"word": "tape"}'))
    front = [HELLO, older, result("call_0", "x")]
    return [
        edited(chat([HELLO], older, usage=(5000, 10)), '"cached_tokens":0', '"cached_tokens":4864'),
        edited(chat(front, CALLED, index=1, usage=(5200, 10)), '"cached_tokens":0', '"cached_tokens":4992'),
        edited(
            chat([HELLO, spaced if first_too else older, front[2], last, GIVEN], DONE, index=2, usage=(5400, 10)),
            '"cached_tokens":0',
            '"cached_tokens":2048',
        ),
    ]


def forgotten() -> list[RoundTrip]:
    """An answer in words that the next request leaves out."""
    history = [HELLO, CALLED, GIVEN]
    return [
        chat([HELLO], CALLED),
        chat(history, DONE, index=1),
        chat([*history, user("and then?")], said("Nothing."), index=2),
    ]


def front_cut(answer: str) -> list[RoundTrip]:
    """An answer in words, and a request that begins with it."""
    return [chat([HELLO], said(answer)), chat([said(answer), user("and then?")], DONE, index=1)]


def observed(text: str, echoed: str | None = None) -> list[RoundTrip]:
    """An agent without tools, whose client puts its own words behind the model's, or in their place."""
    answer, back = said(text), said(echoed or f"{text}\nObservation: a strip")
    return [
        chat([HELLO], answer, tools=None),
        chat([HELLO, back, user("and then?")], DONE, index=1, tools=None),
    ]


FUTURE = {"id": "ft_1", "type": "future_call", "call_id": "call_9", "code": "1 + 1", "status": "completed"}
FUTURE_OUTPUT = {"id": "fo_1", "type": "future_call_output", "call_id": "call_9", "output": "2", "status": "completed"}


def program_ran(*items: dict[str, Any], call_too: bool = False, held: bool = False) -> list[RoundTrip]:
    """The API returns items of a type that is not known; the next request repeats the output, or its call, too."""
    echoed = [FUTURE] if call_too else []
    if held:
        again = responses([FUTURE_OUTPUT | {"id": "mine"}], [], 1, previous_response_id="resp_0")
    else:
        output = {**FUTURE_OUTPUT, "id": "mine"} if len(items) == 1 else items[1]
        again = responses([HI, *echoed, output], [], 1)
    return [responses([HI], [FUTURE, FUTURE_OUTPUT] if len(items) > 1 else [FUTURE]), again]


def set_to(**fields: Any) -> list[RoundTrip]:
    first: dict[str, Any] = {name: "low" if name == "reasoning_effort" else "required" for name in fields}
    return [
        chat([HELLO], CALLED, **first),
        chat([HELLO, CALLED, GIVEN], DONE, index=1, **fields),
    ]


def role_error(**more: Any) -> RoundTrip:
    return anthropic([spoke(words("I begin.")), asked("hi")], [words("x")], **more)


def converse(*content: dict[str, Any], status: str = "success") -> RoundTrip:
    """A Converse request with one result."""
    call = {"toolUse": {"toolUseId": "t1", "name": "look_up", "input": {"word": "tape"}}}
    back = {"toolResult": {"toolUseId": "t1", "status": status, "content": list(content)}}
    messages = [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [back]},
    ]
    tool = {"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object", "properties": {}}}}}
    body = {"messages": messages, "toolConfig": {"tools": [tool]}}
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn",
              "usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}}  # fmt: skip
    return trip(CONVERSE, body, answer)


EMPTY = {"type": "text", "text": ""}


def echoed_block(block: dict[str, Any], *, returned: bool) -> list[RoundTrip]:
    """A history with an empty block, which the API returned, or not."""
    ask, answer = asked("what is a tape?"), [words("A strip."), *([block] if returned else [])]
    history = [ask, spoke(words("A strip."), block), asked("and then?")]
    return [anthropic([ask], answer), anthropic(history, [words("x")], 1)]


def failing(text: str, tool: str = "run") -> list[RoundTrip]:
    """A tool that returns a text at Anthropic, without a mark of an error."""
    ask, call = asked("hi"), use(name=tool)
    offered = [{"name": tool, "description": "Run.", "input_schema": {"type": "object", "properties": {}}}]
    return [
        anthropic([ask], [call], tools=offered),
        anthropic([ask, spoke(call), asked(given(text=text))], [words("x")], 1, tools=offered),
    ]


def left_open(name: str = "look_up", *, looped_before: bool = True) -> list[RoundTrip]:
    """A loop that ends with a call that nobody answers."""
    before = looped(["a", "b"], words=("one", "two")) if looped_before else []
    history: list[dict[str, Any]] = [HELLO]
    for n, word in enumerate(("one", "two") if looped_before else ()):
        history += [said(None, (f"call_{n}", "look_up", f'{{"word":"{word}"}}')), result(f"call_{n}", "ab"[n])]
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "name": name}}
    last = chat(history, said(None, ("call_9", name, '{"word":"x"}')), index=len(before), tools=[*TOOLS, tool])
    return [*before, last]


TITLE = chat([user("Name this chat.")], DONE, index=9, tools=None)
"""A request of another thread, later in the run."""


TITLE_FIRST = replace(TITLE, index=-1)


def repeated(one: RoundTrip) -> RoundTrip:
    """The same request once more, which is answered in words."""
    return replace(chat([HELLO], DONE, index=one.index + 1), request=one.request)


def capped(most: int | None) -> list[RoundTrip]:
    """A second turn whose answer hits the cap, after which the recording ends."""
    cap: dict[str, Any] = {} if most is None else {"max_tokens": most}
    return [chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], said("It is"), index=1, finish="length", **cap)]


def asked_on(text: str = "continue", *, url: str | None = None, **fields: Any) -> list[RoundTrip]:
    """A complete answer, after which the client asks on."""
    following = chat([HELLO, DONE, user(text)], said("Nothing more."), index=1, **fields)
    return [chat([HELLO], DONE), moved(following, url, "openai") if url else following]


def serial(header: str | None) -> list[RoundTrip]:
    """Two calls, whose results come 3 s later; the client may report how long each took."""
    two = [use(), use("toolu_2", "strip")]
    ask, back = asked("hi"), asked(given(), given("toolu_2"))
    following = anthropic([ask, spoke(*two), back], [words("x")], 1, at=3.25)
    if header is not None:
        headers = (*following.request.headers, (HEADER, header))
        following = replace(following, request=replace(following.request, headers=headers))
    return [anthropic([ask], two), following]


def retried(after_seconds: float) -> list[RoundTrip]:
    """An attempt after an answer that asks to wait 10 s; the answer ends a quarter of a second after it begins."""
    first = chat([HELLO], status=429, error={"error": {"message": "slow down", "type": "rate_limit"}})
    assert first.response is not None
    headers = (*first.response.headers, ("retry-after", "10"))
    return [
        replace(first, response=replace(first.response, headers=headers)),
        chat([HELLO], DONE, index=1, at=0.25 + after_seconds),
    ]


def stormed(after_seconds: float) -> list[RoundTrip]:
    """Four attempts, each this long after an answer that asks to wait 10 s."""
    first = retried(0)[0]
    return [replace(first, index=n, started_at=first.started_at + n * (0.25 + after_seconds)) for n in range(4)]


def twice(*, failed: bool = False, **fields: Any) -> list[RoundTrip]:
    """One request sent twice within a second, or after a failure."""
    first = chat([HELLO], DONE, at=0, **fields)
    if failed:
        first = chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}}, at=0, **fields)
    return [first, chat([HELLO], DONE, index=1, at=0.1, **fields)]


USED = anthropic([asked("hi")], [use()])


def turns(count: int) -> Sequence[RoundTrip]:
    return steps(count, word=None)


TASK = "Find every caller of parse_date in the billing package and list them."


def delegated(answer: str = "There are three callers.", **given_back: Any) -> list[RoundTrip]:
    """A call of a subagent whose answer came back empty."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "task", "input": {"prompt": TASK}}
    tools, ask = [{"name": "task", "input_schema": {"type": "object"}}], asked("hi")
    return [
        anthropic([ask], [call], tools=tools),
        anthropic([asked(TASK)], [words(answer)] if answer else [], 1),
        anthropic([ask, spoke(call), asked(given(text="", **given_back))], [words("Done.")], 2, tools=tools),
    ]


def aside(kept: str) -> list[RoundTrip]:
    """A request for a summary without the last answer, and one that has the summary and this text of the assistant."""
    found = said("It is a strip of film, which a machine moves past a lamp and a lens.")
    short = said("The user asked about a strip, and a strip was found, with all that one needs to know about it.")
    history = [HELLO, CALLED, GIVEN]
    return [
        chat([HELLO], CALLED),
        chat(history, found, index=1),
        chat([*history, user("Sum it up.")], short, index=2),
        chat([user(f"So far: {short['content']}"), said(kept), user("And a reel?")], said("It is round."), index=3),
    ]


def unasked(name: str) -> list[RoundTrip]:
    """A result without an id, beside the answer to a call."""
    more = {"type": "function_call_output", "name": name, "output": "Find the tape."}
    return [responses([HI], [item_call()]), responses([HI, item_call(), item_output(), more], [], 1)]


def completed(**more: object) -> list[RoundTrip]:
    """A call that comes back with more arguments, of a tool with two defaults."""
    properties = {"word": {"type": "string"}, "exact": {"default": False}, "case": {"default": 0}}
    tool = {**LOOK_UP, "input_schema": {"type": "object", "properties": properties}}
    history = [asked("what is a tape?"), spoke(use() | {"input": {**use()["input"], **more}}), asked(given())]
    return [
        anthropic(history[:1], [use()], tools=[tool]),
        anthropic(history, [words("A strip.")], 1, tools=[tool]),
    ]


def nulled(api: str, limit: int | None) -> list[RoundTrip]:
    """A call with a second argument, which the client leaves out of the history."""
    pieces = asks("what is a tape?"), calls("tape"), gives_("a strip")
    first, second = run(api, (pieces[:1], pieces[1]), (pieces, says("It is a strip.")))
    assert first.response is not None
    before, more = ('\\"word\\":\\"tape\\"', ',\\"limit\\":') if api == "chat" else ('"word": "tape"', ', "limit": ')
    after = before + more + dumps(limit)
    return [edited(first, before, after), second]


def read_twice(back: str) -> list[RoundTrip]:
    """Arguments that were written as a JSON text in a JSON text, and how the client repeats them."""
    written, repeated = (said(None, ("call_1", "look_up", text)) for text in (dumps('{"word":"tape"}'), back))
    return [chat([HELLO], written), chat([HELLO, repeated, GIVEN], DONE, index=1)]


OPEN = chat([HELLO], CALLED)
ENDED_BY_US = replace(
    chat([HELLO], status=429, error={"error": {"type": "turntape_max_turns", "message": "turntape ended this run"}}),
    extra={"guard": {"message": "turntape ended this run"}},
)


def refused_in_session(kind: str, **fields: Any) -> list[RoundTrip]:
    """A session in which the API refuses an event of the client."""
    no = server("error", error={"type": "invalid_request_error", "code": "no", "message": "That is not possible."})
    return [tool_session(gave(), client(kind, **fields), no)]


CLIENT: list[Row] = [
    ("client-command-failed", "The exit code is 0", Ended(OPEN, exit=1), Ended(OPEN, exit=0)),
    ("client-command-failed", "A person or another program ended the command, as with Ctrl-C",
     Ended(OPEN, signal="SIGSEGV"), Ended(OPEN, signal="SIGINT")),
    ("client-command-failed", "turntape itself answered the last request, as at a limit",
     Ended(OPEN, exit=1), Ended(ENDED_BY_US, exit=1)),
    ("client-command-failed",
     "The answer has no open calls: the exit code may be what the program has to say, so it is an info",
     Ended(OPEN, exit=1), Ended(chat([HELLO], DONE), exit=1), "info"),
    ("client-command-failed", "There were other conversations, as in a suite of tests: then it is a warning",
     Ended(OPEN, exit=1), Ended(chat([user("another")], DONE), chat([HELLO], CALLED, index=1), exit=1), "warning"),
    ("client-command-failed", "The last turn failed: then it is an info that follows from that",
     Ended(OPEN, exit=1), Ended(chat([HELLO], status=500, error={"error": {"message": "no"}}), exit=1), "info"),
    ("client-assistant-mutated", "White space at the ends of a text",
     after(DONE, said("It was a strip.")), after(DONE, said("It is a strip. \n"))),
    ("client-assistant-mutated", "Another shape of the same content",
     after(DONE, DONE | {"content": [{"type": "text", "text": "It was a strip."}]}),
     after(DONE, DONE | {"content": [{"type": "text", "text": "It is a strip."}]})),
    *[("client-assistant-mutated", "The answer was cut, filtered or refused",
       after(DONE, said("It was a strip.")), after(DONE, said("It was a strip."), finish=finish))
      for finish in ("length", "content_filter")],
    ("client-assistant-mutated", "The answer was cut, filtered or refused",
     after(DONE, said("It was a strip.")), after(DONE | {"refusal": "No."}, said("It was a strip."))),
    ("client-assistant-mutated", "The same turn is requested again",
     forgotten(), [chat([HELLO], CALLED), *[chat([HELLO, CALLED, GIVEN], DONE, index=n, at=9.0 * n) for n in (1, 2)]]),
    ("client-assistant-mutated", "The history describes the call and its result in words: then it is an info",
     [chat([HELLO], CALLED), chat([HELLO, said("I look."), user("A strip.")], DONE, index=1)],
     [chat([HELLO], CALLED), chat([HELLO, said("call_1 of look_up"), user("A strip.")], DONE, index=1)], "info"),
    ("client-assistant-mutated",
     "The arguments of the call are a text of the history, as of a tool that only takes output: then it is an info",
     after(CALLED, said('{"word":"strip"}')), after(CALLED, said('{"word": "tape"}')), "info"),
    *[("client-assistant-mutated",
       "Only quotation marks, dashes, marks of sources or thoughts in tags differ: then it is an info",
       after(said("It's a strip -- long."), said("It was a strip -- long.")),
       after(said("It's a strip -- long."), said(text)), "info")
      for text in ("It\u2019s a strip \u2014 long.", "<think>\nhm\n</think>\n\nIt's a strip -- long.")],
    ("client-assistant-mutated", "Only the words beside calls were left out: then it is an info",
     forgotten(),
     [chat([HELLO], said("I look.", CALL)), chat([HELLO, CALLED, GIVEN], DONE, index=1)], "info"),
    ("client-assistant-mutated",
     "The next request has the answer, and not what this one asked aside, as with `/compact`: then it is an info",
     aside("I see."), aside("It is a strip of film, which a machine moves past a lamp and a lens."), "info"),
    ("client-assistant-mutated",
     "The client of an agent without tools writes its observations into the answer: then it is an info",
     observed("I look it up.", "I find it."), observed("Action: look_up\nObservation: made up"), "info"),
    ("client-assistant-mutated",
     "The client added defaults of the tool's definition to the arguments: then it is an info",
     completed(exact=True, case=0), completed(exact=False, case=0), "info"),
    *[("client-assistant-mutated",
       "The client left out arguments that are null and not required by the tool's definition: then it is an info",
       nulled(api, 3), nulled(api, None), "info")
      for api in ("chat", "ollama", "gemini")],
    ("client-assistant-mutated",
     "The answer has the arguments as a JSON text in a JSON text, and the client read it: then it is an info",
     read_twice('{"word":"wire"}'), read_twice('{"word":"tape"}'), "info"),
    ("client-history-truncated", "Only a short answer links the two requests",
     front_cut("It holds a recording of voices, which a machine reads from a thin strip."),
     front_cut("It holds voices.")),
    ("client-reasoning-dropped", "The turn made no calls",
     thought(use()), thought(words("It is a strip."), call=False)),
    ("client-reasoning-dropped", "Reasoning of older turns", thought(use()), older()),
    ("client-reasoning-dropped", "The API answered the request: then it is an info",
     thought(use(), error="no"), thought(use()), "info"),
    ("client-reasoning-dropped", "The API does not need it: then it is an info",
     thought(use(), error="no"), plain_reasoning(), "info"),
    ("client-reasoning-dropped", "The API rejected the request for another fault, which it names: then it is an info",
     thought(use(), error="no"), thought(use(), error="messages.1: all messages must have non-empty content"), "info"),
    ("client-reasoning-dropped", "The client asks for another model",
     thought(use()), thought(use(), model="claude-haiku-4-5")),
    ("client-system-prompt-changed", "Another agent continues the conversation",
     with_system("You look words up.", "You search."), handed_over(to_system="You search.")),
    ("client-system-prompt-changed", "The cache was not lost: then it is an info",
     marked(system="Now: 07:01"), with_system("Now: 07:00", "Now: 07:01"), "info"),
    ("client-system-prompt-changed", "The client retries the turn",
     with_system("You look words up.", "You search."), with_system("You look words up.", "You search.", failed=True)),
    ("client-tools-changed", "Another agent continues the conversation",
     handed_over(to_system="You look words up.", name="look_up"), handed_over(to_system="You look words up.")),
    ("client-tools-changed", "The client retries the turn", with_tools(), with_tools(failed=True)),
    ("client-tools-changed", "A tool with `defer_loading` came in or went away",
     marked(tools=[LOOK_UP, SEARCH_TOOL]), marked(tools=[LOOK_UP, SEARCH_TOOL | {"defer_loading": True}])),
    ("client-tools-changed", "The cache was not lost: then it is an info",
     marked(tools=[LOOK_UP, SEARCH_TOOL]), with_tools(), "info"),
    ("client-cache-prefix-busted", "The input is too short for any cache: then it is an info",
     inserted(), inserted(1000), "info"),
    ("client-cache-prefix-busted", "The API reports no cache: then it is an info",
     inserted(), inserted(counted=False), "info"),
    ("client-cache-prefix-busted", "Only the last answer came back in another spelling: it was in no cache yet",
     respelled(first_too=True), respelled()),
    ("client-cache-prefix-busted", "The cache was read as far as it was written",
     marked(read=0, ask="hi"), marked(read=4000, ask="hi")),
    ("client-cache-prefix-busted",
     "The client cleared old results, and the counts show no cache that was lost: then it is an info",
     shortened("It failed."), shortened(CLEARED), "info"),
    ("client-tool-result-rewritten",
     "A short marker replaces an old result, or what was cut out of it, to save space: then it is an info",
     shortened("It failed."), shortened(CLEARED), "info"),
    ("client-sampling-params-changed", "Only `tool_choice` changed",
     set_to(reasoning_effort="high"), set_to(tool_choice="auto")),
    ("client-missing-tool-result", "The API ran the tool itself",
     anthropic([asked("hi"), spoke(use()), asked("and?")], [words("x")]),
     anthropic([asked("hi"), spoke(*SEARCH), asked("and?")], [words("x")])),
    ("client-missing-tool-result", "The API holds the conversation",
     responses([HI, item_call(), HI], []), responses([HI, item_call(), HI], [], previous_response_id="resp_9")),
    ("client-missing-tool-result",
     "The arguments of the call are a text of the history: the client took them as the answer",
     kept_as("strip"), kept_as("tape")),
    ("client-missing-tool-result",
     "The result is there under the id of no call, and the API answered: `client-orphan-tool-result` says it",
     responses([HI, item_call(), HI], []), responses([HI, item_call(), item_output("call_9")], [])),
    ("client-id-missing", "The API pairs results by the names of their tools", NAMELESS,
     [gemini([turn("user", {"text": "hi"})], [NAMED]),
      gemini([turn("user", {"text": "hi"}), turn("model", NAMED), turn("user", gives())], [{"text": "x"}], 1)]),
    ("client-id-missing", "The API gave the calls no ids", NAMELESS,
     [chat([HELLO], said(None, ("", *CALL[1:]))),
      chat([HELLO, said(None, ("", *CALL[1:])), GIVEN | {"tool_call_id": None}], DONE, index=1)]),
    ("client-id-missing",
     "The result has the name of a tool that was not called: the client adds something to know, as Codex its goal",
     unasked("look_up"), unasked("goal")),
    ("client-orphan-tool-result", "The API holds the conversation",
     responses([HI, item_output()], []), responses([HI, item_output()], [], previous_response_id="resp_9")),
    *[("client-orphan-tool-result", "The API itself returned the result, or its call is of a type that is not known",
       program_ran(FUTURE), run) for run in
      (program_ran(FUTURE, FUTURE_OUTPUT), program_ran(FUTURE, {**FUTURE_OUTPUT, "status": None}),
       program_ran(FUTURE, call_too=True), program_ran(FUTURE, held=True))],
    ("client-duplicated-call", "The API itself gave two calls one id",
     [anthropic([asked("hi")], [use()]),
      anthropic([asked("hi"), spoke(use(), use()), asked(given())], [words("x")], 1)],
     [anthropic([asked("hi")], [use(), use()]),
      anthropic([asked("hi"), spoke(use(), use()), asked(given())], [words("x")], 1)]),
    ("client-role-order", "The last message prefills the answer, and the API allows that",
     anthropic([asked("hi"), spoke(words("It is "))], [words("x")]),
     anthropic([asked("hi"), spoke(words("It is"))], [words("x")])),
    ("client-role-order", "The API accepted the request: then it is an info",
     role_error(error="messages: first message must use the user role"), role_error(), "info"),
    ("client-empty-content", "The API itself returned the block; if it rejects it, `request-rejected` blames the API",
     echoed_block(EMPTY, returned=False), echoed_block(EMPTY, returned=True)),
    ("client-empty-content", "The content is of a wrong type: then `client-args-wrong-type` says so",
     anthropic([{"role": "user", "content": []}], [words("x")]),
     anthropic([{"role": "user", "content": {"text": "hi"}}], [words("x")])),
    ("client-empty-content",
     "The API takes a message of the user or a system prompt without a word: then it is an info",
     chat([HELLO, said("Yes.") | {"tool_calls": []}, user("go")], status=400,
          error={"error": {"message": "[] is too short - 'messages.1.tool_calls'", "type": "invalid_request_error"}}),
     chat([HELLO, said("Yes."), user(" ")], DONE), "info"),
    ("client-empty-content",
     "The API holds the conversation or the prompt, or the request only loads the model, as Ollama's does",
     responses([], [item_call()]), responses([], [item_call()], previous_response_id="resp_0")),
    ("client-empty-content", "A session over WebSocket holds the conversation",
     responses([], [item_call()]),
     session(say("server", 1, type="session.created", session={"model": "gpt-realtime"}),
             say("client", 2, type="response.create"), say("server", 3, type="error", error={}), url=REALTIME)),
    ("client-empty-content", "A tool result is empty, which is allowed", converse(status="error"), converse()),
    ("client-tools-missing-for-history", "The request continues a thread that the API holds",
     anthropic([asked("hi"), spoke(use()), asked(given())], [words("x")], tools=()),
     anthropic([asked(given())], [words("x")], tools=(), thread={"type": "continue", "previous_message_id": "msg_0"})),
    ("client-tool-error-as-success",
     "Tools that read files, logs or pages, unless the text is the error page of a server",
     failing("the last job failed"), failing("the last job failed", "read_log")),
    ("client-tool-error-as-success",
     "It is an object whose own fields say that the call failed, and why: then it is an info",
     failing("Error: no"), failing('{"success": false, "error": "no"}'), "info"),
    ("client-tool-error-as-success", "The API has no such mark: then `tool-result-is-error` says so",
     failing("Error: no"), looped(["Error: no"] * 2)[:2]),
    ("tool-result-is-error", "Tools that read files, logs or pages, unless the text is the error page of a server",
     looped(["The last job failed"] * 2)[:2], looped(["The last job failed"] * 2, "read_log")[:2]),
    ("tool-result-is-error", "The API has a mark for errors: then `client-tool-error-as-success` says so",
     looped(["Error: no"] * 2)[:2], failing("Error: no")),
    *[("client-max-iterations", "The number of turns is not a usual limit, such as 10, 25 or 50",
       turns(10), turns(count)) for count in (9, 11)],
    ("client-parallel-run-serially", "The client does not report how long each tool took",
     serial("a=1500, b=1400"), serial(None)),
    ("client-tool-calls-not-dispatched",
     "The recording may have stopped there: no call of the thread was ever answered, and no command is known to have "
     "ended, nor did the client close a session",
     left_open(), left_open(looped_before=False)),
    ("client-tool-calls-not-dispatched",
     "The client gave the results and asked for no answer: then `client-answer-not-requested` says so",
     [tool_session()], [tool_session(gave())]),
    ("client-tool-redefined",
     "No earlier call of the conversation fitted the schema of its request: then only the model breaks it",
     redefined('{"word":5}', '{"word":6}'), redefined('{"word":"5"}', '{"word":"6"}')),
    ("client-tool-redefined", "The earlier calls fit the new schema as well",
     redefined('{"word":5}', '{"word":6}'), redefined('{}', '{"word":6}')),
    ("client-tool-redefined", "The call breaks the schema in another way than they do",
     redefined('{"word":5}', '{"word":6}'), redefined('{"word":5}', '{"word":6,"size":1}')),
    ("client-result-wrong-type", "The API answered the request all the same: then it is an info",
     typed(refused=True), typed(refused=False), "info"),
    ("client-answer-not-requested", "The client requested a later answer, or the user's speech did",
     [tool_session(gave())], [tool_session(gave(), client("response.create"), *answer("r2", spoken("i4", "3.")))]),
    ("client-answer-not-requested", "The call itself is the output, or a person must approve it",
     [tool_session(gave())], [tool_session(gave(), called=[{**REALTIME_CALL, "name": "request_approval"}])]),
    ("client-answer-not-requested",
     "The client closed the session within five seconds, as after a call that ends the talk: then it is an info",
     [tool_session(gave(), lasts=5.1)], [tool_session(gave(), lasts=4.9)], "info"),
    ("client-answer-not-requested",
     "The model also said something: a tool may run in the background, so it is an info",
     [tool_session(gave())], [tool_session(gave(), called=[spoken("i2", "I note it."), REALTIME_CALL])], "info"),
    ("session-event-failed",
     "The API refused a request for an answer, an item or settings: then `request-rejected` says so",
     refused_in_session("conversation.item.truncate"), refused_in_session("session.update", session={"voice": "x"})),
    ("client-tool-calls-not-dispatched",
     "The command ended well there after other conversations, as a suite of tests does: then it is an info",
     Ended(*left_open(), exit=0), Ended(TITLE_FIRST, *left_open(), exit=0), "info"),
    ("client-tool-calls-not-dispatched", "A person must approve the call", left_open(), left_open("request_approval")),
    ("client-tool-calls-not-dispatched", "The call itself is the output", left_open(), left_open("final_answer")),
    *[("client-tool-calls-not-dispatched",
       "The run or the session ends there, or the tool never had a result: then it is an info",
       [*left_open(), TITLE], run, "info") for run in (left_open(), [*left_open("publish"), TITLE])],
    ("client-tool-calls-not-dispatched", "The same request was sent again, and got another answer: then it is an info",
     [*left_open(), TITLE], [*left_open(), repeated(left_open()[-1]), TITLE], "info"),
    ("client-treated-truncated-as-final", "The client asked for very few tokens on purpose", capped(65), capped(64)),
    ("client-continued-after-end", "The user sends a new message", asked_on(), asked_on("and a reel?")),
    ("client-continued-after-end", "Other tools are offered", asked_on(), asked_on(tools=[*TOOLS, OTHER_TOOL])),
    ("client-continued-after-end", "The request wants another output format",
     asked_on(), asked_on(response_format={"type": "json_object"})),
    ("client-continued-after-end", "The request goes to another endpoint",
     asked_on(), asked_on(url="https://api.openai.com/v2/chat/completions")),
    ("client-subagent-answer-lost", "The subagent gave no answer in text", delegated(), delegated(answer="")),
    ("client-subagent-answer-lost", "The result is an error", delegated(), delegated(is_error=True)),
    ("client-ignored-retry-after", "The client waited at least nine tenths of the time", retried(8.9), retried(9.1)),
    ("client-retry-storm", "The client waited as long as the API asked", stormed(2), stormed(10)),
    ("client-duplicate-request", "Several answers are sampled", twice(), twice(temperature=0.7)),
    ("client-duplicate-request", "The other request goes to another address",
     twice(), [twice()[0], moved(twice()[1], "https://gateway.example.com/v1/chat/completions", "openai")]),
    ("client-duplicate-request", "A retry after a failure", twice(), twice(failed=True)),
    ("client-duplicate-request",
     "The answer and the time are the same as well, so the recording may hold it twice: then it is an info",
     [USED, replace(USED, index=1, started_at=USED.started_at + 0.5)], [USED, replace(USED, index=1)], "info"),
]  # fmt: skip
