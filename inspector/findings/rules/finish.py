"""How the API finished an answer: caps, filters, labels that disagree with what was emitted."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import is_json, parse_json
from ...wire.printable import several
from ...wire.values import ToolCall
from ..refusals import filtered_side
from ..repetition import repeated_end
from ..rule import Note, rule
from ..rule_context import RuleContext
from .errors import error_status, why_refused

_SHORT = 20
"""A text of at most this many characters may end without a full stop."""
_WORD_END = regex(r"[A-Za-z0-9,;(\[{\"'-]\Z")


def _finished(context: RuleContext) -> str:
    """The finish word of the API, as the beginning of a sentence."""
    raw = context.finish.raw
    return "the API sent no finish reason" if raw is None else f"the API finished with {raw!r}"


def _spent(context: RuleContext) -> str:
    usage, cap = context.reading.usage, context.request.max_output
    spent = f" after {several(usage.output, 'output token')}" if usage and usage.output is not None else ""
    if usage and usage.reasoning and usage.output and usage.reasoning >= 0.95 * usage.output:
        spent += ", all of them reasoning"
    return spent + (f" (the request allowed {cap:,})" if cap else "")


def _repeats(context: RuleContext) -> str:
    """What an answer says again and again at its end, as the end of a sentence."""
    emission = context.emission
    written = (emission.text, *(call.arguments_raw for call in emission.calls), emission.reasoning)
    found = next((again for text in written if (again := repeated_end(text)) is not None), None)
    return f"; it repeats {cut(found[0].strip(), 60)!r} {found[1]} times at its end" if found else ""


@rule(
    "api-length-truncated",
    "api",
    "warning",
    "P",
    says="The answer hit the cap on output tokens.",
    fix="Raise the cap, lower the reasoning effort, or cut the task into pieces.",
)
def length_truncated(context: RuleContext) -> Iterator[Note]:
    if context.finish.label == "length" and not context.emission.calls:
        ping = (context.request.max_output or 100) <= 1
        yield Note(
            f"the API says that the output cap ended the answer{_spent(context)}: the word is probably wrong"
            if _is_far_from_cap(context)
            else f"the answer was cut by the output cap{_spent(context)}{_repeats(context)}",
            (context.finish_at,),
            severity="info" if ping else None,
        )


@rule(
    "api-length-truncated-tool-call",
    "api",
    "error",
    "P",
    says="The output cap was hit while a tool call was being written.",
    fix="Never run it, even if it parses; answer it with an error result that asks for a smaller payload.",
)
def length_truncated_call(context: RuleContext) -> Iterator[Note]:
    calls = context.emission.calls
    if not calls or not context.succeeded:
        return
    partial = next((call for call in calls if not call.complete), None)
    capped = context.finish.label in ("length", "context_full")
    if not capped and (partial is None or context.finish.effective == "cut" or context.finish.label == "malformed"):
        return
    name = (partial or calls[-1]).name
    limit = "the context window was full" if context.finish.label == "context_full" else "the output cap was hit"
    yield Note(
        f"{limit}{_spent(context)} while the call of {name!r} was being written: do not run it{_repeats(context)}"
        if capped
        else f"the call of {name!r} is incomplete, although {_finished(context)}: do not run it",
        (context.finish_at, f"{context.at} call {(partial or calls[-1]).id or name}"),
    )


_SMALLEST_WINDOW = 2000
"""Tokens. No server has a smaller window, so it did not end a shorter conversation."""


def _is_far_from_cap(context: RuleContext) -> bool:
    """True for a whole text that has not half of the tokens which the request allowed."""
    usage, cap = context.reading.usage, context.request.max_output
    if usage is None or not usage.output or not cap or usage.reasoning:
        return False
    ends = context.emission.text.rstrip().endswith((".", "!", "?"))
    return ends and 2 * usage.output < cap and (usage.input or 0) + usage.output < _SMALLEST_WINDOW


_STRING = regex(r'"(?:[^"\\]++|\\.)*+(")?', re.DOTALL)
"""A string; its group is empty for one that does not end."""
_CLOSED = regex(r"(?<!\\)\"\s*[}\]]+\Z")
"""The end of JSON: a text that ends so was not cut, whatever is wrong inside."""
_LITERAL_CUT = regex(r"(?:\b(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)|-|\d[.eE])\Z")


def _begun(call: ToolCall) -> str | None:
    """The arguments without the words in their strings, if they are the beginning of a JSON text; else None."""
    raw = call.arguments_raw.strip()
    if call.arguments is not None or not raw.startswith(("{", "[")) or _CLOSED.search(raw):
        return None
    rest = _STRING.sub(lambda found: "" if found[1] else '"', raw)
    closed = rest.count("{") + rest.count("[") <= rest.count("}") + rest.count("]")
    return None if closed and '"' not in rest else rest


def _inside_a_token(rest: str) -> bool:
    """True when the text ends inside a string or a literal."""
    return '"' in rest or bool(_LITERAL_CUT.search(rest))


@rule(
    "api-truncated-call-mislabelled",
    "api",
    "error",
    "P",
    says="A call was cut by the output cap and the API's label does not say so.",
    fix="Treat the call as truncated and never run it. Report the wrong label to the provider of the server.",
    not_when=(
        "The answer has fewer tokens than were allowed: then the model wrote invalid JSON",
        "The arguments do not end inside a token: then the model wrote invalid JSON",
    ),
)
def truncated_mislabelled(context: RuleContext) -> Iterator[Note]:
    if context.finish.label not in ("tool_calls", "complete", "stop_sequence", "unknown") or not context.succeeded:
        return
    if context.finish.effective == "cut" or not context.emission.calls:
        return
    usage, cap = context.reading.usage, context.request.max_output
    exact = usage is not None and cap is not None and usage.output == cap
    last = context.emission.calls[-1]
    rest = _begun(last)
    if rest is None or _collided(last):
        return
    below = usage is not None and cap is not None and 0 < (usage.output or 0) < cap
    if not exact and (below or not _inside_a_token(rest)):
        return
    why = f"exactly the {cap} output tokens that were allowed" if exact else "and its arguments end in the middle"
    yield Note(
        f"the call of {last.name!r} was cut, {why}, but {_finished(context)}",
        (context.finish_at, f"{context.at} call {last.id or last.name}"),
        tier="P" if exact else "S",
    )


def _collided(call: ToolCall) -> bool:
    return bool(re.search(r"\}\s*\{", call.arguments_raw))


@rule(
    "api-truncated-text-mislabelled",
    "api",
    "warning",
    "S",
    says="A text has exactly as many tokens as were allowed and the API's label does not say that it was cut.",
    fix="Treat the answer as truncated and raise the cap. Report the wrong label to the provider of the server.",
    not_when=(
        "The answer holds calls",
        "The request asks for a single token",
        "The text does not end in the middle: then it is an info",
    ),
)
def truncated_text_mislabelled(context: RuleContext) -> Iterator[Note]:
    usage, cap = context.reading.usage, context.request.max_output
    if context.finish.label not in ("complete", "stop_sequence", "unknown") or not context.succeeded:
        return
    if context.finish.effective == "cut" or context.emission.emitted not in ("text", "reasoning_only", "empty"):
        return
    if usage is None or cap is None or cap <= 1 or usage.output != cap:
        return
    text = context.emission.text
    yield Note(
        f"the answer has exactly the {cap:,} output tokens that were allowed and "
        + ("is empty" if not text.strip() else f"ends with {text.rstrip()[-40:]!r}")
        + f", but {_finished(context)}",
        (context.finish_at, f"{context.at} usage output {usage.output}"),
        severity=None if _ends_inside(text) else "info",
    )


def _ends_inside(text: str) -> bool:
    """True for a text that is empty, or ends in the middle of a sentence, of JSON or of a block of code."""
    text = text.strip()
    if not text or text.count("```") % 2 == 1:
        return True
    if text[0] in "{[":
        return not is_json(text)
    return len(text) > _SHORT and bool(_WORD_END.search(text))


@rule(
    "api-finish-missing",
    "api",
    "warning",
    "P",
    says="A complete answer has no finish word.",
    fix="Read the calls in the answer, and report it to the provider of the server: some clients wait for the word.",
    not_when=(
        "The answer was cut",
        "The API has no finish words",
        "The provider never sends one: then it is an info",
        "A mark of the API says that the answer is complete, as Ollama's `done`: then it is an info",
        "There are calls: then `api-finish-label-disagrees` says it",
    ),
)
def finish_missing(context: RuleContext) -> Iterator[Note]:
    finish = context.finish
    choices = context.emission.choices
    unsaid = [choice.index for choice in choices if not choice.finish_raw]
    if unsaid and len(unsaid) < len(choices) and finish.effective != "cut" and context.succeeded:
        which = " and ".join(map(str, unsaid))
        yield Note(
            f"{'choice' if len(unsaid) == 1 else 'the choices'} {which} of {len(choices)} (from 0) "
            f"{'has' if len(unsaid) == 1 else 'have'} no finish reason, and the stream ended",
            (context.finish_at, f"{context.at} response"),
        )
        return
    if finish.raw or finish.label != "unknown" or finish.effective == "cut" or not context.succeeded:
        return
    if not context.protocol.answers.always_says_finish or context.emission.emitted in ("empty", "none"):
        return
    if context.has("api-finish-label-disagrees"):
        return
    yield Note(
        "the answer is complete and the API sent no finish reason",
        (context.finish_at, f"{context.at} response"),
        severity=None if context.provider.says_finish and not context.protocol.answers.marks_end else "info",
    )


@rule(
    "api-finish-unknown",
    "api",
    "warning",
    "S",
    says="The finish word is none of the API's words, or one with which it stopped the answer for a reason that it does "
    "not say.",
    fix="Do not take the answer as complete; find out what the server means by the word (vLLM's `abort`: it gave up).",
    not_when=(
        "The answer was cut",
        "There are calls: then `api-finish-label-disagrees` says it",
        "Its meaning is plain, as of another API's word or spelling: then it is an info",
        "The answer is made in the background",
        "The request has no message: it only loads the model, as Ollama's does",
    ),
)
def finish_unknown(context: RuleContext) -> Iterator[Note]:
    finish, own = context.finish, context.spoken[1].words
    known = {word.lower() for word in (own or context.protocol.finish)}
    word = (finish.raw or "").lower()
    if word in _UNSAID and context.emission.emitted in ("empty", "reasoning_only") and context.succeeded:
        yield Note(f"the API stopped the answer with {finish.raw!r} and says no reason", (context.finish_at,))
        return
    if finish.effective == "cut" or context.reading.error is not None or context.has("api-finish-label-disagrees"):
        return
    if finish.raw in context.protocol.answers.vague_words and finish.label == "unknown":
        yield Note(f"the API stopped the answer with {finish.raw!r} and says no reason", (context.finish_at,))
        return
    if finish.raw in context.protocol.answers.idle_words and context.request.messages:
        yield Note(
            f"the API finished with {finish.raw!r} what was asked of the model: {finish.detail}", (context.finish_at,)
        )
        return
    if word in _STILL_RUNNING and context.exchange.answer_fields.get("background") is False:
        yield Note(
            f"the API ended its answer with {finish.raw!r}, although it says that it is not made in the background",
            (context.finish_at,),
        )
        return
    if word in _GAVE_UP or (word and known and finish.label == "unknown" and word not in known):
        yield Note(f"the API finished with {finish.raw!r}, which is none of its finish words", (context.finish_at,))
    elif finish.raw and own and finish.raw not in own and not word.isdecimal():
        yield Note(
            f"the API finished with {finish.raw!r}, as other APIs spell it: clients that know its own words alone "
            "do not understand it",
            (context.finish_at,),
            severity="info",
        )


_UNSAID = frozenset({"other", "image_other"})
"""Gemini's words for another reason."""
_STILL_RUNNING = frozenset({"queued", "in_progress"})
"""Words for answers that are made in the background."""
_GAVE_UP = frozenset({"abort", "unload"})
"""Words of servers (vLLM, Ollama) that no API documents. Their meaning is known: the answer is not complete."""


_A_PIECE = 200
"""Characters. Where no piece is longer, their number or the answer fills the window, or the recording lacks them."""


@rule(
    "api-context-full",
    "api",
    "error",
    "P",
    says="The conversation no longer fits into the model's window.",
    fix="Limit the size of tool results, compact the history, or choose a model with a larger window.",
)
def context_full(context: RuleContext) -> Iterator[Note]:
    said = context.rejection
    rejected = said.text if said is not None and "api-context-full" in said.ids else None
    if context.finish.label != "context_full" and rejected is None:
        return
    usage = context.reading.usage
    tokens = f"; {usage.input} input tokens" if usage and usage.input is not None else ""
    parts = sorted(
        ((len(part.text), part.pointer) for message in context.request.messages for part in message.parts), reverse=True
    )
    biggest = ", ".join(f"{pointer} ({size:,} characters)" for size, pointer in parts[:3])
    quoted = f": {rejected.rstrip(' .')}" if rejected else ""
    small = parts and parts[0][0] < _A_PIECE
    named = "" if small else f"; the largest pieces are {biggest or 'unknown'}"
    yield Note(
        f"the context window is full{tokens}{quoted}{named}",
        (context.finish_at, *(f"{context.at} request {pointer}" for _, pointer in ([] if small else parts[:3]))),
        because_of=context.has_recently("client-huge-tool-result"),
        key=("context-full",),
    )


@rule(
    "api-content-filter",
    "api",
    "error",
    "P",
    says="The API's filter stopped the prompt or the answer.",
    fix="Show the category; do not send the same request again.",
)
def content_filter(context: RuleContext) -> Iterator[Note]:
    said = context.rejection
    rejected = said.text if said is not None and "api-content-filter" in said.ids else None
    if context.finish.label != "content_filter" and rejected is None:
        return
    side = filtered_side(rejected) if rejected else "the prompt" if context.finish.prompt_filtered else "the answer"
    detail = rejected or context.finish.detail
    yield Note(
        f"the API's filter stopped {side} ({context.finish.raw or 'error'}{': ' + detail if detail else ''})",
        (context.finish_at,),
    )


@rule(
    "malformed-output",
    "model",
    "error",
    "P",
    says="The API refused what the model emitted: a call that it cannot parse, or that breaks the request's rules.",
    fix="Ask again once; simplify the schemas and offer fewer tools. Without tools in the request, take calls out of its prompt and history.",
    aliases=("api-malformed-output",),
)
def malformed_output(context: RuleContext) -> Iterator[Note]:
    error = context.reading.error
    if error is not None and why_refused(context) == "output":
        said = " ".join(filter(None, (str(error_status(context) or ""), error.message)))
        yield Note(
            f"the API refused what the model emitted: {said}",
            (f"{context.at} status {context.status}",),
            because_of=context.has("api-error-in-200-stream"),
        )
    if context.finish.label != "malformed":
        return
    said = f"{context.finish_word}: {context.finish.detail}" if context.finish.detail else context.finish_word
    undeclared = "unexpected_tool_call" in context.finish_word.lower()
    none = undeclared and not context.request.tools
    yield Note(
        f"the model emitted {'a call of a tool that was not offered' if undeclared else 'what the API cannot parse'} "
        f"({said})" + ("; the request offers no tools" if none else ""),
        (context.finish_at,),
        layer="client" if none else None,
    )


@rule(
    "api-pause",
    "api",
    "info",
    "P",
    says="The API paused the turn and wants the same answer sent back.",
    fix="Send the answer back unchanged, and limit how often.",
)
def pause(context: RuleContext) -> Iterator[Note]:
    if context.finish.label == "pause":
        yield Note(
            f"the API paused the turn ({context.finish_word}); send the answer back unchanged",
            (context.finish_at,),
        )


@rule(
    "api-server-limit",
    "api",
    "warning",
    "P",
    says="The API runs a loop itself, and one of its limits ended the turn: calls, messages or budget.",
    fix="Raise the limit where the request sets it, or continue with a new request.",
)
def server_limit(context: RuleContext) -> Iterator[Note]:
    if context.finish.label == "limit":
        detail = f": {context.finish.detail}" if context.finish.detail else ""
        yield Note(
            f"a limit of the API ended the turn ({context.finish_word}{detail})",
            (context.finish_at,),
        )


@rule(
    "api-finish-label-disagrees",
    "api",
    "warning",
    "P",
    says="The API's finish word and what was emitted contradict each other.",
    fix="Base the loop on the calls in the answer, not on the finish word.",
    not_when=(
        "The API has no finish word for tool calls (Gemini, Responses, Ollama)",
        "The request forced the tool: then it is an info",
    ),
)
def label_disagrees(context: RuleContext) -> Iterator[Note]:
    finish, calls = context.finish, context.emission.calls
    if not context.succeeded or finish.effective == "cut":
        return
    if finish.label == "stop_sequence" and context.emission.text and not context.request.stop:
        if context.spoken[1].own_stops:
            return
        yield Note(f"{_finished(context)} and the request has no stop strings", (context.finish_at,))
        return
    evidence = (context.finish_at, *(f"{context.at} call {c.id or c.name}" for c in calls[:3]))
    if finish.label == "tool_calls" and not calls and not context.emission.server_calls:
        yield Note(f"{_finished(context)} and sent no tool call", evidence)
    elif finish.label in ("complete", "stop_sequence", "unknown") and context.emission.emitted == "calls":
        if not context.protocol.answers.has_word_for_calls:
            return
        choice = context.request.tool_choice
        forced = choice is not None and choice.mode in ("named", "required")
        yield Note(
            f"{_finished(context)} beside {several(len(calls), 'complete tool call')}"
            + ("; that is known behaviour when the request forces the tool" if forced else ""),
            evidence,
            severity="info" if forced else None,
        )
    elif (
        finish.label in ("content_filter", "refusal")
        and calls
        and all(parse_json(c.arguments_raw or "{}") for c in calls)
    ):
        yield Note(f"{_finished(context)} beside complete tool calls: do not run them", evidence)


@rule(
    "api-fabricated-finish",
    "api",
    "error",
    "S",
    says="The stream ends with a finish word that the provider cannot have sent: there is no usage, and the text is cut off.",
    fix="Treat the answer as cut and ask for the whole turn again; a gateway invented the ending.",
)
def fabricated_finish(context: RuleContext) -> Iterator[Note]:
    if not context.reading.streamed or context.finish.label not in ("complete", "tool_calls") or not context.succeeded:
        return
    usage = context.reading.usage
    if context.finish.effective == "cut" or usage is None or usage.output:
        return
    hollow = context.protocol.answers.counts_empty_answers and context.emission.emitted == "empty"
    if _breaks_off(context) or hollow:
        yield Note(
            f"the stream says {context.finish.raw!r} with no output tokens counted although the answer breaks off: "
            f"{context.emission.text.rstrip()[-60:]!r}",
            (context.finish_at, f"{context.at} usage output {usage.output}"),
        )


def _breaks_off(context: RuleContext) -> bool:
    """True when a call was left open, or a longer text ends in the middle of a sentence."""
    emission, text = context.emission, context.emission.text.rstrip()
    if not emission.text and not emission.calls:
        return False
    if emission.calls:
        return any(not call.complete for call in emission.calls)
    return len(text) > _SHORT and bool(_WORD_END.search(text))


RULES = (
    truncated_mislabelled,
    truncated_text_mislabelled,
    length_truncated,
    length_truncated_call,
    context_full,
    content_filter,
    malformed_output,
    pause,
    server_limit,
    label_disagrees,
    fabricated_finish,
    finish_missing,
    finish_unknown,
)
