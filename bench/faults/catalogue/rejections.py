"""What each API says when it rejects a request, by the class of the fault: public texts, in the APIs' own words.

`{call}` is the id of a call, `{tool}` a tool's name, `{at}` the number of a message.
"""

from ..loop import Loop, asks
from ..pieces import Failed
from .edits import ends

_BLOCKS = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
_PREVIOUS = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."

_MISSING_OPENAI = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {call}"
_ORPHAN_OPENAI = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)
_PARTS = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."

REJECTIONS: dict[str, dict[str, str]] = {
    "client-missing-tool-result": {
        "openai-chat": _MISSING_OPENAI,
        "deepseek-chat": "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        "mistral-chat": "Not the same number of function calls and responses",
        "openai-responses": "No tool output found for function call {call}.",
        "openai-responses-held": "No tool output found for function call {call}.",
        "anthropic-messages": "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {call}. " + _BLOCKS,
        "anthropic-thinking": "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {call}. " + _BLOCKS,
        "gemini-generate": _PARTS,
        "bedrock-converse": "Expected toolResult blocks at messages.{at}.content for the following Ids: {call}",
    },
    "client-orphan-tool-result": {
        "openai-chat": _ORPHAN_OPENAI,
        "deepseek-chat": "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        "mistral-chat": "Unexpected tool call id {call} in tool results",
        "openai-responses": "No tool call found for function call output with call_id {call}.",
        "openai-responses-held": "No tool call found for function call output with call_id {call}.",
        "anthropic-messages": "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {call}. " + _PREVIOUS,
        "anthropic-thinking": "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {call}. " + _PREVIOUS,
        "gemini-generate": "Please ensure that function response turn comes immediately after a function call turn.",
        "bedrock-converse": "The number of toolResult blocks at messages.{at}.content exceeds the number of toolUse blocks of previous turn.",
    },
    "client-duplicate-tool-result": {
        "anthropic-messages": "messages.{at}.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {call}",
        "anthropic-thinking": "messages.{at}.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {call}",
        "bedrock-converse": "The number of toolResult blocks at messages.{at}.content exceeds the number of toolUse blocks of previous turn.",
        "mistral-chat": "Not the same number of function calls and responses",
    },
    "client-duplicated-call": {
        "anthropic-messages": "messages.{at}.content.1: `tool_use` ids must be unique",
        "anthropic-thinking": "messages.{at}.content.1: `tool_use` ids must be unique",
        "openai-responses": "Duplicate item found with id {call}. Remove duplicate items from your input and try again.",
    },
    "client-results-not-adjacent": {
        "openai-chat": _MISSING_OPENAI,
        "anthropic-messages": "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {call}. " + _BLOCKS,
        "bedrock-converse": "Conversation blocks and tool result blocks cannot be provided in the same turn.",
        "gemini-generate": _PARTS,
    },
    "client-reasoning-dropped": {
        "anthropic-thinking": "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        "deepseek-chat": "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "openai-responses": "Item 'fc_0a1b' of type 'function_call' was provided without its required 'reasoning' item: 'rs_0a1b'.",
        "gemini-generate": "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{tool}` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
    },
    "client-reasoning-altered": {
        "anthropic-thinking": "messages.{at}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
        "gemini-generate": "Invalid thought signature.",
    },
    "client-role-order": {
        "mistral-chat": "Unexpected role 'user' after role 'tool'",
        "gemini-generate": "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "anthropic-messages": "This model does not support assistant message prefill. The conversation must end with a user message.",
        "bedrock-converse": "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    },
    "client-empty-content": {
        "anthropic-messages": "messages: text content blocks must be non-empty",
        "anthropic-thinking": "messages: text content blocks must be non-empty",
        "bedrock-converse": "The text field in the ContentBlock object at messages.{at}.content.0 is blank. Add text to the text field, and try again.",
    },
    "client-tools-missing-for-history": {
        "anthropic-messages": "Requests which include `tool_use` or `tool_result` blocks must define tools",
        "anthropic-thinking": "Requests which include `tool_use` or `tool_result` blocks must define tools",
        "bedrock-converse": "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    },
    "client-bad-tool-schema": {
        "openai-chat": "Invalid schema for function '{tool}': In context=('properties', 'labels'), array schema missing items.",
        "openai-responses": "Invalid schema for function '{tool}': In context=('properties', 'labels'), array schema missing items.",
        "gemini-generate": "Unable to submit request because `{tool}` functionDeclaration `parameters.labels` schema didn't specify the schema type field.",
    },
}  # fmt: skip

_PARAMS = {"openai-chat": "messages.[{at}].role", "openai-responses": "input"}


def rejects(loop: Loop, place: int, identity: str, call: str = "", tool: str = "") -> int:
    """The API refuses the request of this step with 400, in its own words, and the agent stops."""
    at = max(0, len(asks(loop)[place].messages) - 2)
    said = REJECTIONS[identity][loop.dialect.name].format(call=call, tool=tool, at=at)
    param = _PARAMS.get(loop.dialect.name)
    loop.steps[place].failed = Failed(400, said, param=param and param.format(at=at))
    return ends(loop, place)
