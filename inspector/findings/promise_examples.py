"""Examples of findings about demands of requests, and about texts that were damaged or belong to another request."""

from .example import Example

PROMISES: dict[str, Example] = {
    "api-answers-missing": Example(
        "the request asks for 3 answers and 1 came",
        ("#0 request /n", "#0 response"),
    ),
    "api-answers-extra": Example(
        "the request asks for 1 answer and 2 came",
        ("#0 request", "#0 response"),
    ),
    "api-cap-ignored": Example(
        "the request allows 60 output tokens, and the answer has 740 output tokens",
        ("#0 request", "#0 usage output 740"),
    ),
    "api-logprobs-missing": Example(
        "the request asks for logprobs and the answer has none",
        ("#0 request /logprobs", "#0 response"),
    ),
    "api-reasoning-unwanted": Example(
        "the request turns reasoning off (think: false) and the answer holds some: 'The user asks for the way'",
        ("#0 request /think", "#0 response"),
    ),
    "api-parameter-changed": Example(
        "the request says max_output_tokens 4000 and the answer repeats it as 1024",
        ("#2 request /max_output_tokens", "#2 response /max_output_tokens"),
    ),
    "api-stream-unasked": Example(
        "the request asks for one body and a stream of 33 events came",
        ("#1 request", "#1 response"),
    ),
    "call-args-damaged": Example(
        "the argument 'sql' of 'run_query' holds HTML escapes ('&gt;='): 'SELECT name FROM a WHERE year &gt;= 2025'",
        ("#2 call call_64yj5H", "#2 response"),
    ),
    "answer-text-damaged": Example(
        "the text of the answer holds UTF-8 that was read as another encoding ('\u00c3\u00bc' for '\u00fc'): "
        "'Z\u00c3\u00bcrich is the largest city.'",
        ("#1 response",),
    ),
    "client-text-damaged": Example(
        "a message of the user is a missing value or an object as a string: '[object Object]'",
        ("#0 request /messages/1/content",),
    ),
    "client-offers-unknown-tool": Example(
        "the request offers 'run_query', and the client answers its call with \"Error: tool 'run_query' not found in "
        'registry"',
        ("#3 request /messages/6", "#3 request /tools/2"),
    ),
    "call-args-not-taken": Example(
        "the call of 'book_flight' passes 'passengers', which its schema declares and its function does not take: "
        "\"TypeError: book_flight() got an unexpected keyword argument 'passengers'\"",
        ("#2 request /messages/4", "#2 request /tools/1"),
    ),
    "client-result-damaged": Example(
        "the result of 'order' holds escapes in place of characters ('\\\\u0022'): '{\\\\u0022order\\\\u0022:'",
        ("#1 request /messages/2",),
    ),
    "result-text-twice": Example(
        "the result of 'weather' is the same text twice, of 268 characters: 'On day 0 there is rain in the north and…'",
        ("#1 request /messages/2",),
    ),
    "result-incomplete": Example(
        "the result of 'read_page' says that a part of it is missing: 'and so on. [truncated: 40 of 1,200 lines]'",
        ("#1 request /messages/2",),
    ),
    "call-result-refused": Example(
        "the client refuses the result of 'delete_inbox': 'Invalid tools/call result: expected string'",
        ("#1 request /messages/2",),
    ),
    "model-parroted": Example(
        "the answer is the user's message, word for word: 'Which region grew the most, and by how much?'",
        ("#0 request /messages/1", "#0 response"),
    ),
    "model-same-answer": Example(
        "3 different questions got the same answer of 143 characters: 'The warehouse holds three tables'",
        ("#0 response", "#1 response", "#2 response"),
    ),
    "model-plays-user": Example(
        "the answer continues with 2 invented turns of the user: 'Human: Great, thanks. And do I need an umbrella?'",
        ("#0 response",),
    ),
    "model-acted-twice": Example(
        "the model called 'send_mail' again with the same arguments right after it had succeeded in #2",
        ("#2 call send_mail", "#3 call call_Xp81aa"),
    ),
    "model-repeats-itself": Example(
        "the answer repeats 'Wait, let me check the order of the legs again.' 89 times at its end",
        ("#0 response",),
    ),
}
"""By the id of the class."""
