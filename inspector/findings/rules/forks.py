"""Whether a request that goes back to an earlier point of a thread repeats the answers up to there as they were.

A fork has no turn before it whose answer it must repeat: it may go on from any answer, also from one that it lets the
model make again. What it repeats is compared with everything that the answers of the run contain.
"""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...analysis.conversation import Unit, joined, text_meaning
from ..rule import Note
from ..rule_context import RuleContext
from ..transformations import inverses
from .history import assistant_mutated


@assistant_mutated.also("ended")
def fork_mutated(context: RuleContext) -> Iterator[Note]:
    """Calls and texts of a fork that are those of an answer, but changed."""
    turn = context.turn
    if turn.edge.kind != "fork":
        return
    for unit in joined(turn.conversation.units[turn.shared :]):
        what = _changed(context, unit)
        if what is not None:
            yield Note(what, (f"#{turn.edge.of} request", f"{context.at} request {unit.pointer}"))


def _changed(context: RuleContext, unit: Unit) -> str | None:
    run = context.run
    if unit.meaning in run.said:
        return None
    if unit.kind == "call" and unit.part.call is not None and unit.call_id is not None:
        if unit.call_id not in run.call_ids or unit.call_id in run.ids_given_twice:
            return None
        return f"no answer made the call {unit.call_id} with this name and these arguments: {cut(unit.text, 60)!r}"
    if unit.kind == "text" and unit.role == "assistant":
        for how, before in inverses(unit.text):
            if text_meaning("assistant", before) in run.said:
                return f"the text of an answer came back {how}: {cut(unit.text, 60)!r}"
    return None


RULES = (fork_mutated,)
