"""Whether the definitions of tools still say what a model needs: a description, and the parameters.

What changes on purpose during a run (other tools, other words) is `client-tools-changed`. Here are changes that nobody
makes on purpose, and descriptions that no person wrote.
"""

from collections.abc import Iterator
from itertools import chain

from turntape.cassettes.excerpts import cut, listed

from ...wire.json_value import as_object, as_text, is_object, value_at
from ...wire.per_message import PerMessage
from ...wire.values import Tool
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import barred, impossible, undescribed
from ..transformations import transformation
from .unserialized import placeholder
from .user_text import has_no_beginning, is_cut_off

_NOTHING = frozenset({"None", "null", "undefined", "NaN", "[object Object]"})
_SHORTEST = 12
"""Characters. A shorter description says no more than the name."""
_BY_PEOPLE = frozenset({"in lower case", "in upper case"})


@rule(
    "client-tool-definition-damaged",
    "client",
    "warning",
    "P",
    says="A tool is defined so that the model cannot know what it is for or what to give it: its description is a missing value "
    "or that of all other tools, its schema requires what it does not describe, allows no value or is where the API does not "
    "read it, or its description or its parameters were lost or damaged since the last request.",
    fix="Print the tools that your code sends; build each definition once, and send it unchanged.",
    not_when=(
        "The description has other words than before: then `client-tools-changed` says so",
        "Tools with the same parameters have one description",
        "Two tools have one description, as when one was copied from the other: then it is an info",
    ),
)
def definition_damaged(context: RuleContext) -> Iterator[Note]:
    before, tools, added = context.previous, context.request.tools, context.request.added_tools
    held = before.reading.request if before is not None else None
    earlier = {tool.name: tool for tool in (*held.added_tools, *held.tools)} if held is not None else {}
    known = {tool.pointer: tool for tool in held.added_tools} if held is not None else {}
    given = zip(tools, _without_meaning.of(tools), strict=True)
    brought = zip(added, _brought_without_meaning.of(added), strict=True)
    for tool, what in chain(given, brought):
        old = known.get(tool.pointer, earlier.get(tool.name))
        wrapped = _wrapped(context, tool) if old != tool else None
        if wrapped is not None:
            yield Note(wrapped, (f"{context.at} request {tool.pointer}",), key=(tool.pointer, wrapped))
        if tool.server or wrapped is not None:
            continue
        if what is None and old != tool:
            what = _misplaced(context, tool)
        if what is None and old is not None and old != tool and not old.server:
            what = _damaged(old, tool)
        if what is not None and not _is_the_apis(context, tool):
            since = f"#{before.round_trip.index} request" if before is not None and old is not None else None
            yield Note(
                f"the tool {tool.name!r} {what}",
                (*([since] if since is not None else []), f"{context.at} request {tool.pointer}"),
                key=(tool.name, what),
            )
    yield from _described_alike(context)


def _is_the_apis(context: RuleContext, tool: Tool) -> bool:
    """True for a definition in a message of the history that the API itself returned, as its search for tools does."""
    if tool.pointer.startswith("/tools"):
        return False
    steps = tool.pointer.split("/")[1:]
    return any(
        context.returned_by(value_at(context.fields, steps[:depth])) is not None for depth in range(2, len(steps))
    )


def _described_alike(context: RuleContext) -> Iterator[Note]:
    """One description for all tools: a loop has given each of them that of the last."""
    tools = [tool for tool in (*context.request.tools, *context.request.added_tools) if not tool.server]
    texts = {(tool.description or "").strip() for tool in tools}
    shared = next(iter(texts)) if len(texts) == 1 else ""
    takes = [frozenset(as_object(as_object(tool.schema).get("properties"))) for tool in tools]
    if len(shared) < _SENTENCE or len({tool.name for tool in tools}) < 2 or len(set(takes)) < len(tools):
        return
    yield Note(
        f"all {len(tools)} tools have one description, although each takes other parameters: {cut(shared, 60)!r}",
        tuple(f"{context.at} request {tool.pointer}" for tool in tools[:3]),
        severity="info" if len(tools) == 2 else None,
        key=("alike", shared),
    )


_SENTENCE = 20
"""Characters. A shorter description may fit several tools."""


def _has_no_meaning(tool: Tool) -> str | None:
    """What is wrong with a description whatever it was before."""
    description = tool.description or ""
    if description.strip() in _NOTHING or placeholder(description) is not None:
        return f"has {cut(description.strip(), 60)!r} as its description"
    if (name := impossible(tool.schema)) is not None:
        return f"requires {name!r}, which its schema neither describes nor allows: no call can fit it"
    if (name := undescribed(tool.schema)) is not None:
        return f"requires {name!r}, and its schema describes no such parameter: the model can only guess"
    if (name := barred(tool.schema)) is not None:
        return f"allows no value for {name!r}: the list of its values is empty"
    return None


_without_meaning = PerMessage(_has_no_meaning)
_brought_without_meaning = PerMessage(_has_no_meaning)
"""The same for the tools that messages bring."""


_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
"""Where APIs have the schema of a tool."""


def _wrapped(context: RuleContext, tool: Tool) -> str | None:
    """How a function is wrapped once too often, so that the API finds neither a name nor a schema: it reads it as one
    of its own tools, if it reads it at all."""
    *outer, key = context.protocol.requests.schema_at or ("",)
    held = value_at(context.fields, tool.pointer.split("/")[1:]) if key else None
    if not is_object(held) or as_text(held.get("type")) != "function":
        return None
    holder = as_object(value_at(held, outer))
    inner = as_object(holder.get("function"))
    name = as_text(inner.get("name"))
    if not name or "name" in holder:
        return None
    return f"the tool {name!r} is wrapped once too often: the API looks for its name and its schema one level higher"


def _misplaced(context: RuleContext, tool: Tool) -> str | None:
    """How a definition gives its schema where the API does not read it, in the form of another API or as a text."""
    *outer, key = context.protocol.requests.schema_at or ("",)
    held = value_at(context.fields, tool.pointer.split("/")[1:]) if key else None
    kind = as_text(as_object(held).get("type"))
    if not is_object(held) or kind not in (None, "function", "custom") or "format" in held:
        return None
    holder = as_object(value_at(held, outer))
    if not holder:
        return None
    if isinstance(holder.get(key), str):
        return f"has its {key!r} as a text and not as an object"
    if key in holder:
        return None
    other = next((name for name in _SCHEMAS if name != key and is_object(holder.get(name))), None)
    return f"has its schema under {other!r}; the API reads {key!r} and sees no parameters" if other else None


def _damaged(old: Tool, new: Tool) -> str | None:
    """What a definition lost that had it in the request before."""
    was, now = (old.description or "").strip(), (new.description or "").strip()
    if len(was) >= _SHORTEST and not now:
        return f"lost its description: {cut(was, 60)!r}"
    if (how := transformation(was, now)) is not None and how not in _BY_PEOPLE:
        return f"has its description {how}: {cut(now, 60)!r}"
    if is_cut_off(was, now) or has_no_beginning(was, now):
        return f"has a description of which {len(was) - len(now):,} characters are missing: {cut(now, 60)!r}"
    had, has = (as_object(as_object(tool.schema).get("properties")) for tool in (old, new))
    if had and not has:
        return f"lost all its parameters: {listed([*had], 4)}"
    return None


RULES = (definition_damaged,)
