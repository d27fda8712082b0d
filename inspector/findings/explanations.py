"""Whether a finding about a request may be why the API rejected it, by what the rejection says.

A request may have several faults, and the API speaks of one. A finding about something else is not its cause.
"""

from collections.abc import Collection

from turntape.cassettes.regex import regex
from turntape.cassettes.whole_number import whole_number

from .finding import Finding
from .rejections import Rejection

_OF_PARAMETERS = frozenset(
    {"client-bad-tool-schema", "client-unsupported-param", "api-context-full", "client-media-unsupported"}
)
"""Reasons that lie outside the history: a finding about the history is another fault."""
_NAME = regex(r"[A-Za-z][A-Za-z_]{3,}")
_OF_HISTORY = frozenset(
    {
        "messages",
        "contents",
        "input",
        "prompt",
        "model",
        "stream",
        "user",
        "text",
        "thinking",
        "reasoning",
        "system",
        "instructions",
        "tools",
        "functions",
        "metadata",
        "store",
    }
)
"""Fields of requests that are words of many sentences, or hold the history."""
_REQUEST = " request /"


def may_explain(finding: Finding, said: Rejection, fields: Collection[str]) -> bool:
    """Whether a rejection may be for what a finding says. `fields`: the top-level fields of the request."""
    if not {finding.id, *finding.because_of}.isdisjoint(said.ids):
        return True
    if said.ids:
        return not _OF_PARAMETERS.issuperset(said.ids)
    places = [one.partition(_REQUEST)[2] for one in finding.evidence if _REQUEST in one]
    if said.pointer is not None:
        return not places or any(_are_near(said.pointer, f"/{one}") for one in places)
    about = set(_NAME.findall(said.text)).intersection(fields) - _OF_HISTORY
    return not about or any(one.partition("/")[0] in about for one in places)


def _are_near(one: str, other: str) -> bool:
    """Whether one pointer lies in the other, up to a neighbour in a list: APIs count messages in several ways."""
    pairs = zip(one.split("/")[1:], other.split("/")[1:], strict=False)
    for a, b in pairs:
        if a != b:
            here, there = whole_number(a), whole_number(b)
            return here is not None and there is not None and abs(here - there) == 1
    return True
