"""The meaning of a round trip: framing, protocols, labels, threads, findings, costs, and the views of them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run.run_index import Run
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
    "ApiError",
    "Emission",
    "Exchange",
    "Finish",
    "Message",
    "Part",
    "Reading",
    "RequestReading",
    "ResponseReading",
    "Run",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Usage",
    "read",
    "read_exchange",
]

_MODULES = {
    "Exchange": ".wire.exchange",
    "Run": ".run.run_index",
    "read": ".wire.parse",
    "read_exchange": ".wire.parse",
}


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: a view of bytes needs no protocol."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES.get(name, ".wire.values"), __name__), name)
    globals()[name] = value
    return value
