"""Bedrock Converse and ConverseStream (botocore 1.44 service model, read 2026-11-21)."""

from collections.abc import Mapping
from urllib.parse import unquote

import orjson

from turntape.cassettes.framing.encode import aws_event

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, pieces, words

FINISH = {"calls": "tool_use", "stop": "end_turn", "length": "max_tokens"}


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    segments = path.partition("?")[0].split("/")
    model = unquote(segments[-2])
    return Ask(
        path, headers, fields, model, segments[-1] == "converse-stream", by_role(fields.get("messages")), len(body)
    )


def _usage(answer: Answer) -> Json:
    sent, cached, said = answer.tokens
    return {
        "inputTokens": sent - cached,
        "outputTokens": said,
        "totalTokens": sent + said,
        "cacheReadInputTokens": cached,
        "cacheWriteInputTokens": 0,
    }


def whole(answer: Answer) -> object:
    content: list[Json] = [{"text": answer.text}] if answer.text else []
    for identity, name, arguments in answer.calls:
        try:
            value = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            value = {"unparsed": arguments}
        content.append({"toolUse": {"toolUseId": identity, "name": name, "input": value}})
    return {
        "metrics": {"latencyMs": 512},
        "output": {"message": {"content": content, "role": "assistant"}},
        "stopReason": FINISH[answer.finish],
        "usage": _usage(answer),
    }


def stream(answer: Answer) -> list[bytes]:
    frames = [aws_event({"role": "assistant", "p": "abcd"}, "messageStart")]
    place = 0
    if answer.text:
        frames += [
            aws_event({"contentBlockIndex": 0, "delta": {"text": word}, "p": "abcdef"}, "contentBlockDelta")
            for word in words(answer.text)
        ]
        frames.append(aws_event({"contentBlockIndex": 0, "p": "ab"}, "contentBlockStop"))
        place = 1
    for identity, name, arguments in answer.calls:
        start = {"toolUse": {"toolUseId": identity, "name": name}}
        frames.append(aws_event({"contentBlockIndex": place, "start": start, "p": "abc"}, "contentBlockStart"))
        frames += [
            aws_event(
                {"contentBlockIndex": place, "delta": {"toolUse": {"input": piece}}, "p": "a"}, "contentBlockDelta"
            )
            for piece in pieces(arguments)
        ]
        frames.append(aws_event({"contentBlockIndex": place, "p": "abcd"}, "contentBlockStop"))
        place += 1
    frames.append(aws_event({"stopReason": FINISH[answer.finish], "p": "abc"}, "messageStop"))
    frames.append(aws_event({"metrics": {"latencyMs": 512}, "usage": _usage(answer), "p": "ab"}, "metadata"))
    return frames


def error(status: int, message: str) -> object:
    return {"message": message}


BEDROCK_CONVERSE = Shape(
    name="bedrock-converse",
    matches=lambda path: path.endswith(("/converse", "/converse-stream")),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="application/vnd.amazon.eventstream",
    error=error,
    error_event=aws_event(
        {"message": "The system encountered an unexpected error"}, "internalServerException", "exception"
    ),
    prefix="tooluse_",
)
