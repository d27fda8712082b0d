"""What botocore knows of Converse and nothing here reads, with what happens to it."""

NOT_READ: dict[str, dict[str, str]] = {
    "block": {"cachePoint": "ignored: it marks where the cached prefix ends"},
    "stream event": {"messageStart": "ignored: it says the role, which is always the assistant's"},
}
"""By kind of member. A test compares the service model with this table and with what is read."""
