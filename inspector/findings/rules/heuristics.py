"""Heuristics: patterns of words and thresholds. Off unless asked for, and never above `warning`."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import around, cut, listed
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning
from ...wire.json_value import is_json
from ..model_words import THOUGHT_BEGINS, THOUGHT_ENDS
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results

_REFUSALS = regex(
    r"\s*(?:i(?:'|’)?m sorry|i am sorry|sorry|i can(?:'|’)?t|i cannot|i(?:'|’)m (?:not able|unable)|i am (?:not able|unable)|i won(?:'|’)t)"
    r".{0,80}(?:help|assist|do that|comply|provide|support|fulfil)",
    re.IGNORECASE | re.DOTALL,
)
_MENTIONS_FAILURE = regex(
    r"error|fail|unable|could ?n[o']t|cannot|can't|sorry|problem|issue|unfortunately|not (?:found|available|possible)",
    re.IGNORECASE,
)
_PROMISE = regex(
    r"(?:^|[.!?:]\s+|\n)(?:now,? )?(?:let me(?! know\b)|i(?:'|’)ll|i will|i am going to|i(?:'|’)m going to|next,? i)"
    r"\b(?! (?:not|never)\b)[^.!?\n]{3,160}[.:…]?\s*$",
    re.IGNORECASE,
)
_THINK = regex("|".join((THOUGHT_BEGINS, THOUGHT_ENDS)), re.IGNORECASE)
_CODE = regex(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)
_OPENED = regex(THOUGHT_BEGINS, re.IGNORECASE)
_CLOSED = regex(THOUGHT_ENDS, re.IGNORECASE)
_CHANNELS = regex(r"\s*analysis(?=[A-Z\s]).{0,20000}?assistant(?:final|commentary)", re.DOTALL)
"""What is left of gpt-oss' channels when their tokens are removed."""


@rule(
    "model-ignored-tool-error",
    "model",
    "warning",
    "H",
    says="The run ended right after a failed tool, and the answer does not mention the failure.",
    fix="Ask the model in the prompt to report failures; return structured errors.",
)
def ignored_error(context: RuleContext) -> Iterator[Note]:
    failed = [part for part, result in new_results(context) if result.is_error]
    done = context.emission.emitted == "text" and context.finish.label == "complete"
    if failed and done and not _MENTIONS_FAILURE.search(context.emission.text):
        yield Note(
            "the answer ends the run right after a failed tool and does not mention it",
            (f"{context.at} request {failed[0].pointer}", f"{context.at} response"),
        )


@rule(
    "model-refused-in-text",
    "model",
    "info",
    "H",
    says="The answer begins like a refusal although the API calls it complete.",
    fix="Read the answer; no field says whether it is a refusal.",
)
def refused_in_text(context: RuleContext) -> Iterator[Note]:
    if (
        context.emission.emitted == "text"
        and context.finish.label == "complete"
        and _REFUSALS.match(context.emission.text)
    ):
        yield Note(f"the answer begins like a refusal: {cut(context.emission.text, 80)!r}", (f"{context.at} response",))


@rule(
    "cut-by-stop-string",
    "client",
    "warning",
    "H",
    says="A stop string of the request seems to have ended the answer inside JSON or code.",
    fix="Do not send stop strings in requests that offer tools or ask for code.",
    aliases=("model-truncated-by-own-stop",),
)
def own_stop(context: RuleContext) -> Iterator[Note]:
    if not context.request.stop or context.finish.label not in ("complete", "stop_sequence"):
        return
    text = context.emission.calls[-1].arguments_raw if context.emission.calls else context.emission.text
    inside = text.count("```") % 2 == 1 or (text.lstrip()[:1] in "{[" and text.count("{") > text.count("}"))
    if text and inside:
        yield Note(
            f"the answer ends inside JSON or code and the request asks to stop at {listed([*map(repr, context.request.stop)], 3)}",
            (f"{context.at} request stop", f"{context.at} response"),
        )


@rule(
    "reasoning-in-text",
    "api",
    "info",
    "H",
    says="The text of the answer contains the model's reasoning: it begins with a thought in tags, whole or without an end, has "
    "tags elsewhere (a hint), or has the end of a thought without its beginning.",
    fix="Turn the server's reasoning parser on; where there is none, as with Nova, take the tags out in the client.",
    not_when=(
        "The tag is in code: then it is an info",
        "The request talks about the tag: then it is an info",
        "The answer begins with a whole thought in tags, as models write it: then it is an info",
    ),
    aliases=("model-reasoning-leak",),
)
def reasoning_leak(context: RuleContext) -> Iterator[Note]:
    if (tag := _THINK.search(context.emission.text)) is not None:
        near = around(context.emission.text, tag.start() - 30, tag.end() + 40)
        yield Note(
            f"the text of the answer contains the thinking tag {tag[0]!r}: {near.strip()!r}",
            (f"{context.at} response",),
            key="think",
        )


def without_reasoning(text: str) -> str:
    """A text without the thought at its front that a server left there."""
    channel = _CHANNELS.match(text)
    ends = [found.end() for found in _CLOSED.finditer(text)]
    return text[ends[-1] if ends else channel.end() if channel else 0 :].strip()


def _given(context: RuleContext) -> Iterator[str]:
    """What the client says in the request: the system prompt, messages of the user and results."""
    yield from (part.text for part in context.request.instructions)
    for message in context.request.messages:
        if message.role != "assistant":
            yield from (part.result.text if part.result else part.text for part in message.parts)


@reasoning_leak.also("ended", tier="S")
def unopened(context: RuleContext) -> Iterator[Note]:
    """Reasoning whose beginning the server took away, or whose end never came: a tag or the name of its channel."""
    text = _CODE.sub("", context.emission.text)
    if _OPENED.match(text.lstrip()) and not _CLOSED.search(text) and context.finish.label == "complete":
        what = f"the text of the answer begins with a thought that does not end: {cut(context.emission.text.strip(), 60)!r}"
        yield Note(what, (f"{context.at} response",), key="think")
        return
    closed = _CLOSED.search(text)
    channel = _CHANNELS.match(text)
    if not (closed or channel) or any(_CLOSED.search(said) for said in _given(context)):
        return
    if closed is not None and _OPENED.search(text) is None:
        what = f"the text of the answer has {closed[0]!r} and no beginning of a thought: {cut(context.emission.text.strip(), 60)!r}"
    elif channel is not None:
        what = f"the text of the answer holds the channels of the model as words: {channel[0][-40:]!r}"
    elif closed is not None and _OPENED.match(text.lstrip()):
        hides_json = context.request.output_format is not None and is_json(without_reasoning(context.emission.text))
        yield Note(
            f"the text of the answer begins with a thought in tags: {cut(context.emission.text.strip(), 60)!r}",
            (f"{context.at} response",),
            severity="warning" if hides_json else None,
            key="think",
        )
        return
    else:
        return
    yield Note(what, (f"{context.at} response",), severity="warning", key="think")


@rule(
    "model-promised-no-action",
    "model",
    "info",
    "H",
    says="The answer announces an action and calls nothing. If it names the tool, it is a warning; if not, it is a hint.",
    fix="First check whether the client dropped the call. If not, ask the model to act.",
    not_when=(
        "No tools are offered, or the answer calls one",
        "More follows the announcement, or it says what the model will not do",
        "The announcement does not name a tool: then it is an info, and a hint",
    ),
)
def promised(context: RuleContext) -> Iterator[Note]:
    if not context.request.tools or context.emission.calls or context.finish.label != "complete":
        return
    if context.has("model-promised-no-action"):
        return  # By the name of the tool: `promised_call` says so.
    if context.emission.emitted == "text" and (found := _PROMISE.search(context.emission.text[-400:])):
        yield Note(
            f"the answer announces an action and calls nothing: {found[0].strip(' .!?:\n')[:100]!r}",
            (f"{context.at} response",),
        )


@promised.also("ended", tier="S")
def promised_call(context: RuleContext) -> Iterator[Note]:
    """The announcement of a call by the name of the tool: then it is not a figure of speech."""
    if context.emission.emitted != "text" or context.emission.calls or context.finish.label != "complete":
        return
    found = _PROMISE.search(context.emission.text[-400:]) if context.request.tools else None
    said = found[0].casefold() if found is not None else ""
    named = next((name for name in context.tools if said and _is_announced(said, name)), None)
    if named is not None:
        yield Note(
            f"the answer announces a call of {named!r} and makes none: {said.strip(' .!?:\n')[:100]!r}",
            (f"{context.at} response", f"{context.at} request {context.tools[named].pointer}"),
            severity="warning",
        )


def _is_announced(said: str, name: str) -> bool:
    """True for the name of a tool, or all of its words where it has several."""
    if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", said) and ("_" in name or "-" in name):
        return True
    words = [word for word in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", name) if len(word) > 2]
    return len(words) > 1 and all(re.search(rf"\b{re.escape(word.casefold())}", said) for word in words)


@rule(
    "client-opaque-tool-error",
    "client",
    "warning",
    "H",
    says="An error result says neither which field nor why, and the same call came again.",
    fix="Name the tool, the field and the reason in every error result.",
)
def opaque_error(context: RuleContext) -> Iterator[Note]:
    failed = [(part, result) for part, result in new_results(context) if result.is_error]
    if not failed or not context.emission.calls or not context.thread.steps:
        return
    now = {call_meaning(call) for call in context.emission.calls}
    for part, result in failed:
        if len(result.text.strip()) < 60 and now & set(context.thread.steps[-1].calls):
            yield Note(
                f"the error {result.text.strip()!r} names no field and no reason, and the same call came again",
                (f"{context.at} request {part.pointer}", f"{context.at} response"),
            )


LEAKS = (unopened, reasoning_leak)
RULES = (opaque_error, ignored_error, refused_in_text, own_stop, promised_call, promised)
