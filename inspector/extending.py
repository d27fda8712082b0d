"""The names for adding a protocol or a rule to turntape; docs/extending.md has an example of each."""

from turntape.cassettes.apis.interface import (
    Api,
    Documents,
    Edited,
    FaultAnswers,
    IgnoredFields,
    Registration,
    common_error,
)

from .findings.rule import Note, Rule, rule
from .findings.rule_context import RuleContext
from .wire.exchange import Exchange
from .wire.protocols.protocol import Protocol
from .wire.protocols.traits import (
    AnswerRules,
    ArgumentsField,
    Caching,
    EditTargets,
    Pairing,
    Reasoning,
    RequestRules,
    Rewrite,
)
from .wire.values import (
    ApiError,
    FinishLabel,
    Kind,
    Message,
    Part,
    RequestReading,
    ResponseReading,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)

__all__ = [
    "AnswerRules",
    "Api",
    "ApiError",
    "ArgumentsField",
    "Caching",
    "Documents",
    "EditTargets",
    "Edited",
    "Exchange",
    "FaultAnswers",
    "FinishLabel",
    "IgnoredFields",
    "Kind",
    "Message",
    "Note",
    "Pairing",
    "Part",
    "Protocol",
    "Reasoning",
    "Registration",
    "RequestReading",
    "RequestRules",
    "ResponseReading",
    "Rewrite",
    "Rule",
    "RuleContext",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Usage",
    "common_error",
    "rule",
]
