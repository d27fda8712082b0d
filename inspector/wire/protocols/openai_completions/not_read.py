"""What OpenAI's SDK knows of legacy completions and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {
    "answer": {
        "created": "kept raw",
        "object": "kept raw",
        "system_fingerprint": "kept raw",
    },
    "choice": {
        "logprobs": "kept raw",
    },
    "usage": {
        "total_tokens": "read where another count is missing",
    },
}
"""By kind of member. A test compares the SDK's types with this table and with what is read."""
