"""boto3's bedrock-runtime: InvokeModel and InvokeModelWithResponseStream, on an Anthropic model."""

import json

import boto3
from emails import SYSTEM, TASK, TOOLS, TURNS, finish, run, variant

client = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": TASK}]
request = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 1000,
    "system": SYSTEM,
    "messages": messages,
    "tools": [{"name": n, "description": d, "input_schema": p} for n, (d, p) in TOOLS.items()],
}


def ask():
    sent = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "body": json.dumps(request)}
    if "streamed" not in variant():
        return json.loads(client.invoke_model(**sent)["body"].read())["content"]
    blocks = []
    for event in client.invoke_model_with_response_stream(**sent)["body"]:
        said = json.loads(event["chunk"]["bytes"])
        if said["type"] == "content_block_start":
            blocks.append({**said["content_block"], "json": ""})
        elif said["type"] == "content_block_delta" and "text" in said["delta"]:
            blocks[-1]["text"] += said["delta"]["text"]
        elif said["type"] == "content_block_delta":
            blocks[-1]["json"] += said["delta"]["partial_json"]
    for block in blocks:
        arguments = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(arguments)
    return blocks


answer = None
for _ in TURNS:
    content = ask()
    calls = [block for block in content if block["type"] == "tool_use"]
    if not calls:
        answer = "".join(block["text"] for block in content)
        break
    results = [{"type": "tool_result", "tool_use_id": c["id"], "content": run(c["name"], c["input"])} for c in calls]
    messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
finish(answer)
