"""Layer 2: streams that are cut, stalled or malformed, and tool calls with wrong indexes or ids."""

from dataclasses import replace

from ..loop import Loop
from ..pieces import Block, Call, Event, Json, Text
from .edits import LAST, PARALLEL, QUERIES, READS, TICKETS, answered, everywhere, first_call, say
from .fault import ALL, ANTHROPIC, CHAT, ENDINGS, RESPONSES, STREAMED, Table

STREAMS = Table()

# Streams


@STREAMS("api-stream-cut", "api", ALL, "in the text", modes=STREAMED, also=ENDINGS)
def cut_in_text(loop: Loop) -> int:
    loop.steps[LAST].cut = 0.6
    return LAST


@STREAMS("api-stream-cut", "api", ALL, "in a call, tried again", modes=STREAMED)
def cut_in_call(loop: Loop) -> int:
    loop.steps.insert(TICKETS, replace(loop.steps[TICKETS], cut=0.75, results=()))
    loop.steps[TICKETS + 1].gap = 1.5
    return TICKETS


STALLING = tuple(name for name in ALL if name not in ("gemini-generate", "bedrock-converse"))


@STREAMS("api-stream-stalled", "api", STALLING, "75 s with keepalives", modes=STREAMED)
def stalled(loop: Loop) -> int:
    loop.steps[LAST].stall = (0.6, 75.0, 4)
    return LAST


@STREAMS("api-stream-stalled", "api", ALL, "320 s", modes=STREAMED)
def stalled_long(loop: Loop) -> int:
    loop.steps[LAST].stall = (0.6, 320.0, 0)
    return LAST


@STREAMS("api-malformed-stream", "api", ("openai-chat", "anthropic-messages"), "no JSON", modes=STREAMED)
def not_json(loop: Loop) -> int:
    def broken(pieces: list[bytes]) -> list[bytes]:
        return [*pieces[:3], b"data: {'choices': [\n\n", *pieces[3:]]

    loop.steps[READS].edit_pieces = (broken,)
    return READS


@STREAMS("api-malformed-stream", "api", ("openai-chat",), "empty finish words", modes=STREAMED)
def empty_words(loop: Loop) -> int:
    def blank(events: list[Event]) -> list[Event]:
        for _, value in events[:-2]:
            for choice in value["choices"] if isinstance(value, dict) else ():
                choice["finish_reason"] = choice["finish_reason"] or ""
        return events

    loop.steps[READS].edit_events = (blank,)
    return READS


@STREAMS("api-malformed-stream", "api", ("openai-chat", "deepseek-chat", "mistral-chat"), "done twice", modes=STREAMED)
def done_twice(loop: Loop) -> int:
    loop.steps[READS].edit_pieces = (lambda pieces: [*pieces, pieces[-1]],)
    return READS


@STREAMS(
    "api-malformed-stream",
    "api",
    ("openai-chat", "anthropic-messages", "openai-responses"),
    "content type",
    modes=STREAMED,
)
def content_type(loop: Loop) -> int:
    loop.steps[READS].edit_headers = (("content-type", "application/json"),)
    return READS


@STREAMS("api-malformed-stream", "api", ANTHROPIC, "a delta before its block", modes=STREAMED)
def out_of_order(loop: Loop) -> int:
    def swap(events: list[Event]) -> list[Event]:
        start = max(i for i, (name, _) in enumerate(events) if name == "content_block_start")
        return [*events[:start], events[start + 1], events[start], *events[start + 2 :]]

    loop.steps[READS].edit_events = (swap,)
    return READS


@STREAMS("api-malformed-stream", "api", ("openai-chat", "openai-responses"), "broken UTF-8", modes=STREAMED)
def broken_utf8(loop: Loop) -> int:
    def broken(pieces: list[bytes]) -> list[bytes]:
        return [piece.replace("\ufffd".encode(), b"\xc3") for piece in pieces]

    loop.steps[1].edit_pieces = (broken,)
    text = next(b for b in loop.steps[1].blocks if isinstance(b, Text))
    kept = replace(text, text=text.text.replace(" need", " n\ufffded", 1))
    loop.steps[1].passes = lambda blocks: tuple(kept if b is text else b for b in blocks)
    return 1


# Calls


def _collide(events: list[Event]) -> list[Event]:
    for _, value in events:
        if isinstance(value, dict):
            everywhere(value["choices"], "tool_calls", lambda calls: [{**call, "index": 0} for call in calls])
    return events


@STREAMS(
    "api-tool-call-index-collision", "api", ("openai-chat", "deepseek-chat"), "one index for two calls", modes=STREAMED
)
def one_index(loop: Loop) -> int:
    loop.steps[PARALLEL].edit_events = (_collide,)
    return PARALLEL


def _without_index(call: Json) -> Json:
    return {name: value for name, value in call.items() if name != "index"}


@STREAMS("api-tool-call-index-collision", "api", ("openai-chat", "deepseek-chat"), "no index", modes=STREAMED)
def no_index(loop: Loop) -> int:
    def drop(events: list[Event]) -> list[Event]:
        for _, value in events:
            if isinstance(value, dict):
                everywhere(value["choices"], "tool_calls", lambda calls: [_without_index(call) for call in calls])
        return events

    loop.steps[PARALLEL].edit_events = (drop,)
    return PARALLEL


@STREAMS(
    "api-tool-call-index-collision", "api", (*CHAT, "openai-responses"), "joined arguments", also="call-args-not-json"
)
def joined_arguments(loop: Loop) -> int:
    calm = loop.steps[PARALLEL]
    joined = "".join(call.arguments for call in calm.calls)

    def join(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        first = next(b for b in blocks if isinstance(b, Call))
        return tuple(replace(b, arguments=joined) if b is first else b for b in blocks
                     if b is first or not isinstance(b, Call))  # fmt: skip

    bad = replace(calm, passes=join)
    loop.steps.insert(PARALLEL, answered(bad, "the arguments are not valid JSON", error=True))
    calm.blocks = say(loop, "again", "I will make the two calls again.", *((c.name, c.arguments) for c in calm.calls))
    answered(calm, *(r.text for r in calm.results))  # type: ignore[union-attr]
    return PARALLEL


IDENTIFIED = (*CHAT, *RESPONSES, *ANTHROPIC, "bedrock-converse")


@STREAMS("api-duplicate-tool-call-id", "api", IDENTIFIED, "in one answer")
def same_id_twice(loop: Loop) -> int:
    step = loop.steps[PARALLEL]
    texts = [r.text for r in step.results]  # type: ignore[union-attr]

    def same(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        identity = next(b for b in blocks if isinstance(b, Call)).id
        return tuple(replace(b, id=identity) if isinstance(b, Call) else b for b in blocks)

    step.passes = same
    answered(step, *texts)
    return PARALLEL


@STREAMS("api-duplicate-tool-call-id", "api", IDENTIFIED, "of an earlier call")
def id_of_an_earlier_call(loop: Loop) -> int:
    step, earlier = loop.steps[QUERIES], first_call(loop.steps[READS]).id
    texts = [r.text for r in step.results]  # type: ignore[union-attr]
    step.passes = lambda blocks: tuple(replace(b, id=earlier) if isinstance(b, Call) else b for b in blocks)
    answered(step, *texts)
    return QUERIES
