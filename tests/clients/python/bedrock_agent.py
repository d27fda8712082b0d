"""boto3's bedrock-runtime: Converse and ConverseStream."""

import json

import boto3
from emails import SYSTEM, TASK, TOOLS, TURNS, finish, run, variant

client = boto3.client("bedrock-runtime")
DECLARED = [{"toolSpec": {"name": n, "description": d, "inputSchema": {"json": p}}} for n, (d, p) in TOOLS.items()]
messages = [{"role": "user", "content": [{"text": TASK}]}]
request = {
    "modelId": "anthropic.claude-3-haiku-20240307-v1:0",
    "system": [{"text": SYSTEM}],
    "messages": messages,
    "toolConfig": {"tools": DECLARED},
}


def streamed():
    content, block = [], {"text": ""}
    for event in client.converse_stream(**request)["stream"]:
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


answer = None
for _ in TURNS:
    content = streamed() if "streamed" in variant() else client.converse(**request)["output"]["message"]["content"]
    calls = [block["toolUse"] for block in content if "toolUse" in block]
    if not calls:
        answer = "".join(block["text"] for block in content)
        break
    messages.append({"role": "assistant", "content": content})
    results = [
        {"toolResult": {"toolUseId": c["toolUseId"], "content": [{"text": run(c["name"], c["input"])}]}} for c in calls
    ]
    messages.append({"role": "user", "content": results})
finish(answer)
