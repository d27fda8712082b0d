"""What OpenAI's SDK knows of the Agents API and nothing here reads, with what happens to it."""

_ENVIRONMENT = "kept raw: it is about the environment of the session"
_SUBAGENT = "kept raw: the work of a subagent is shown by the calls of its parent"
_PROGRESS = "ignored: it only says how far the API is"
_LOGIN = "named: it asks for a login or a permission, and says nothing to the model"

NOT_READ: dict[str, dict[str, str]] = {
    "item": {
        "computer_use_approval_request": _LOGIN,
        "computer_use_approval_request_result": _LOGIN,
        "computer_use_call": "read as a call of the API; its screenshot is named",
    },
    "event": {
        "agent.session.environment.connected": _ENVIRONMENT,
        "agent.session.environment.disconnected": _ENVIRONMENT,
        "agent.session.environment.expired": _ENVIRONMENT,
        "agent.session.environment.failed": _ENVIRONMENT,
        "agent.session.environment.pending": _ENVIRONMENT,
        "agent.session.environment.ready": _ENVIRONMENT,
        "agent.session.environment.reset": _ENVIRONMENT,
        "agent.session.environment.suspended": _ENVIRONMENT,
        "agent.session.subagent.active": _SUBAGENT,
        "agent.session.subagent.closed": _SUBAGENT,
        "agent.session.subagent.created": _SUBAGENT,
        "agent.session.turn.created": _PROGRESS,
        "agent.session.turn.in_progress": _PROGRESS,
    },
}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
