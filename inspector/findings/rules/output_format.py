"""Answers that are not the JSON which the request asked for, or that do not stop where it asked."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen

from ...wire.code_fence import unfenced
from ...wire.json_value import is_json, parse_json
from ...wire.values import Part
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..schema_check import described, violations
from .heuristics import without_reasoning
from .template_tokens import without_tokens

_DONE = frozenset({"complete", "stop_sequence", "unknown"})
_BROKEN = frozenset({"cut", "error", "cancelled"})


@frozen
class _Answer:
    """A complete answer that should be JSON."""

    text: str
    json: str | None
    """The JSON in it; None when there is none."""

    @property
    def fenced(self) -> bool:
        """Whether all of it is JSON in a code fence."""
        found = unfenced(self.text)
        return found is not None and found[0] in ("", "json") and is_json(found[1].strip())


def _answers(context: RuleContext) -> Iterator[_Answer]:
    """The answers that ended as they should and hold text alone, one for each choice."""
    effective, emission = context.finish.effective, context.emission
    if not emission.choices and effective in _DONE and emission.emitted == "text":
        yield from _answer(context, emission.content)
    for choice in emission.choices if effective not in _BROKEN else ():
        if choice.finish in _DONE and not choice.refusal and not choice.calls:
            yield from _answer(context, choice.content)


def _answer(context: RuleContext, content: tuple[Part, ...]) -> Iterator[_Answer]:
    texts = [part.text for part in content if part.kind == "text"]
    whole = "".join(texts)
    if not whole.strip():
        return
    # Remarks and results of the API's tools are separate texts; a request may hold the beginning of the answer.
    spelled = (whole, texts[-1], _begun(context) + whole)
    yield _Answer(whole, next((text for text in spelled if is_json(text.strip())), None))


def _begun(context: RuleContext) -> str:
    """The beginning of the answer that the request ends with; empty for none."""
    last = (message for message in context.request.messages[-1:] if message.role == "assistant")
    return "".join(part.text for message in last for part in message.parts)


NOT_ENFORCED = "api-format-not-enforced"


@rule(
    NOT_ENFORCED,
    "api",
    "error",
    "S",
    says="The request has the API enforce JSON, a schema, or a strict tool, and the API let through what breaks it: on the "
    "way, the format was dropped or is not supported.",
    fix="Check whether the server supports the format for this model, and whether a gateway drops it; validate the answer.",
    not_when=(
        "The request leaves the schema to the model (`strict` is false or not set)",
        "The answer was cut, filtered or refused, or a stop string may have ended it",
        "Another finding says what is wrong with the text, as a thought or tokens in front of the JSON",
        "The JSON is in a code fence, or only the type or the `format` of a value is wrong: then it is a warning",
    ),
)
def not_enforced(context: RuleContext) -> Iterator[Note]:
    wanted = context.request.output_format
    if wanted is None or not wanted.enforced:
        return
    for answer in _answers(context):
        if answer.json is None:
            if (context.request.stop and not answer.fenced) or _text_causes(context, answer):
                continue
            what = f"its text is not JSON: {cut(answer.text.strip(), 120)!r}"
            mild = answer.fenced
        else:
            broken = violations(wanted.schema, parse_json(answer.json))
            what, mild = f"its text breaks the schema {described(broken)}", all(one.coercible for one in broken)
            if not broken:
                continue
        yield Note(
            f"the request has the API enforce the format of the answer, and {what}",
            (f"{context.at} request {wanted.pointer}", f"{context.at} response"),
            severity="warning" if mild else None,
        )


def _text_causes(context: RuleContext, answer: _Answer) -> tuple[str, ...]:
    """What another finding says of a text that is not JSON, if the rest of it is."""
    twice = context.has("api-text-twice", "api-truncated-text-mislabelled")
    leaked = context.has("template-tokens-in-text") if is_json(without_tokens(answer.text).strip()) else ()
    thought = context.has("reasoning-in-text") if is_json(without_reasoning(answer.text)) else ()
    return (*twice, *leaked, *thought)


@rule(
    "model-answer-not-json",
    "model",
    "error",
    "P",
    says="The request asks for JSON and the text of the answer is not JSON.",
    fix="Check that the server supports the format; send the answer back and ask for JSON alone.",
    not_when=(
        "The answer was cut, filtered or refused",
        "The answer holds calls",
        "A stop string of the request may have ended it",
        "The JSON is in a code fence: then it is a warning",
    ),
)
def not_json(context: RuleContext) -> Iterator[Note]:
    wanted = context.request.output_format
    if wanted is None:
        return
    for answer in _answers(context):
        if answer.json is not None:
            continue
        inside = answer.fenced
        if context.request.stop and not inside:
            continue
        yield Note(
            "the request asks for JSON and the answer "
            + ("puts it into a code fence" if inside else f"is not JSON: {cut(answer.text.strip(), 120)!r}"),
            (f"{context.at} response", f"{context.at} request {wanted.pointer}"),
            severity="warning" if inside else None,
            because_of=_text_causes(context, answer) or context.has(NOT_ENFORCED),
        )


@rule(
    "model-answer-breaks-schema",
    "model",
    "error",
    "P",
    says="The answer is JSON and breaks the schema that the request asks for.",
    fix="Set the schema to strict if the API has that; otherwise validate the answer and ask again with the error.",
    not_when=(
        "The schema itself cannot be compiled",
        "A number written as a string, or the other way round: then it is a warning",
        "A text that has not the `format` of the schema: then it is a warning",
    ),
)
def breaks_schema(context: RuleContext) -> Iterator[Note]:
    wanted = context.request.output_format
    if wanted is None:
        return
    for answer in _answers(context):
        broken = violations(wanted.schema, parse_json(answer.json)) if answer.json is not None else []
        if broken:
            yield Note(
                f"the answer breaks the schema that the request asks for {described(broken)}",
                (f"{context.at} response", f"{context.at} request {wanted.pointer}"),
                severity="warning" if all(one.coercible for one in broken) else None,
                because_of=context.has(NOT_ENFORCED),
            )


@rule(
    "api-stop-ignored",
    "api",
    "warning",
    "P",
    says="The answer continues after a stop string of its request.",
    fix="Check whether the server supports stop strings and under which name; until then, cut the text at the string.",
    not_when=("The string ends the text", "The answer was cut or failed"),
)
def stop_ignored(context: RuleContext) -> Iterator[Note]:
    if not context.succeeded or context.finish.effective == "cut":
        return
    for stop in (one for one in context.request.stop if one.strip()):
        _, found, rest = context.emission.text.partition(stop)
        if found and rest.strip():
            yield Note(
                f"the request stops at {stop!r}, and the answer continues after it: {cut(rest.strip(), 60)!r}",
                (f"{context.at} request stop", f"{context.at} response"),
            )
            return


RULES = (not_enforced, not_json, breaks_schema, stop_ignored)
