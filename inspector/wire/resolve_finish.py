"""Decides what the model emitted and what a correct client must do next, from what a protocol read.

The API's word is not enough: real APIs say `stop` beside tool calls, `tool_calls` without any, and nothing at
all when a stream is cut. The order of the rules below matters.
"""

import re
from collections.abc import Sequence

from turntape.cassettes.regex import regex

from .code_fence import unfenced
from .json_value import Object, as_array, as_object, is_array, parse_json
from .values import Emission, Emitted, Finish, FinishLabel, RequestReading, ResponseReading, ToolCall
from .written_calls import WrittenCall, asks_about, is_example, is_made, written_calls

_VETOES = frozenset({"malformed", "content_filter"})
_CAPS = frozenset({"length", "context_full"})
_ENDINGS = frozenset({"complete", "stop_sequence", "unknown"})

CALL_MARKERS: tuple[str, ...] = (
    "<tool_call>",
    "<function=",
    "<invoke name=",
    "<function_call>",
    "<|python_tag|>",
    "<|tool_call",
    "<｜tool▁call",
    "[TOOL_CALLS]",
    "functools[",
    "```tool_code",
    "<|channel|>",
    "to=functions.",
)
"""How a tool call looks as text when the server does not parse it."""

_CALL_FENCES = frozenset({"", "json", "tool_call"})
_LABEL = regex(r"\A(?:actions?|(?:tool|function)[ _]?calls?|calls?)\s*:\s*", re.IGNORECASE)
"""A word before a call; Command R writes `Action:`."""
_NAME_KEYS = ("name", "tool", "function", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
"""How models call the name and the arguments in a call that they write as bare JSON."""

_FENCED_CALL = regex(r'```(?:json)?\s*\{\s*"(?:name|tool|function)"\s*:.*?"(?:arguments|parameters)"', re.S)


def reconcile(answer: ResponseReading, request: RequestReading) -> tuple[Emission, Finish]:
    """Layer 1 and layer 2 of a turn."""
    label: FinishLabel = answer.finish or _derived(answer)
    emitted = _emitted(answer, request, label)
    emission = Emission(
        emitted=emitted,
        text=answer.text,
        reasoning=answer.reasoning,
        refusal=answer.refusal,
        calls=answer.calls,
        server_calls=answer.server_calls,
        signatures=answer.signatures,
        content=answer.content,
        choices=answer.choices,
    )
    effective = _effective(answer, label, emitted)
    return emission, Finish(answer.finish_raw, label, effective, answer.finish_detail, answer.prompt_filtered)


def _derived(answer: ResponseReading) -> FinishLabel:
    """The label where the API gave none."""
    if answer.error is not None:
        return "error"
    return "unknown" if answer.ended else "cut"


def _effective(answer: ResponseReading, label: FinishLabel, emitted: Emitted) -> FinishLabel:
    if answer.error is not None:
        return "error"
    if not answer.ended:
        return "cut"
    if label in _VETOES:
        return label
    if emitted == "refusal":
        return "refusal"
    if emitted == "partial_call":
        return label if label in _CAPS else "length" if label == "tool_calls" else label
    if emitted == "calls" and label in _ENDINGS:
        return "tool_calls"
    if label == "tool_calls" and not answer.calls:
        return "unknown" if emitted in ("empty", "none") else "complete"
    return label


def _emitted(answer: ResponseReading, request: RequestReading, label: FinishLabel) -> Emitted:
    if answer.refusal is not None or (label == "refusal" and not answer.text.strip() and not answer.calls):
        return "refusal"
    if answer.calls:
        partial = label in _CAPS or not answer.ended or any(not call.complete for call in answer.calls)
        return "partial_call" if partial else "calls"
    if answer.text.strip():
        return "call_as_text" if is_call_as_text(answer.text, request) else "text"
    if answer.other_content or answer.server_calls:
        return "text"
    if answer.reasoning.strip():
        return "reasoning_only"
    return "none" if answer.error is not None else "empty"


def is_call_as_text(text: str, request: RequestReading) -> bool:
    """True when the text holds a call's marker and the name of a tool that was offered, or consists of calls only."""
    tools = (*request.tools, *request.added_tools)
    if not tools or (request.tool_choice and request.tool_choice.mode == "none"):
        return False
    if _is_bare_call(text, frozenset(tool.name for tool in tools)):
        return True
    fenced = _FENCED_CALL.search(text)
    if any(marker in text for marker in CALL_MARKERS) or (fenced is not None and not is_example(text, fenced.start())):
        return any(tool.name and tool.name in text for tool in tools)
    return bool(calls_in_text(text, request))


def calls_in_text(text: str, request: RequestReading, made: Sequence[ToolCall] = ()) -> list[WrittenCall]:
    """The calls of offered tools with which an answer's text ends, without those that the request shows or asks about.

    `made` are the real calls of the answer. A call that is among them is not in the list, and beside them only markup
    shows that another one was meant.
    """
    found = written_calls(text, (*request.tools, *request.added_tools))
    if not found:
        return []
    said = [part for message in request.conversation for part in message.parts]
    asked = next((part.text for part in reversed(said) if part.kind == "text"), "")
    given = [*(part.text for part in request.instructions), *(part.text for part in said if part.kind != "call")]
    return [
        call
        for call in found
        if not asks_about(asked, call.name)
        and not any(call.text in text for text in given)
        and (not made or (call.marked and not any(is_made(call, real.name, real.arguments) for real in made)))
    ]


def _is_bare_call(text: str, names: frozenset[str]) -> bool:
    """True for a text of one or more JSON objects, and no other words, that each name an offered tool and arguments."""
    body = _LABEL.sub("", text.strip())
    fenced = unfenced(body)
    if fenced is not None and fenced[0] in _CALL_FENCES:
        body = fenced[1].strip()
    if body[:1] not in ("{", "["):
        return False
    value = parse_json(body)
    lines = [value] if value is not None else [parse_json(line) for line in body.splitlines() if line.strip()]
    calls = [call for line in lines for call in (as_array(line) if is_array(line) else [line])]
    return bool(calls) and all(_names_tool(as_object(call), names) for call in calls)


def _names_tool(call: Object, names: frozenset[str]) -> bool:
    inner = as_object(call.get("function")) or call
    name = next((value for key in _NAME_KEYS if isinstance(value := inner.get(key), str)), None)
    return name in names and any(isinstance(inner.get(key), dict | str) for key in _ARGUMENT_KEYS)
