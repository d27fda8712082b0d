"""Ollama's own /api/chat: NDJSON, calls without ids (ollama 0.6 types, read 2026-11-21)."""

from collections.abc import Mapping

import orjson

from ..answer import Answer, Ask, Json, Shape, by_role, fields_of, words

CREATED = "2026-06-01T12:00:00.000000Z"


def ask(path: str, headers: Mapping[str, str], body: bytes) -> Ask:
    fields = fields_of(body)
    model, streamed = str(fields.get("model", "llama3.2")), fields.get("stream") is not False
    return Ask(path, headers, fields, model, streamed, by_role(fields.get("messages")), len(body))


def _calls(answer: Answer) -> list[Json]:
    calls: list[Json] = []
    for _, name, arguments in answer.calls:
        try:
            value = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            value = {"unparsed": arguments}
        calls.append({"function": {"name": name, "arguments": value}})
    return calls


def _line(answer: Answer, message: Json, done: bool) -> Json:
    line: Json = {"model": answer.ask.model, "created_at": CREATED, "message": message, "done": done}
    if done:
        sent, _, said = answer.tokens
        line |= {
            "done_reason": "length" if answer.finish == "length" else "stop",
            "total_duration": 512_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": sent,
            "prompt_eval_duration": 100_000_000,
            "eval_count": said,
            "eval_duration": 400_000_000,
        }
    return line


def whole(answer: Answer) -> object:
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    return _line(answer, message, True)


def stream(answer: Answer) -> list[bytes]:
    lines = [_line(answer, {"role": "assistant", "content": word}, False) for word in words(answer.text)]
    lines += [
        _line(answer, {"role": "assistant", "content": "", "tool_calls": [call]}, False) for call in _calls(answer)
    ]
    lines.append(_line(answer, {"role": "assistant", "content": ""}, True))
    return [orjson.dumps(line) + b"\n" for line in lines]


def error(status: int, message: str) -> object:
    return {"error": message}


OLLAMA_CHAT = Shape(
    name="ollama-chat",
    matches=lambda path: path.endswith("/api/chat"),
    ask=ask,
    whole=whole,
    stream=stream,
    content_type="application/x-ndjson",
    error=error,
    error_event=b'{"error":"an error was encountered while running the model"}\n',
)
