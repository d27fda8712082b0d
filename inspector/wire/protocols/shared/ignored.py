"""What differs between two runs of one agent, for APIs in the shape of chat completions."""

from turntape.cassettes.apis.interface import IgnoredFields

CHAT_IGNORED = IgnoredFields(
    pointers=(
        "/user",
        "/metadata",
        "/session_id",
        "/trace",
        "/safety_identifier",
        "/prompt_cache_key",
        "/prompt_cache_retention",
        "/seed",
        "/random_seed",
        "/options/seed",
        "/tools/*/cache_control",
        "/messages/*/cache_control",
        "/messages/*/content/*/cache_control",
    ),
    ids=("/messages/*/tool_calls/*/id", "/messages/*/tool_call_id"),
)
