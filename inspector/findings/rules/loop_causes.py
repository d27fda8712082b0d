"""Loops that the model is not to blame for: a forced tool choice, and an answer that the API sends again."""

from collections.abc import Iterator

from ...analysis.conversation import call_meaning
from ..rule import Note, rule
from ..rule_context import RuleContext
from .loop import FINAL_TOOLS
from .repeats import WAITING


@rule(
    "client-forced-tool-loop",
    "client",
    "error",
    "S",
    says="Every request demands a tool call, so the model cannot answer and repeats the same call.",
    fix="Demand a call only in the first request; then set tool_choice to auto, or offer a tool that ends the run.",
    not_when=(
        "A tool for the final answer is offered",
        "The arguments or the results change",
        "The tool is one that waits or polls",
    ),
)
def forced_loop(context: RuleContext) -> Iterator[Note]:
    choice = context.request.tool_choice
    if choice is None or choice.mode not in ("required", "named") or not context.emission.calls:
        return
    if any(FINAL_TOOLS.search(tool.name) for tool in context.request.tools):
        return
    indexes = _repeats(context)
    name = context.emission.calls[0].name
    if len(indexes) < 3 or WAITING.search(name):
        return
    yield Note(
        f"tool_choice demands a call ({choice.mode}) and the model made the same call of {name!r} "
        f"{len(indexes)} times in a row: it has no other way to continue",
        (f"{context.at} request tool choice {' '.join((choice.mode, *choice.names))}", *indexes[:5]),
        key=("forced", call_meaning(context.emission.calls[0]), len(indexes) >= 5),
    )


def _repeats(context: RuleContext) -> list[str]:
    """The turns in a row that made these calls and had the same results, this one included, as evidence."""
    now = tuple(sorted(call_meaning(call) for call in context.emission.calls))
    indexes, results = [context.index], None
    for step in reversed(context.thread.steps):
        if tuple(sorted(step.calls)) != now or not step.results or step.results != (results or step.results):
            break
        results = step.results
        indexes.insert(0, step.index)
    return [f"#{index} call {context.emission.calls[0].name}" for index in indexes]


@rule(
    "api-answer-replayed",
    "api",
    "error",
    "P",
    says="Another request was answered with an earlier answer: the same id and the same content, as from a cache.",
    fix="Check the cache of the gateway: its key must hold the whole request.",
    not_when=(
        "The same request was sent again",
        "The content differs: some servers give every answer the same id",
    ),
)
def answer_replayed(context: RuleContext) -> Iterator[Note]:
    named, content, what = context.reading.response_id, context.emission.content, "id"
    if not named:
        # Some APIs give answers no id. The random id of a call in it does as well.
        what = "call id"
        named = next((call.id for call in context.emission.calls if len(call.id or "") >= _RANDOM), None)
        known = named is not None and named in context.run.call_ids
    else:
        known = named in context.run.answers
    if not known or not content or not context.succeeded:
        return
    if context.sent_before is not None or context.is_attempt:
        return
    first = {context.returned_by(part.raw) for part in content}
    if len(first) != 1 or None in first:
        return
    (index,) = first
    yield Note(
        f"the answer has the {what} and the content of #{index}, although the request is another one: {named}",
        (f"#{index} response", f"{context.at} response"),
    )


_RANDOM = 20
"""Characters of an id. Servers that count their calls give short ones."""


@rule(
    "api-id-repeated",
    "api",
    "info",
    "P",
    says="Two answers with different content have the same id: clients that file answers by id keep one of them.",
    fix="Report it to the provider of the gateway or server; file answers by your own ids.",
    not_when=("The content is the same: then `api-answer-replayed` says so", "The same request was sent again"),
)
def id_repeated(context: RuleContext) -> Iterator[Note]:
    named = context.reading.response_id
    if named == context.request.previous_id or not context.protocol.pairing.in_request:
        return  # The id is that of the conversation, or of the run, which the API keeps.
    if not named or named not in context.run.answers or not context.emission.content or not context.succeeded:
        return
    once = ("api-id-repeated", context.exchange.host)
    if context.has("api-answer-replayed") or once in context.run.reported:
        return
    if context.sent_before is not None or context.is_attempt:
        return
    context.run.reported.add(once)
    yield Note(f"an earlier answer with other content has the same id: {named}", (f"{context.at} response",))


RULES = (answer_replayed, id_repeated, forced_loop)
