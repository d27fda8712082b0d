"""What OpenAI's SDK knows of Assistants and nothing here reads, with what happens to it."""

_DELTAS = "ignored: the text of the message comes in deltas"

NOT_READ: dict[str, dict[str, str]] = {
    "stream event": {
        "thread.created": "kept raw",
        "thread.message.completed": _DELTAS,
        "thread.message.created": _DELTAS,
        "thread.message.in_progress": _DELTAS,
        "thread.message.incomplete": _DELTAS,
        "thread.run.step.delta": "ignored: the whole step comes when it has ended",
    },
    "tool call": {
        "function": "read from the run, which says which calls it waits for",
    },
}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
