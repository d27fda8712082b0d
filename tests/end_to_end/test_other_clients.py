"""The other vendors' own clients run the story through the proxy, streamed and whole, and are read right."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from end_to_end.loops import TOOLS, rig

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all

EMPTY = {"type": "object", "properties": {}}
FUNCTIONS = [{"type": "function", "function": {"name": n, "description": "d", "parameters": EMPTY}} for n in TOOLS]
TURNS = range(6)


def gemini(base: str, streamed: bool) -> None:
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=f"{base}/gemini"))
    declared = [types.FunctionDeclaration(name=n, parameters_json_schema=EMPTY) for n in TOOLS]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    history: list[Any] = [types.Content(role="user", parts=[types.Part(text="go")])]
    for _ in TURNS:
        asked: Any = {"model": "gemini-2.5-pro", "contents": history, "config": config}
        if streamed:
            chunks: Any = client.models.generate_content_stream(**asked)
            parts = [p for c in chunks for p in c.candidates[0].content.parts if p.text or p.function_call]
        else:
            answer: Any = client.models.generate_content(**asked)
            parts = answer.candidates[0].content.parts
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return
        history.append(types.Content(role="model", parts=parts))
        results = [types.FunctionResponse(id=c.id, name=c.name, response={"output": "done"}) for c in calls]
        history.append(types.Content(role="user", parts=[types.Part(function_response=r) for r in results]))


def bedrock(base: str, streamed: bool) -> None:
    import boto3

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=f"{base}/bedrock",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    tools = {"tools": [{"toolSpec": {"name": n, "inputSchema": {"json": EMPTY}}} for n in TOOLS]}
    history: list[Any] = [{"role": "user", "content": [{"text": "go"}]}]
    for _ in TURNS:
        asked: Any = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "messages": history, "toolConfig": tools}
        content = (
            _converse_stream(client, asked) if streamed else client.converse(**asked)["output"]["message"]["content"]
        )
        calls = [block["toolUse"] for block in content if "toolUse" in block]
        if not calls:
            return
        history.append({"role": "assistant", "content": content})
        results = [{"toolResult": {"toolUseId": c["toolUseId"], "content": [{"text": "done"}]}} for c in calls]
        history.append({"role": "user", "content": results})


def _converse_stream(client: Any, asked: Any) -> list[Any]:
    content: list[Any] = []
    block: Any = {"text": ""}
    for event in client.converse_stream(**asked)["stream"]:
        if "contentBlockStart" in event:
            block = {"toolUse": {**event["contentBlockStart"]["start"]["toolUse"], "input": ""}}
        elif "contentBlockDelta" in event:
            delta = event["contentBlockDelta"]["delta"]
            if "text" in delta:
                block["text"] += delta["text"]
            else:
                block["toolUse"]["input"] += delta["toolUse"]["input"]
        elif "contentBlockStop" in event:
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
            content.append(block)
            block = {"text": ""}
    return content


def ollama(base: str, streamed: bool) -> None:
    import ollama as library

    client = library.Client(host=f"{base}/ollama")
    history: list[Any] = [{"role": "user", "content": "go"}]
    for _ in TURNS:
        asked: Any = {"model": "llama3.2", "messages": history, "tools": FUNCTIONS}
        answers = list(client.chat(**asked, stream=True)) if streamed else [client.chat(**asked)]
        calls = [call for answer in answers for call in answer.message.tool_calls or []]
        if not calls:
            return
        text = "".join(answer.message.content or "" for answer in answers)
        history.append({"role": "assistant", "content": text, "tool_calls": [c.model_dump() for c in calls]})
        history += [{"role": "tool", "tool_name": c.function.name, "content": "done"} for c in calls]


def cohere(base: str, streamed: bool) -> None:
    import cohere as library

    client = library.ClientV2(api_key="k", base_url=f"{base}/cohere")
    history: list[Any] = [{"role": "user", "content": "go"}]
    for _ in TURNS:
        asked: Any = {"model": "command-a-03-2025", "messages": history, "tools": FUNCTIONS}
        calls: list[Any] = []
        plan = ""
        if streamed:
            for event in client.chat_stream(**asked):
                if event.type == "tool-plan-delta":
                    plan += event.delta.message.tool_plan  # type: ignore[union-attr, operator]
                if event.type == "tool-call-start":
                    calls.append(event.delta.message.tool_calls)  # type: ignore[union-attr]
                elif event.type == "tool-call-delta":
                    calls[-1].function.arguments += event.delta.message.tool_calls.function.arguments  # type: ignore[union-attr]
        else:
            message = client.chat(**asked).message
            calls, plan = list(message.tool_calls or []), message.tool_plan or ""
        if not calls:
            return
        history.append({"role": "assistant", "tool_plan": plan, "tool_calls": [c.model_dump() for c in calls]})
        history += [{"role": "tool", "tool_call_id": c.id, "content": "done"} for c in calls]


def mistral(base: str, streamed: bool) -> None:
    from mistralai.client import Mistral

    client = Mistral(api_key="k", server_url=f"{base}/mistral")
    history: list[Any] = [{"role": "user", "content": "go"}]
    for _ in TURNS:
        asked: Any = {"model": "mistral-large-latest", "messages": history, "tools": FUNCTIONS}
        if streamed:
            deltas = [e.data.choices[0].delta for e in client.chat.stream(**asked)]
            calls = [c for delta in deltas for c in delta.tool_calls or []]
            text = "".join(str(delta.content or "") for delta in deltas)
        else:
            message: Any = client.chat.complete(**asked).choices[0].message
            calls, text = list(message.tool_calls or []), message.content
        if not calls:
            return
        history.append({"role": "assistant", "content": text, "tool_calls": [c.model_dump() for c in calls]})
        history += [{"role": "tool", "tool_call_id": c.id, "name": c.function.name, "content": "done"} for c in calls]


CLIENTS: dict[str, Callable[[str, bool], None]] = {
    "gemini-generate": gemini,
    "bedrock-converse": bedrock,
    "ollama-chat": ollama,
    "cohere-v2": cohere,
    "mistral-chat": mistral,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", CLIENTS)
def test_a_vendors_client_runs_the_story(protocol: str, streamed: bool, tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up:
        CLIENTS[protocol](up.base, streamed)

    labels: list[dict[str, Any]] = [done.label for done in label_all(Cassette.load(tape))]
    assert [
        (label["protocol"], label["turn"], label["api"]["effective"], label["client"]["outcome"]) for label in labels
    ] == [(protocol, turn, "tool_calls", "dispatched") for turn in (1, 2, 3)] + [(protocol, 4, "complete", "ended")]
    assert [len(label["model"]["tool_calls"]) for label in labels] == [3, 2, 1, 0]
    assert [finding for label in labels for finding in label["findings"]] == []
    assert {label["thread"] for label in labels} == {"t1"}
