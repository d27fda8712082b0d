"""Layer 3: calls and their results do not fit together in what the client sends."""

from collections.abc import Callable
from dataclasses import replace

from ..loop import Loop
from ..pieces import Block, Call, Message, Result, Text
from .edits import (
    FAILING,
    PARALLEL,
    QUERIES,
    READS,
    TICKETS,
    answered,
    first_call,
    gone,
    on_answer,
    results_of,
    rewriting,
    say,
)  # fmt: skip
from .fault import ALL, ANTHROPIC, FULL, RESPONSES, STREAMED, WITH_IDS, Inject, Table
from .rejections import REJECTIONS, rejects

PAIRING = Table()
CONSEQUENCES = "client-cache-prefix-busted client-history-truncated client-assistant-mutated client-role-order"
HELD = "openai-responses-held"


def tolerated_and_rejected(
    identity: str, dialects: tuple[str, ...], variant: str, *, also: str = "", instead: str = ""
) -> Callable[[Inject], Inject]:
    """Two rows of the table for one injector: the API takes the request, and the API rejects it."""

    def add(inject: Inject) -> Inject:
        PAIRING(identity, "client", dialects, variant, also=also, instead=instead)(inject)

        def rejected(loop: Loop) -> int:
            where = inject(loop)
            place = where if isinstance(where, int) else where[-1]
            return rejects(loop, place, identity, call=first_call(loop.steps[place - 1]).id)

        worded = tuple(name for name in dialects if name in REJECTIONS.get(identity, {}))
        if worded:
            PAIRING(identity, "client", worded, f"{variant}, rejected", also=f"{also} request-rejected",
                    instead=instead, modes=STREAMED)(rejected)  # fmt: skip
        return inject

    return add


# Nothing answers a call


@tolerated_and_rejected("client-missing-tool-result", ALL, "one of two")
def one_of_two(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[PARALLEL]
    step.results = step.results[:1]
    return PARALLEL, PARALLEL + 1


@tolerated_and_rejected("client-missing-tool-result", ALL, "the user speaks instead",
                        also="client-tool-calls-not-dispatched")  # fmt: skip
def user_speaks_instead(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results, step.says = (), "Leave the file; look at the deployments instead."
    return READS, READS + 1


@PAIRING("client-missing-tool-result", "client", FULL, "taken out later", also=CONSEQUENCES)
def taken_out_later(loop: Loop) -> tuple[int, ...]:
    loop.steps[TICKETS].rewrite = gone(lambda message: message.blocks is loop.steps[READS].results)
    return READS, TICKETS


# A result answers nothing


@tolerated_and_rejected("client-orphan-tool-result", ALL, "invented", also="client-missing-tool-result")
def invented(loop: Loop) -> tuple[int, ...]:
    step, dialect = loop.steps[READS], loop.dialect
    other = Result(dialect.call_id("invented", "run_query"), "run_query", "(0 rows)")
    step.results = (*step.results, other)
    return READS, READS + 1


@PAIRING("client-orphan-tool-result", "client", FULL, "the call trimmed away", also=CONSEQUENCES)
def call_trimmed(loop: Loop) -> tuple[int, ...]:
    loop.steps[TICKETS].rewrite = gone(lambda message: message.blocks is loop.steps[READS].blocks)
    return READS, TICKETS


@PAIRING("client-orphan-tool-result", "client", FULL, "a sliding window",
         also=f"{CONSEQUENCES} client-user-text-lost")  # fmt: skip
def sliding_window(loop: Loop) -> tuple[int, ...]:
    first, blocks = loop.opening[0].blocks, loop.steps[PARALLEL].blocks
    loop.steps[QUERIES].rewrite = gone(lambda message: message.blocks is first or message.blocks is blocks)
    return PARALLEL, QUERIES


@PAIRING("client-orphan-tool-result", "client", RESPONSES, "id of the item", also="client-missing-tool-result")
def id_of_the_item(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = tuple(replace(r, call_id=first_call(step).item) for r in results_of(step))
    return READS, READS + 1


# Too many


@tolerated_and_rejected("client-duplicate-tool-result", (*WITH_IDS, HELD), "twice")
def answered_twice(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = (*step.results, *step.results)
    return READS, READS + 1


@PAIRING("client-duplicate-tool-result", "client", (*WITH_IDS, HELD), "with something else")
def answered_otherwise(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = (*step.results, *(replace(r, text="the tool was stopped") for r in results_of(step)))
    return READS, READS + 1


@tolerated_and_rejected("client-duplicated-call", WITH_IDS, "the answer kept twice",
                        also="client-assistant-mutated client-missing-tool-result client-role-order "
                        "client-cache-prefix-busted client-results-not-adjacent")  # fmt: skip
def kept_twice(loop: Loop) -> int:
    blocks = loop.steps[READS].blocks

    def twice(history: list[Message]) -> list[Message]:
        return [kept for m in history for kept in ((m, m) if m.blocks is blocks else (m,))]

    loop.steps[READS + 1].rewrite = twice
    return READS + 1


@tolerated_and_rejected("client-duplicated-call", WITH_IDS, "in one message",
                        also="client-assistant-mutated client-missing-tool-result")  # fmt: skip
def twice_in_one_message(loop: Loop) -> int:
    def doubled(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(kept for b in blocks for kept in ((b, b) if isinstance(b, Call) else (b,)))

    return on_answer(loop, READS, doubled)


# In the wrong place


@tolerated_and_rejected("client-results-not-adjacent",
                        ("openai-chat", "deepseek-chat", "cohere-v2", *ANTHROPIC, "bedrock-converse"),
                        "words before the result",
                        instead="client-missing-tool-result client-role-order")  # fmt: skip
def words_before(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = (Text("By the way: be quick."), *step.results)
    return READS, READS + 1


@tolerated_and_rejected("client-results-not-adjacent", ("gemini-generate", "bedrock-converse"), "split",
                        also="client-role-order", instead="client-missing-tool-result")  # fmt: skip
def split(loop: Loop) -> tuple[int, ...]:
    results = loop.steps[PARALLEL].results

    def parted(history: list[Message]) -> list[Message]:
        return [one for m in history
                for one in ([Message("results", (r,)) for r in results] if m.blocks is results else [m])]  # fmt: skip

    loop.steps[PARALLEL + 1].rewrite = parted
    return PARALLEL, PARALLEL + 1


@PAIRING("client-results-not-adjacent", "client", ("openai-chat", "deepseek-chat", "mistral-chat"),
         "behind a later answer", also=f"{CONSEQUENCES} client-history-reordered client-orphan-tool-result",
         instead="client-missing-tool-result")  # fmt: skip
def behind_a_later_answer(loop: Loop) -> tuple[int, ...]:
    results = loop.steps[FAILING].results

    def moved(history: list[Message]) -> list[Message]:
        kept = [m for m in history if m.blocks is not results]
        late = next(m for m in history if m.blocks is results)
        return [*kept[:-1], Message("results", (*late.blocks, *kept[-1].blocks))]

    loop.steps[READS + 1].rewrite = moved
    return FAILING, READS + 1


@PAIRING("client-results-reordered", "client", (*WITH_IDS, HELD), "by id")
def reversed_by_id(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[PARALLEL]
    step.results = step.results[::-1]
    return PARALLEL, PARALLEL + 1


def two_tools(loop: Loop) -> None:
    """The first two calls are of different tools."""
    step = loop.steps[PARALLEL]
    sql = '{"sql": "SELECT count(*) FROM orders WHERE created_at > \'2026-05-28\'"}'
    search = first_call(step)
    step.blocks = say(
        loop, "two", "Both can be looked up at once.", (search.name, search.arguments), ("run_query", sql)
    )
    answered(step, "412 lines match", "count\n1804")


@PAIRING("client-results-reordered", "client", ("gemini-generate", "ollama-chat"), "by name", base=two_tools)
def reversed_by_name(loop: Loop) -> tuple[int, ...]:
    return reversed_by_id(loop)


# Under the wrong name


@PAIRING("client-result-wrong-name", "client", ("gemini-generate", "ollama-chat"), "of another tool",
         also="client-missing-tool-result client-orphan-tool-result")  # fmt: skip
def name_of_another_tool(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = tuple(replace(r, name="run_query") for r in results_of(step))
    return READS, READS + 1


@PAIRING("client-result-wrong-name", "client", ("gemini-generate", "ollama-chat"), "of none",
         also="client-missing-tool-result client-orphan-tool-result")  # fmt: skip
def name_of_no_tool(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[READS]
    step.results = tuple(replace(r, name="call_0") for r in results_of(step))
    return READS, READS + 1


@PAIRING("client-call-id-rewritten", "client", WITH_IDS, "both sides")
def id_rewritten(loop: Loop) -> int:
    old, length = first_call(loop.steps[READS]).id, loop.dialect.call_length
    new = old[: len(old) - length] + loop.dialect.call_id("rewritten", "read_file")[-length:]

    def change(message: Message) -> Message:
        def block(b: Block) -> Block:
            if isinstance(b, Call) and b.id == old:
                return replace(b, id=new)
            return replace(b, call_id=new) if isinstance(b, Result) and b.call_id == old else b

        return Message(message.role, tuple(block(b) for b in message.blocks))

    loop.steps[READS + 1].rewrite = rewriting(change)
    return READS + 1
