"""Layer 3: what the client sends back is not what it sent and got."""

import json
from dataclasses import replace

from ..dialects import DIALECTS
from ..identities import signature
from ..loop import Loop
from ..pieces import Block, Call, Json, Message, Raw, Result, Text, Thinking, Tool
from ..story import QUERY, READ, SEARCH, SYSTEM, TASK, TICKET, TOOLS
from .edits import (
    FAILING,
    LAST,
    PARALLEL,
    QUERIES,
    READS,
    TICKETS,
    first_call,
    gone,
    on_answer,
    rewriting,
    with_arguments,
)  # fmt: skip
from .fault import ALL, ANTHROPIC, FULL, RESPONSES, STREAMED, STRINGS, Table
from .rejections import REJECTIONS, rejects

FIDELITY = Table()
CACHED = tuple(name for name in FULL if DIALECTS[name].caches)
BUSTED = "client-cache-prefix-busted"
REPORTING = tuple(name for name in CACHED if name != "gemini-generate")
"""Those whose usage says 0 where nothing was cached; Gemini leaves the field out."""
PLANS = "client-reasoning-dropped client-reasoning-altered"
"""Cohere writes the text beside calls into `tool_plan`, which is as much reasoning as it is text."""


def on_call(loop: Loop, place: int, **changes: object) -> int:
    """The client's copy of a step's first call is another one."""
    call = first_call(loop.steps[place])

    def change(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(replace(b, **changes) if b is call else b for b in blocks)

    return on_answer(loop, place, change)


@FIDELITY("client-assistant-mutated", "client", FULL, "arguments changed", also=BUSTED)
def arguments_changed(loop: Loop) -> int:
    return on_call(loop, READS, arguments=with_arguments(loop.steps[READS], last_line=4000))


@FIDELITY("client-assistant-mutated", "client", FULL, "arguments emptied", also=BUSTED)
def arguments_emptied(loop: Loop) -> int:
    return on_call(loop, READS, arguments="{}")


@FIDELITY("client-assistant-mutated", "client", tuple(n for n in STRINGS if n in FULL), "arguments spelled again",
          also=BUSTED)  # fmt: skip
def arguments_respelled(loop: Loop) -> int:
    values: Json = json.loads(first_call(loop.steps[READS]).arguments)
    return on_call(loop, READS, arguments=json.dumps(values, separators=(",", ":"), sort_keys=True))


@FIDELITY("client-assistant-mutated", "client", FULL, "name changed",
          also=f"{BUSTED} client-missing-tool-result client-orphan-tool-result client-result-wrong-name")  # fmt: skip
def name_changed(loop: Loop) -> int:
    step = loop.steps[READS]
    step.results = tuple(replace(r, name="run_query") if isinstance(r, Result) else r for r in step.results)
    return on_call(loop, READS, name="run_query")


@FIDELITY("client-assistant-mutated", "client", FULL, "text changed", also=BUSTED, instead=PLANS)
def text_changed(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(
        replace(b, text="The settings are somewhere else.") if isinstance(b, Text) else b for b in blocks))  # fmt: skip


@FIDELITY("client-assistant-mutated", "client", FULL, "text dropped", also=BUSTED, instead=PLANS)
def text_dropped(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(b for b in blocks if not isinstance(b, Text)))


@FIDELITY("client-assistant-mutated", "client", FULL, "call dropped",
          also=f"{BUSTED} client-missing-tool-result client-tool-calls-not-dispatched")  # fmt: skip
def call_dropped(loop: Loop) -> tuple[int, ...]:
    step = loop.steps[PARALLEL]
    kept, step.results = first_call(step), step.results[:1]
    on_answer(loop, PARALLEL, lambda blocks: tuple(b for b in blocks if b is kept or not isinstance(b, Call)))
    return PARALLEL, PARALLEL + 1


@FIDELITY("client-assistant-mutated", "client", FULL, "an earlier call", also=BUSTED)
def earlier_call(loop: Loop) -> int:
    on_call(loop, FAILING, arguments=with_arguments(loop.steps[FAILING], path="services/checkout/config"))
    loop.steps[TICKETS].rewrite, loop.steps[FAILING + 1].rewrite = loop.steps[FAILING + 1].rewrite, None
    return TICKETS


# Reasoning

REASONING = ("deepseek-chat", "openai-responses", "anthropic-thinking", "gemini-generate")


@FIDELITY("client-reasoning-dropped", "client", REASONING, "of the last turn", also=BUSTED)
def reasoning_dropped(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(b for b in blocks if not isinstance(b, Thinking)))


@FIDELITY("client-reasoning-dropped", "client", tuple(REJECTIONS["client-reasoning-dropped"]), "rejected",
          also=f"{BUSTED} request-rejected", modes=STREAMED)  # fmt: skip
def reasoning_dropped_rejected(loop: Loop) -> int:
    call = first_call(loop.steps[READS])
    return rejects(loop, reasoning_dropped(loop), "client-reasoning-dropped", call=call.id, tool=call.name)


@FIDELITY("client-reasoning-dropped", "client", REASONING, "of every turn", also=BUSTED)
def reasoning_never_kept(loop: Loop) -> tuple[int, ...]:
    bare = rewriting(lambda m: Message(m.role, tuple(b for b in m.blocks if not isinstance(b, Thinking))))
    for step in loop.steps[1:]:
        step.rewrite = bare
    return tuple(range(1, len(loop.steps)))


@FIDELITY("client-reasoning-altered", "client", ("anthropic-thinking",), "shortened", also=BUSTED)
def thinking_shortened(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(
        replace(b, text=b.text[:20]) if isinstance(b, Thinking) else b for b in blocks))  # fmt: skip


@FIDELITY("client-reasoning-altered", "client", ("anthropic-thinking", "gemini-generate", "openai-responses"),
          "another signature", also=BUSTED, instead="client-reasoning-dropped")  # fmt: skip
def another_signature(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(
        replace(b, signature=signature("forged")) if isinstance(b, Thinking) else b for b in blocks))  # fmt: skip


@FIDELITY("client-reasoning-altered", "client", tuple(REJECTIONS["client-reasoning-altered"]), "rejected",
          also=f"{BUSTED} request-rejected", instead="client-reasoning-dropped", modes=STREAMED)  # fmt: skip
def another_signature_rejected(loop: Loop) -> int:
    return rejects(loop, another_signature(loop), "client-reasoning-altered")


def _unsigned(block: Block) -> Block:
    return Raw({"type": "thinking", "thinking": block.text}) if isinstance(block, Thinking) else block


@FIDELITY("client-reasoning-altered", "client", ("anthropic-thinking",), "no signature", also=BUSTED)
def without_signature(loop: Loop) -> int:
    return on_answer(loop, READS, lambda blocks: tuple(_unsigned(b) for b in blocks))


@FIDELITY("client-reasoning-altered", "client", ("gemini-generate",), "on another part", also=BUSTED,
          instead="client-reasoning-dropped")  # fmt: skip
def signature_moved(loop: Loop) -> int:
    def move(body: Json) -> None:
        parts: list[Json] = body["contents"][5]["parts"]
        parts[0]["thoughtSignature"] = parts[-1].pop("thoughtSignature")

    for step in loop.steps[READS + 1 :]:
        step.edit_request = (move,)
    return READS + 1


# The history


@FIDELITY("client-history-truncated", "client", FULL, "a turn in the middle", also=f"{BUSTED} client-assistant-mutated")
def turn_gone(loop: Loop) -> int:
    step = loop.steps[FAILING]
    loop.steps[TICKETS].rewrite = gone(lambda m: m.blocks is step.blocks or m.blocks is step.results)
    return TICKETS


@FIDELITY("client-history-truncated", "client", FULL, "for a summary", also=f"{BUSTED} client-assistant-mutated")
def summarised(loop: Loop) -> int:
    old = [loop.steps[place] for place in (PARALLEL, FAILING)]

    def summary(history: list[Message]) -> list[Message]:
        kept = [m for m in history if not any(m.blocks is s.blocks or m.blocks is s.results for s in old)]
        seen = f"{TASK}\n\nSo far: checkout gives up after 1500 ms, payments needs two seconds."
        return [Message("user", (Text(seen),)), *kept[1:]]

    loop.steps[TICKETS].rewrite = summary
    return TICKETS


@FIDELITY("client-history-reordered", "client", FULL, also=f"{BUSTED} client-assistant-mutated")
def turns_swapped(loop: Loop) -> int:
    def swap(history: list[Message]) -> list[Message]:
        return [*history[:1], *history[3:5], *history[1:3], *history[5:]]

    loop.steps[LAST].rewrite = swap
    return LAST


@FIDELITY("client-tool-result-rewritten", "client", FULL, "shortened", also=BUSTED)
def result_shortened(loop: Loop) -> int:
    results = loop.steps[PARALLEL].results

    def shorten(message: Message) -> Message:
        if message.blocks is not results:
            return message
        cut = tuple(replace(b, text=f"{b.text[:60]} [truncated]") if isinstance(b, Result) else b for b in results)
        return Message(message.role, cut)

    loop.steps[TICKETS].rewrite = rewriting(shorten)
    return TICKETS


@FIDELITY("client-tool-result-rewritten", "client", FULL, "replaced", also=BUSTED)
def results_replaced(loop: Loop) -> int:
    results = loop.steps[FAILING].results

    def replaced(message: Message) -> Message:
        blocks = tuple(replace(b, text="It failed.") if isinstance(b, Result) else b for b in results)
        return Message(message.role, blocks) if message.blocks is results else message

    loop.steps[QUERIES].rewrite = rewriting(replaced)
    return QUERIES


# System prompt and tools


@FIDELITY("client-system-prompt-changed", "client", variant="a clock at the beginning", also=BUSTED)
def clock(loop: Loop) -> tuple[int, ...]:
    for place, step in enumerate(loop.steps):
        step.ask["system"] = f"Now: 2026-05-29T07:{place:02}:11Z\n{SYSTEM}"
    return tuple(range(1, len(loop.steps)))


@FIDELITY("client-system-prompt-changed", "client", variant="a word at the end", also=BUSTED)
def other_words(loop: Loop) -> int:
    loop.from_step(QUERIES, system=f"{SYSTEM}\nYou have two steps left.")
    return QUERIES


def _lowered(tool: Tool) -> Tool:
    return replace(tool, schema=dict(reversed(list(tool.schema.items()))))


SERVICES = Tool("list_services", "List the services of the shop.", {"type": "object", "properties": {}})
OTHER_TOOLS: dict[str, tuple[Tool, ...]] = {
    "in another order": (TICKET, QUERY, READ, SEARCH),
    "one more": (*TOOLS, SERVICES),
    "another description": (replace(SEARCH, description="Search logs (42 calls left)."), READ, QUERY, TICKET),
    "keys in another order": tuple(_lowered(tool) for tool in TOOLS),
    "one that was called goes away": (READ, QUERY, TICKET),
}


def _tools(kind: str) -> None:
    @FIDELITY("client-tools-changed", "client", variant=kind, also=BUSTED)
    def change(loop: Loop) -> int:
        loop.from_step(QUERIES, tools=OTHER_TOOLS[kind])
        return QUERIES


for kind in OTHER_TOOLS:
    _tools(kind)


@FIDELITY("client-cache-prefix-busted", "client", FULL, "the time in the first message")
def time_in_the_task(loop: Loop) -> tuple[int, ...]:
    def timed(place: int) -> None:
        said = Message("user", (Text(f"Current time: 07:{place:02}.\n{TASK}"),))
        loop.steps[place].rewrite = lambda history: [said, *history[1:]]

    for place in range(len(loop.steps)):
        timed(place)
    return tuple(range(1, len(loop.steps)))


@FIDELITY("client-cache-prefix-busted", "client", FULL, "something put in", also="client-role-order")
def something_put_in(loop: Loop) -> int:
    loop.steps[TICKETS].rewrite = lambda history: [
        Message("user", (Text("Remember: reports are short."), *history[0].blocks)), *history[1:]
    ]  # fmt: skip
    return TICKETS


@FIDELITY("client-cache-prefix-busted", "client", REPORTING, "with the system prompt",
          also="client-system-prompt-changed")  # fmt: skip
def system_and_cache(loop: Loop) -> tuple[int, ...]:
    return clock(loop)


def uncached(loop: Loop) -> None:
    """The client marks nothing for the cache."""


@FIDELITY("client-no-cache-control", "client", (*ANTHROPIC, "bedrock-converse"), tier="S", base=uncached)
def nothing_marked(loop: Loop) -> tuple[int, ...]:
    loop.parameters = {"cache": False}
    return tuple(range(len(loop.steps)))


# Parameters

COOLER: dict[str, Json] = {
    "gemini-generate": {"generationConfig": {"temperature": 0.2}},
    "bedrock-converse": {"inferenceConfig": {"temperature": 0.2}},
    "ollama-chat": {"options": {"num_ctx": 32768, "temperature": 0.2}},
}


@FIDELITY("client-sampling-params-changed", "client", variant="temperature")
def cooler(loop: Loop) -> int:
    loop.from_step(QUERIES, parameters=loop.parameters | COOLER.get(loop.dialect.name, {"temperature": 0.2}))
    return QUERIES


@FIDELITY("client-sampling-params-changed", "client", variant="output cap")
def other_cap(loop: Loop) -> int:
    loop.from_step(QUERIES, max_output=2000)
    return QUERIES


@FIDELITY("client-sampling-params-changed", "client", RESPONSES, "effort")
def other_effort(loop: Loop) -> int:
    loop.from_step(QUERIES, parameters=loop.parameters | {"reasoning": {"effort": "low", "summary": "auto"}})
    return QUERIES


OTHERS = {
    "openai-chat": "gpt-4o-mini", "deepseek-chat": "deepseek-chat", "mistral-chat": "mistral-small-2506",
    "cohere-v2": "command-r7b-12-2024", "ollama-chat": "llama3.2:1b", "openai-responses": "gpt-4o-mini",
    "openai-responses-held": "gpt-4o-mini", "anthropic-messages": "claude-haiku-4-5",
    "anthropic-thinking": "claude-haiku-4-5", "gemini-generate": "gemini-2.5-flash",
    "bedrock-converse": "us.amazon.nova-pro-v1:0",
}  # fmt: skip


@FIDELITY("client-model-changed", "client", ALL, also=f"{BUSTED} client-reasoning-dropped")
def other_model(loop: Loop) -> int:
    loop.from_step(QUERIES, model=OTHERS[loop.dialect.name])
    return QUERIES
