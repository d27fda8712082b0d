"""Agents that go wrong on purpose, on the real SDKs through the real proxy: each fault is found, at its layer."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import boto3
import openai
import pytest
from end_to_end.loops import CLAUDE, rig

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all
from turntape.proxy.scripted import Fault

OPEN: dict[str, Any] = {"type": "object", "properties": {}}
FUNCTIONS = [
    {"type": "function", "function": {"name": n, "description": "Works on emails.", "parameters": OPEN}}
    for n in ("generate_email", "send_email")
]
TOOLS = [{"name": n, "input_schema": OPEN} for n in ("generate_email", "send_email")]

type Edit = Callable[[list[Any], dict[str, Any], int], None]
"""Changes the history and the other arguments before turn N is asked."""


def chat(base: str, edit: Edit, *, turns: int = 5, retries: int = 0, obey_finish: bool = False) -> None:
    """A loop on the openai SDK that appends what it got and `edit` spoils."""
    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1", max_retries=retries)
    history: list[Any] = [{"role": "system", "content": "You write emails."}, {"role": "user", "content": "go"}]
    asked: dict[str, Any] = {"model": "gpt-5", "tools": FUNCTIONS}
    for turn in range(1, turns + 1):
        edit(history, asked, turn)
        choice = client.chat.completions.create(messages=history, **asked).choices[0]
        calls: list[Any] = list(choice.message.tool_calls or [])
        kept = [{"id": c.id, "type": "function", "function": c.function.model_dump()} for c in calls]
        history.append(
            {"role": "assistant", "content": choice.message.content} | ({"tool_calls": kept} if kept else {})
        )
        if not calls or (obey_finish and choice.finish_reason == "stop"):
            break
        history += [{"role": "tool", "tool_call_id": c.id, "content": f"done {c.id}"} for c in calls]
    edit(history, asked, 99)


def messages(base: str, edit: Edit, *, turns: int = 5) -> None:
    """The same on the anthropic SDK."""
    client = anthropic.Anthropic(api_key="k", base_url=f"{base}/anthropic", max_retries=0)
    history: list[Any] = [{"role": "user", "content": "go"}]
    asked: dict[str, Any] = {"model": CLAUDE, "max_tokens": 500, "tools": TOOLS, "system": "You write emails."}
    for turn in range(1, turns + 1):
        edit(history, asked, turn)
        answer = client.messages.create(messages=history, **asked)
        fields = {"type", "text", "id", "name", "input"}
        history.append({"role": "assistant", "content": [b.model_dump(include=fields) for b in answer.content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return
        results = [{"type": "tool_result", "tool_use_id": c.id, "content": "done"} for c in calls]
        history.append({"role": "user", "content": results})


def faithful(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    """Changes nothing."""


def drops_a_result(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 2:
        del history[-1]["content"][0]


def drops_a_call_and_keeps_its_result(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 2:
        del history[-4]["tool_calls"][0]


def changes_arguments(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 2:
        history[-4]["tool_calls"][0]["function"]["arguments"] = '{"company":"Umbrella","tone":"rude"}'


def answers_twice(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 2:
        history.append(dict(history[-1]))


def writes_the_clock_into_the_system_prompt(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    asked["system"] = f"It is 2026-11-21 12:00:0{turn}. You write emails."


def reorders_the_tools(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 3:
        asked["tools"] = asked["tools"][::-1]


def forgets_a_tool(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    asked["tools"] = FUNCTIONS[:1]


def asks_for_a_number(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    properties = {"company": {"type": "integer"}, "language": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["company", "language"]}
    asked["tools"] = [{"type": "function", "function": {"name": "generate_email", "parameters": schema}}, FUNCTIONS[1]]


def forgets_the_beginning(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 3:
        del history[2:6]


def continues_without_end(history: list[Any], asked: dict[str, Any], turn: int) -> None:
    if turn == 5:
        history.append({"role": "user", "content": "continue"})


def story(run: Callable[..., None], edit: Edit = faithful, **more: Any) -> Callable[[str], None]:
    return lambda base: run(base, edit, **more)


def asks_on_after_the_end(base: str) -> None:
    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1")
    history: list[Any] = [{"role": "user", "content": "go"}]
    for _ in range(6):
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=FUNCTIONS).choices[0].message  # type: ignore[arg-type, call-overload]
        history.append(message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
        calls: list[Any] = list(message.tool_calls or [])
        history += [{"role": "tool", "tool_call_id": c.id, "content": "done"} for c in calls]


def asks_twice_at_once(base: str) -> None:
    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1")

    def ask(_: int) -> None:
        messages: Any = [{"role": "user", "content": "go"}]
        client.chat.completions.create(model="gpt-5", messages=messages, tools=FUNCTIONS, temperature=0)  # type: ignore[arg-type]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, range(2)))


def keeps_half_an_answer(base: str) -> None:
    client = openai.OpenAI(api_key="k", base_url=f"{base}/openai/v1", max_retries=0)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    asked: dict[str, Any] = {"model": "gpt-5", "tools": FUNCTIONS, **options}
    half = ""
    try:
        for chunk in client.chat.completions.create(messages=[{"role": "user", "content": "go"}], **asked):
            half += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    except Exception:
        history = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": half},
            {"role": "user", "content": "and now send them"},
        ]
        list(client.chat.completions.create(messages=history, **asked))


def spreads_results(base: str) -> None:
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=f"{base}/bedrock",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    tools = {"tools": [{"toolSpec": {"name": t["name"], "inputSchema": {"json": OPEN}}} for t in TOOLS]}
    history: list[Any] = [{"role": "user", "content": [{"text": "go"}]}]
    asked: dict[str, Any] = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "toolConfig": tools}
    content = client.converse(messages=history, **asked)["output"]["message"]["content"]
    history.append({"role": "assistant", "content": content})
    for block in content:
        if "toolUse" in block:
            result = {"toolUseId": block["toolUse"]["toolUseId"], "content": [{"text": "done"}]}
            history.append({"role": "user", "content": [{"toolResult": result}]})
    client.converse(messages=history, **asked)


PROVOKED: dict[str, tuple[Callable[[str], None], dict[int, Fault], str, str]] = {
    "drops a result": (story(messages, drops_a_result), {}, "client-missing-tool-result", "client"),
    "drops a call": (story(chat, drops_a_call_and_keeps_its_result), {}, "client-orphan-tool-result", "client"),
    "changes arguments": (story(chat, changes_arguments), {}, "client-assistant-mutated", "client"),
    "answers twice": (story(chat, answers_twice), {}, "client-duplicate-tool-result", "client"),
    "spreads results": (spreads_results, {}, "client-results-not-adjacent", "client"),
    "a clock in the system prompt": (
        story(messages, writes_the_clock_into_the_system_prompt),
        {},
        "client-system-prompt-changed",
        "client",
    ),
    "reorders the tools": (story(chat, reorders_the_tools), {}, "client-tools-changed", "client"),
    "forgets the beginning": (story(chat, forgets_the_beginning), {}, "client-history-truncated", "client"),
    "a tool that is not offered": (story(chat, forgets_a_tool), {}, "model-unknown-tool", "model"),
    "arguments against the schema": (story(chat, asks_for_a_number), {}, "model-args-break-schema", "model"),
    "arguments that are not JSON": (
        story(chat, turns=1),
        {1: Fault("bad_arguments")},
        "call-args-not-json",
        "model",
    ),
    "ignores `length`": (
        story(chat),
        {1: Fault("truncated_arguments")},
        "client-dispatched-partial-call",
        "client",
    ),
    "a call that the cap cut": (
        story(chat),
        {1: Fault("truncated_arguments")},
        "api-length-truncated-tool-call",
        "api",
    ),
    "a wrong finish": (story(chat), {2: Fault("wrong_finish")}, "api-finish-label-disagrees", "api"),
    "obeys a wrong finish": (
        story(chat, obey_finish=True),
        {2: Fault("wrong_finish")},
        "client-tool-calls-not-dispatched",
        "client",
    ),
    "an empty answer": (story(chat), {2: Fault("empty")}, "model-empty-response", "model"),
    "the SDK's own retries": (story(chat, retries=4), {1: Fault("status", 500)}, "client-retry-storm", "client"),
    "asks on after the end": (asks_on_after_the_end, {}, "client-continued-after-end", "client"),
    "asks twice at once": (asks_twice_at_once, {}, "client-duplicate-request", "client"),
    "keeps half an answer": (keeps_half_an_answer, {1: Fault("cut", 4)}, "client-stored-failed-turn", "client"),
}


ROOTS: dict[str, set[str]] = {
    "ignores `length`": {"api"},
    "obeys a wrong finish": {"api"},
    "the SDK's own retries": {"api", "client"},
}
"""Whom the roots blame, where it is not the layer of the fault alone."""

HARMLESS = {
    "a clock in the system prompt": "no cache was lost",
    "keeps half an answer": "the next attempt succeeded",
    "reorders the tools": "no cache was lost",
    "spreads results": "the API answered the request",
}
"""Faults that are found and are no more than an info, and why."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROVOKED)
def test_a_fault_of_a_real_client_is_found_at_its_layer(name: str, tape: Path, confdir: Path) -> None:
    play, faults, expected, layer = PROVOKED[name]
    with rig(tape, confdir, faults=faults) as up, contextlib.suppress(openai.APIError, anthropic.APIError):
        play(up.base)

    found: list[Any] = [f for done in label_all(Cassette.load(tape)) for f in list[Any](done.label["findings"])]  # type: ignore[call-overload]
    assert (expected, layer) in [(f["id"], f["layer"]) for f in found]
    assert all(f["evidence"] and f["fix"] for f in found)
    blamed = {f["layer"] for f in found if f["severity"] != "info" and not f["because_of"]}
    assert blamed == (set() if name in HARMLESS else ROOTS.get(name, {layer}))
