"""What Mistral's SDK knows of conversations and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
