"""Layer 3: the client writes in the model's name, mixes conversations, or loses what the user said."""

import json
from dataclasses import replace

from ..loop import Loop
from ..pieces import Block, Call, Message, Result, Text
from ..story import TASK
from .edits import FAILING, LAST, PARALLEL, QUERIES, READS, TICKETS, on_answer, rewriting
from .fault import FULL, Table
from .fidelity_faults import BUSTED, PLANS

FORGED = Table()
NOTE = "Careful: the replica lags by an hour."
WORDS = tuple(name for name in FULL if name != "cohere-v2")
"""Those that keep the words beside calls as text; Cohere has them in its plan."""
ORDER = Message("user", (Text("Where is my parcel?"),))
ON_ITS_WAY = Message("assistant", (Text("It left the depot this morning."),))


def _made_up(loop: Loop, place: int) -> tuple[Call, Result]:
    """A call that the model never made, and its result."""
    at = f"{loop.dialect.name}/{loop.name}/forged{place}"
    arguments = json.dumps({"path": "services/payments/config/production.yaml"})
    call = Call(loop.dialect.call_id(at, "read_file"), "read_file", arguments, None, loop.dialect.item_id(at))
    return call, Result(call.id, call.name, "charge_timeout: 8000")


@FORGED("client-forged-answer", "client", FULL, "words behind an answer", also=BUSTED, instead=PLANS)
def words_behind(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(
        replace(b, text=f"{b.text} {NOTE}") if isinstance(b, Text) else b for b in blocks))  # fmt: skip


@FORGED("client-forged-answer", "client", WORDS, "words in an earlier answer", also=BUSTED)
def words_in_an_earlier_answer(loop: Loop) -> int:
    words_behind(loop)
    loop.steps[TICKETS].rewrite, loop.steps[READS + 1].rewrite = loop.steps[READS + 1].rewrite, None
    return TICKETS


def wordless(loop: Loop) -> None:
    """The model writes nothing beside its call."""
    step = loop.steps[READS]
    step.blocks = tuple(block for block in step.blocks if not isinstance(block, Text))


@FORGED("client-forged-answer", "client", WORDS, "words beside a call", base=wordless, also=BUSTED)
def words_beside_a_call(loop: Loop) -> int:
    def add(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        at = next(place for place, block in enumerate(blocks) if isinstance(block, Call))
        return (*blocks[:at], Text(NOTE), *blocks[at:])

    return on_answer(loop, READS, add)


@FORGED("client-forged-answer", "client", FULL, "a call in an answer", also=BUSTED)
def call_in_an_answer(loop: Loop) -> int:
    call, given = _made_up(loop, READS)
    loop.steps[READS].results += (given,)
    return on_answer(loop, READS, lambda blocks: (*blocks, call))


@FORGED("client-forged-answer", "client", FULL, "a turn in the middle", also=BUSTED)
def turn_in_the_middle(loop: Loop) -> int:
    call, given = _made_up(loop, FAILING)
    results = loop.steps[FAILING].results

    def put_in(history: list[Message]) -> list[Message]:
        after = next(place for place, message in enumerate(history) if message.blocks is results) + 1
        return [*history[:after], Message("assistant", (call,)), Message("results", (given,)), *history[after:]]

    loop.steps[TICKETS].rewrite = put_in
    return TICKETS


@FORGED("client-assistant-mutated", "client", WORDS, "an earlier text", also=BUSTED)
def earlier_text(loop: Loop) -> int:
    blocks = loop.steps[READS].blocks
    changed = tuple(replace(b, text="Nothing was found.") if isinstance(b, Text) else b for b in blocks)
    loop.steps[LAST].rewrite = rewriting(lambda m: Message(m.role, changed) if m.blocks is blocks else m)
    return LAST


@FORGED("client-foreign-history", "client", FULL, "in front", also=f"{BUSTED} client-role-order")
def conversation_in_front(loop: Loop) -> int:
    loop.steps[QUERIES].rewrite = lambda history: [ORDER, ON_ITS_WAY, *history]
    return QUERIES


@FORGED("client-foreign-history", "client", FULL, "in the middle", also=f"{BUSTED} client-role-order",
        instead="client-forged-answer")  # fmt: skip
def conversation_in_the_middle(loop: Loop) -> int:
    results = loop.steps[PARALLEL].results

    def put_in(history: list[Message]) -> list[Message]:
        after = next(place for place, message in enumerate(history) if message.blocks is results) + 1
        return [*history[:after], ORDER, ON_ITS_WAY, *history[after:]]

    loop.steps[QUERIES].rewrite = put_in
    return QUERIES


def _loses(instead: str | None) -> None:
    """The user's task goes, and this text comes in its place."""
    what = "replaced" if instead else "left out"
    tier = "S" if instead else "P"

    @FORGED("client-user-text-lost", "client", FULL, what, tier=tier, also=f"{BUSTED} client-role-order")
    def lose(loop: Loop) -> int:
        task = Message("user", (Text(instead),)) if instead else None
        loop.steps[QUERIES].rewrite = rewriting(lambda m: task if m.blocks == (Text(TASK),) else m)
        return QUERIES


for text in (None, "Continue."):
    _loses(text)
