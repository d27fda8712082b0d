"""Answers that were cut: by the cap, under a word that hides it, or with an ending that was made up."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import is_json
from ...wire.printable import several
from ...wire.values import ToolCall
from ..repetition import repeated_end
from ..rule import Note, rule
from ..rule_context import RuleContext
from .finish import finished

_SHORT = 20
"""A text of at most this many characters may end without a full stop."""

_WORD_END = regex(r"[A-Za-z0-9,;(\[{\"'-]\Z")


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
        else f"the call of {name!r} is incomplete, although {finished(context)}: do not run it",
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
        f"the call of {last.name!r} was cut, {why}, but {finished(context)}",
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
        + f", but {finished(context)}",
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
    fabricated_finish,
)
