"""Rules about the model and the API: for each exception, round trips at which a rule fires and twins that it spares.

A row is `(rule id, exception, a run in which the rule fires, the same run with the exception)`. Where the exception
makes the finding milder instead, a fifth value says what it becomes.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from judged import (
    FUNCTION,
    OLLAMA,
    RESPONSES,
    anthropic,
    asked,
    calls,
    gemini,
    given,
    gives,
    item_call,
    item_output,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import Chunk, Failure, RoundTrip

type Run = RoundTrip | Sequence[RoundTrip]
type Row = tuple[str, str, Run, Run] | tuple[str, str, Run, Run, str]

BASE = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5"}
STREAMED: dict[str, Any] = {"model": "gpt-5", "messages": [HELLO], "stream": True, "tools": TOOLS}
HI = {"role": "user", "content": "hi"}


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {**BASE, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def stream(*events: object, done: bool = False, fields: dict[str, Any] | None = None, **more: Any) -> RoundTrip:
    return trip(CHAT, STREAMED | (fields or {}), sse(*events, done=done), **more)


def reasoned(text: str, *, asks: str = "hi", finish: str = "stop") -> RoundTrip:
    """An answer that has only reasoning."""
    answer = {"role": "assistant", "content": None, "reasoning_content": text}
    return chat([{"role": "user", "content": asks}], answer, finish=finish)


def edited(one: RoundTrip, old: str, new: str) -> RoundTrip:
    """The round trip with something else in its answer."""
    assert one.response is not None
    assert old.encode() in one.response.body
    return replace(one, response=replace(one.response, content=one.response.body.replace(old.encode(), new.encode())))


def gave_up(seconds: float) -> RoundTrip:
    """A request to which nothing came back until the client closed the connection."""
    gone = Failure("client_gone", "the client closed the connection")
    one = replace(stream(), response=None, failure=gone, closed_first="client", first_byte_at=None)
    return replace(one, request_at=0, ended_at=int(seconds * 1e6))


NO_CHOICE = {**BASE, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}}


def joined_calls(first: str, second: str, *, split: bool) -> list[RoundTrip]:
    """Two calls under one index; the client distinguishes them by id, or joins their arguments."""
    arguments = ('{"word":"a"}', '{"word":"b"}')
    pieces = [
        {"index": 0, "id": name, "type": "function", "function": {"name": "look_up", "arguments": text}}
        for name, text in zip((first, second), arguments, strict=True)
    ]
    one = stream(*(chunk({"tool_calls": [piece]}) for piece in pieces), chunk({}, "tool_calls"), done=True)
    apart = said(None, (first, "look_up", arguments[0]), (second, "look_up", arguments[1]))
    joined = said(None, (first, "look_up", "".join(arguments)))
    results = [result(name, "a strip") for name in ((first, second) if split else (first,))]
    return [one, chat([HELLO, apart if split else joined, *results], said("Done."), index=1)]


def moved(one: RoundTrip, url: str, upstream: str | None = None) -> RoundTrip:
    return replace(one, request=replace(one.request, url=url), upstream=upstream)


def called(arguments: str, name: str = "look_up", **fields: Any) -> RoundTrip:
    return chat([HELLO], said(None, ("call_1", name, arguments)), **fields)


def looped(results: Sequence[str], name: str = "look_up", words: Sequence[str] = ("tape",)) -> list[RoundTrip]:
    """One call after the other, with these results; the words of the calls go round."""
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    tool = {"type": "function", "function": {**TOOLS[0]["function"], "name": name}}
    for n, text in enumerate(results):
        call = said(None, (f"call_{n}", name, f'{{"word":"{words[n % len(words)]}"}}'))
        trips.append(chat(history, call, index=n, tools=[tool]))
        history = [*history, call, result(f"call_{n}", text)]
    return trips


def served(model: str, answered: str) -> RoundTrip:
    return edited(chat([HELLO], said("x"), model=model), f'"{model}-2025-08-07"', f'"{answered}"')


DEPLOYMENT = "The request names a deployment, and not by the name of another size of the model"
ALIAS = "The request names a router, or an alias that does not state another size"


def at_azure(model: str, answered: str) -> RoundTrip:
    return moved(served(model, answered), "https://shop.openai.azure.com/openai/v1/chat/completions", "azure")


def sampled(*messages: dict[str, Any]) -> RoundTrip:
    """An answer with so many choices."""
    body = {"model": "gpt-5", "messages": [HELLO], "tools": TOOLS, "n": len(messages)}
    choices = [{"index": n, "message": m, "finish_reason": "tool_calls"} for n, m in enumerate(messages)]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return trip(
        CHAT, body, {"id": "c", "object": "chat.completion", "model": "gpt-5", "choices": choices, "usage": usage}
    )


def tier(**fields: Any) -> RoundTrip:
    return edited(chat([HELLO], said("x"), **fields), '"created":1', '"created":1,"service_tier":"default"')


def local(text: str, count: str = '"prompt_eval_count": 2050, ', **message: Any) -> RoundTrip:
    body = {"model": "qwen3", "messages": [{"role": "user", "content": text, **message}], "stream": False}
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop",
              "prompt_eval_count": 2050, "eval_count": 2}  # fmt: skip
    return edited(trip(OLLAMA, body, answer, upstream="ollama"), '"prompt_eval_count": 2050, ', count)


CODEX = "https://chatgpt.com/backend-api/codex/responses"


def started(*messages: dict[str, Any], word: str = "load") -> RoundTrip:
    """Ollama answers that it has loaded the model, or with another word and nothing else."""
    said_ = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": word}
    return trip(OLLAMA, {"model": "m", "messages": list(messages), "stream": False}, said_)


def begun(*, background: bool) -> RoundTrip:
    """An answer of the Responses API that is still in progress."""
    answer = {"id": "resp_0", "object": "response", "status": "in_progress", "output": [], "background": background}
    return trip(RESPONSES, {"model": "gpt-5.1", "input": [HELLO], "background": background}, answer)


def completes_empty(*history: dict[str, Any], text: bool = False) -> list[RoundTrip]:
    """An answer whose last event has no items, and a request with this history behind the question."""
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is a strip."}]}
    item = message if text else item_call()
    end = {"id": "resp_0", "object": "response", "status": "completed", "model": "gpt-5.1", "output": []}
    body = {"model": "gpt-5.1", "input": [HELLO], "tools": [FUNCTION], "stream": True}
    events = [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": end},
    ]
    first = trip("http://127.0.0.1:4000/v1/responses", body, sse(*events))
    return [first, responses([HELLO, *(history or (HELLO,))], [message], 1)]


def cached(read: int, *, at: float = 1, model: str = "gpt-5", first: dict[str, Any] = HELLO) -> list[RoundTrip]:
    """Two turns; the first read 4,000 tokens from the cache, the second this many."""

    def counted(one: RoundTrip, tokens: int) -> RoundTrip:
        return edited(one, '"cached_tokens":0', f'"cached_tokens":{tokens}')

    call = said(None, CALL)
    opened = chat([HELLO], call, usage=(5000, 10))
    following = chat([first, call, result("call_1", "x")], said("x"), index=1, at=at, usage=(5001, 10), model=model)
    return [counted(opened, 4000), counted(following, read)]


def marked_and_read(
    read: int, *, at: float = 1, model: str = "claude-sonnet-4-5", first: int = 4000
) -> list[RoundTrip]:
    """Two turns at an API that caches what is marked; the first read so many tokens, the second as many as `read`."""

    def usage(tokens: int) -> dict[str, int]:
        return {"input_tokens": 1000, "cache_read_input_tokens": tokens, "cache_creation_input_tokens": 4000 - tokens}

    ask = asked("what is a tape?")
    history = [ask, spoke(use()), asked(given())]
    return [
        anthropic([ask], [use()], usage=usage(first)),
        anthropic(history, [words("x")], 1, at=at, usage=usage(read), model=model),
    ]


def searched(*, repeats: bool) -> list[RoundTrip]:
    """Two turns with a search of the API, behind which it wrote its cache, and the search in the second or not."""

    def usage(wrote: int) -> dict[str, int]:
        return {"input_tokens": 2243, "cache_read_input_tokens": 0, "cache_creation_input_tokens": wrote}

    ask = asked("what is a tape?")
    search: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ]
    tools = [{"type": "web_search_20250305", "name": "web_search", "cache_control": {"type": "ephemeral"}}]
    history = [ask, spoke(*(search if repeats else []), words("A strip.")), asked("and a reel?")]
    return [
        anthropic([ask], [*search, words("A strip.")], usage=usage(11_913), tools=tools),
        anthropic(history, [words("x")], 1, usage=usage(12_032), tools=tools),
    ]


def with_request(turns: list[RoundTrip], **fields: object) -> list[RoundTrip]:
    """The turns, the last one with these fields in its request."""
    *before, last = turns
    body = json.dumps({**json.loads(last.request.body), **fields}).encode()
    return [*before, replace(last, request=replace(last.request, content=body))]


def with_mark(turns: list[RoundTrip], place: int | None) -> list[RoundTrip]:
    """The turns with a cache mark at the end of the first request, and in the message at `place` of the second."""
    made: list[RoundTrip] = []
    for one, at in zip(turns, (0, place), strict=True):
        body = json.loads(one.request.body)
        if at is not None:
            content = body["messages"][at]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            body["messages"][at]["content"] = [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]
        made.append(replace(one, request=replace(one.request, content=json.dumps(body).encode())))
    return made


def late(first: float, second: float) -> RoundTrip:
    """A stream whose events come at these seconds; its head comes at once."""
    pieces = [sse(chunk({"role": "assistant", "content": "It"})), sse(chunk({"content": " is."}, "stop"), done=True)]
    chunks = tuple(Chunk(len(piece), int(at * 1e6)) for piece, at in zip(pieces, (first, second), strict=True))
    one = stream(done=True)
    assert one.response is not None
    response = replace(one.response, content=b"".join(pieces), chunks=chunks)
    return replace(one, response=response, first_byte_at=100_000, ended_at=int(second * 1e6) + 10)


def answer(output: list[dict[str, Any]], **fields: Any) -> RoundTrip:
    """An answer of the Responses API with other fields."""
    one = responses([HI], output)
    assert one.response is not None
    body = json.loads(one.response.body) | fields
    return trip(RESPONSES, json.loads(one.request.body), body)


MADE_UP = {**item_call(), "name": "look_out"}
SEARCHES: dict[str, Any] = {"type": "tool_search"}
CRM: dict[str, Any] = {
    "type": "namespace", "name": "crm", "description": "Customers.",
    "tools": [{**FUNCTION, "name": "look_out", "defer_loading": True}],
}  # fmt: skip
AS_TEXT = '<tool_call>{"name": "look_up", "arguments": {"word": "tape"}}</tool_call>'
HIDDEN = calls() | {"thought": True}
NUMBER = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {"type": "integer"}}}}}  # fmt: skip
DAY = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {"type": "string", "format": "date"}}}}}  # fmt: skip
NAMESAKE = {"type": "function", "function": {"name": "look_up", "description": "Look words up.", "parameters": {
    "type": "object", "properties": {"wrd": {"type": "string"}}, "required": ["wrd"]}}}  # fmt: skip
BROKEN = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {"type": "nonsense"}}, "required": ["word"]}}}  # fmt: skip
STRIPPED = {"type": "function", "function": {"name": "look_up", "description": "Look up.", "parameters": {
    "type": "object", "properties": {}, "required": ["word"]}}}  # fmt: skip
VALUELESS = {"type": "function", "function": {"name": "look_up", "description": "Look up.", "parameters": {
    "type": "object", "properties": {"word": {"type": "string", "enum": []}}, "required": ["word"]}}}  # fmt: skip
IMPOSSIBLE = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"word": {}}, "required": ["word", "wrd"],
    "additionalProperties": False}}}  # fmt: skip
FREE = {"type": "custom", "name": "look_up", "description": "Look a word up."}
FREE_CALL = {"id": "c", "type": "custom_tool_call", "status": "completed", "call_id": "call_1", "name": "look_up",
             "input": "tape, please"}  # fmt: skip
SEARCH = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tape"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
]
ROUND = ("tape", "strip")
CUT_CALL = [chunk({"role": "assistant", "content": "It holds"})]
FORCED: dict[str, Any] = {"tool_choice": "required"}

JSON_MODE: dict[str, Any] = {"response_format": {"type": "json_object"}, "tools": None}


def shaped(text: str, strict: bool | None = None, **word: Any) -> RoundTrip:
    """An answer to a request that asks for a schema."""
    schema = {"type": "object", "properties": {"word": word or {"type": "string"}}, "required": ["word"]}
    form = {"type": "json_schema", "json_schema": {"name": "Word", "strict": strict, "schema": schema}}
    return chat([HELLO], said(text), response_format=form, tools=None)


def unworded(one: RoundTrip) -> RoundTrip:
    """The same answer without its finish word."""
    return edited(one, '"finish_reason":"stop"', '"finish_reason":null')


def spent(text: str = "It is a strip that holds a recording of", cap: int = 10, **fields: Any) -> RoundTrip:
    """An answer of exactly as many tokens as were allowed."""
    return chat([HELLO], said(text), usage=(100, cap), max_tokens=cap, **fields)


NO_ID = said(None, ("", "look_up", '{"word":"tape"}'))
UNAVAILABLE = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
SEARCH_FAILED = [SEARCH[0], {**SEARCH[1], "content": UNAVAILABLE}]
SEARCH_AGAIN = [{**SEARCH[0], "id": "srvtoolu_2"}, {**SEARCH[1], "tool_use_id": "srvtoolu_2"}]
RAISED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "1/0"}},
    {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1",
     "content": {"type": "code_execution_result", "return_code": 1, "stdout": "", "stderr": "no"}},
]  # fmt: skip
REACT = 'Action: look_up\nAction Input: {"word": "tape"}'


def answered_text(text: str) -> list[RoundTrip]:
    """A call in a text, and what the user says then."""
    return [chat([HELLO], said(REACT)), chat([HELLO, said(REACT), user(text)], said("Done."), index=1)]


MODEL: list[Row] = [
    ("model-unknown-tool", "The API holds tools: a stored prompt or a hosted tool that may bring some",
     responses([HI], [MADE_UP]), responses([HI], [MADE_UP], prompt={"id": "pmpt_1"})),
    ("model-unknown-tool", "The API holds tools: a stored prompt or a hosted tool that may bring some",
     responses([HI], [MADE_UP]),
     responses([HI], [MADE_UP], tools=[FUNCTION, {"type": "mcp", "server_label": "wiki", "server_url": "https://w.example"}])),
    ("model-unknown-tool", "The request searches for tools, and has the name somewhere or continues what the API holds",
     [responses([HI], [MADE_UP]), responses([HI], [MADE_UP], tools=[FUNCTION, SEARCHES])],
     [responses([HI], [MADE_UP], tools=[FUNCTION, SEARCHES, CRM]),
      responses([HI], [MADE_UP], tools=[FUNCTION, SEARCHES], previous_response_id="resp_9")]),
    ("model-unknown-tool", "A previous response may hold tools: then the tier is S",
     responses([HI], [MADE_UP]), responses([HI], [MADE_UP], previous_response_id="resp_9"), "S"),
    ("call-args-not-json", "The answer was cut or hit its cap",
     called('{"word": tape}'), called('{"word": tape}', finish="length")),
    ("call-args-not-json", "Empty arguments", called("{"), called("")),
    ("call-args-not-json", "A free-form tool",
     responses([HI], [{**item_call(), "arguments": "tape, please"}]),
     responses([HI], [FREE_CALL], tools=[FREE])),
    ("model-args-break-schema",
     "Several tools of the request have this name, and the arguments fit one: `client-bad-tool-schema` says so",
     called('{"wrd":"x"}'), called('{"wrd":"x"}', tools=[*TOOLS, NAMESAKE])),
    ("model-args-break-schema",
     "The schema itself cannot be compiled, or no arguments can fit it: then `client-tool-definition-damaged` says so",
     called('{"wrd":"x"}'), [called('{"wrd":"x"}', tools=[BROKEN]), called('{"wrd":"x"}', tools=[IMPOSSIBLE])]),
    ("model-args-break-schema",
     "The schema does not describe an argument that it requires: then `client-tool-definition-damaged` says so",
     called('{"wrd":"x"}'), called('{"wrd":"x"}', tools=[STRIPPED])),
    ("model-args-break-schema",
     "The schema allows no value at all for a parameter: then `client-tool-definition-damaged` says so",
     called('{"wrd":"x"}'), called('{"word":"x"}', tools=[VALUELESS])),
    ("model-args-break-schema", "A number written as a string, or the other way round: then it is a warning",
     called('{"word":"many"}', tools=[NUMBER]), called('{"word":"3"}', tools=[NUMBER]), "warning"),
    ("model-args-break-schema", "A text that has not the `format` of the schema: then it is a warning",
     called('{"word":[]}', tools=[DAY]), called('{"word":"soon"}', tools=[DAY]), "warning"),
    ("model-args-break-schema", "A number written as a string, or the other way round: then it is a warning",
     called('{"word":[]}'), called('{"word":3}'), "warning"),
    ("call-as-text", "No tools were offered",
     chat([HELLO], said(AS_TEXT)), chat([HELLO], said(AS_TEXT), tools=None)),
    ("call-as-text", "The name in the text is not one of the tools",
     chat([HELLO], said(AS_TEXT)), chat([HELLO], said(AS_TEXT.replace("look_up", "look_out")))),
    ("call-as-text", "The arguments lack what the tool requires",
     chat([HELLO], said(REACT)), chat([HELLO], said(REACT.replace("word", "verb")))),
    ("call-as-text", "More follows than markup or an invented result",
     chat([HELLO], said(REACT + "\nObservation: none")), chat([HELLO], said(REACT + "\nThat is all about it."))),
    ("call-as-text", "The call is introduced as an example, or is in code",
     chat([HELLO], said("I look:\n" + REACT)), chat([HELLO], said("For example:\n" + REACT))),
    ("call-as-text", "The call is introduced as an example, or is in code",
     chat([HELLO], said("It is\n" + REACT)), chat([HELLO], said("It is\n```text\n" + REACT + "\n```"))),
    ("call-as-text", "The user asks about the tool, or the request contains the call",
     chat([user("Use look_up.")], said(REACT)), chat([user("How does look_up work?")], said(REACT))),
    ("call-as-text", "The user asks about the tool, or the request contains the call",
     chat([user("Look.")], said(REACT)), chat([user("Repeat: " + REACT)], said(REACT))),
    ("call-as-text", "The answer makes the call as well",
     chat([HELLO], said(REACT.replace("tape", "vinyl"), CALL)), chat([HELLO], said(REACT, CALL))),
    ("call-as-text", "The markup of a call that the answer makes is left in the text: then it is an info",
     chat([HELLO], said(AS_TEXT.replace("tape", "vinyl"), CALL)), chat([HELLO], said(AS_TEXT, CALL)), "info"),
    ("call-as-text", "The client read the call from the text and answers with its result: then it is an info",
     answered_text("Go on."), answered_text("Observation: none"), "info"),
    ("api-answer-in-reasoning",
     "Nothing shows where the reasoning ends: then `model-empty-response` says that there is only reasoning",
     reasoned("Hm.</think>A strip."), reasoned("Hm. A strip.")),
    ("api-answer-in-reasoning", "The request holds the tag that ends a thought: the model may have written of it",
     reasoned("Hm.</think>A strip."), reasoned("Hm.</think>A strip.", asks="what is </think>?")),
    ("api-answer-in-reasoning", "The answer was cut or hit its cap",
     reasoned("Hm.</think>A strip."), reasoned("Hm.</think>A strip.", finish="length")),
    ("api-answer-in-reasoning", "The client ran the call all the same: then it is an info",
     gemini([turn("user", {"text": "hi"})], [HIDDEN]),
     [gemini([turn("user", {"text": "hi"})], [HIDDEN]),
      gemini([turn("user", {"text": "hi"}), turn("model", HIDDEN), turn("user", gives())], [{"text": "done"}], 1)],
     "info"),
    ("model-empty-response", "The API ran its own tools in the answer",
     anthropic([asked("hi")], [], usage={"output_tokens": 3}), anthropic([asked("hi")], SEARCH)),
    ("model-empty-response", "The request has no message: it only loads the model, as Ollama's does",
     started(HELLO, word="stop"), started()),
    ("model-empty-response", "The request asks for a single token",
     chat([HELLO], said(""), max_tokens=2), chat([HELLO], said(""), max_tokens=1)),
    ("model-empty-response", "The answer is still queued",
     answer([]), answer([], status="queued", background=True)),
    ("model-repeated-call", "The results differ",
     looped(["none"] * 4), looped(["1 of 4", "2 of 4", "3 of 4", "4 of 4"])),
    ("model-repeated-call", "The tool is one that waits or polls",
     looped(["none"] * 4), looped(["none"] * 4, "check_status")),
    ("tool-choice-violated", "The answer was cut",
     stream(*CUT_CALL, chunk({}, "stop"), done=True, fields=FORCED), stream(*CUT_CALL, fields=FORCED)),
    ("tool-choice-violated", "The answer hit its cap",
     chat([HELLO], said("It"), **FORCED), chat([HELLO], said("It"), finish="length", **FORCED)),
    ("tool-choice-violated", "The answer was filtered",
     chat([HELLO], said("It"), **FORCED), chat([HELLO], said("It"), finish="content_filter", **FORCED)),
    ("tool-choice-violated", "The model refused",
     chat([HELLO], said("It"), **FORCED), chat([HELLO], said(None) | {"refusal": "No."}, **FORCED)),
    ("model-ping-pong", "The arguments change",
     looped(["x"] * 7, words=ROUND), looped(["x"] * 7, words=("a", "b", "c", "d", "e", "f", "g"))),
    ("model-ping-pong", "The results change",
     looped(["x"] * 7, words=ROUND), looped(["1", "2", "3", "4", "5", "6", "7"], words=ROUND)),
    ("model-ping-pong", "A tool of the cycle waits or polls",
     looped(["x"] * 7, words=ROUND), looped(["x"] * 7, "poll_job", words=ROUND)),
    ("api-format-not-enforced", "The request leaves the schema to the model (`strict` is false or not set)",
     shaped('{"word": []}', True), [shaped('{"word": []}'), shaped('{"word": []}', False)]),
    ("api-format-not-enforced",
     "The answer was cut, filtered or refused, or a stop string may have ended it",
     chat([HELLO], said('{"wo'), **JSON_MODE),
     [chat([HELLO], said('{"wo'), finish="length", **JSON_MODE),
      chat([HELLO], said('{"a": '), stop=["\n"], **JSON_MODE)]),
    ("api-format-not-enforced",
     "Another finding says what is wrong with the text, as a thought or tokens in front of the JSON",
     chat([HELLO], said("It is a."), **JSON_MODE), chat([HELLO], said('so</think>{"a": 1}'), **JSON_MODE)),
    ("api-format-not-enforced",
     "The JSON is in a code fence, or only the type or the `format` of a value is wrong: then it is a warning",
     chat([HELLO], said("a"), **JSON_MODE), chat([HELLO], said("```json\n{}\n```"), **JSON_MODE), "warning"),
    ("api-format-not-enforced",
     "The JSON is in a code fence, or only the type or the `format` of a value is wrong: then it is a warning",
     shaped('{"word": []}', True), shaped('{"word": 5}', True), "warning"),
    ("model-answer-not-json", "The answer was cut, filtered or refused",
     chat([HELLO], said('{"wo'), **JSON_MODE), chat([HELLO], said('{"wo'), finish="length", **JSON_MODE)),
    ("model-answer-not-json", "The answer was cut, filtered or refused",
     chat([HELLO], said("No"), **JSON_MODE), chat([HELLO], said("No"), finish="content_filter", **JSON_MODE)),
    ("model-answer-not-json", "The answer was cut, filtered or refused",
     chat([HELLO], said("No"), **JSON_MODE), chat([HELLO], said("No") | {"refusal": "No."}, **JSON_MODE)),
    ("model-answer-not-json", "The answer holds calls",
     chat([HELLO], said("Wait"), **JSON_MODE), chat([HELLO], said("Wait", CALL), **JSON_MODE)),
    ("model-answer-not-json", "A stop string of the request may have ended it",
     chat([HELLO], said('{"a": '), **JSON_MODE), chat([HELLO], said('{"a": '), stop=["\n"], **JSON_MODE)),
    ("model-answer-not-json", "The JSON is in a code fence: then it is a warning",
     chat([HELLO], said("a"), **JSON_MODE), chat([HELLO], said("```json\n{}\n```"), **JSON_MODE), "warning"),
    ("model-answer-breaks-schema", "The schema itself cannot be compiled",
     shaped('{"word": []}'), shaped('{"word": []}', type="nonsense")),
    ("model-answer-breaks-schema", "A number written as a string, or the other way round: then it is a warning",
     shaped('{"word": []}'), shaped('{"word": 5}'), "warning"),
    ("model-answer-breaks-schema", "A text that has not the `format` of the schema: then it is a warning",
     shaped('{"word": []}'), shaped('{"word": "soon"}', type="string", format="date"), "warning"),
]  # fmt: skip

API: list[Row] = [
    ("usage-missing", "The answer failed",
     chat([HELLO], said("x"), usage=None),
     chat([HELLO], status=500, error={"error": {"message": "no", "type": "server_error"}})),
    ("usage-missing", "The answer was cut",
     stream(*CUT_CALL, chunk({}, "stop"), done=True), stream(*CUT_CALL)),
    ("api-model-substituted", "A dated snapshot of the requested model answered",
     served("gpt-5", "gpt-5-mini-2025-08-07"), served("gpt-5", "gpt-5-2025-08-07")),
    ("api-model-substituted",
     "The answer spells the same name differently: with a revision, region, vendor or precision, or shortened",
     served("claude-opus-4-6", "us.anthropic.claude-sonnet-4-6-v1"),
     served("claude-opus-4-6", "us.anthropic.claude-opus-4-6-v1")),
    ("api-model-substituted", DEPLOYMENT,
     served("gpt-5", "gpt-4o"), at_azure("gpt-5", "gpt-4o")),
    ("api-model-substituted", DEPLOYMENT, at_azure("gpt-5", "gpt-5-mini"), at_azure("my-gpt-5", "gpt-5-mini")),
    ("api-model-substituted", ALIAS,
     served("mistral-large-latest", "mistral-small-2506"), served("mistral-large-latest", "mistral-large-2411")),
    ("api-model-substituted", DEPLOYMENT,
     served("gpt-5", "gpt-4o"), served("ft:gpt-5:shop", "gpt-4o")),
    ("api-model-substituted", DEPLOYMENT,
     served("gpt-5", "gpt-4o"), served("arn:aws:bedrock:eu-west-1:1:gpt-5", "gpt-4o")),
    ("api-model-substituted", ALIAS,
     served("gpt-4o", "gpt-4.1"), served("gpt-latest", "gpt-4.1")),
    ("api-model-substituted", ALIAS,
     served("gpt-4o", "gpt-4.1"), served("openrouter/gpt-4o", "gpt-4.1")),
    ("api-model-substituted", ALIAS,
     served("deepseek-v3", "deepseek-v4-flash"), served("deepseek-reasoner", "deepseek-v4-flash")),
    ("api-service-tier-changed", "The request asks for `auto`", tier(service_tier="flex"), tier(service_tier="auto")),
    ("api-service-tier-changed", "The request names no tier", tier(service_tier="flex"), tier()),
    ("api-cache-drop", "The prefix changed: then the client is to blame",
     cached(0), [cached(0)[0], replace(cached(0, first=user("what is a strip?"))[1], index=1)]),
    ("api-cache-drop", "The model changed", cached(0), cached(0, model="gpt-5.1")),
    ("api-cache-drop", "A setting changed on which the cache depends: `tool_choice`, thinking, effort",
     marked_and_read(0), with_request(marked_and_read(0), tool_choice={"type": "any"})),
    ("api-cache-drop", "No cache mark of the request looks back as far as what was kept",
     with_mark(marked_and_read(0), 2), with_mark(marked_and_read(0), None)),
    ("api-cache-drop", "Fewer tokens were lost than any cache holds",
     marked_and_read(0, first=1024), marked_and_read(0, first=1000)),
    ("api-cache-drop",
     "The cache was written behind calls of the API's own tools, which the request does not repeat",
     searched(repeats=True), searched(repeats=False)),
    ("api-cache-drop", "The cache may have expired: then it is an info",
     marked_and_read(0), marked_and_read(0, at=900), "info"),
    ("api-cache-drop", "The API caches automatically and without a guarantee: then it is an info",
     marked_and_read(0), cached(0), "info"),
    ("api-prompt-truncated-silently", "The request holds images",
     local("x " * 40_000), local("x " * 40_000, images=["QUJD" * 100])),
    ("api-prompt-truncated-silently", "The server had the prompt in its cache and does not count it",
     local("x " * 40_000), local("x " * 40_000, count="")),
    ("api-no-first-byte", "The client left within a minute, with no sign that a timeout ended the wait",
     gave_up(60), gave_up(59)),
    ("api-no-first-byte", "Some of the answer had arrived",
     gave_up(70), replace(gave_up(70), response=stream(*CUT_CALL).response)),
    ("api-no-choice", "The stream was cut",
     stream(NO_CHOICE, done=True), stream(NO_CHOICE, failure=Failure("cut", "the server closed"))),
    ("api-no-choice", "The API says why: a filter, or an error",
     trip(GEMINI, {"contents": [HI]}, {"candidates": [], "usageMetadata": {}, "modelVersion": "gemini-3"}),
     trip(GEMINI, {"contents": [HI]}, {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}})),
    ("api-tool-call-index-collision", "The client understood the calls and ran them all: then it is an info",
     joined_calls("c1", "c2", split=False), joined_calls("c1", "c2", split=True), "info"),
    ("api-stream-cut", "The client closed first",
     replace(stream(*CUT_CALL), closed_first="server"), replace(stream(*CUT_CALL), closed_first="client")),
    ("api-stream-cut", "The finish word had already arrived",
     stream(*CUT_CALL), stream(*CUT_CALL, chunk({}, "stop"))),
    ("api-stream-cut", "The answer is made in the background",
     trip(RESPONSES, {"model": "gpt-5", "input": "hi", "stream": True},
          sse({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}, names=True)),
     answer([], status="in_progress", background=True)),
    ("api-stream-stalled", "The client waits for the first token, up to five minutes", late(1, 200), late(200, 201)),
    ("api-stream-stalled", "The client waits for the first token, up to five minutes", late(301, 302), late(299, 300)),
    ("api-malformed-stream", "The stream was cut: its last event may be broken",
     trip(CHAT, STREAMED, sse(*CUT_CALL) + b'data: {"id"\n\n' + sse(chunk({}, "stop"), done=True)),
     trip(CHAT, STREAMED, sse(*CUT_CALL) + b'data: {"id"\n\n')),
    ("api-duplicate-tool-call-id", "The API gave the same answer again",
     [chat([HELLO], said(None, CALL)),
      chat([HELLO, said(None, CALL), result("call_1", "x")], said(None, CALL), index=1)],
     [chat([HELLO], said(None, CALL)), chat([HELLO], said(None, CALL), index=1)]),
    ("api-duplicate-tool-call-id", "Several answers were sampled, and each has the id once",
     sampled(said(None, CALL, CALL)), sampled(said(None, CALL), said(None, CALL))),
    ("api-duplicate-tool-call-id", "The other call is of an earlier turn: then it is an info",
     sampled(said(None, CALL, CALL)),
     [chat([HELLO], said(None, CALL)),
      chat([HELLO, said(None, CALL), result("call_1", "x")], said(None, CALL), index=1)], "info"),
    ("api-overloaded", "The error text shows that the request was at fault",
     chat([HELLO], status=500, error={"error": {"message": "no luck", "type": "server_error"}}),
     chat([HELLO], status=500, error={"error": {"message": "Unsupported parameter: 'top_k'", "type": "x"}})),
    ("api-truncated-text-mislabelled", "The answer holds calls",
     spent(), chat([HELLO], said("It is a strip that holds", CALL), usage=(100, 10), max_tokens=10)),
    ("api-truncated-text-mislabelled", "The request asks for a single token", spent(""), spent("", 1)),
    ("api-truncated-text-mislabelled", "The text does not end in the middle: then it is an info",
     spent(), spent("It is a strip that holds a recording."), "info"),
    ("api-finish-missing", "The answer was cut",
     stream(*CUT_CALL, done=True), stream(*CUT_CALL)),
    ("api-finish-missing", "The API has no finish words",
     unworded(chat([HELLO], said("x"))),
     trip("https://api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.3", {"messages": [HI]},
          {"success": True, "result": {"response": "x"}})),
    ("api-finish-missing", "The provider never sends one: then it is an info",
     unworded(chat([HELLO], said("x"))),
     moved(unworded(chat([HELLO], said("x"))), "https://a.snowflakecomputing.com/v1/chat/completions", "snowflake"),
     "info"),
    ("api-finish-missing", "A mark of the API says that the answer is complete, as Ollama's `done`: then it is an info",
     unworded(chat([HELLO], said("x"))),
     trip("http://127.0.0.1:11434/api/chat", {"model": "m", "messages": [HI], "stream": False},
          {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "x"}, "done": True}), "info"),
    ("api-finish-missing", "There are calls: then `api-finish-label-disagrees` says it",
     unworded(chat([HELLO], said("x"))), unworded(chat([HELLO], said("x", CALL), finish="stop"))),
    ("api-finish-unknown", "The answer was cut",
     stream(*CUT_CALL, chunk({}, "abort"), done=True), stream(*CUT_CALL)),
    ("api-finish-unknown", "There are calls: then `api-finish-label-disagrees` says it",
     chat([HELLO], said("x"), finish="gone"), chat([HELLO], said("x", CALL), finish="gone")),
    ("api-finish-unknown", "Its meaning is plain, as of another API's word or spelling: then it is an info",
     chat([HELLO], said("x"), finish="gone"), chat([HELLO], said("x"), finish="end_turn"), "info"),
    ("api-finish-unknown", "The answer is made in the background", begun(background=False), begun(background=True)),
    ("api-finish-unknown", "The request has no message: it only loads the model, as Ollama's does",
     started(HELLO), started()),
    ("api-final-event-empty", "Codex's API, which sends none on purpose",
     completes_empty(), [moved(one, CODEX) for one in completes_empty()]),
    ("api-final-event-empty", "The client collected the items from the stream: then it is an info", completes_empty(),
     completes_empty(item_call(), item_output()), "info"),
    ("api-final-event-empty",
     "A gateway completes an answer of text, and no request shows what the client did with it: then it is an info",
     [moved(completes_empty(text=True)[0], RESPONSES)], completes_empty(text=True)[:1], "info"),
    ("api-stream-not-sent", "The body is an error",
     chat([HELLO], said("x"), stream=True),
     trip(CHAT, STREAMED, {"error": {"message": "no luck", "type": "server_error"}})),
    ("api-call-without-id", "The API does not need ids",
     chat([HELLO], NO_ID), gemini([turn("user", {"text": "hi"})], [calls()])),
    ("api-call-without-id", "The client ran the calls and none failed: then it is an info",
     chat([HELLO], NO_ID),
     [chat([HELLO], NO_ID), chat([HELLO, said(None, CALL), result("call_1", "a strip")], said("x"), index=1)], "info"),
    ("server-tool-failed", "The same tool succeeded later in the answer: then it is an info",
     anthropic([asked("hi")], [*SEARCH_FAILED, words("x")]),
     anthropic([asked("hi")], [*SEARCH_FAILED, *SEARCH_AGAIN, words("x")]), "info"),
    ("server-tool-failed", "A program of the model failed, and not the tool that ran it: then it is an info",
     anthropic([asked("hi")], [*SEARCH_FAILED, words("x")]),
     anthropic([asked("hi")], [*RAISED, words("x")]), "info"),
    ("server-tool-failed", "The answer paused, was cut, or waits for results of the client",
     anthropic([asked("hi")], [SEARCH_FAILED[0], words("x")]),
     anthropic([asked("hi")], [SEARCH_FAILED[0], words("x")], stop="pause_turn")),
    ("server-tool-failed", "The answer holds a result under another id",
     anthropic([asked("hi")], [SEARCH_FAILED[0], words("x")]),
     anthropic([asked("hi")], [SEARCH_FAILED[0], SEARCH_AGAIN[1], words("x")])),
    ("api-truncated-call-mislabelled",
     "The answer has fewer tokens than were allowed: then the model wrote invalid JSON",
     called('{"word":"ta', usage=(100, 50), max_tokens=50), called('{"word":"ta', usage=(100, 10), max_tokens=50)),
    ("api-truncated-call-mislabelled",
     "The arguments do not end inside a token: then the model wrote invalid JSON",
     called('{"word":"ta'), called('{"word":"tape",')),
    ("api-finish-label-disagrees", "The API has no finish word for tool calls (Gemini, Responses, Ollama)",
     called('{"word":"tape"}', finish="stop"), gemini([turn("user", {"text": "hi"})], [calls()])),
    ("api-finish-label-disagrees", "The API has no finish word for tool calls (Gemini, Responses, Ollama)",
     called('{"word":"tape"}', finish="stop"), responses([HI], [item_call()])),
    ("api-finish-label-disagrees", "The request forced the tool: then it is an info",
     called('{"word":"tape"}', finish="stop"), called('{"word":"tape"}', finish="stop", **FORCED), "info"),
    ("strict-not-set", "Servers other than OpenAI's and Azure's",
     chat([HELLO], said("x")),
     moved(chat([HELLO], said("x")), "https://api.groq.com/openai/v1/chat/completions", "groq")),
]  # fmt: skip
