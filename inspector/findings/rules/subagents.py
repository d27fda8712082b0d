"""What the client did with the answers of subagents."""

from collections.abc import Iterator

from ...analysis.dispatch import answers
from ...analysis.thread_index import long_texts
from ...wire.printable import several
from ...wire.values import ToolCall
from ..memory import Subagent
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import EMPTY

_COMPARED = 2_000
"""This many characters of a task are looked for in a subagent's first message."""


@rule(
    "client-subagent-answer-lost",
    "client",
    "error",
    "S",
    when="followed",
    says="A subagent answered its task, and the result that the client sent for the task is empty.",
    fix="Return the subagent's last text as the result of the call that started it.",
    not_when=(
        "The subagent gave no answer in text",
        "The result is an error",
    ),
)
def answer_lost(context: RuleContext) -> Iterator[Note]:
    following = context.following
    if following is None or not context.run.subagents:
        return
    calls, held = context.emission.calls, following.reading.request.previous_id is not None
    seen = 0 if held else len(context.request.results)
    found = answers(calls, following.reading.request.results, seen=seen)
    for place, result in found.items():
        if result.text.strip() not in EMPTY or result.is_error:
            continue
        agent = _working_on(calls[place], context)
        if agent is None or agent.answer is None:
            continue
        index, size = agent.answer
        yield Note(
            f"the subagent of {calls[place].name!r} answered in {several(size, 'character')} (#{index}) and the client sent an "
            "empty result for its task",
            (
                f"{context.at} call {calls[place].id or calls[place].name}",
                f"#{index} response",
                f"#{following.round_trip.index} request",
            ),
        )


def _working_on(call: ToolCall, context: RuleContext) -> Subagent | None:
    """The subagent that works on the task of a call of this thread."""
    tasks = [text[:_COMPARED] for text in long_texts(call.arguments)]
    agents = [one for one in context.run.subagents.values() if one.parent == context.turn.thread]
    return next((one for one in agents if any(task in one.task for task in tasks)), None)


FOLLOWED = (answer_lost,)
