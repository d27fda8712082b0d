"""How the API finished an answer: windows, filters, and words that disagree with what was emitted."""

from collections.abc import Iterator

from ...wire.json_value import parse_json
from ...wire.printable import several
from ..refusals import filtered_side
from ..rule import Note, rule
from ..rule_context import RuleContext
from .errors import error_status, why_refused


def finished(context: RuleContext) -> str:
    """The finish word of the API, as the beginning of a sentence."""
    raw = context.finish.raw
    return "the API sent no finish reason" if raw is None else f"the API finished with {raw!r}"


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
        yield Note(f"{finished(context)} and the request has no stop strings", (context.finish_at,))
        return
    evidence = (context.finish_at, *(f"{context.at} call {c.id or c.name}" for c in calls[:3]))
    if finish.label == "tool_calls" and not calls and not context.emission.server_calls:
        yield Note(f"{finished(context)} and sent no tool call", evidence)
    elif finish.label in ("complete", "stop_sequence", "unknown") and context.emission.emitted == "calls":
        if not context.protocol.answers.has_word_for_calls:
            return
        choice = context.request.tool_choice
        forced = choice is not None and choice.mode in ("named", "required")
        yield Note(
            f"{finished(context)} beside {several(len(calls), 'complete tool call')}"
            + ("; that is known behaviour when the request forces the tool" if forced else ""),
            evidence,
            severity="info" if forced else None,
        )
    elif (
        finish.label in ("content_filter", "refusal")
        and calls
        and all(parse_json(c.arguments_raw or "{}") for c in calls)
    ):
        yield Note(f"{finished(context)} beside complete tool calls: do not run them", evidence)


RULES = (
    context_full,
    content_filter,
    malformed_output,
    pause,
    server_limit,
    label_disagrees,
    finish_missing,
    finish_unknown,
)
