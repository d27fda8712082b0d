"""The tools that the API ran itself for an answer (`executed_tools` of Groq), and what it charges for beside tokens.

The kinds `search` and `visit` are on recorded answers of `groq/compound`; the tools `browser_search` and
`code_interpreter` are in groq 1.7.0, types/chat/chat_completion_tool_param.py. No price list has a price for them.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...json_value import Object, as_array, as_object, as_text
from ...values import Usage

_SEARCHES = ("search", "browser_search")
_FEES = {"visit": "website visits", "code_interpreter": "code interpreter"}
_OTHER = "built-in tools"
"""What another kind is called."""


def with_executed(usage: Usage, choices: Sequence[Object]) -> Usage:
    """The usage with the searches and the other fees of the tools that the API ran for these choices."""
    kinds = [
        as_text(as_object(tool).get("type")) or ""
        for choice in choices
        for tool in as_array(as_object(choice.get("message") or choice.get("delta")).get("executed_tools"))
    ]
    if not kinds:
        return usage
    fees = dict.fromkeys(_FEES.get(kind, _OTHER) for kind in kinds if kind not in _SEARCHES)
    searches = sum(kind in _SEARCHES for kind in kinds)
    return replace(usage, web_searches=usage.web_searches + searches, other_fees=(*usage.other_fees, *fees))


def executed_once(tools: Sequence[object]) -> list[object]:
    """The tools of a stream, each once: a chunk names it when it begins, and one with its result when it has ended."""
    once: dict[object, Object] = {}
    for place, one in enumerate(tools):
        fields = as_object(one)
        index = fields.get("index")
        key = index if isinstance(index, int) else f"at {place}"
        once[key] = {**once.get(key, {}), **fields}
    return list(once.values())
