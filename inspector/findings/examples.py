"""An example of each class of finding: message and evidence, taken from recorded runs of test agents."""

from .answer_examples import ANSWERS
from .client_examples import CLIENTS
from .example import Example
from .promise_examples import PROMISES
from .tool_examples import TOOLS

EXAMPLES: dict[str, Example] = {
    **ANSWERS,
    **PROMISES,
    **CLIENTS,
    **TOOLS,
    "api-cache-drop": Example(
        "0 tokens came from the cache, after 2,048 in #3, although the prefix is the same",
        ("#3 usage cache_read 2048", "#4 usage cache_read 0"),
    ),
    "api-error-in-200-stream": Example(
        "the stream with status 200 contains an error: overloaded_error Overloaded",
        ("#5 response",),
    ),
    "api-stream-cut": Example(
        "the answer ended after 4,723 bytes, before it was complete (the server closed first)",
        ("#5 response byte 4723",),
    ),
    "api-stream-stalled": Example(
        "no new data for 320 s at byte 10916 (1 keepalive in the stream)",
        ("#5 response byte 10916",),
    ),
    "api-malformed-stream": Example(
        "the stream breaks its framing: An event at byte 2743 is not a JSON object.",
        ("#1 response",),
    ),
    "api-tool-call-index-collision": Example(
        "the arguments of 'search_logs' are 2 JSON documents in a row: clients will join their arguments",
        ("#0 call call_XDAi4m",),
    ),
    "api-duplicate-tool-call-id": Example(
        "two calls of one answer have the id call_XDAi4m",
        ("#0 call call_XDAi4m",),
    ),
    "api-truncated-call-mislabelled": Example(
        "the call of 'create_ticket' was cut, and its arguments end in the middle, but the API finished with 'stop'",
        ("#4 finish stop", "#4 call call_KQssoz"),
    ),
    "api-length-truncated": Example(
        "the answer was cut by the output cap after 200 output tokens (the request allowed 200)",
        ("#5 finish length",),
    ),
    "api-length-truncated-tool-call": Example(
        "the output cap was hit after 140 output tokens (the request allowed 140) while the call of "
        "'create_ticket' was being written: do not run it",
        ("#4 finish length", "#4 call call_KQssoz"),
    ),
    "api-context-full": Example(
        "the context window is full; 2565 input tokens; the largest pieces are /messages/2/content/0 (416 "
        "characters), /messages/2/content/1 (317 characters), /messages/6/content/0 (201 characters)",
        (
            "#5 finish model_context_window_exceeded",
            "#5 request /messages/2/content/0",
            "#5 request /messages/2/content/1",
            "#5 request /messages/6/content/0",
        ),
    ),
    "api-content-filter": Example(
        "the API's filter stopped the answer (content_filter)",
        ("#5 finish content_filter",),
    ),
    "malformed-output": Example(
        "the model emitted a call of a tool that was not offered (UNEXPECTED_TOOL_CALL: unexpected call of open_file)",
        ("#2 finish UNEXPECTED_TOOL_CALL",),
    ),
    "api-pause": Example(
        "the API paused the turn (pause_turn); send the answer back unchanged",
        ("#2 finish pause_turn",),
    ),
    "api-server-limit": Example(
        "a limit of the API ended the turn (incomplete: max_messages)",
        ("#5 finish incomplete",),
    ),
    "api-finish-label-disagrees": Example(
        "the API finished with 'tool_calls' and sent no tool call",
        ("#5 finish tool_calls",),
    ),
    "api-fabricated-finish": Example(
        "the stream says 'stop' with no output tokens counted although the answer breaks off: '1500 ms "
        "while payments takes about two seconds. The log show'",
        ("#5 finish stop", "#5 usage output 0"),
    ),
    "model-unknown-tool": Example(
        "the model wrapped its calls in 'multi_tool_use.parallel', which is not a tool of the request",
        ("#2 call call_aunrJW", "#2 request /tools"),
    ),
    "call-args-not-json": Example(
        "the arguments of 'read_file' are not valid JSON: '{path: \"services/checkout/config/production.yaml\", "
        '"first_line": 1, "last_line": 40}\'',
        ("#2 call call_aunrJW",),
    ),
    "model-args-break-schema": Example(
        "the arguments of 'create_ticket' break its schema (missing-required): \"severity\" is a required property",
        ("#4 call call_ZaDpj0", "#4 request /tools/3"),
    ),
    "call-as-text": Example(
        'the answer contains a tool call as text: \'Next step:\\n\\n```json\\n{"name": "read_file", '
        '"arguments": {"path": "services/checkout/config/production.yaml", "first_line"\'',
        ("#2 response",),
    ),
    "model-empty-response": Example(
        "the answer is empty although it counts 3 output tokens",
        ("#5 response", "#5 finish stop"),
    ),
    "model-repeated-call": Example(
        "the model made the same call of 'run_query' 3 times in a row with the same result each time",
        ("#3 call run_query", "#4 call run_query", "#5 call run_query"),
    ),
    "model-refusal": Example(
        "the model refused: That file does not exist; the settings are in production.yaml.",
        ("#2 response", "#2 finish refusal"),
    ),
    "tool-choice-violated": Example(
        "tool calls were forbidden and 'search_logs' was called",
        ("#0 request tool choice none", "#0 response"),
    ),
    "parallel-calls-when-forbidden": Example(
        "parallel calls were forbidden and the answer has 2 calls",
        ("#0 request parallel tool calls false", "#0 call call_aa98Xm", "#0 call call_fKI505"),
    ),
    "model-duplicate-call-in-batch": Example(
        "the call of 'read_file' is in one answer twice, with equal arguments",
        ("#2 call call_yLwaf3", "#2 call call_Q9DUrM"),
    ),
    "usage-missing": Example(
        "the answer counts no tokens",
        ("#0 response",),
    ),
    "api-usage-inconsistent": Example(
        "the usage contradicts itself: 1765 cached tokens are more than the 3 of the whole input",
        ("#2 usage",),
    ),
    "api-model-substituted": Example(
        "'gpt-4o-mini-2024-07-18' answered; 'gpt-4.1' was requested",
        ("#0 request model gpt-4.1", "#0 response model gpt-4o-mini-2024-07-18"),
    ),
    "api-service-tier-changed": Example(
        "tier 'default' served the request; 'priority' was requested",
        ("#2 request /service_tier", "#2 response service_tier default"),
    ),
    "api-prompt-truncated-silently": Example(
        "the server counted 4,096 input tokens for 62,730 characters of history: most of it was dropped",
        ("#0 usage input 4096", "#0 request"),
    ),
    "reasoning-removed": Example(
        "the API removed 1 reasoning block from the request: prefix_binding_mismatch messages.3.content.0",
        ("#3 response input_transformations", "#3 request messages.3.content.0"),
    ),
    "api-overloaded": Example(
        "the API failed or was overloaded: 500 The server had an error while processing your request. "
        "Sorry about that!",
        ("#5 status 500",),
    ),
    "api-rate-limited": Example(
        "too many requests; retry after 20 s: 429 This request would exceed your organization's rate limit "
        "of 40,000 input tokens per minute.",
        ("#2 status 429",),
    ),
    "access-refused": Example(
        "the API did not accept the key, the account or the model: 404 model: gpt-4.1-turbo",
        ("#0 status 404",),
    ),
    "api-no-first-byte": Example(
        "the API sent nothing for 60 s; then the client gave up. Either the API hangs, or its timeout of 60 s is too "
        "short",
        ("#2 request", "#2 closed by client"),
    ),
    "api-no-choice": Example(
        "the status is 200, but 'choices' is empty: the answer holds nothing of a model",
        ("#3 response",),
    ),
    "api-unreachable": Example(
        "the API could not be reached: connection refused",
        ("#0 refused",),
    ),
    "request-rejected": Example(
        "the API rejected the request: 400 messages.6.content.1: `tool_use` ids must be unique",
        ("#3 status 400",),
    ),
    "model-ignored-tool-error": Example(
        "the answer ends the run right after a failed tool and does not mention it",
        ("#6 request /messages/4/content/0", "#6 response"),
    ),
    "model-refused-in-text": Example(
        "the answer begins like a refusal: \"I'm sorry, but I can't help with that.\"",
        ("#0 response",),
    ),
    "cut-by-stop-string": Example(
        "the answer ends inside JSON or code and the request asks to stop at '}'",
        ("#0 request stop", "#0 response"),
    ),
    "reasoning-in-text": Example(
        "the text of the answer contains the thinking tag '</think>': 'I refund it.</think> Your refund is on its way'",
        ("#0 response",),
    ),
    "model-promised-no-action": Example(
        "the answer announces an action and calls nothing: 'Let me look up the second word now'",
        ("#0 response",),
    ),
    "tool-without-description": Example(
        "the tool 'look_up' has no description",
        ("#0 request /tools/0",),
    ),
    "param-without-description": Example(
        "parameters of 'look_up' have no description: word",
        ("#0 request /tools/0",),
    ),
    "string-wants-enum": Example(
        "send.tone lists its alternatives in its description: \"Either 'formal' or 'friendly'.\"",
        ("#0 request /tools/2",),
    ),
    "similar-tool-names": Example(
        "the tools 'look_up' and 'lookup' are easily confused",
        ("#0 request tools",),
    ),
    "strict-not-set": Example(
        "5 tools without `strict`: search_logs, read_file, run_query, create_ticket, search_logs",
        ("#0 request tools",),
    ),
    "no-max-tokens": Example(
        "the request sets no cap on output tokens",
        ("#0 request",),
    ),
    "tool-choice-forced-every-turn": Example(
        "a tool call is forced on every turn",
        ("#3 request tool choice",),
    ),
    "parallel-calls-one-by-one": Example(
        "'run_query' was called in four turns in a row, one call each",
        ("#7 request",),
    ),
    "unused-tools-paid-for": Example(
        "1 of 5 tools never called (find person); their definitions took about 100 input tokens in 6 requests",
        ("#5 request tools",),
    ),
    "run-ended-by-limit": Example(
        "turntape ended this run after 40 turns (--max-turns 40)",
        ("#40 request",),
    ),
    "answer-refused-by-hand": Example(
        "a person refused the answer at the breakpoint tool=send_email: do not send it",
        ("#2 response",),
    ),
    "replay-missed": Example(
        "no recorded round trip has this request: the nearest is turn 2 of t1, #1, where /messages/0/content differs; "
        "record again if the change is intended",
        ("#1 request",),
    ),
    "replay-without-answer": Example(
        "the recording of this request has no answer: connection refused",
        ("#0 response",),
    ),
    "request-led-back": Example(
        "the host 'pc:8484' leads back to turntape itself; use 127.0.0.1 as the base URL, or the address of the API",
        ("#0 request",),
    ),
    "answer-edited-by-hand": Example(
        "a person changed the answer at the breakpoint tool=send_email",
        ("#2 response",),
    ),
    "api-answer-replayed": Example(
        "the answer has the id and the content of #1, although the request is another one: chatcmpl-5f1cJYQe",
        ("#1 response", "#2 response"),
    ),
    "template-tokens-in-text": Example(
        "the text contains the template token '<|im_end|>', followed by '<|im_start|>user\\nThanks!'",
        ("#5 response",),
    ),
}
"""By the id of the class."""
