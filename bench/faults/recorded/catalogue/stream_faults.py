"""Pieces of streams that come too early, twice or without what they belong to, and words of models that leak."""

from copy import deepcopy
from typing import Any

from ..bodies import Event
from ..loops import Loop, Turn
from .edits import calling, end, has_text, last
from .table import Places, Table

STREAM = Table()
FOLLOWS = "client-assistant-mutated client-forged-answer client-missing-tool-result client-orphan-tool-result"


def _chat_calls(turn: Turn) -> list[dict[str, Any]]:
    """The choices of a chat stream that bring pieces of its calls, when there is one call."""
    choices = [choice for value in turn.answer.values for choice in (value.get("choices") or [])[:1]]
    brought = [choice for choice in choices if (choice.get("delta") or {}).get("tool_calls")]
    ids = {call.get("id") for choice in brought for call in choice["delta"]["tool_calls"] if call.get("id")}
    return brought if turn.streamed and len(ids) == 1 else []


@STREAM("the last piece of a call brings its name again", "api", "api-stream-contradiction", also=FOLLOWS)
def name_again(loop: Loop) -> Places:
    for place in calling(loop):
        pieces = [choice["delta"]["tool_calls"][0] for choice in _chat_calls(loop.turns[place])]
        if len(pieces) > 2 and pieces[0].get("id") and not pieces[-1].get("id"):
            pieces[-1]["id"] = pieces[0]["id"]
            pieces[-1].setdefault("function", {})["name"] = pieces[0]["function"]["name"]
            return {place}
    return None


@STREAM("later pieces of a call have another name", "api", "api-stream-contradiction", also=FOLLOWS)
def other_name(loop: Loop) -> Places:
    for place in calling(loop):
        pieces = [choice["delta"]["tool_calls"][0] for choice in _chat_calls(loop.turns[place])]
        later = [
            piece for piece in pieces[1:] if not piece.get("id") and (piece.get("function") or {}).get("arguments")
        ]
        for piece in later:
            piece["function"]["name"] = "null"
        if later:
            return {place}
    return None


@STREAM("two members in one block", "api", "api-field-wrong")
def two_members(loop: Loop) -> Places:
    """A block of Converse is a union: SDKs of AWS refuse one that has a type beside its text."""
    turn = last(loop)
    if loop.shape.protocol != "bedrock-converse" or not has_text(loop):
        return None
    for piece in loop.shape.text(turn.answer).fragments:
        piece.holder["type"] = "text"
    return {end(loop)}


@STREAM("one of two choices has no finish word", "api", "api-finish-missing")
def half_finished(loop: Loop) -> Places:
    """https://github.com/sgl-project/sglang/pull/8417: of several choices, only the last one was finished."""
    turn = last(loop)
    if loop.shape.protocol != "openai-chat" or not turn.streamed or turn.answer.events is None:
        return None
    turn.request["n"] = 2
    twice: list[Event] = []
    for event in turn.answer.events:
        twice.append(event)
        if isinstance(event.value, dict) and event.value.get("choices"):
            other = deepcopy(event)
            for mine, theirs in zip(event.value["choices"], other.value["choices"], strict=True):
                mine["finish_reason"], theirs["index"] = None, 1
            other.value.pop("usage", None)
            twice.append(other)
    turn.answer.events[:] = twice
    return {end(loop)}


@STREAM("a token of the chat template ends the text", "api", "template-tokens-in-text")
def token_left(loop: Loop) -> Places:
    if not has_text(loop):
        return None
    text = loop.shape.text(last(loop).answer)
    for piece in [*text.fragments[-1:], *text.copies]:
        piece.value += "<|END_OF_TURN_TOKEN|>"
    return {end(loop)}


@STREAM("the whole arguments follow their pieces", "api",
        "api-stream-contradiction api-malformed-stream api-tool-call-index-collision", also=FOLLOWS)  # fmt: skip
def arguments_again(loop: Loop) -> Places:
    for place in calling(loop):
        pieces = loop.shape.answered(loop.turns[place].answer)[0].arguments.fragments
        if len(pieces) > 1 and loop.turns[place].streamed:
            pieces[-1].value += "".join(str(piece.value) for piece in pieces)
            return {place}
    return None


@STREAM("a text inside the block of a call", "api", "api-stream-contradiction", also=FOLLOWS)
def text_in_a_call(loop: Loop) -> Places:
    for place in calling(loop):
        events = loop.turns[place].answer.events or []
        for number, event in enumerate(events):
            delta = (event.value or {}).get("delta") or {}
            if isinstance(delta, dict) and ("toolUse" in delta or "partial_json" in delta):
                text = {"text": "One moment."} if "toolUse" in delta else {"type": "text_delta", "text": "One moment."}
                events.insert(number + 1, Event(event.name, {**event.value, "delta": text}, b""))
                return {place}
    return None


@STREAM("the finish word comes before the call is whole", "api", "api-stream-contradiction", also=FOLLOWS)
def finished_early(loop: Loop) -> Places:
    for place in calling(loop):
        choices = _chat_calls(loop.turns[place])
        if len(choices) > 1:
            choices[0]["finish_reason"] = "tool_calls"
            return {place}
    return None


@STREAM("an answer begins twice", "api", "api-stream-contradiction")
def begun_twice(loop: Loop) -> Places:
    events = last(loop).answer.events or []
    start = next((n for n, event in enumerate(events) if (event.value or {}).get("type") == "message_start"), None)
    if start is None:
        return None
    events.insert(start + 1, deepcopy(events[start]))
    return {end(loop)}


@STREAM("a block has the index of no block", "api", "api-stream-out-of-order api-malformed-stream", also=FOLLOWS)
def index_skipped(loop: Loop) -> Places:
    for place, turn in enumerate(loop.turns):
        values = [value for value in turn.answer.values if turn.streamed and isinstance(value.get("index"), int)]
        numbers = sorted({value["index"] for value in values if "content_block" in value})
        if len(numbers) > 1:
            for value in values:
                value["index"] += 2 * (value["index"] == numbers[-1])
            return {place}
    return None


@STREAM("a thought in tags before the text", "api", "reasoning-in-text", also="api-reasoning-unwanted")
def thought(loop: Loop) -> Places:
    if not has_text(loop) or "think>" in str(loop.turns[-1].request):
        return None
    text = loop.shape.text(last(loop).answer)
    text.set(f"<think>The user wants a short answer.</think>\n{text.get()}")
    return {end(loop)}


@STREAM("the answer begins with the prompt", "api", "answer-text-damaged")
def prompt_first(loop: Loop) -> Places:
    asked = [one.text.value for one in loop.shape.said(last(loop).request) if one.role == "user"]
    if not has_text(loop) or not asked or len(asked[-1].strip()) < 40:
        return None
    text = loop.shape.text(last(loop).answer)
    text.set(f"{asked[-1]}\n{text.get()}")
    return {end(loop)}


@STREAM("the arguments of a call come before its id", "api", "api-tool-call-index-collision", also=FOLLOWS)
def id_last(loop: Loop) -> Places:
    for place in calling(loop):
        pieces = [choice["delta"]["tool_calls"][0] for choice in _chat_calls(loop.turns[place])]
        if len(pieces) < 2 or not pieces[0].get("id"):
            continue
        if not any((piece.get("function") or {}).get("arguments") for piece in pieces[:-1]):
            continue
        first, final = pieces[0], pieces[-1]
        final["id"] = first.pop("id")
        final.setdefault("function", {})["name"] = first["function"].pop("name")
        return {place}
    return None


@STREAM("a text under the id of no item", "api", "api-stream-contradiction")
def stranger(loop: Loop) -> Places:
    """https://github.com/BerriAI/litellm/issues/27442"""
    turn = last(loop)
    if loop.shape.protocol != "openai-responses" or not turn.streamed:
        return None
    pieces = [value for value in turn.answer.values if value.get("type") == "response.output_text.delta"]
    for piece in pieces:
        piece["item_id"] = "msg_7fe1c0d2a9"
    return {end(loop)} if pieces else None


@STREAM("the prompt is counted twice and differently", "api", "api-usage-inconsistent")
def counted_again(loop: Loop) -> Places:
    turn = last(loop)
    events = turn.answer.events or []
    counts = [event for event in events if isinstance(event.value, dict) and event.value.get("usage")]
    if loop.shape.protocol != "openai-chat" or not counts or not counts[-1].value["usage"].get("prompt_tokens"):
        return None
    again = deepcopy(counts[-1])
    tokens, said = counts[-1].value["usage"]["prompt_tokens"] + 50, counts[-1].value["usage"]["completion_tokens"]
    again.value["choices"] = []
    again.value["usage"] = {"prompt_tokens": tokens, "completion_tokens": said, "total_tokens": tokens + said}
    events.insert(events.index(counts[-1]) + 1, again)
    return {end(loop)}


@STREAM("signs of the tokenizer in place of spaces", "api", "answer-text-damaged")
def undecoded(loop: Loop) -> Places:
    if not has_text(loop):
        return None
    text = loop.shape.text(last(loop).answer)
    said = str(text.get()).replace(" ", "\u0120")
    text.set(said)
    return {end(loop)} if said.count("\u0120") > 4 and not said.lstrip().startswith(("{", "[")) else None
