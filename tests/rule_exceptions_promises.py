"""Rules about demands, damaged texts, and answers of other requests. Rows are as in `rule_exceptions_model_api`."""

import json
from typing import Any

from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import APIS, asks, calls, gives, says
from judged import RESPONSES, anthropic, asked, at_host, spoke, trip, words
from round_trips import CHAT, exchanged, sse
from rule_exceptions_model_api import Row, chunk, edited

from turntape.cassettes.tape.model import RoundTrip


def announced(text: str = "Now I will use look_up.", **fields: Any) -> RoundTrip:
    return chat([HELLO], said(text), **fields)


LONG = "The warehouse holds three tables: orders, regions and customers, and each of them has a column with an id."
MANY = " ".join(["word"] * 200)
QUESTION = "Which region grew the most from 2025 to 2026?"
ESCAPED = "a.year &gt;= 2025 &amp;&amp; a.total &lt; 9"
FAILED = "Error: 429 Too Many Requests: retry after 20 s"
FAILED_JSON = '{"error":{"message":"Upstream request failed","code":502}}'
COUNTED = {"input_tokens": 9, "output_tokens": 900}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "s"}
PLAYED = "Take a coat.\n\nHuman: Thanks. And an umbrella?\n\nAssistant: Yes."
OBJECT = "[object Object]"
_chat = APIS["chat"]
_anthropic = APIS["anthropic"]


def counted(tokens: int, **fields: Any) -> RoundTrip:
    return chat([HELLO], said(MANY), usage=(100, tokens), **fields)


def thought(reasoning: str) -> RoundTrip:
    return chat([HELLO], said("A strip.") | {"reasoning_content": reasoning}, enable_thinking=False)


COHERE = "https://api.cohere.com/v1/chat"


def several(asked: int | None, url: str = CHAT) -> RoundTrip:
    """Two answers to a request for so many; one that names no number asks for one."""
    choices = [{"index": n, "message": said(f"Strip {n}."), "finish_reason": "stop"} for n in range(2)]
    if url == COHERE:
        generations = [{"text": f"Strip {n}.", "finish_reason": "COMPLETE"} for n in range(2)]
        return trip("https://api.cohere.com/v1/generate", {"prompt": "hi"}, {"id": "g", "generations": generations})
    count = {"n": asked} if asked is not None else {}
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": choices}
    return trip(url, {"model": "m", "messages": [HELLO], **count}, body)


def reasoned(tokens: int) -> RoundTrip:
    details = {"reasoning_tokens": tokens}
    usage = {"prompt_tokens": 9, "completion_tokens": 300, "total_tokens": 309, "completion_tokens_details": details}
    choice = {"index": 0, "message": said("A strip."), "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    return exchanged(CHAT, {"model": "m", "messages": [HELLO], "max_tokens": 100}, body)


def shrunk(history: list[dict[str, Any]]) -> list[RoundTrip]:
    """A second turn whose input counts a hundred times less than that of the first."""
    return [chat([HELLO], said("x"), usage=(1000, 10)), chat(history, said("y"), index=1, usage=(10, 10))]


def searched(server: bool) -> RoundTrip:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    return anthropic([asked("hi")], [*([use, found] if server else []), words("Done.")], usage={"output_tokens": 4000})


def repeats(**fields: Any) -> RoundTrip:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A strip."}]}]
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    body = {"id": "r", "object": "response", "status": "completed", "model": "gpt-5", "output": output, "usage": usage}
    return trip(RESPONSES, {"model": "gpt-5", "input": "hi", "temperature": 1, "metadata": {"run": "7"}}, body | fields)


CHANGED = repeats(metadata={"run": "8"})


def streamed(**asks_for: Any) -> RoundTrip:
    chunks = [chunk({"content": "A strip."}), chunk({}, "stop")]
    return trip(CHAT, {"model": "gpt-5", "messages": [HELLO], **asks_for}, sse(*chunks, done=True))


def failing(error: str, tools: list[Any] | None = None, **fields: Any) -> list[RoundTrip]:
    first = chat([HELLO], said(None, CALL), **({"tools": tools} if tools is not None else {}), **fields)
    return [first, chat([HELLO, said(None, CALL), result("call_1", error)], said("I could not."), index=1)]


def executed(error: str, arguments: str = '{"word":"tape"}') -> list[RoundTrip]:
    call = said(None, ("call_1", "look_up", arguments))
    return [chat([HELLO], call), chat([HELLO, call, result("call_1", error)], said("I could not."), index=1)]


MADE_UP = '{"word":"a","kind":1}'
UNKNOWN = "Error: tool 'look_up' not found in registry"
UNEXPECTED = "TypeError: look_up() got an unexpected keyword argument 'word'"


def ran(word: str, given: str) -> list[RoundTrip]:
    called = calls(word)
    return [_chat([asks("look")], called, 0), _chat([asks("look"), called, gives(given)], says("Done."), 1)]


def answered(*questions: str, answer: str = LONG) -> list[RoundTrip]:
    history, trips = [], []
    for n, question in enumerate(questions):
        history = [*history, asks(question)]
        trips.append(_chat(history, says(answer), n))
        history = [*history, says(answer)]
    return trips


def acted(first: str, name: str = "send_mail", between: str = "", *, forgets: bool = False) -> list[RoundTrip]:
    tool = {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    one, two = said(None, ("call_1", name, "{}")), said(None, ("call_2", name, "{}"))
    history = [HELLO, one, result("call_1", first)]
    after = [HELLO] if forgets else [*history, *([said("Sent."), user(between)] if between else [])]
    trips = [chat([HELLO], one, tools=[tool])]
    if between:
        trips.append(chat(history, said("Sent."), tools=[tool], index=1))
    return [*trips, chat(after, two, tools=[tool], index=len(trips))]


def tool_gave(text: str, name: str, question: str = "look") -> list[RoundTrip]:
    tool = {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    call = said(None, ("call_1", name, "{}"))
    history = [user(question), call, result("call_1", text)]
    return [chat(history[:1], call, tools=[tool]), chat(history, said("Done."), tools=[tool], index=1)]


def recounted(*messages: dict[str, Any], usage: tuple[int, int], given: str = "a strip") -> list[RoundTrip]:
    """A turn whose counts are right, and the next one with these counts."""
    history = [*(messages or [HELLO]), said(None, CALL)]
    again = [*history, result("call_1", given)]
    return [
        chat(history[:-1], said(None, CALL), usage=(400, 10)),
        chat(again, said("It is a strip."), index=1, usage=usage),
    ]


def offered(*tools: dict[str, Any]) -> list[RoundTrip]:
    """A turn whose input counts less than that of the turn before, beside these tools."""
    history = [asked("hi"), spoke(words("A strip.")), asked("And what is a reel?")]
    return [
        anthropic(history[:1], [words("A strip.")], tools=tools, usage={"input_tokens": 63_011}),
        anthropic(history, [words("A spool.")], 1, tools=tools, usage={"input_tokens": 40_573}),
    ]


_AGAIN = [HELLO, said(None, CALL), result("call_1", "a strip")]
OTHER_TOOLS = chat(_AGAIN, said("It is a strip."), index=1, usage=(4000, 10), tools=TOOLS * 2)
BUSY = chat([HELLO], status=503, error={"error": {"message": "overloaded", "type": "server_error"}})


def thinking(thoughts: int) -> RoundTrip:
    """An answer after a result, of which only so many tokens of thought are counted."""
    one = chat(_AGAIN, said("It is a strip of film with a recording."), index=1, usage=(420, thoughts))
    return edited(one, '"prompt_tokens_details":{"cached_tokens":0}',
                  f'"completion_tokens_details":{{"reasoning_tokens":{thoughts}}}')  # fmt: skip


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
SHOWN = {"role": "user", "content": [{"type": "text", "text": "look"}, IMAGE]}
PNG = "iVBORw0KGgo" + "A" * 1200


def in_html(usage: tuple[int, int]) -> RoundTrip:
    """A request whose text has an image as pages have it."""
    return chat([user(f'<img src="data:image/png;base64,{PNG}"/>')], said("A table."), usage=usage)


def probable(*tokens: str) -> RoundTrip:
    listed = [{"token": token, "logprob": -0.1} for token in tokens]
    choice = {"index": 0, "message": said("A strip."), "finish_reason": "stop", "logprobs": {"content": listed}}
    return trip(CHAT, {"model": "m", "messages": [HELLO], "logprobs": True}, {"id": "c", "choices": [choice]})


def at_file() -> RoundTrip:
    url = {"type": "image_url", "image_url": {"url": "file:///home/me/tape.png"}}
    return chat([{"role": "user", "content": [url]}], said("A tape."))


PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"


def pictured(data: str, kind: str = "image/png", status: int = 400) -> RoundTrip:
    url = {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
    error = {"error": {"message": "unsupported image", "type": "invalid_request_error"}}
    asked = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, url]}]
    return chat(asked, said("A tape."), status=status, error=error if status != 200 else None)


LOOPED = "Wait, let me check the order of the legs again. " * 20
TWICE = acted("queued as message 17")
PARROT = _chat([asks(QUESTION)], says(QUESTION), 0)
FORECAST = " ".join(f"On day {n} there is rain in the north and sun in the south." for n in range(6))
INVENTED = '<tool_response>\n{"rain": true}\n</tool_response>\nTake a coat.'
PLAYS = _chat([asks("Do I need a coat?")], says(PLAYED), 0)
THREE = answered("What is in it?", "How many rows?", "Who owns it?")
MANGLED = _chat([asks("hi")], says("Z\u00c3\u00bcrich is the largest city."), 0)

PROMISES: list[Row] = [
    ("model-promised-no-action", "No tools are offered, or the answer calls one", announced(), announced(tools=None)),
    ("model-promised-no-action", "No tools are offered, or the answer calls one",
     announced(), chat([HELLO], said("Now I will use look_up.", CALL))),
    ("model-promised-no-action", "More follows the announcement, or it says what the model will not do",
     announced(), announced("Now I will use look_up. It is a strip.")),
    ("model-promised-no-action", "More follows the announcement, or it says what the model will not do",
     announced(), announced("I see. I will not use look_up")),
    ("model-promised-no-action", "The announcement does not name a tool: then it is an info, and a hint",
     announced(), announced("Now I will check that."), "info"),
    ("api-answers-extra", "The request asks for as many", several(None), several(2)),
    ("api-answers-extra", "The API counts no answers in its requests", several(None), several(None, COHERE)),
    ("api-answers-missing", "The answer was cut, filtered or refused",
     chat([HELLO], said("one"), n=3), chat([HELLO], said(""), n=3, finish="content_filter")),
    ("api-cap-ignored", "The answer has only a few tokens more",
     counted(740, max_tokens=60), counted(70, max_tokens=60)),
    ("api-cap-ignored",
     "The cap is smaller than what some APIs accept as one, and the answer keeps to that: then it is an info",
     counted(21, max_tokens=7), counted(16, max_tokens=7), "info"),
    ("api-cap-ignored", "What goes over the cap is reasoning: some servers count that apart",
     reasoned(0), reasoned(290)),
    ("api-cap-ignored", "The API ran its own tools in the answer: then the count is of several answers",
     searched(False), searched(True)),
    ("api-logprobs-missing", "The answer holds no text",
     chat([HELLO], said("one"), logprobs=True), chat([HELLO], said(None, CALL), logprobs=True)),
    ("api-logprobs-missing", "The answer was cut, filtered or refused",
     chat([HELLO], said("one"), logprobs=True), chat([HELLO], said("one"), logprobs=True, finish="content_filter")),
    ("api-logprobs-missing", "The tokens hold more than the text: the end of a thought, or a stop string",
     probable("A", " reel."), probable("</think>", "A", " strip.", "<|im_end|>")),
    ("api-reasoning-unwanted", "The reasoning is empty", thought("The user asks"), thought("")),
    ("api-parameter-changed", "The answer repeats no parameter", CHANGED, repeats()),
    ("api-parameter-changed", "The two values are the same number", repeats(temperature=0.5), repeats(temperature=1.0)),
    ("api-stream-unasked", "The API decides about the form", streamed(), streamed(background=True)),
    ("api-stream-unasked", "The stream is a single error", streamed(),
     trip(CHAT, {"model": "gpt-5", "messages": [HELLO]}, sse({"error": {"message": "no", "type": "server_error"}}))),
    ("api-stream-unasked", "The recording has no body of the request", streamed(),
     trip(CHAT, b"", sse(chunk({"content": "A strip."}), chunk({}, "stop"), done=True))),
    ("call-args-damaged", "The request holds the text in the same form",
     _chat([asks("look")], calls(ESCAPED), 0), _chat([asks(f"look up {ESCAPED}")], calls(ESCAPED), 0)),
    ("call-args-damaged", "The text is HTML",
     _chat([asks("look")], calls(ESCAPED), 0), _chat([asks("look")], calls(f"<p>{ESCAPED}</p>"), 0)),
    ("answer-text-damaged", "The request holds the same",
     _chat([asks("hi")], says("[object Object]"), 0), _chat([asks(f"what is {OBJECT}?")], says(OBJECT), 0)),
    ("answer-text-damaged", "It is in code", MANGLED,
     _chat([asks("hi")], says("It reads `Z\u00c3\u00bcrich` there."), 0)),
    ("client-text-damaged", "It is a part of a longer text",
     _chat([asks(OBJECT)], says("What?"), 0), _chat([asks(f"Why does it print {OBJECT}?")], says("It is one."), 0)),
    ("client-text-damaged",
     "It is a place in a long system prompt whose name does not say what belongs there: then it is an info",
     _chat([asks("Summarize {{ text }}")], says("What?"), 0),
     chat([{"role": "system", "content": f"{'You help. ' * 40}Tools: ${{toolsList}}"}, HELLO], said("Hm.")), "info"),
    ("client-text-damaged", "It is an object behind a label, or a lost character, inside a message: then it is an info",
     _chat([asks(OBJECT)], says("What?"), 0),
     _chat([asks(f"What is due?\nContext: {OBJECT}")], says("What?"), 0), "info"),
    ("client-text-damaged", "The message talks about templates or code",
     _chat([asks("Summarize {{ text }}")], says("What?"), 0),
     _chat([asks("What does `{{ text }}` do?")], says("It prints."), 0)),
    ("client-text-damaged", "The message speaks of how characters look, and may quote them: then it is an info",
     _chat([asks("Weather in Z\u00c3\u00bcrich?")], says("What?"), 0),
     _chat([asks("Why does it show caf\u00c3\u00a9?")], says("It is UTF-8."), 0), "info"),
    ("client-offers-unknown-tool",
     "The request that got the call did not offer the tool: then `model-unknown-tool` says so",
     failing(UNKNOWN), failing(UNKNOWN, tools=[])),
    ("call-args-not-taken", "The call breaks the schema: then `model-args-break-schema` says so",
     executed("ToolError: 1 validation error for look_up\nkind\n  Field required"),
     executed("ToolError: 1 validation error for look_up\nword\n  Field required", "{}")),
    ("call-args-not-taken", "The argument is not in the schema: then the model made it up, and it is a warning",
     executed(UNEXPECTED), executed("f() got an unexpected keyword argument 'kind'", MADE_UP), "warning"),
    ("call-args-not-taken",
     "The tool refuses a value that the schema allows: then the model chose the value, and it is an info",
     executed(UNEXPECTED), executed("Input validation error: 'tape' is too old"), "info"),
    ("model-parroted", "The message is short", PARROT, _chat([asks("Hello there")], says("Hello there"), 0)),
    ("model-parroted", "The request asks to repeat, to correct or to translate",
     PARROT, _chat([asks("Repeat what I say."), says("Yes."), asks(QUESTION)], says(QUESTION), 0)),
    ("model-parroted", "The answer makes calls", PARROT,
     chat([user(QUESTION)], said(QUESTION, CALL))),
    ("model-same-answer", "The answer is short, or is given only twice and has less than 300 characters",
     THREE, answered("What is in it?", "How many rows?")),
    ("model-same-answer", "The questions are the same, or only ask to continue",
     THREE, answered("What?", "Please continue.", "Go on!")),
    ("api-usage-inconsistent", "The history was cut, and the input is smaller",
     shrunk([HELLO, said("x"), user("and?")]), shrunk([user("and?")])),
    ("api-usage-inconsistent", "The answer holds thoughts, which the output counts too",
     anthropic([asked("hi")], [words("A strip.")], usage=COUNTED),
     anthropic([asked("hi")], [THOUGHT, words("A strip.")], usage=COUNTED)),
    ("api-usage-inconsistent", "No earlier answer of the server has right counts: then it is an info",
     recounted(usage=(0, 9)), [chat([HELLO, said("x"), user("and what else?")], said("y"), usage=(0, 9))], "info"),
    ("api-usage-inconsistent", "The counts are those of the turn before, as of a test server: then it is an info",
     recounted(usage=(200, 10), given="x" * 1000), recounted(usage=(400, 10), given="x" * 1000), "info"),
    ("api-usage-inconsistent",
     "The history holds thoughts, media or the server's own tools, which may be counted once: then it is an info",
     recounted(usage=(90, 10)), recounted(SHOWN, usage=(90, 10)), "info"),
    ("api-usage-inconsistent",
     "The request offers tools that the API runs: the input of each of its own rounds is counted",
     offered(), offered({"type": "web_search_20250305", "name": "web_search"})),
    ("api-usage-inconsistent", "The input grew, and so did the tools, the settings, or what the API holds",
     recounted(usage=(4000, 10)), [recounted(usage=(4000, 10))[0], OTHER_TOOLS]),
    ("api-usage-inconsistent", "The request asks the API to shorten a long history",
     chat([user("so it was " * 400)], said("x"), usage=(100, 3)),
     chat([user("so it was " * 400)], said("x"), usage=(100, 3), transforms=["middle-out"])),
    ("api-usage-inconsistent", "Only thoughts are counted beside an answer: then it is an info",
     [recounted(usage=(4, 1))[0], thinking(0)], [recounted(usage=(4, 1))[0], thinking(10)], "info"),
    ("client-no-retry-on-transient", "The same was asked again in another thread of the run, such as of another API",
     [BUSY], [BUSY, anthropic([asked("what is a tape?")], [words("A strip.")], 1)]),
    ("client-media-as-text", "The text is short",
     tool_gave(f"data:image/png;base64,{PNG}", "shot"), tool_gave(f"data:image/png;base64,{PNG[:500]}", "shot")),
    ("client-media-as-text", "The user or the call asks for base64 or for a data URL",
     tool_gave(PNG, "shot"), tool_gave(PNG, "shot", "Give me the screen as base64.")),
    ("client-media-as-text",
     "The text has it as the image of an HTML page, and the API counts fewer tokens than that: it read the image",
     in_html(usage=(600, 9)), in_html(usage=(5, 9))),
    ("client-media-damaged", "The data does not begin as an image, as in a recording without its images",
     pictured(PIXELS), pictured("AAAAA")),
    ("client-media-unsupported", "The server runs on this machine or in a private network, and may read the address",
     at_file(), at_host(at_file(), "http://127.0.0.1:8080/v1/chat/completions")),
    ("client-media-type-wrong", "The API answered the request: then it is an info",
     pictured("/9j/AAAA"), pictured("/9j/AAAA", status=200), "info"),
    ("model-unknown-tool", "The call has neither a name nor an id: then `api-call-without-id` says so",
     chat([HELLO], said(None, ("call_1", "", "{}"))), chat([HELLO], said(None, ("", "", "{}")))),
    ("api-answer-lost", "The answer holds thoughts, or their tokens are not counted apart",
     anthropic([asked("hi")], [], usage=COUNTED), anthropic([asked("hi")], [THOUGHT], usage=COUNTED)),
    ("api-answer-lost", "A stop string may have ended it",
     anthropic([asked("hi")], [], usage=COUNTED), anthropic([asked("hi")], [], usage=COUNTED, stop_sequences=["x"])),
    ("error-as-text", "The request holds these words or the status: the model may speak of them",
     chat([HELLO], said(FAILED)), chat([user("What is Too Many Requests?")], said(FAILED))),
    ("error-as-text", "The request asks for JSON",
     chat([HELLO], said(FAILED_JSON)), chat([HELLO], said(FAILED_JSON), response_format={"type": "json_object"})),
    ("model-same-answer", "The answer has the id of the earlier one: then `api-answer-replayed` says so",
     THREE, [chat(json.loads(one.request.body)["messages"], said(LONG), index=n) if n == 0 else
             edited(chat(json.loads(one.request.body)["messages"], said(LONG), index=n), f"chatcmpl-{n}", "chatcmpl-0")
             for n, one in enumerate(THREE)]),
    ("model-plays-user", "The request itself holds such turns, or asks for a dialogue",
     PLAYS, _chat([asks("Write a dialogue about coats.")], says(PLAYED), 0)),
    ("model-plays-user", "The turns are in code",
     PLAYS, _chat([asks("Do I need a coat?")], says(f"See:\n```\n{PLAYED}\n```"), 0)),
    ("model-plays-user", "The answer begins with such a turn: it is a transcript",
     PLAYS, _chat([asks("Do I need a coat?")], says(PLAYED.partition("\n\n")[2]), 0)),
    ("model-plays-user", "The tag of a result is in the request too",
     _chat([asks("Do I need a coat?")], says(INVENTED), 0),
     _chat([asks("What is <tool_response> for, and do I need a coat?")], says(INVENTED), 0)),
    ("model-acted-twice", "The tool only reads, or nothing in its name says that it acts",
     TWICE, acted("queued", name="list_mail")),
    ("model-acted-twice", "The first call failed, or its result asks for it", TWICE, acted("failed: try again")),
    ("model-acted-twice", "Something was said in between", TWICE, acted("queued", between="Send it again.")),
    ("model-acted-twice", "The request no longer shows the first call: then the client forgot it",
     TWICE, acted("queued", forgets=True)),
    ("client-result-damaged", "A tool that reads files, logs or pages: they may hold it",
     tool_gave("Z\u00c3\u00bcrich", "weather"), tool_gave("Z\u00c3\u00bcrich", "read_file")),
    ("client-result-damaged", "The request held the same before",
     tool_gave("Z\u00c3\u00bcrich", "weather"), tool_gave("Z\u00c3\u00bcrich", "weather", "Is it Z\u00c3\u00bcrich?")),
    ("client-result-damaged",
     "It is prose with escapes of HTML: then it is an info",
     tool_gave("{&quot;rain&quot;: true}", "weather"), tool_gave("&quot;Rain&quot; is likely.", "weather"), "info"),
    ("result-text-twice", "A tool that reads files, logs or pages: they may hold it",
     tool_gave(FORECAST * 2, "weather"), tool_gave(FORECAST * 2, "read_file")),
    ("result-text-twice", "The text repeats one thing, as a list does",
     tool_gave(FORECAST * 2, "weather"), tool_gave("Rain in the north of Norway. " * 20, "weather")),
    ("result-text-twice", "The text has less than 200 characters: then it is an info",
     tool_gave(FORECAST * 2, "weather"), tool_gave("Rain in the north and sun in the south." * 2, "weather"), "info"),
    ("result-incomplete", "A result of the same tool said so before in the thread",
     tool_gave("rain [truncated]", "weather"), tool_gave("rain", "weather")),
    ("call-result-refused", "The words are somewhere in a longer result",
     executed("MCP error -32602: Invalid tools/call result: expected string"),
     executed("Notes of the day. " * 20 + "Invalid tools/call result")),
    ("model-repeats-itself", "The repeated piece is short and repeats a few times",
     _chat([asks("hi")], says(LOOPED), 0), _chat([asks("hi")], says("ha " * 12), 0)),
    ("model-repeats-itself", "The request asks for it",
     _chat([asks("hi")], says(LOOPED), 0), _chat([asks("Say it 20 times.")], says(LOOPED), 0)),
]  # fmt: skip
