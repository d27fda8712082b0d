"""What the SDKs of OpenAI and Mistral know of chat completions and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {
    "field of an answer": {"annotations": "kept raw: they point at sources of the text, which is read"},
}
"""By kind of member. A test compares the SDKs' unions with this table and with what is read."""
