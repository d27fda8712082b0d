"""What the model emitted: arguments that break their schema, empty answers, refusals, loops."""

import json
import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning
from ...wire.json_value import Object, as_object, is_object, parse_json
from ...wire.printable import several
from ...wire.resolve_finish import CALL_MARKERS, calls_in_text
from ...wire.values import Part, ToolCall
from ...wire.written_calls import written_calls
from ..model_words import THOUGHT_ENDS
from ..rule import Note, rule
from ..rule_context import RuleContext
from .honoured import demands

_PENDING = frozenset({"queued", "starting", "in_progress", "processing", "requires_action"})
"""Finish words of answers that are still queued or running."""
_UNRUN = frozenset({"length", "context_full", "malformed", "cut", "error", "cancelled"})
_FLOOD = 6
"""Nobody wants the same call this often at once."""


def whole_calls(context: RuleContext) -> Iterator[ToolCall]:
    """The complete calls of an answer."""
    if context.finish.effective in _UNRUN or context.finish.label in _UNRUN:
        return
    for call in context.emission.calls:
        if call.complete:
            yield call


def written_twice(call: ToolCall) -> Object | None:
    """The arguments of a call that were written as a JSON text in a JSON text; None for any other arguments."""
    inner = parse_json(call.arguments) if isinstance(call.arguments, str) else None
    return inner if is_object(inner) else None


def call_at(context: RuleContext, call: ToolCall) -> str:
    return f"{context.at} call {call.id or call.name}"


@rule(
    "call-args-not-json",
    "model",
    "error",
    "P",
    says="The arguments of a call are not valid JSON although the answer is complete. The API is to blame where it sends "
    "valid JSON as a string in place of an object, or where a stream that it calls complete lacks their beginning or "
    "their end, or has a piece of them twice.",
    fix="Use strict tools where the API has them; send the schema back in an error result.",
    not_when=(
        "The answer was cut or hit its cap",
        "Empty arguments",
        "A free-form tool",
    ),
    aliases=("model-args-not-json",),
)
def arguments_not_json(context: RuleContext) -> Iterator[Note]:
    if context.has("api-tool-call-index-collision", "api-truncated-call-mislabelled"):
        return
    for call in whole_calls(context):
        if call.arguments is None and call.arguments_raw.strip() not in ("", "null"):
            whole = is_object(parse_json(call.arguments_raw))
            fault = stream_fault(call.arguments_raw) if context.reading.streamed and not whole else None
            what = "are a string and not an object" if whole else "are not valid JSON"
            what += f", because the stream {fault}" if fault else ""
            yield Note(
                f"the arguments of {call.name!r} {what}: {cut(call.arguments_raw, 120)!r}",
                (call_at(context, call),),
                layer="api" if whole or fault else None,
            )
    for call in context.emission.server_calls if context.finish.effective not in _UNRUN else ():
        if call.complete and call.arguments is None and call.arguments_raw.strip() not in ("", "null"):
            yield Note(
                f"the arguments of {call.name!r}, which the API runs, are not valid JSON: {cut(call.arguments_raw, 120)!r}",
                (call_at(context, call),),
                severity="warning",
            )


def stream_fault(text: str) -> str | None:
    """What a stream did to arguments that are not JSON, as the end of "the stream ..."; None where it shows nothing."""
    if lacks_end(text):
        return "lacks their end"
    if lacks_start(text):
        return "lacks their beginning"
    if (piece := doubled_piece(text)) is not None:
        return f"has a piece of them twice ({cut(piece, 40)!r})"
    return None


def lacks_start(text: str) -> bool:
    """True for the rest of a JSON object: it closes a bracket that it never opens, and holds keys of that object."""
    bare = text.strip()
    if bare.startswith(("{", "[")) or not bare.endswith("}"):
        return False
    if any(is_object(parse_json(start + bare)) for start in ("{", '{"')):
        return True
    bare = _STRING.sub('""', bare)
    return bare.count("}") > bare.count("{") and bare.count(":") > bare.count("{")


_STRING = regex(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PIECE = range(64, 5, -1)
"""Characters. A few signs that are there twice may be a slip of the model."""
_LONGEST_TEXT, _MOST_TRIES = 100_000, 24


def doubled_piece(text: str) -> str | None:
    """The piece that is there twice in a row, if the text is a JSON object without one of them; else None."""
    bare, tries = text.strip(), 0
    try:
        json.loads(bare, parse_int=float)  # which has no limit of digits
    except json.JSONDecodeError as error:
        end = error.pos
    except RecursionError:
        return None
    else:
        return None
    for size in _PIECE if bare.startswith("{") and len(bare) <= _LONGEST_TEXT else ():
        for start in range(max(end - 2 * size, 0), end):
            piece = bare[start : start + size]
            if not bare.startswith(piece, start + size):
                continue
            if is_object(parse_json(bare[:start] + bare[start + size :])):
                return piece
            if (tries := tries + 1) == _MOST_TRIES:
                return None
    return None


def lacks_end(text: str) -> bool:
    """True for a text that is JSON up to its end, which is missing."""
    bare = text.strip()
    try:
        json.loads(bare, parse_int=float)  # which has no limit of digits
    except json.JSONDecodeError as error:
        return bare.startswith(("{", "[")) and (error.pos >= len(bare) or error.msg.startswith("Unterminated string"))
    except RecursionError:
        pass
    return False


@rule(
    "call-as-text",
    "model",
    "error",
    "S",
    says="A tool call was written as plain text, so no client runs it.",
    fix="Check the server's tool-call parser and template; remove the text from the history and ask again.",
    not_when=(
        "No tools were offered",
        "The name in the text is not one of the tools",
        "The arguments lack what the tool requires",
        "More follows than markup or an invented result",
        "The call is introduced as an example, or is in code",
        "The user asks about the tool, or the request contains the call",
        "The answer makes the call as well",
        "The markup of a call that the answer makes is left in the text: then it is an info",
        "The client read the call from the text and answers with its result: then it is an info",
    ),
    aliases=("model-call-as-text",),
)
def call_as_text(context: RuleContext) -> Iterator[Note]:
    emission, request, beside = context.emission, context.whole_request, ""
    if emission.emitted == "calls":
        written = calls_in_text(emission.text, request, emission.calls)
        if context.finish.effective in _UNRUN:
            return
        if not written:
            yield from _markup_left(context)
            return
        beside = f" beside {several(len(emission.calls), 'real one')}"
    elif context.emitted == "call_as_text":
        written = calls_in_text(emission.text, request)
    else:
        return
    residue = next((m for m in CALL_MARKERS if m in emission.text), None)
    where = f" (marker {residue!r})" if residue else f" (of {written[0].name!r})" if written else ""
    shown = written[0].text if beside else emission.text.strip()
    special = bool(residue and ("|" in residue or "｜" in residue))
    yield Note(
        f"the answer contains a tool call as text{where}{beside}: {cut(shown, 120)!r}",
        (f"{context.at} response",),
        layer="api" if not context.provider.parses_calls and special else "model",
    )


def _markup_left(context: RuleContext) -> Iterator[Note]:
    """Markup of a call that the answer makes as well: the server's parser read it and left it in the text."""
    text = context.emission.text
    found = next((marker for marker in CALL_MARKERS if marker in text), None)
    if found is not None and written_calls(text, context.request.tools):
        yield Note(
            f"the text still holds the markup of a call that the answer makes ({found!r}): {cut(text.strip(), 80)!r}",
            (f"{context.at} response",),
            layer="api",
            severity="info",
        )


LOST_ANSWER = "api-answer-lost"
_END = 8
"""Tokens. A model may end an answer with so many of which nothing is seen."""


@rule(
    LOST_ANSWER,
    "api",
    "warning",
    "S",
    says="The answer is empty although its counts say that the model wrote one: the server or a gateway lost it.",
    fix="Ask again a bounded number of times; report it to the provider of the gateway or server.",
    not_when=("The answer holds thoughts, or their tokens are not counted apart", "A stop string may have ended it"),
)
def answer_lost(context: RuleContext) -> Iterator[Note]:
    usage, emission = context.reading.usage, context.emission
    if usage is None or emission.emitted != "empty" or emission.server_calls or not context.succeeded:
        return
    if context.finish.label not in ("complete", "unknown", "tool_calls") or context.finish.effective == "cut":
        return
    counted = usage.reasoning is not None or context.spoken[1].shows_thoughts
    tokens = (usage.output or 0) - (usage.reasoning or 0)
    if not counted or tokens <= _END or context.request.stop or any(p.kind == "reasoning" for p in emission.content):
        return
    yield Note(
        f"the answer is empty, and {several(tokens, 'output token')} of it are counted",
        (f"{context.at} response", f"{context.at} usage output {usage.output}"),
    )


IN_REASONING = "api-answer-in-reasoning"
_FINAL_CHANNEL = regex(r"<\|channel\|>final\b|\bassistantfinal(?=\W|[A-Z])")
"""Where the answer of gpt-oss begins: with the tokens of its channels, or with what is left of them."""
_THOUGHT_ENDS = regex(THOUGHT_ENDS, re.IGNORECASE)


@rule(
    IN_REASONING,
    "api",
    "warning",
    "S",
    says="The answer, or a call, is in the field for reasoning: the server's reasoning parser put it there, and clients do not "
    "look for it there.",
    fix="Check the server's reasoning parser against the model's chat template, and update the server; until then, read the "
    "answer from the reasoning.",
    not_when=(
        "Nothing shows where the reasoning ends: then `model-empty-response` says that there is only reasoning",
        "The request holds the tag that ends a thought: the model may have written of it",
        "The answer was cut or hit its cap",
        "The client ran the call all the same: then it is an info",
    ),
)
def answer_in_reasoning(context: RuleContext) -> Iterator[Note]:
    if context.emission.emitted != "reasoning_only" or context.emission.server_calls or not context.succeeded:
        return
    if context.finish.effective in _UNRUN or context.finish.label in _UNRUN:
        return
    reasoning = context.emission.reasoning.strip()
    what = _behind_its_end(context, reasoning)
    if what is None and any(True for _ in demands(context, "no_reasoning")):
        what = f"the request switches reasoning off, and all of the answer is reasoning: {cut(reasoning, 80)!r}"
    if what is None and context.request.output_format is not None and is_object(parse_json(reasoning)):
        what = f"the JSON that the request asks for is in the reasoning, and the text is empty: {cut(reasoning, 80)!r}"
    if what is not None:
        yield Note(what, (f"{context.at} response", context.finish_at))


@answer_in_reasoning.also("ended")
def call_in_thought(context: RuleContext) -> Iterator[Note]:
    """A call that the API marks as a part of a thought, or that is written in one: clients skip thoughts."""
    if not context.succeeded:
        return
    hidden = [p for p in context.emission.content if _is_own_call(p) and as_object(p.raw).get("thought") is True]
    for part in hidden[:1]:
        if part.call is not None:
            yield Note(
                f"the call of {part.call.name!r} is marked as a part of a thought: a client that skips thoughts never runs it",
                (call_at(context, part.call), f"{context.at} response {part.pointer}".rstrip()),
                tier="P",
            )
    if context.emission.emitted != "reasoning_only" or context.finish.label in _UNRUN:
        return
    written = written_calls(context.emission.reasoning.strip(), context.request.tools)
    if written and written[0].marked:
        yield Note(
            f"a call of {written[0].name!r} is written in the reasoning, and nothing follows it: no client runs it: "
            f"{cut(written[0].text, 80)!r}",
            (f"{context.at} response", context.finish_at),
        )


def _is_own_call(part: Part) -> bool:
    """True for a call that the client has to run."""
    return part.call is not None and not part.call.server


def _behind_its_end(context: RuleContext, reasoning: str) -> str | None:
    """What says that an answer follows inside the reasoning, behind the mark of its end; None where nothing does."""
    ends = [*_THOUGHT_ENDS.finditer(reasoning), *_FINAL_CHANNEL.finditer(reasoning)]
    last = max(ends, key=lambda found: found.end(), default=None)
    rest = reasoning[last.end() :].strip() if last is not None else ""
    if last is None or not rest:
        return None
    spelled = last[0].encode()
    body = context.turn.round_trip.request.body
    if spelled in body or spelled.replace(b"/", b"\\/") in body:
        return None
    return f"the reasoning ends with {last[0]!r} and the answer follows inside it, while the text is empty: {cut(rest, 80)!r}"


@rule(
    "model-empty-response",
    "model",
    "warning",
    "P",
    says="The answer holds no text, no call and no refusal although the API calls it complete (model or provider).",
    fix="Ask again a bounded number of times and log it; never treat it as success.",
    not_when=(
        "The API ran its own tools in the answer",
        "The request asks for a single token",
        "The answer is still queued",
        "The request has no message: it only loads the model, as Ollama's does",
        "The request ends with an answer, so nothing was asked: then it is an info",
    ),
)
def empty_response(context: RuleContext) -> Iterator[Note]:
    if context.emission.emitted not in ("empty", "reasoning_only") or context.emission.server_calls:
        return
    if context.finish.raw == "load" and not context.request.messages:
        return
    if context.finish.label not in ("complete", "stop_sequence", "unknown", "tool_calls") or not context.succeeded:
        return
    if context.finish.effective == "cut" or (context.request.max_output or 100) <= 1 or context.finish.raw in _PENDING:
        return
    if context.has("api-finish-unknown") and context.finish.raw in context.protocol.finish:
        return  # The API itself stopped it.
    if context.has("api-no-choice", "api-finish-label-disagrees", "api-fabricated-finish") or any(
        finding.id == "api-malformed-stream" and finding.severity == "error" for finding in context.found
    ):
        return
    output = context.reading.usage.output if context.reading.usage else None
    if context.emission.emitted == "reasoning_only":
        what = "the answer contains only reasoning"
    elif output == 0:
        what = "the answer is empty and counts 0 output tokens, so the provider probably caused it"
    else:
        what = "the answer is empty" + (f" although it counts {several(output, 'output token')}" if output else "")
    # If one word means the end or a stop string, the stop string is the more likely end of an empty answer.
    at_stop = context.finish.label == "stop_sequence" or (context.finish.raw or "").lower() == "stop"
    stopped = at_stop and bool(context.request.stop)
    yield Note(
        what + (": a stop string of the request ended it" if stopped else ""),
        (f"{context.at} response", context.finish_at),
        severity="info" if stopped or _asks_nothing(context) else None,
        because_of=context.has("api-truncated-text-mislabelled", LOST_ANSWER, IN_REASONING),
    )


def _asks_nothing(context: RuleContext) -> bool:
    """True when the request ends with the model's own words."""
    messages = context.request.messages
    return bool(messages) and messages[-1].role == "assistant"


@rule(
    "model-refusal",
    "model",
    "error",
    "P",
    says="The model, or a policy of its provider, refused.",
    fix="Show the category, fall back to another model or ask the user; do not send the same request again.",
)
def refusal(context: RuleContext) -> Iterator[Note]:
    if context.finish.label != "refusal" and context.emission.refusal is None:
        return
    said = context.emission.refusal or context.finish.detail or context.emission.text
    yield Note(
        f"the model refused{': ' + said if said else ''}",
        (f"{context.at} response", context.finish_at),
    )


@rule(
    "parallel-calls-when-forbidden",
    "api",
    "warning",
    "P",
    says="The request allows one call at a time and the answer holds several.",
    fix="Run all of them, or answer the others with error results; some servers never enforce this setting.",
    aliases=("model-parallel-when-forbidden",),
)
def parallel_when_forbidden(context: RuleContext) -> Iterator[Note]:
    first = [call for call in context.emission.calls if call.choice == 0]
    if context.request.parallel_tool_calls is False and len(first) > 1:
        yield Note(
            f"parallel calls were forbidden and the answer has {len(first)} calls",
            (f"{context.at} request parallel tool calls false", *(call_at(context, call) for call in first[:4])),
        )


@rule(
    "model-duplicate-call-in-batch",
    "model",
    "info",
    "P",
    says="One answer holds the same call twice or more often. From six times on it is a warning.",
    fix="Run it once and give each id the result, unless the tool is meant to be repeated.",
)
def duplicate_in_batch(context: RuleContext) -> Iterator[Note]:
    seen: dict[tuple[int, int], list[ToolCall]] = {}
    for call in whole_calls(context):
        twins = seen.setdefault((call.choice, call_meaning(call)), [])
        if not twins or not (call.id and twins[0].id == call.id):
            twins.append(call)
    for twins in seen.values():
        if len(twins) > 1:
            times = "twice" if len(twins) == 2 else f"{len(twins)} times"
            yield Note(
                f"the call of {twins[0].name!r} is in one answer {times}, with equal arguments",
                tuple(call_at(context, call) for call in twins[:4]),
                severity="warning" if len(twins) >= _FLOOD else None,
            )


RULES = (
    arguments_not_json,
    call_as_text,
    answer_lost,
    answer_in_reasoning,
    call_in_thought,
    empty_response,
    refusal,
    parallel_when_forbidden,
    duplicate_in_batch,
)
