"""What Ollama's SDK knows and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {
    "field of a message": {"role": "read with the message, whose role it is"},
}
"""By kind of member. A test compares the SDK's types with this table and with what is read."""
