"""Layer 3 in recorded loops: calls that are not run, needless requests, retries, and requests that fail."""

import json
from copy import deepcopy
from typing import Any

from turntape.cassettes.tape.model import Failure

from ..loops import Loop
from .edits import (
    another_answer,
    attempts,
    calling,
    cut,
    end,
    fails,
    has_text,
    holds,
    last,
    pick,
    stop_after,
    with_results,
    write_text,
)
from .table import LOST, Places, Table

SENDING = Table()


# The loop


@SENDING("the calls are never run", "client", "client-tool-calls-not-dispatched client-max-iterations")
def never_run(loop: Loop) -> Places:
    place = calling(loop)[-1]
    if place == 0:
        return None  # A recording of one answer may have been stopped there.
    stop_after(loop, place)
    return {place}


@SENDING("asked on after the end", "client", "client-continued-after-end", also="client-role-order model-same-answer")
def asked_on(loop: Loop) -> Places:
    text = loop.shape.text(last(loop).answer)
    if not loop.full or not has_text(loop) or not text:
        return None
    more = deepcopy(last(loop))
    loop.shape.history(more.request).extend([loop.shape.assistant(text.get()), loop.shape.user("Please continue.")])
    another_answer(more)
    loop.turns.append(more)
    return {end(loop) - 1, end(loop)}


@SENDING("a call from a capped answer is run", "client api", "client-dispatched-partial-call",
        given="api-length-truncated-tool-call")  # fmt: skip
def partial_call_run(loop: Loop) -> Places:
    place = pick(loop, calling(loop), "partial")
    if place is None or "length" not in loop.shape.FINISH or "error" in str(loop.turns[place + 1].request).lower():
        return None
    loop.shape.finish(loop.turns[place].answer).set(loop.shape.FINISH["length"])
    return {place, place + 1}


@SENDING("a call from a filtered answer is run", "client api", "client-executed-filtered-call",
        given="api-content-filter model-refusal api-finish-label-disagrees")  # fmt: skip
def filtered_call_run(loop: Loop) -> Places:
    place = pick(loop, calling(loop), "filtered")
    word = loop.shape.FINISH.get("filter") or loop.shape.FINISH.get("refusal")
    if place is None or word is None or "error" in str(loop.turns[place + 1].request).lower():
        return None  # A client that answers with an error did not run the call.
    loop.shape.finish(loop.turns[place].answer).set(word)
    return {place, place + 1}


# Retries


@SENDING("a retry storm", "client", "client-retry-storm", given="api-overloaded client-no-retry-on-transient")
def storm(loop: Loop) -> Places:
    place = end(loop)
    attempts(loop, place, 503, "The server is currently overloaded.", [0.3] * 8)
    return set(range(place, place + 9))


@SENDING("a storm against a rate limit", "client", "client-retry-storm client-ignored-retry-after",
        given="api-rate-limited client-no-retry-on-transient")  # fmt: skip
def limited_storm(loop: Loop) -> Places:
    place = end(loop)
    attempts(loop, place, 429, "Rate limit reached. Try again later.", [0.3] * 8)
    return set(range(place, place + 9))


@SENDING("a wrong key is tried again", "client", "client-retried-permanent-error",
        given="access-refused request-rejected", also="client-retry-storm")  # fmt: skip
def key_again(loop: Loop) -> Places:
    place = end(loop)
    attempts(loop, place, 401, "Incorrect API key provided.", [1.0, 1.0, 1.0])
    loop.turns.pop()
    return {place, place + 1, place + 2}


@SENDING("retry-after is ignored", "client", "client-ignored-retry-after", given="api-rate-limited")
def too_early(loop: Loop) -> Places:
    place = end(loop)
    attempts(loop, place, 429, "Rate limit reached. Try again in 30s.", [2.0], (("retry-after", "30"),))
    return {place, place + 1}


@SENDING("the client closes the stream", "client", "client-interrupted")
def hung_up(loop: Loop) -> Places:
    turn = last(loop)
    if not turn.streamed or not cut(loop, turn, 0.5, noticed=False):
        return None
    turn.failure, turn.closed_first = Failure("client_gone", "the client closed the connection"), "client"
    return {end(loop)}


@SENDING("one request twice at the same time", "client", "client-duplicate-request",
        also="client-tool-calls-not-dispatched")  # fmt: skip
def sent_twice(loop: Loop) -> Places:
    twin = deepcopy(last(loop))
    twin.gap, twin.lasts, last(loop).lasts = 0.02, 2.0, 2.0
    loop.turns.append(twin)
    return {end(loop) - 1, end(loop)}


@SENDING("a failure is stored as the answer", "client", "client-stored-failed-turn", given="api-stream-cut",
        also=f"{LOST} client-continued-after-end")  # fmt: skip
def stored_half(loop: Loop) -> Places:
    """The last answer is cut, the client keeps the half and asks on."""
    turn = last(loop)
    text = loop.shape.text(turn.answer)
    if not loop.full or not turn.streamed or not has_text(loop) or loop.shape.protocol == "mistral-chat":
        return None
    words = "".join(str(p.value) for p in text.fragments[: len(text.fragments) // 2])
    more = deepcopy(turn)
    place = end(loop)
    if len(words) < 20 or not _keep(turn, len(text.fragments) // 2, text.fragments):
        return None
    loop.shape.history(more.request).extend([loop.shape.assistant(words), loop.shape.user("Please finish this.")])
    loop.turns.append(more)
    return {place, place + 1}


def _keep(turn: Any, count: int, fragments: list[Any]) -> bool:
    """Keep a stream up to this many fragments of its text."""
    holders = {id(place.holder) for place in fragments[:count]}
    events = turn.answer.events
    last_kept = max((n for n, e in enumerate(events) if holds(e.value, holders)), default=None)
    if last_kept is None:
        return False
    turn.body = b"".join(turn.answer.piece(e) for e in events[: last_kept + 1])
    turn.failure = Failure("cut", "the upstream closed the connection before the end of the answer")
    turn.closed_first = "server"
    return True


@SENDING("a request that the API rejects for a lost result", "client",
        "client-missing-tool-result", given="request-rejected", also=LOST)  # fmt: skip
def rejected(loop: Loop) -> Places:
    found = with_results(loop, "rejected", [calling(loop)[-1]])
    if found is None:
        return None
    place, results = found
    for turn, result in results:
        loop.shape.drop(turn.request, result.owner, result.node)
    fails(loop, last(loop), 400, "A call has no result: each tool call must be followed by its result.")
    return {place, place + 1}


# What is sent


PICTURE = "iVBORw0KGgo" + "AAAA" * 500


@SENDING("an image as base64 in a result", "client", "client-media-as-text")
def image_as_text(loop: Loop) -> Places:
    found = with_results(loop, "picture")
    if found is None:
        return None
    place, results = found
    for _, result in results:
        result.text.value = write_text(result.text.value, f"screen.png\n<img:data:image/png;base64,{PICTURE}>")
    return {place + 1}


@SENDING("every message is the user's", "client", "client-tool-calls-not-dispatched client-history-as-text")
def all_users(loop: Loop) -> Places:
    if loop.shape.protocol not in ("openai-chat", "mistral-chat", "ollama-chat") or not loop.full:
        return None
    for turn in loop.turns[1:]:
        for message in loop.shape.history(turn.request):
            if message.get("role") in ("assistant", "tool"):
                kept = message.get("content") or ""
                message.clear()
                message |= {"role": "user", "content": kept}
    return {1}


@SENDING("a retry appends the message once more", "client", "client-user-message-repeated",
         given="api-stream-cut api-overloaded", also=LOST)  # fmt: skip
def appended_again(loop: Loop) -> Places:
    history = loop.shape.history(loop.turns[0].request)
    if not loop.full or not history or not isinstance(history[-1], dict) or history[-1].get("role") != "user":
        return None
    asked, place = deepcopy(history[-1]), len(history)
    attempts(loop, 0, 503, "overloaded", [2.0])
    for turn in loop.turns[1:]:
        loop.shape.history(turn.request).insert(place, deepcopy(asked))
    return {1}


CHOICES: dict[str, tuple[str, object]] = {
    "openai-chat": ("tool_choice", {"type": "function", "function": {"name": "final_output"}}),
    "mistral-chat": ("tool_choice", {"type": "function", "function": {"name": "final_output"}}),
    "openai-responses": ("tool_choice", {"type": "function", "name": "final_output"}),
    "anthropic-messages": ("tool_choice", {"type": "tool", "name": "final_output"}),
    "gemini-generate": (
        "toolConfig",
        {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["final_output"]}},
    ),
}


@SENDING("a tool is required that is not offered", "client", "tool-choice-violated")
def required_and_absent(loop: Loop) -> Places:
    request = loop.turns[-1].request
    if loop.shape.protocol not in CHOICES or not loop.shape.plain_tools(request):
        return None
    name, choice = CHOICES[loop.shape.protocol]
    request[name] = choice
    return {len(loop.turns) - 1}


PART: dict[str, Any] = {
    "openai-chat": {"type": "image_url", "image_url": {"url": "{data}"}},
    "openai-responses": {"type": "input_image", "image_url": "{data}"},
    "anthropic-messages": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "{data}"}},
    "gemini-generate": {"inlineData": {"mimeType": "image/png", "data": "{data}"}},
}


def _shows(loop: Loop, data: str) -> Places:
    """Put a picture into the first message of the user."""
    part = PART.get(loop.shape.protocol)
    if part is None or not loop.full:
        return None
    for turn in loop.turns:
        asked = next((m for m in loop.shape.history(turn.request) if m.get("role") == "user"), None)
        content = asked.get("parts" if loop.shape.protocol == "gemini-generate" else "content") if asked else None
        if not isinstance(content, list):
            return None
        content.append(json.loads(json.dumps(part).replace("{data}", data)))
    return {0}


@SENDING("a picture whose base64 is cut", "client", "client-media-damaged")
def cut_picture(loop: Loop) -> Places:
    url = "data:image/png;base64," if loop.shape.protocol in ("openai-chat", "openai-responses") else ""
    return _shows(loop, f"{url}iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE")


@SENDING("a picture at an address of the client's machine", "client", "client-media-unsupported")
def local_picture(loop: Loop) -> Places:
    if loop.shape.protocol not in ("openai-chat", "openai-responses"):
        return None
    address = loop.turns[0].round_trip.request.url
    if "//localhost" in address or "//127." in address or "." not in address.split("/")[2]:
        return None
    return _shows(loop, "file:///home/app/uploads/receipt.png")


@SENDING("the system prompt comes as the user's", "client", "client-system-prompt-lost",
         also=f"{LOST} client-system-prompt-changed")  # fmt: skip
def prompt_of_the_user(loop: Loop) -> Places:
    if loop.shape.protocol not in ("openai-chat", "mistral-chat", "ollama-chat", "cohere-v2") or not loop.full:
        return None
    for turn in loop.turns[1:]:
        history = loop.shape.history(turn.request)
        if not history or history[0].get("role") not in ("system", "developer"):
            return None
        if any(message.get("role") in ("system", "developer") for message in history[1:]):
            return None
        history[0]["role"] = "user"
    return {1}


@SENDING("a tool requires what its schema does not allow", "client", "client-tool-definition-damaged")
def impossible_schema(loop: Loop) -> Places:
    for turn in loop.turns:
        tools = loop.shape.tools(turn.request)
        if not tools or not isinstance(tools[0].schema.get("properties"), dict):
            return None
        tools[0].schema["additionalProperties"] = False
        tools[0].schema["required"] = [*(tools[0].schema.get("required") or []), "unit_system"]
    return {0}
