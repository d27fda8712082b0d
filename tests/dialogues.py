"""One conversation in every API, for tests of rules that compare requests: a row of pieces makes a round trip."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conversations import TOOLS
from judged import CONVERSE, OLLAMA, SCHEMA, anthropic, gemini, responses, trip
from round_trips import CHAT

from turntape.cassettes.tape.model import RoundTrip

type Piece = tuple[str, str]
"""`("asks" | "says" | "calls" | "gives", text)`; the text of a call is the word that it looks up."""

MISTRAL = "https://api.mistral.ai/v1/chat/completions"
COHERE = "https://api.cohere.com/v2/chat"
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def asks(text: str) -> Piece:
    return "asks", text


def says(text: str) -> Piece:
    return "says", text


def calls(word: str) -> Piece:
    return "calls", word


def gives(text: str) -> Piece:
    """The result of the last call before it."""
    return "gives", text


def _words(pieces: Sequence[Piece]) -> list[tuple[Piece, str]]:
    """Each piece with the id of its call."""
    last, found = "", list[tuple[Piece, str]]()
    for piece in pieces:
        last = f"call_{piece[1]}" if piece[0] == "calls" else last
        found.append((piece, last))
    return found


def _message(piece: Piece, call_id: str, arguments: Callable[[str], object]) -> dict[str, Any]:
    kind, text = piece
    match kind:
        case "asks":
            return {"role": "user", "content": text}
        case "says":
            return {"role": "assistant", "content": text}
        case "calls":
            function = {"name": "look_up", "arguments": arguments(text)}
            call = {"id": call_id, "type": "function", "function": function}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case _:
            return {"role": "tool", "tool_call_id": call_id, "content": text}


def _json(word: str) -> str:
    return json.dumps({"word": word}, separators=(",", ":"), ensure_ascii=False)


def _chat(url: str, pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    messages = [_message(piece, call_id, _json) for piece, call_id in _words(pieces)]
    said = _message(answer, f"call_{answer[1]}", _json)
    finish = "tool_calls" if answer[0] == "calls" else "stop"
    choice = {"index": 0, "message": said, "finish_reason": finish}
    body = {"id": f"c{index}", "object": "chat.completion", "model": "m", "choices": [choice], "usage": USAGE}
    return trip(url, {"model": "m", "messages": messages, "tools": TOOLS}, body, index)


def _openai(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    return _chat(CHAT, pieces, answer, index)


def _mistral(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    return _chat(MISTRAL, pieces, answer, index)


def _cohere(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    def message(piece: Piece, call_id: str) -> dict[str, Any]:
        made = _message(piece, call_id, _json)
        return {key: value for key, value in made.items() if key != "content" or piece[0] != "calls"}

    said = message(answer, f"call_{answer[1]}")
    if "content" in said:
        said["content"] = [{"type": "text", "text": said["content"]}]
    body = {"id": f"c{index}", "message": said, "finish_reason": "TOOL_CALL" if answer[0] == "calls" else "COMPLETE"}
    messages = [message(*one) for one in _words(pieces)]
    return trip(COHERE, {"model": "command-a", "messages": messages, "tools": TOOLS}, body, index)


def _ollama(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    def message(piece: Piece, call_id: str) -> dict[str, Any]:
        made = _message(piece, call_id, lambda word: {"word": word})
        if piece[0] == "gives":
            return {"role": "tool", "tool_name": "look_up", "content": piece[1]}
        for call in made.get("tool_calls", ()):
            del call["id"], call["type"]
        return made

    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}
    body = {"model": "m", "message": message(answer, ""), **done}
    messages = [message(*one) for one in _words(pieces)]
    return trip(OLLAMA, {"model": "m", "messages": messages, "stream": False, "tools": TOOLS}, body, index)


def _block(piece: Piece, call_id: str) -> dict[str, Any]:
    kind, text = piece
    match kind:
        case "calls":
            return {"type": "tool_use", "id": call_id, "name": "look_up", "input": {"word": text}}
        case "gives":
            return {"type": "tool_result", "tool_use_id": call_id, "content": text}
        case _:
            return {"type": "text", "text": text}


def _anthropic(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    messages = [
        {"role": "user" if piece[0] in ("asks", "gives") else "assistant", "content": [_block(piece, call_id)]}
        for piece, call_id in _words(pieces)
    ]
    return anthropic(messages, [_block(answer, f"call_{answer[1]}")], index)


def _converse(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    def block(piece: Piece, call_id: str) -> dict[str, Any]:
        kind, text = piece
        if kind == "calls":
            return {"toolUse": {"toolUseId": call_id, "name": "look_up", "input": {"word": text}}}
        return (
            {"toolResult": {"toolUseId": call_id, "content": [{"text": text}]}} if kind == "gives" else {"text": text}
        )

    messages = [
        {"role": "user" if piece[0] in ("asks", "gives") else "assistant", "content": [block(piece, call_id)]}
        for piece, call_id in _words(pieces)
    ]
    body = {
        "output": {"message": {"role": "assistant", "content": [block(answer, f"call_{answer[1]}")]}},
        "stopReason": "tool_use" if answer[0] == "calls" else "end_turn",
        "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110},
    }
    offered = {"toolSpec": {"name": "look_up", "inputSchema": {"json": SCHEMA}}}
    return trip(CONVERSE, {"messages": messages, "toolConfig": {"tools": [offered]}}, body, index)


def _item(piece: Piece, call_id: str) -> dict[str, Any]:
    kind, text = piece
    match kind:
        case "calls":
            return {"type": "function_call", "call_id": call_id, "name": "look_up", "arguments": _json(text)}
        case "gives":
            return {"type": "function_call_output", "call_id": call_id, "output": text}
        case "says":
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        case _:
            return {"role": "user", "content": text}


def _responses(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    items = [_item(piece, call_id) for piece, call_id in _words(pieces)]
    return responses(items, [_item(answer, f"call_{answer[1]}")], index)


def held(pieces: Sequence[Piece], answer: Piece, index: int, of: int) -> RoundTrip:
    """A turn of the Responses API that continues the answer `of` by its id."""
    items = [_item(piece, call_id) for piece, call_id in _words(pieces)]
    return responses(items, [_item(answer, f"call_{answer[1]}")], index, previous_response_id=f"resp_{of}")


def _gemini(pieces: Sequence[Piece], answer: Piece, index: int) -> RoundTrip:
    def part(piece: Piece) -> dict[str, Any]:
        kind, text = piece
        if kind == "calls":
            return {"functionCall": {"name": "look_up", "args": {"word": text}}}
        given = {"functionResponse": {"name": "look_up", "response": {"output": text}}}
        return given if kind == "gives" else {"text": text}

    contents = [
        {"role": "user" if piece[0] in ("asks", "gives") else "model", "parts": [part(piece)]} for piece in pieces
    ]
    return gemini(contents, [part(answer)], index)


APIS: Mapping[str, Callable[[Sequence[Piece], Piece, int], RoundTrip]] = {
    "chat": _openai,
    "mistral": _mistral,
    "anthropic": _anthropic,
    "responses": _responses,
    "gemini": _gemini,
    "converse": _converse,
    "ollama": _ollama,
    "cohere": _cohere,
}
"""By name: makes the round trip of a history and an answer."""


def run(api: str, *turns: tuple[Sequence[Piece], Piece]) -> list[RoundTrip]:
    """The round trips of these histories and answers, in one API."""
    return [APIS[api](history, answer, index) for index, (history, answer) in enumerate(turns)]
