"""A scripted LLM: the demo's upstream, and the tests'. No key, no network, the same bytes every time."""

from .faults import Fault
from .server import Received, ScriptedServer
from .story import SALES_EMAILS, Call, Step, Story

__all__ = ["SALES_EMAILS", "Call", "Fault", "Received", "ScriptedServer", "Step", "Story"]
