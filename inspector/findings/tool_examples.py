"""Examples of findings about tools and their own wire, from scripted runs."""

from .example import Example

TOOLS: dict[str, Example] = {
    "client-tool-arguments-changed": Example(
        "'add' of server 'files' was given other arguments than the model wrote: a is 5 and not 1, and 1 more argument",
        ("#2 response", "#3 request /params/arguments/a"),
    ),
    "client-tool-audio-lost": Example(
        "the audio in the result of 'add' of server 'files' was left out; the model sees 'see this'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-call-unasked": Example(
        "'say' of server 'files' was called with {\"text\":\"x\"}, but no answer of the model has that call",
        ("#5 request /params",),
    ),
    "client-tool-definition-differs": Example(
        "'mcp__files__add' differs from what its server states: the description is 'Subtract two numbers.' "
        "and not 'Add two numbers.'",
        ("#2 request /tools/0", "#1 response /result/tools"),
    ),
    "client-tool-error-invented": Example(
        "'add' of server 'files' returned a result without an error, but the model sees an error: 'It broke.'",
        ("#3 response /result", "#4 request /messages/2/content/0"),
    ),
    "client-tool-error-mark-lost": Example(
        "'add' of server 'files' reported an error, but its result is not marked as one: 'the disk is full'",
        ("#3 response /result", "#4 request /messages/2/content/0"),
    ),
    "client-tool-error-ends-run": Example(
        "'add' of server 'files' failed, and no request of the client followed: 'it broke'",
        ("#3 response", "#2 response"),
    ),
    "client-tool-executed-twice": Example(
        "the call 'mcp__files__add' (c1) was executed 2 times",
        ("#2 response", "#3 request", "#4 request"),
    ),
    "client-tool-gave-up": Example(
        "the client gave up on 'add' of server 'files' after 0.004 s (Request timed out)",
        ("#4 request", "#2 response"),
    ),
    "client-tool-image-lost": Example(
        "an image in the result of 'add' of server 'files' was left out; the model sees 'see this'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-input-unanswered": Example(
        "the request elicitation/create of server 'files' has no answer from the client",
        ("#3 request",),
    ),
    "client-tool-misrouted": Example(
        "the model called 'mcp__files__add' (c1), and the client ran 'say' of server 'files'",
        ("#2 response", "#3 request /params/name"),
    ),
    "client-tool-never-executed": Example(
        "the model called 'mcp__files__add' (c1), but server 'files' was not asked to run it",
        ("#2 response", "#3 request /messages/2"),
    ),
    "client-tool-not-on-server": Example(
        "the client called 'add' on server 'notes', which does not list it",
        ("#5 request /params/name", "#4 response"),
    ),
    "client-tool-protocol-broken": Example(
        "the client calls a tool of server 'files' without having read the rest of its list of tools",
        ("#1 response", "#3 request"),
    ),
    "client-tool-resource-lost": Example(
        "a link to a resource in the result of 'add' of server 'files' was left out; the model sees 'see this'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-as-file": Example(
        "the result of 'add' of server 'files' (24,929 bytes) was written to a file: 'Result too large. Saved"
        " to /home/me/.x/results/a.txt'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-changed": Example(
        "'add' of server 'files' returned 'no', but the model sees '{\"sum\":1}'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-cut": Example(
        "the model sees only 900 of 23,890 characters (the beginning) of the result of 'add' of server 'files'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-doubled": Example(
        'the model sees the result of \'add\' of server \'files\' 2 times: \'{"rows":[{"depot":"Gent","late":true}\'',
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-forged": Example(
        "'mcp__files__add' (c1) was not executed, but the model sees a result: 'The sum is 1.'",
        ("#2 response", "#3 request /messages/2"),
    ),
    "client-tool-result-lost": Example(
        "the model sees nothing of the result of 'add' of server 'files': 'It is 42.'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-result-unread": Example(
        "'add' of server 'files' returned a result, and no request of the client followed",
        ("#3 response", "#2 response"),
    ),
    "client-tool-result-stale": Example(
        "'add' of server 'files' returned 'the sum is 2', but the model sees the result of #3 again: 'the sum is 1'",
        ("#5 response /result", "#6 request /messages/4", "#3 response /result"),
    ),
    "client-tool-results-swapped": Example(
        "the call 'c1' shows the result of #4 and not its own: 'you said x'",
        ("#3 response /result", "#5 request /messages/2", "#4 response /result"),
    ),
    "client-tool-structured-lost": Example(
        "the structured content of 'add' of server 'files' was left out; the model sees nothing",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "client-tool-text-lost": Example(
        "the text of 'add' of server 'files' was left out; the model sees only the structured content: 'It is warm.'",
        ("#3 response /result", "#4 request /messages/2"),
    ),
    "tool-definition-rejected": Example(
        "the server itself states the definition: the schema of 'mcp__files__add' has the type 'string' "
        "instead of an object",
        ("#2 request /tools/0",),
    ),
    "tool-definition-changed": Example(
        "server 'files' changed the arguments of 'add' and did not announce it",
        ("#1 response /result/tools", "#2 response /result/tools"),
    ),
    "tool-garbage-on-stdout": Example(
        "server 'files' wrote a line to stdout that is not a message: 'listening on port 3'",
        ("#0 request",),
    ),
    "tool-result-is-error": Example(
        "the result of 'get_order' reads like an error: 'Error: no order 4711'",
        ("#1 request /messages/2",),
    ),
    "tool-error-unmarked": Example(
        "'add' of server 'files' returned an error that is not marked as one: 'Error: no connection'",
        ("#3 response /result", "#2 response"),
    ),
    "tool-invalid-result": Example(
        "the result of 'add' of server 'files' breaks its tool's `outputSchema` (wrong-type): sum: \"1\" is not"
        ' of type "number"',
        ("#3 response /result/structuredContent", "#1 response /result/tools", "#2 response"),
    ),
    "tool-reported-error": Example(
        "'add' of server 'files' reports an error: 'disk full'",
        ("#3 response /result", "#2 response"),
    ),
    "tool-protocol-broken": Example(
        "server 'files' names the page 'p2' as the next one of that page itself, so its list never ends",
        ("#2 response /result",),
    ),
    "tool-result-unreadable": Example(
        "the tool itself returned it so: the result of 'mcp__files__add' holds image/png as 1,211 characters of "
        "base64: 'iVBORw0KGgoAAAAAAAAAAAAA'",
        ("#4 request /messages/2",),
    ),
    "tool-server-died": Example(
        "server 'files' ended before it had answered the call of 'add'",
        ("#3 request", "#2 response"),
    ),
    "tool-server-error": Example(
        "server 'files' answered the call of 'add' with an error (code -32603): 'it broke'",
        ("#3 response /error", "#2 response"),
    ),
    "tool-server-silent": Example(
        "server 'files' never answered the call of 'add'",
        ("#4 request", "#2 response"),
    ),
}
