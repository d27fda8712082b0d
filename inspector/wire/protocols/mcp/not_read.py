"""What MCP's SDK knows: what is read of it, and what happens to the rest."""

READ: dict[str, frozenset[str]] = {
    "method": frozenset(
        {
            "initialize",
            "server/discover",
            "tools/list",
            "tools/call",
            "roots/list",
            "sampling/createMessage",
            "elicitation/create",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/tools/list_changed",
        }
    ),
    "result": frozenset(
        {
            "InitializeResult",
            "DiscoverResult",
            "ListToolsResult",
            "CallToolResult",
            "InputRequiredResult",
            "ListRootsResult",
            "CreateMessageResult",
            "CreateMessageResultWithTools",
            "ElicitResult",
        }
    ),
}
"""By kind of member, the words whose content is used."""

_SHOWN = "shown raw"
_TASK = "shown raw: the result of a task is not joined to the call that began it"
_BASE = "ignored: it is only the base of other results"

NOT_READ: dict[str, dict[str, str]] = {
    "method": {
        "completion/complete": _SHOWN,
        "logging/setLevel": _SHOWN,
        "notifications/elicitation/complete": _SHOWN,
        "notifications/initialized": _SHOWN,
        "notifications/message": _SHOWN,
        "notifications/prompts/list_changed": _SHOWN,
        "notifications/resources/list_changed": _SHOWN,
        "notifications/resources/updated": _SHOWN,
        "notifications/roots/list_changed": _SHOWN,
        "notifications/subscriptions/acknowledged": _SHOWN,
        "notifications/tasks": _TASK,
        "notifications/tasks/status": _TASK,
        "ping": _SHOWN,
        "prompts/get": _SHOWN,
        "prompts/list": _SHOWN,
        "resources/list": _SHOWN,
        "resources/read": _SHOWN,
        "resources/subscribe": _SHOWN,
        "resources/templates/list": _SHOWN,
        "resources/unsubscribe": _SHOWN,
        "subscriptions/listen": "shown raw; the changes in its answer are read",
        "tasks/cancel": _TASK,
        "tasks/get": _TASK,
        "tasks/list": _TASK,
        "tasks/result": _TASK,
        "tasks/update": _TASK,
    },
    "result": {
        "CacheableResult": _BASE,
        "CancelTaskResult": _TASK,
        "CompleteResult": _SHOWN,
        "CreateTaskResult": _TASK,
        "EmptyResult": _SHOWN,
        "GetPromptResult": _SHOWN,
        "GetTaskPayloadResult": _TASK,
        "GetTaskResult": _TASK,
        "ListPromptsResult": _SHOWN,
        "ListResourceTemplatesResult": _SHOWN,
        "ListResourcesResult": _SHOWN,
        "ListTasksResult": _TASK,
        "PaginatedResult": _BASE,
        "ReadResourceResult": _SHOWN,
        "Result": _BASE,
        "SubscriptionsListenResult": _SHOWN,
    },
}
"""By kind of member. A test compares the SDK's types with this table and with what is read."""
