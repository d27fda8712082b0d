"""Examples of findings whose id names the client, taken from recorded runs of test agents."""

from .example import Example

CLIENTS: dict[str, Example] = {
    "client-answer-not-requested": Example(
        "the client gave 1 result (call_Qd81), asked for no answer, and closed the session 24 s later",
        ("#0 call call_Qd81",),
    ),
    "session-event-failed": Example(
        "the API refused 'conversation.item.truncate': Audio content of 1000ms is already shorter than 5596ms",
        ("#0 response",),
    ),
    "client-forged-answer": Example(
        "the history contains the text 'Careful: the replica lags by an hour.' as the model's own, but no answer "
        "contains it",
        ("#2 response", "#3 request /messages/6/content"),
    ),
    "client-id-missing": Example(
        "a result has no call id, so nothing says which call it answers: '14 rows'", ("#1 request /messages/2",)
    ),
    "client-tool-withdrawn": Example(
        "the model called 'refund_order', which the request no longer offers; #1 offered it",
        ("#2 call call_9", "#2 request /tools"),
    ),
    "client-result-wrong-type": Example(
        "the result of 'shell' is a `function_call_output`, and its call a `shell_call`: the API wants a "
        "`shell_call_output`",
        ("#1 request /input/2",),
    ),
    "client-tool-redefined": Example(
        "the schema of 'refund_order' is another than at call call_3 of #1, and the model calls it as it did there "
        '(missing-required): "order_ids" is a required property',
        ("#1 call call_3", "#4 call call_8", "#4 request /tools/2"),
    ),
    "client-user-media-lost": Example(
        "1 image of the user's last message is not in the request any more",
        ("#0 request /messages/1/content/1", "#1 request"),
    ),
    "client-foreign-history": Example(
        "2 pieces of another conversation are in front of this one: 'Where is my parcel?'",
        ("#2 request", "#3 request /messages/1/content", "#3 request /messages/2/content"),
    ),
    "client-user-text-lost": Example(
        "the request contains none of the user's words: 1 text of #2 (149 characters) is missing, 'Checkout failed "
        "for many customers last night, from about 2', and only 'Continue.' replaces it",
        ("#2 request /messages/1/content", "#3 request"),
    ),
    "client-user-text-changed": Example(
        "the client rewrote a message of the user: 'Please refund order 88213, which arrived with a broken lamp.' "
        "became 'Please send order 88213 again.'",
        ("#1 request /messages/1/content", "#2 request /messages/1/content"),
    ),
    "client-tool-definition-damaged": Example(
        "the tool 'refund_order' lost all its parameters: order_id, reason",
        ("#1 request", "#2 request /tools/3"),
    ),
    "client-history-duplicated": Example(
        "10 pieces of the history are sent again, although it is in the request already; the first: 'Please refund "
        "order 88213.'",
        ("#2 request", "#3 request /messages/9/content", "#3 request /messages/10/tool_calls/0"),
    ),
    "client-system-prompt-repeated": Example(
        "the request holds the same system prompt 2 times, of 682 characters each: 'You handle support tickets of an "
        "online shop.'",
        ("#0 request /messages/0/content", "#0 request /messages/1/content"),
    ),
    "client-user-message-repeated": Example(
        "the first message of the user comes again after 2 results: 'Please refund order 88213.'",
        ("#2 request /messages/1/content", "#2 request /messages/4/content", "#2 request /messages/7/content"),
    ),
    "client-retry-lost-results": Example(
        "after the failure of #3, the client sent the request of #2 again: 2 pieces of #3 are missing, results among "
        "them",
        ("#2 request", "#3 request", "#4 request"),
    ),
    "client-history-as-text": Example(
        "the history is sent as JSON in a message of the user, with what #0 answered",
        ("#0 response", "#1 request /messages/0"),
    ),
    "client-result-as-user-text": Example(
        "the result of call_1 is a message of the user as well: 'a strip that is wound on a reel'",
        ("#1 request /messages/2", "#1 request /messages/3"),
    ),
    "client-history-truncated": Example(
        "1 piece of the history (201 characters) is missing, without a replacement",
        ("#3 request /messages/8", "#4 request"),
    ),
    "client-history-reordered": Example(
        '2 pieces of the history have moved, the first: \'{"service":"payments"}\'',
        ("#2 request /messages/6", "#3 request /messages/7"),
    ),
    "client-tool-result-rewritten": Example(
        "the result of call_tJmX2O was rewritten, 75 characters shorter: 'read_file: no such file: "
        "services/checko' became 'It failed.'",
        ("#2 request /messages/6", "#3 request /messages/6"),
    ),
    "client-results-exchanged": Example(
        "the result of the call toolu_01xtg5 speaks of 'regions', and that of the call toolu_01e7NJ of 'orders'",
        (
            "#1 call toolu_01xtg5",
            "#1 call toolu_01e7NJ",
            "#2 request /messages/4/content/0",
            "#2 request /messages/4/content/1",
        ),
    ),
    "client-assistant-mutated": Example(
        "a call of the answer is missing from the history: "
        '\'{"service":"payments","query":"charge","since":"2026-05-28T2\'',
        ("#0 response /content/2", "#1 request"),
    ),
    "client-reasoning-dropped": Example(
        "1 piece of reasoning of #2 did not come back",
        ("#2 response /content/0", "#3 request"),
    ),
    "client-reasoning-altered": Example(
        "a signed piece of reasoning of #2 came back changed",
        ("#2 response /content/0", "#3 request /messages/5/content/0"),
    ),
    "client-system-prompt-changed": Example(
        "the system prompt changes at character 4071: 'ormal for one hour.\\n' became 'ormal for one "
        "hour.\\n\\nYou have two steps left.'",
        ("#2 request system", "#3 request system"),
    ),
    "client-tools-changed": Example(
        "the tools changed: search_logs removed, although the history calls 'search_logs'",
        ("#2 request tools", "#3 request tools"),
    ),
    "client-cache-prefix-busted": Example(
        "the request differs from #2 within its cached prefix; 724 input tokens were not read from the cache",
        ("#3 request",),
    ),
    "client-no-cache-control": Example(
        "3 growing requests, the last with 2,085 input tokens, and none is cached",
        ("#2 request", "#2 usage cache_read 0"),
    ),
    "client-sampling-params-changed": Example(
        "changed since #2: the output cap (4096, now 1024)",
        ("#2 request",),
    ),
    "client-media-as-text": Example(
        "the result of 'screenshot' holds image/png as 81,240 characters of base64: 'iVBORw0KGgoAAAANSUhEUgAA'",
        ("#1 request /messages/3/content",),
    ),
    "client-media-damaged": Example(
        "an image (image/png) ends in the middle of the file, after 81,920 characters of base64",
        ("#0 request /messages/0/content/1",),
    ),
    "client-media-type-wrong": Example(
        "an image is sent as image/png, and its bytes are image/jpeg",
        ("#0 request /messages/0/content/1",),
    ),
    "client-model-changed": Example(
        "the request names the model 'claude-haiku-4-5'; #2 named 'claude-sonnet-4-5'",
        ("#2 request model", "#3 request model"),
    ),
    "client-missing-tool-result": Example(
        "the next request has no result for call_IQFbEX: 1 other call of the answer got a result",
        ("#0 call call_IQFbEX", "#1 request"),
    ),
    "client-orphan-tool-result": Example(
        "the request holds a result for call_n3RhZC, but the history holds no such call",
        ("#3 request /messages/9",),
    ),
    "client-duplicate-tool-result": Example(
        "the call call_oFMZKe has two results, the second one with other content",
        ("#3 request /messages/8", "#3 request /messages/9"),
    ),
    "client-duplicated-call": Example(
        "the call toolu_012KE3 is in the history twice",
        ("#3 request /messages/5/content/1", "#3 request /messages/6/content/1"),
    ),
    "client-results-not-adjacent": Example(
        "something comes before the result of toolu_012KE3 in its message",
        ("#3 request /messages/6/content/1",),
    ),
    "client-results-reordered": Example(
        "the results of 2 calls are in another order than the calls (call_b81, call_a07)",
        ("#1 request /messages/1/content/1",),
    ),
    "client-result-wrong-name": Example(
        "the result of 'read_file' names 'run_query'",
        ("#3 request /messages/7/tool_calls/0", "#3 request /messages/8"),
    ),
    "client-role-order": Example(
        "the final assistant content ends with white space",
        ("#5 request /messages/11",),
    ),
    "client-empty-content": Example(
        "the request holds an empty text block; the API says: messages: text content blocks must be non-empty",
        ("#3 request /messages/5/content/1",),
    ),
    "client-tools-missing-for-history": Example(
        "the history holds calls and results and the request defines no tools",
        ("#9 request /messages/1", "#9 request /tools"),
    ),
    "client-bad-tool-schema": Example(
        "the schema of 'create_ticket' has an array without items at /properties/labels",
        ("#0 request /tools/3",),
    ),
    "client-unsupported-param": Example(
        "the API does not accept temperature: `temperature` is deprecated for this model.",
        ("#0 request /temperature", "#0 status 400"),
    ),
    "client-stale-server-state": Example(
        "the request continues resp_ba18f2, which is not in this recording; the API says: Previous "
        "response with id 'resp_ba18f2' not found.",
        ("#2 request /previous_response_id",),
    ),
    "client-args-wrong-type": Example(
        "the arguments of 'read_file' must be an object; the API says: messages.5.content.1.tool_use.input: "
        "Input should be a valid dictionary",
        ("#3 request /messages/5/content/1",),
    ),
    "client-media-unsupported": Example(
        "the API rejects the request: Invalid content type. image_url is only supported by certain models.",
        ("#0 request", "#0 status 400"),
    ),
    "client-call-id-rewritten": Example(
        "the client sent the call id toolu_012KE3 back as toolu_01rjcg",
        ("#2 call toolu_012KE3", "#3 request /messages/5/content/1"),
    ),
    "client-tool-error-as-success": Example(
        "the result of 'read_file' reads like an error and is not marked as one: \"Error: ENOENT: no such "
        "file, open 'services/checkout/config/prod.yaml'\"",
        ("#2 request /messages/4/content/0",),
    ),
    "client-huge-tool-result": Example(
        "the result of 'search_logs' has 141,889 characters (about 35,472 tokens), and every later turn "
        "sends them again",
        ("#1 request /messages/4",),
    ),
    "client-empty-tool-result": Example(
        "the result of 'create_ticket' is empty again",
        ("#5 request /messages/12",),
    ),
    "client-context-growth": Example(
        "the input grew from 1,635 to 22,877 tokens, about 2,360 per turn",
        ("#0 usage input 1635", "#9 usage input 22877"),
    ),
    "client-image-or-blob-resent": Example(
        "the same image or file is sent for the third time",
        ("#2 request /messages/1/content/1",),
    ),
    "client-max-iterations": Example(
        "the thread stops after 10 turns with open calls, as at a turn limit",
        ("#9 call call_3u5EDR",),
    ),
    "client-dispatched-partial-call": Example(
        "the call call_KQssoz was run although its answer was cut",
        ("#4 finish cut", "#6 request /messages/12"),
    ),
    "client-executed-filtered-call": Example(
        "the call toolu_012KE3 was run although its answer was refused, filtered or malformed (refusal)",
        ("#2 finish refusal", "#3 request /messages/6/content/0"),
    ),
    "client-pause-not-resumed": Example(
        "the API paused the turn and the next request adds something after the answer instead of sending it back "
        "unchanged",
        ("#2 finish pause_turn", "#3 request"),
    ),
    "client-stored-failed-turn": Example(
        "the partial answer of #5 (error) is in the history as if it were complete",
        ("#5 response", "#6 request /messages/13"),
    ),
    "client-parallel-run-serially": Example(
        "2 tools took 4080 ms in all and 4200 ms passed: they ran one after the other",
        ("#0 response", "#1 request header x-claude-code-prev-tool-durations"),
    ),
    "client-interrupted": Example(
        "the client closed the connection before the answer was complete; the call of 'create_ticket' was incomplete",
        ("#4 closed by client",),
    ),
    "client-tool-calls-not-dispatched": Example(
        "the thread ends with 1 call that nobody answered: call_oFMZKe",
        ("#2 call call_oFMZKe",),
    ),
    "client-treated-truncated-as-final": Example(
        "the thread ends with an incomplete answer (max_tokens)",
        ("#5 finish max_tokens",),
    ),
    "client-command-failed": Example(
        "the command ended with exit code 1 and sent nothing after this answer: nobody ran its 2 calls (read_file)",
        ("#0 response",),
    ),
    "client-continued-after-end": Example(
        "the model had finished and the next request adds only 'Please continue.'",
        ("#5 finish stop", "#6 request"),
    ),
    "client-retry-storm": Example(
        "the same failing request was sent 4 times; the last attempt before this one failed with status 529",
        ("#2 status", "#3 status", "#4 status", "#5 status"),
    ),
    "client-retried-permanent-error": Example(
        "the request was sent again unchanged after status 401",
        ("#0 status 401", "#1 request"),
    ),
    "client-ignored-retry-after": Example(
        "the client retried after 1.0 s; the API asked it to wait 20 s",
        ("#3 response header retry-after 20", "#4 request"),
    ),
    "client-duplicate-request": Example(
        "the request is the same as in #0, byte for byte, and both were answered",
        ("#0 request", "#1 request"),
    ),
    "client-refusal-retried": Example(
        "the request that was refused in #5 was sent again unchanged",
        ("#5 finish refusal", "#6 request"),
    ),
    "client-poisoned-history": Example(
        "2 requests were rejected because of the same fault, first #3: retries cannot succeed",
        ("#3 status", "#4 request"),
    ),
    "client-no-retry-on-transient": Example(
        "the client did not retry after status 429",
        ("#2 status 429",),
    ),
    "client-opaque-tool-error": Example(
        "the error 'failed' names no field and no reason, and the same call came again",
        ("#1 request /messages/2/content/0", "#1 response"),
    ),
    "client-subagent-answer-lost": Example(
        "the subagent of 'task' answered in 1,204 characters (#3) and the client sent an empty result for its task",
        ("#1 call toolu_01", "#3 response", "#4 request"),
    ),
    "client-stopped-silently": Example(
        "the thread ends with `pause` and nothing explains it",
        ("#3 finish pause_turn",),
    ),
    "client-system-prompt-lost": Example(
        "the request answers calls of #1 without its system prompt of 1,204 characters: 'You are on call for the "
        "payments team. Look before you chan'",
        ("#1 request /messages/0/content", "#2 request"),
    ),
    "client-forced-tool-loop": Example(
        "tool_choice demands a call (required) and the model made the same call of 'search_logs' 3 times in a row: "
        "it has no other way to continue",
        ("#3 request tool choice required", "#1 call search_logs", "#2 call search_logs", "#3 call search_logs"),
    ),
    "client-unserialized-result": Example(
        "the result of 'run_query' is a coroutine that nobody awaited: '<coroutine object run_query at 0x7f3a>'",
        ("#4 request /messages/9",),
    ),
}
