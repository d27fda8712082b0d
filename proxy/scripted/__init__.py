"""A scripted LLM, for the demo and the tests. It needs no key and no network, and gives the same bytes every time."""

from .faults import Fault
from .server import Received, ScriptedServer
from .story import SALES_EMAILS, Call, Step, Story

__all__ = ["SALES_EMAILS", "Call", "Fault", "Received", "ScriptedServer", "Step", "Story"]
