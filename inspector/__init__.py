"""The meaning of a round trip: protocols, labels, threads, findings, costs, and the views."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pytest_plugin.agent_run import AgentRun
    from .run.run_index import Run
    from .views.json.models import RoundTripLabel
    from .views.json.report_models import CheckReport, FailureClassInfo, RunDiff
    from .wire.exchange import Exchange
    from .wire.parse import read, read_exchange
    from .wire.values import (
        ApiError,
        Emission,
        Finish,
        Message,
        Part,
        Reading,
        RequestReading,
        ResponseReading,
        Tool,
        ToolCall,
        ToolChoice,
        ToolResult,
        Usage,
    )

__all__ = [
    "AgentRun",
    "ApiError",
    "CheckReport",
    "Emission",
    "Exchange",
    "FailureClassInfo",
    "Finish",
    "Message",
    "Part",
    "Reading",
    "RequestReading",
    "ResponseReading",
    "RoundTripLabel",
    "Run",
    "RunDiff",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Usage",
    "read",
    "read_exchange",
]

_MODULES = {
    "AgentRun": ".pytest_plugin.agent_run",
    "RoundTripLabel": ".views.json.models",
    **dict.fromkeys(("CheckReport", "FailureClassInfo", "RunDiff"), ".views.json.report_models"),
    "Exchange": ".wire.exchange",
    "Run": ".run.run_index",
    "read": ".wire.parse",
    "read_exchange": ".wire.parse",
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: to read bytes needs neither a protocol nor pydantic."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES.get(name, ".wire.values"), __name__), name)
    globals()[name] = value
    return value
