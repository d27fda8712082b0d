"""Lint of the tools and settings of a request: what could be better. It blames no layer."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut, listed
from turntape.cassettes.regex import regex

from ...wire.json_value import as_object, as_text
from ...wire.printable import several
from ...wire.values import Tool
from ..rule import Note, rule
from ..rule_context import RuleContext

_BYTES_PER_TOKEN = 4
_ALTERNATIVES = regex(
    r"(?:one of|either|must be|can be|options?:|values?:)\s*[^.]*?(['\"`][\w-]+['\"`])\s*(?:,|\||/|or)\s*(?:or\s*)?(['\"`][\w-]+['\"`])|(['\"`][\w-]+['\"`])\s+or\s+(['\"`][\w-]+['\"`])",
    re.IGNORECASE,
)


def _own(context: RuleContext) -> list[Tool]:
    return [tool for tool in context.request.tools if not tool.server]


def _properties(tool: Tool) -> dict[str, dict[str, object]]:
    fields = as_object(as_object(tool.schema).get("properties"))
    return {name: as_object(value) for name, value in fields.items()}


@rule(
    "tool-without-description",
    "client",
    "info",
    "P",
    advice=True,
    says="A tool has no description.",
    fix="Say in a sentence what it does and when to use it: models choose tools by their description.",
)
def no_description(context: RuleContext) -> Iterator[Note]:
    for tool in _own(context):
        if not (tool.description or "").strip():
            yield Note(
                f"the tool {tool.name!r} has no description", (f"{context.at} request {tool.pointer}",), key=tool.name
            )


@rule(
    "param-without-description",
    "client",
    "info",
    "P",
    advice=True,
    says="A parameter of a tool has no description.",
    fix="Describe it, with an example and its unit.",
)
def bare_parameter(context: RuleContext) -> Iterator[Note]:
    for tool in _own(context):
        bare = [
            n
            for n, s in _properties(tool).items()
            if not s.get("description") and not s.get("enum") and not s.get("title")
        ]
        if bare:
            yield Note(
                f"parameters of {tool.name!r} have no description: {listed(bare, 6)}",
                (f"{context.at} request {tool.pointer}",),
                key=tool.name,
            )


@rule(
    "string-wants-enum",
    "client",
    "info",
    "S",
    advice=True,
    says="A free string's description lists its alternatives.",
    fix="Write them as an enum: the schema then allows the model only these.",
)
def wants_enum(context: RuleContext) -> Iterator[Note]:
    for tool in _own(context):
        for name, schema in _properties(tool).items():
            text = as_text(schema.get("description")) or ""
            if schema.get("type") in ("string", "STRING") and not schema.get("enum") and _ALTERNATIVES.search(text):
                yield Note(
                    f"{tool.name}.{name} lists its alternatives in its description: {cut(text, 80)!r}",
                    (f"{context.at} request {tool.pointer}",),
                    key=(tool.name, name),
                )


@rule(
    "unused-tools-paid-for",
    "client",
    "info",
    "P",
    when="closed",
    advice=True,
    says="Tools were offered with every request and never called.",
    fix="Offer them only where they are needed, or load them on demand.",
)
def unused_tools(context: RuleContext) -> Iterator[Note]:
    unused = [(name, used) for name, used in context.run.tools.items() if used[1] == 0 and used[0] >= 2]
    if not unused or context.run.generations < 3 or ("unused-tools-paid-for", "run") in context.run.reported:
        return
    context.run.reported.add(("unused-tools-paid-for", "run"))
    tokens = sum(size * offered for _, (offered, _, size) in unused) // _BYTES_PER_TOKEN
    names = listed([name for name, _ in unused], 6)
    yield Note(
        f"{len(unused)} of {several(len(context.run.tools), 'tool')} never called ({names}); their definitions took "
        f"about {several(tokens, 'input token')} in {several(context.run.generations, 'request')}",
        (f"{context.at} request tools",),
    )


@rule(
    "similar-tool-names",
    "client",
    "info",
    "H",
    advice=True,
    says="Two tools have names that are easily confused.",
    fix="Rename one of them, or merge them.",
)
def similar_names(context: RuleContext) -> Iterator[Note]:
    names = sorted(tool.name for tool in _own(context))
    for a, b in zip(names, names[1:], strict=False):
        flat_a, flat_b = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (a, b))
        if a != b and (flat_a == flat_b or flat_a.rstrip("s") == flat_b.rstrip("s")):
            yield Note(f"the tools {a!r} and {b!r} are easily confused", (f"{context.at} request tools",), key=(a, b))


@rule(
    "strict-not-set",
    "client",
    "info",
    "P",
    advice=True,
    trait=lambda protocol: protocol.requests.strict_tools,
    says="The tools are not strict.",
    fix="Set `strict: true`: the API then makes arguments follow the schema.",
    not_when=("Servers other than OpenAI's and Azure's",),
)
def not_strict(context: RuleContext) -> Iterator[Note]:
    if not context.provider.strict_tools or b'"strict":true' in context.turn.round_trip.request.body:
        return
    loose = [tool.name for tool in _own(context) if tool.schema is not None]
    if loose:
        yield Note(
            f"{several(len(loose), 'tool')} without `strict`: {listed(loose, 6)}",
            (f"{context.at} request tools",),
            key="strict",
        )


@rule(
    "no-max-tokens",
    "client",
    "info",
    "H",
    advice=True,
    says="Nothing bounds the length of the answer.",
    fix="Set a cap that is much higher than a good answer needs.",
)
def no_cap(context: RuleContext) -> Iterator[Note]:
    if context.request.max_output is None and context.request.tools:
        yield Note("the request sets no cap on output tokens", (f"{context.at} request",), key="cap")


@rule(
    "tool-choice-forced-every-turn",
    "client",
    "info",
    "P",
    advice=True,
    says="Every request of the thread forces a tool call: the loop cannot end on its own.",
    fix="Force the first step only.",
)
def forced_always(context: RuleContext) -> Iterator[Note]:
    choice = context.request.tool_choice
    before = context.previous.reading.request.tool_choice if context.previous else None
    if (
        choice
        and before
        and choice.mode in ("required", "named")
        and before.mode == choice.mode
        and context.thread.turns >= 3
    ):
        yield Note("a tool call is forced on every turn", (f"{context.at} request tool choice",), key="forced")


@rule(
    "parallel-calls-one-by-one",
    "client",
    "info",
    "H",
    advice=True,
    says="The model makes independent calls of one tool, each in a separate turn.",
    fix="Allow parallel calls, and ask for them in the prompt.",
)
def one_by_one(context: RuleContext) -> Iterator[Note]:
    names = [step.names for step in list(context.thread.steps)[-4:]]
    if len(names) == 4 and all(len(n) == 1 and n == names[0] for n in names):
        yield Note(
            f"{names[0][0]!r} was called in four turns in a row, one call each",
            (f"{context.at} request",),
            key=names[0],
        )


RULES = (no_description, bare_parameter, wants_enum, similar_names, not_strict, no_cap, forced_always, one_by_one)
CLOSED = (unused_tools,)
