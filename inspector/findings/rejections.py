"""Reads the text of a rejection: which fault of the request it names, and where.

The texts only confirm and locate what the structure shows: "its wording can change, so don't match on it"
(anthropic 2.11.0, `APIError`). Patterns from public bug reports, collected 2026-11-20.
"""

import re

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.whole_number import whole_number

from ..wire.json_value import as_object, as_text, compact, is_object, parse_json
from ..wire.values import Reading

_PER_MINUTE = regex(r"tokens per (?:minute|min|day)|\bTPM\b|\bTPD\b|(?i:throttl)")
"""How APIs name a limit on the rate of tokens, which a large request may exceed although it fits into the window."""
_UNVERIFIED = regex(
    r"(?:organization|account|project)\b.{0,60}(?:must be|is not|not yet|to be) verified", re.IGNORECASE
)
"""A refusal of the account, whatever parameter it names."""
_QUOTED_JSON = regex(r"\{.*\}", re.S)
_DEEPEST = 3


@frozen
class Rejection:
    """What is wrong with a request, according to the API."""

    ids: tuple[str, ...]
    """The classes that the text may mean, most likely first; empty when it is unknown."""
    text: str
    """The API's own sentence, unwrapped."""
    pointer: str | None = None
    """The place of the fault, according to the text, as a JSON pointer into the request."""
    named: tuple[str, ...] = ()
    """What the text names: ids, tools, parameters."""


PATTERNS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (regex(pattern, re.IGNORECASE | re.DOTALL), ids)
    for pattern, ids in (
        (
            r"messages\.(\d+): [`']?tool_use[`']? ids were found without [`']?tool_result[`']? blocks immediately after: (.+?)\. Each",
            ("client-missing-tool-result",),
        ),
        (
            r"Did not find (\d+) [`']?tool_result[`']? block\(s\) at the beginning of this message",
            ("client-missing-tool-result",),
        ),
        (
            r"messages\.(\d+)\.content\.(\d+): unexpected [`']?tool_use_id[`']? found in [`']?((?:\w+_)?tool_result)[`']? blocks: (\S+)\. Each",
            ("client-orphan-tool-result",),
        ),
        (
            r"(\w+) tool use with id (\S+) was found without a corresponding (\w+_tool_result) block",
            ("client-pause-not-resumed", "client-assistant-mutated"),
        ),
        (
            r"messages\.(\d+)\.content\.(\d+): [`']?tool_use[`']? ids must be unique",
            ("client-duplicated-call", "api-duplicate-tool-call-id"),
        ),
        (r"tools: Tool names must be unique", ("client-bad-tool-schema",)),
        (
            r"messages\.(\d+)\.content\.(\d+): [`']?thinking[`']? or [`']?redacted_thinking[`']? blocks in the latest assistant message cannot be modified",
            ("client-reasoning-altered",),
        ),
        (
            r"messages\.(\d+)\.content\.(\d+): Invalid [`']?signature[`']? in [`']?thinking[`']? block(?:\. The block is bound to a different conversation)?",
            ("client-reasoning-altered",),
        ),
        (r"thinking\.signature: Field required", ("client-reasoning-altered",)),
        (
            r"Expected [`']?thinking[`']? or [`']?redacted_thinking[`']?, but found [`']?(\w+)[`']?",
            ("client-reasoning-dropped",),
        ),
        (r"text content blocks must (?:be non-empty|contain non-whitespace text)", ("client-empty-content",)),
        (r"messages\.(\d+): all messages must have non-empty content", ("client-empty-content",)),
        (
            r"does not support assistant message prefill|conversation must end with a user message",
            ("client-role-order",),
        ),
        (
            r"Requests which include [`']?tool_use[`']? or [`']?tool_result[`']? blocks must define tools",
            ("client-tools-missing-for-history",),
        ),
        (r"Tool reference '([^']+)' not found in available tools", ("client-tools-changed",)),
        (r"[`'](temperature|top_p|top_k)[`'] is deprecated for this model", ("client-unsupported-param",)),
        (r"prompt is too long:.*?(\d+)\D+>\s*(\d+)", ("api-context-full",)),
        (
            r"assistant message with ['\x22]tool_calls['\x22] must be followed by tool messages responding to each ['\x22]tool_call_id['\x22]",
            ("client-missing-tool-result",),
        ),
        (
            r"messages with role ['\x22]tool['\x22] must be a response to a prece+ding message with ['\x22]tool_calls['\x22]",
            ("client-orphan-tool-result",),
        ),
        (r"tool role, but there was no previous assistant message with a tool call", ("client-orphan-tool-result",)),
        (
            r"(?:reasoning_content|content\[\]\.thinking)[`']? in the thinking mode must be passed back",
            ("client-reasoning-dropped",),
        ),
        (r"Invalid schema for function ['\x22]([^'\x22]+)['\x22]", ("client-bad-tool-schema",)),
        (r"Unsupported (?:parameter|value): ['\x22](\w+)['\x22]", ("client-unsupported-param",)),
        (r"conversation roles must alternate|roles must alternate user", ("client-role-order",)),
        (
            r"no user query found in messages",
            ("api-prompt-truncated-silently", "client-user-text-lost", "client-history-truncated"),
        ),
        (r"content management policy|ResponsibleAIPolicyViolation", ("api-content-filter",)),
        (r"function results are still missing.*?\[['\x22](\w+)", ("client-missing-tool-result",)),
        (r"expected tool outputs for call_ids", ("client-missing-tool-result",)),
        (r"no tool output found for (?:function|tool) call (\S+)", ("client-missing-tool-result",)),
        (r"No tool call found for function call output with call_id (\S+?)\.?(?:$|\s)", ("client-orphan-tool-result",)),
        (
            r"Item '(rs_\w+)' of type 'reasoning' was provided without its required following item",
            ("client-assistant-mutated",),
        ),
        (
            r"Item '(\w+)' of type '(function_call|message|\w+)' was provided without its required 'reasoning' item: '(rs_\w+)'",
            ("client-reasoning-dropped",),
        ),
        (r"Previous response with id '([^']+)' not found", ("client-stale-server-state",)),
        (
            r"Item with id ['\x22]([^'\x22]+)['\x22] not found\. Items are not persisted when [`']?store[`']? is set to false",
            ("client-stale-server-state",),
        ),
        (
            r"function call turn comes immediately after a user turn or after a function response turn",
            ("client-role-order",),
        ),
        (r"function response turn comes immediately after a function call turn", ("client-orphan-tool-result",)),
        (
            r"number of function response parts is equal to the number of function call parts",
            ("client-results-not-adjacent", "client-missing-tool-result"),
        ),
        (
            r"Function call is missing a thought_signature in functionCall parts(?:.*?function call `([^`]+)` ?, position (\d+))?",
            ("client-reasoning-dropped",),
        ),
        (
            r"function call `([^`]+)` in the (\d+)\. content block is missing a `?thought_signature",
            ("client-reasoning-dropped",),
        ),
        (r"Invalid thought signature", ("client-reasoning-altered",)),
        (
            r"Expected toolResult blocks at messages\.(\d+)\.content for the following Ids: (\S+)",
            ("client-missing-tool-result",),
        ),
        (
            r"number of toolResult blocks.*exceeds the number of toolUse blocks",
            ("client-orphan-tool-result", "client-duplicate-tool-result"),
        ),
        (
            r"toolConfig field must be defined when using (?:the )?toolUse and toolResult content blocks",
            ("client-tools-missing-for-history",),
        ),
        (
            r"Conversation blocks and tool result blocks cannot be provided in the same turn",
            ("client-results-not-adjacent",),
        ),
        (r"toolResult cannot be empty when status value is error", ("client-empty-content",)),
        (r"content cannot be empty if [`']?is_error[`']? is true", ("client-empty-content",)),
        (r"at least one message is required", ("client-empty-content",)),
        (r"contents (?:is|are) not specified", ("client-empty-content",)),
        (
            r"text field in the ContentBlock object at messages\.(\d+)\.content\.(\d+) is blank",
            ("client-empty-content",),
        ),
        (r"messages\.(\d+)\.content\.(\d+)\.toolResult\.content\.(\d+)\.json is invalid", ("client-args-wrong-type",)),
        (r"Unexpected role (?:RoleEnum\.)?'?(\w+)'?(?: after role '?(\w+)'?)?", ("client-role-order",)),
        (
            r"Not the same number of function calls and responses",
            ("client-missing-tool-result", "client-duplicate-tool-result", "client-orphan-tool-result"),
        ),
        (r"Expected last role (?:to be one of|User or Tool)", ("client-role-order",)),
        (r"Tool call id was (\S+) but must be a-z, A-Z, 0-9, with a length of 9", ("client-call-id-rewritten",)),
        (
            r"max_?(?:completion_?|output_?|new_?)?tokens\W.{0,60}?(?:is )?too (?:large|high|big)"
            r"|max_tokens: \d+ > \d+, which is the maximum allowed|supports at most \d+ (?:completion|output) tokens"
            r"|max_?output_?tokens value of \d+ but the supported range"
            r"|maximum tokens you requested exceeds the model limit",
            ("client-unsupported-param",),
        ),
        (
            r"maximum context length|context_length_exceeded|context length exceeded|exceeds? the (?:model's )?context|input token count .* exceeds|input is too long|too many tokens(?!, please wait)|request too large|reduce the length of the messages|exceeds? .{0,20}context (?:window|size|length)"
            r"|input tokens exceeded|exceeded max context length|too_many_prompt_tokens|too many total text bytes"
            r"|maximum prompt length is \d+ but the request contains \d+"
            r"|exceed context limit|exceeded model token limit|range of input length should be|prompt exceeds max length"
            r"|(?:prompt|input) token count of [\d,]+ exceeds|max_prompt_tokens_exceeded|tokens_limit_reached"
            r"|request body too large for .{0,80}tokens|prompt (?:is )?too long|longer than the model's context"
            r"|greater than the context length|context length of only|configured context size"
            r"|context (?:window|size|limit) (?:exceeds|has been exceeded|exceeded)|`inputs` tokens \+ `max_new_tokens`",
            ("api-context-full",),
        ),
        (
            r"content_filter|blocked by .{0,30}(?:filter|policy|guardrail)|data_?inspection_?failed"
            r"|may contain (?:inappropriate|sensitive|unsafe)|content exists risk|considered high risk"
            r"|(?:input|prompt|output|content|message) (?:was|has been|is) flagged|content violates usage guidelines"
            r"|safety_check_type|content_policy_violation|moderation_blocked|unsafe or sensitive content",
            ("api-content-filter",),
        ),
        (r"unknown name \x22?(\S+?)\x22? at '?tools", ("client-bad-tool-schema",)),
        (r"unknown name \x22?([^\x22\s]+)\x22?(?: at '[^']*')?: cannot find field", ("client-unsupported-param",)),
        (
            r"invalid_function_parameters|tools\.\d+\.(?:custom\.)?input_schema|tools\[\d+\]\.function"
            r"|tools\.\d+\.custom: |schema is too complex|schemas contains too many|too many strict tools",
            ("client-bad-tool-schema",),
        ),
        (r"duplicate (?:function|tool) (?:name|declaration)|tool names? must be unique", ("client-bad-tool-schema",)),
        (
            r"ends? with (?:a )?user (?:role|message|turn)|final assistant content cannot end with trailing whitespace|last message must|first message must|must end with a user",
            ("client-role-order",),
        ),
        (
            r"(?:image|audio|video|file|document) (?:content|input)s? (?:is|are) not (?:supported|enabled)",
            ("client-media-unsupported",),
        ),
        (
            r"unsupported_parameter|unsupported_value|unknown parameter|unrecognized request argument|extra inputs are not permitted|is not supported (?:with|by|for) this model"
            r"|(?:options|logprobs) (?:are )?not (?:supported|enabled) (?:with|by|for) this model|does not support (?:tools\b|effort level)"
            r"|no endpoints found that support tool use|mode does not support this|cannot use (?:tools with stream|both )",
            ("client-unsupported-param",),
        ),
        (
            r"each tool_use must have a single result|multiple .?tool_result.? blocks with (?:the same )?id|duplicate .?tool_call_id|duplicate .{0,12}function_call_output",
            ("client-duplicate-tool-result",),
        ),
        (
            r"\b(?:file|container|vector store|batch|skill|session|prompt)s?\b[^.]{0,60} (?:not found|does not exist|has expired|expired)"
            r"|\bnot found: (?:file|container|vs|batch|skill)_\w+|(?:file|container|session) not found|\bno such (?:file|container|session)\b",
            ("client-stale-server-state",),
        ),
        (
            r"previous_response_not_found|conversation .{0,60}not found|cachedcontent .{0,60}not found|thread_not_found|thread_already_continued",
            ("client-stale-server-state",),
        ),
        (r"image does not match the provided media type", ("client-media-type-wrong",)),
        (
            r"image_url is only supported|could not process image|does not support (?:image|file|audio|media)|image input is not|unsupported (?:image|media|file|mime) (?:type|format)|no endpoints found that support image"
            r"|unknown variant `(?:input_audio|image_url|file|video_url)`|doesn't support the (?:s3uri field|video|image|document|audio)"
            r"|file type you uploaded is not supported|unsupported content\[\]\.type|expected to be either text or image_url",
            ("client-media-unsupported",),
        ),
        (
            r"arguments\b.{0,60}\b(?:valid |in )JSON|(?:invalid|parse|decode).{0,20}tool.?call.{0,12}arguments"
            r"|(?:Unterminated string|Extra data|Expecting (?:value|property name|'.' delimiter)|Invalid (?:\\?escape|control character))"
            r"[^\n]{0,60}: line \d+ column \d+",
            (
                "call-args-not-json",
                "api-truncated-call-mislabelled",
                "api-tool-call-index-collision",
                "api-stream-contradiction",
                "api-length-truncated-tool-call",
            ),
        ),
        (
            r"input should be a valid dictionary|input: input should be|arguments.{0,40}(?:must be|expected) a? ?string|invalid type for .{0,80}expected",
            ("client-args-wrong-type",),
        ),
        (r"duplicate item found with id|duplicate .{0,20}call.?id", ("client-duplicated-call",)),
    )
)

_PLACES: tuple[re.Pattern[str], ...] = (
    regex(r"(messages|contents|input|tools)((?:\.\d+|\.\[\d+\]|\[\d+\]|\.[a-z_]+)+)", re.IGNORECASE),
)
_STEP = regex(r"\d+|[a-z_]+", re.IGNORECASE)


def rejection(reading: Reading) -> Rejection | None:
    """The reason in the answer to a rejected request; None when it was not rejected."""
    error = reading.error
    if error is None:
        return None
    text = unwrapped(error.message)
    whole = " ".join(filter(None, (text, error.type, error.code)))
    if _UNVERIFIED.search(text):
        return Rejection((), text, _place(text))
    for pattern, ids in PATTERNS if not _PER_MINUTE.search(whole) else ():
        if found := pattern.search(whole):
            named = tuple(str(group).rstrip(".,;:") for group in found.groups() if group and not group.isdigit())
            return Rejection(ids, text, _place(text), named)
    return Rejection((), text, _place(text))


def unwrapped(text: str) -> str:
    """The innermost message: gateways put the JSON of an error as text into their own, up to three deep."""
    for _ in range(_DEEPEST):
        found = _QUOTED_JSON.search(text)
        value = parse_json(found[0]) if found else None
        if not is_object(value):
            break
        inner = as_object(value.get("error")) or value
        message = as_text(inner.get("message")) or as_text(inner.get("raw"))
        metadata = as_object(inner.get("metadata"))
        if inner is value and not message and not metadata:
            break  # What the model emitted, quoted, and not an error of another API.
        text = as_text(metadata.get("raw")) or message or compact(inner)
        if not message:
            break
    return text


def _place(text: str) -> str | None:
    for place in _PLACES:
        if found := place.search(text):
            return "/" + "/".join([found[1].lower(), *_steps(_STEP.findall(found[2]))])
    return None


def _steps(steps: list[str]) -> list[str]:
    """The steps of a pointer. AWS counts from 1 and puts `member` behind each number."""
    if "member" not in steps:
        return steps
    named = [step for step in steps if step != "member"]
    return [step if (place := whole_number(step)) is None else str(place - 1) for step in named]
