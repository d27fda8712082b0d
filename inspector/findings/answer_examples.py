"""Examples of findings about whole answers: their form, their end, repeated calls, and the API's own tools."""

from .example import Example

ANSWERS: dict[str, Example] = {
    "api-format-not-enforced": Example(
        "the request has the API enforce the format of the answer, and its text breaks the schema (missing-required): "
        '"severity" is a required property',
        ("#0 request /text/format", "#0 response"),
    ),
    "model-answer-not-json": Example(
        "the request asks for JSON and the answer is not JSON: 'Here is the plan: 1. Read the log.'",
        ("#0 response", "#0 request /response_format"),
    ),
    "model-answer-breaks-schema": Example(
        'the answer breaks the schema that the request asks for (missing-required): "severity" is a required property',
        ("#0 response", "#0 request /text/format"),
    ),
    "api-truncated-text-mislabelled": Example(
        "the answer has exactly the 1,024 output tokens that were allowed and ends with 'and the second cause is that "
        "the', but the API finished with 'stop'",
        ("#2 finish stop", "#2 usage output 1024"),
    ),
    "api-finish-missing": Example(
        "the answer is complete and the API sent no finish reason",
        ("#0 finish", "#0 response"),
    ),
    "api-finish-unknown": Example(
        "the API finished with 'abort', which is none of its finish words",
        ("#3 finish abort",),
    ),
    "api-final-event-empty": Example(
        "the event that completes the answer has no items, although the stream brought some",
        ("#1 response",),
    ),
    "api-stop-ignored": Example(
        "the request stops at '\\nObservation:', and the answer continues after it: '14 degrees and sunny.'",
        ("#0 request stop", "#0 response"),
    ),
    "api-answer-lost": Example(
        "the answer is empty, and 224 output tokens of it are counted",
        ("#1 response", "#1 usage output 224"),
    ),
    "api-answer-in-reasoning": Example(
        "the reasoning ends with '</think>' and the answer follows inside it, while the text is empty: 'The refund is "
        "on its way.'",
        ("#2 response", "#2 finish stop"),
    ),
    "api-id-repeated": Example(
        "an earlier answer with other content has the same id: msg_018fjzPA",
        ("#4 response",),
    ),
    "error-as-text": Example(
        "the text of the answer is an error: 'Error: 429 Too Many Requests: retry after 20 s'",
        ("#2 response",),
    ),
    "api-field-wrong": Example(
        "`choices[0].index` of the answer is the text '0', where the API has a whole number from 0 on",
        ("#1 response choices[0].index",),
    ),
    "api-stream-out-of-order": Example(
        "the stream is out of order: 'content_block_start' of index 1 comes twice",
        ("#1 response",),
    ),
    "api-arguments-wrong-type": Example(
        "the arguments of 'write_file' are an object, where the API has a string",
        ("#1 call call_SGTY1a", "#1 response /choices/0/message/tool_calls/0"),
    ),
    "call-args-repeat-key": Example(
        "the arguments of 'refund' have the key 'order_id' twice, with different values: "
        '\'{"order_id":88213,"order_id":88231}\'',
        ("#1 call call_IQFbEX",),
    ),
    "api-replacement-characters": Example(
        "the arguments of 'read_file' hold the replacement character U+FFFD: '{\"path\":\"Gr\ufffd\ufffde.md\"}'",
        ("#0 call call_IQFbEX",),
    ),
    "api-stream-not-sent": Example(
        "the request asks for a stream and the answer is one JSON body",
        ("#3 request", "#3 response"),
    ),
    "api-stream-contradiction": Example(
        "the stream contradicts itself: each piece repeats all before it; the last one is 'All four tests pass.'",
        ("#3 response",),
    ),
    "api-wrong-role": Example(
        "the answer has the role 'user'",
        ("#1 response",),
    ),
    "api-text-twice": Example(
        "two blocks of the answer hold the same text: 'I refunded 39.90 euros and sent the confirmation.'",
        ("#2 response /content/1",),
    ),
    "api-call-without-id": Example(
        "1 call without an id: 'look_up'",
        ("#0 response /choices/0/message/tool_calls/0",),
    ),
    "server-tool-failed": Example(
        "the tool 'list_issues', which the API ran, failed: 401 Unauthorized",
        ("#0 response /content/1",),
    ),
    "model-ping-pong": Example(
        "the last 4 turns are 2 rounds of 2 turns with the same calls and the same results: 'read_file', 'run_query'",
        ("#2 response", "#3 response", "#4 response", "#5 response"),
    ),
}
"""By the id of the class."""
