"""What botocore knows of Converse and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {
    "block": {"cachePoint": "ignored: it marks where the cached prefix ends"},
    "stream event": {"messageStart": "ignored: it says the role, which is always the assistant's"},
}
"""By kind of member. A test compares the service model with this table and with what is read."""

AGENT_NOT_READ: dict[str, dict[str, str]] = {
    "stream event": {
        "citation": "kept raw: the text that it cites comes in `output`",
        "trace": "kept raw, except for the tokens of each request to the model",
    },
    "trace": {
        "customOrchestrationTrace": "kept raw: it counts no tokens",
        "failureTrace": "kept raw: it counts no tokens",
        "guardrailTrace": "kept raw: it counts no tokens",
    },
}
"""The same for agents and knowledge bases."""
