"""Whether the answer honours what its request demands: how many answers, how long, with or without which parts.

The stop strings, the output format, the tool choice and the schemas of the tools have their own rules.
"""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import (
    Object,
    as_array,
    as_count,
    as_object,
    as_text,
    is_array,
    is_object,
    objects_in,
    value_at,
)
from ...wire.printable import several
from ...wire.protocols.traits import Demand
from ...wire.token_texts import from_byte_level, token_bytes
from ..model_words import THOUGHT_BEGINS
from ..rule import Note, rule
from ..rule_context import RuleContext

_ENDED = frozenset({"complete", "tool_calls", "stop_sequence", "length", "unknown"})
"""Finishes after which an answer has all that its request demands."""
_SLACK, _SHARE = 4, 0.1
"""Tokens, and a share of the cap: servers count the end of an answer differently. In recorded answers it was 2."""
_LEAST = 16
"""Tokens. Some APIs know no smaller cap, and gateways raise one to it."""
_THOUGHT = regex(rf"\s*(?:{THOUGHT_BEGINS})\s*\S")


def _answered(context: RuleContext) -> bool:
    """True for an answer that ended as answers end, and that nothing broke."""
    return context.succeeded and context.finish.effective in _ENDED and not context.has("api-malformed-stream")


def demands(context: RuleContext, kind: str) -> Iterator[tuple[Demand, object]]:
    """What the request demands of this kind, with the value of the field."""
    for demand in context.protocol.requests.demands:
        value = value_at(context.fields, demand.field)
        wanted = value in demand.when if demand.when else bool(value)
        if demand.kind == kind and demand.when and isinstance(value, bool) != isinstance(demand.when[0], bool):
            continue  # False equals 0 in Python, not in JSON.
        if demand.kind == kind and value is not None and wanted:
            yield demand, value


def _asked(context: RuleContext) -> int:
    """How many answers the request asks for: to each of its questions, where it holds several."""
    count = next((as_count(value) or 1 for _, value in demands(context, "answers")), 1)
    questions = (as_array(value) for _, value in demands(context, "questions"))
    # A list of numbers is one question in tokens.
    return count * next((max(sum(not isinstance(one, int) for one in some), 1) for some in questions), 1)


@rule(
    "api-answers-missing",
    "api",
    "warning",
    "P",
    says="The request asks for several answers and fewer came.",
    fix="Check whether the model and the gateway support several answers; else send the request several times.",
    not_when=("The answer was cut, filtered or refused",),
)
def answers_missing(context: RuleContext) -> Iterator[Note]:
    for demand, value in demands(context, "answers"):
        asked, came = _asked(context) if as_count(value) else 0, len(context.emission.choices) or 1
        if came < asked and _answered(context):
            yield Note(
                f"the request asks for {asked} answers and {came} came",
                (f"{context.at} request /{'/'.join(demand.field)}", f"{context.at} response"),
            )


@rule(
    "api-answers-extra",
    "api",
    "warning",
    "P",
    says="More answers came than the request asks for: clients read the first one, and each of them is paid for.",
    fix="Check which gateway or server makes several; until then read the first one, and compare the counted tokens.",
    not_when=("The request asks for as many", "The API counts no answers in its requests"),
)
def answers_extra(context: RuleContext) -> Iterator[Note]:
    asked, came = _asked(context), len(context.emission.choices)
    if came <= asked or not any(demand.kind == "answers" for demand in context.protocol.requests.demands):
        return
    yield Note(
        f"the request asks for {several(asked, 'answer')} and {came} came",
        (f"{context.at} request", f"{context.at} response"),
    )


@rule(
    "api-cap-ignored",
    "api",
    "warning",
    "P",
    says="The answer is longer than its request allowed.",
    fix="Check whether the server knows the field for the cap under this name, and whether a gateway drops it.",
    not_when=(
        "The answer has only a few tokens more",
        "The cap is smaller than what some APIs accept as one, and the answer keeps to that: then it is an info",
        "What goes over the cap is reasoning: some servers count that apart",
        "The API ran its own tools in the answer: then the count is of several answers",
    ),
)
def cap_ignored(context: RuleContext) -> Iterator[Note]:
    cap, usage = context.request.max_output, context.reading.usage
    if not cap or cap <= 1 or not _answered(context) or context.emission.server_calls:
        return
    allowed = cap * _asked(context)
    said = usage.output if usage is not None else None
    if said is None:
        tokens = len(context.emission.text.split())
        count, slack = f"has {tokens:,} words", allowed
    else:
        tokens = said - (usage.reasoning or 0 if usage is not None else 0)
        count, slack = f"has {said:,} output tokens", _SLACK + int(_SHARE * allowed)
    if tokens > allowed + slack:
        yield Note(
            f"the request allows {cap:,} output tokens"
            + (f" for each of {answers} answers" if (answers := _asked(context)) > 1 else "")
            + f", and the answer {count}",
            (f"{context.at} request", f"{context.at} usage output {said}" if said else f"{context.at} response"),
            severity="info" if said is not None and tokens <= _LEAST + _SLACK else None,
        )


@rule(
    "api-logprobs-missing",
    "api",
    "warning",
    "P",
    says="The request asks for the probabilities of the tokens and the answer has none, or those of another text.",
    fix="Check whether the model and the gateway support them; do not score the answer by those of another text.",
    not_when=(
        "The answer holds no text",
        "The answer was cut, filtered or refused",
        "The tokens hold more than the text: the end of a thought, or a stop string",
    ),
)
def logprobs_missing(context: RuleContext) -> Iterator[Note]:
    response = context.exchange.response
    for demand, _ in demands(context, "logprobs"):
        if response is None or not _answered(context) or not context.emission.text.strip():
            return
        if not any(re.search(rb'"%b"\s*:\s*[\[{\d-]' % key.encode(), response.body) for key in demand.shown):
            yield Note(
                "the request asks for logprobs and the answer has none",
                (f"{context.at} request /{'/'.join(demand.field)}", f"{context.at} response"),
            )
            return


@rule(
    "api-reasoning-unwanted",
    "api",
    "warning",
    "P",
    says="The request turns reasoning off and the answer holds reasoning, which is paid for.",
    fix="Check whether the model can answer without reasoning and under which name the server knows the switch.",
    not_when=("The reasoning is empty",),
)
def reasoning_unwanted(context: RuleContext) -> Iterator[Note]:
    usage, emission = context.reading.usage, context.emission
    for demand, value in demands(context, "no_reasoning"):
        spent = usage.reasoning if usage is not None and usage.reasoning else 0
        thought = emission.reasoning.strip() or (emission.text if _THOUGHT.match(emission.text) else "")
        if not context.succeeded or not (spent or thought):
            return
        what = f": {cut(thought.strip(), 60)!r}" if thought else f" ({several(spent, 'token')} of it)"
        yield Note(
            f"the request turns reasoning off ({demand.field[-1]}: {_json(value)}) and the answer holds some{what}",
            (f"{context.at} request /{'/'.join(demand.field)}", f"{context.at} response"),
        )
        return


@logprobs_missing.also("ended")
def logprobs_of_another_text(context: RuleContext) -> Iterator[Note]:
    text = context.emission.text.strip()
    if not text or not _answered(context) or len(context.emission.choices) > 1:
        return
    spoken = token_bytes(context.exchange.bodies)
    written = text.encode("utf-8", "replace")
    if spoken is not None and written not in spoken and written not in from_byte_level(spoken):
        shown = spoken.decode("utf-8", "replace").strip()
        yield Note(
            f"the logprobs are of other tokens than the text: {cut(shown, 60)!r} and not {cut(text, 60)!r}",
            (f"{context.at} response",),
        )


def _json(value: object) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


@rule(
    "api-parameter-changed",
    "api",
    "warning",
    "P",
    says="The answer repeats a parameter of its request with another value: something on the way changed or dropped it.",
    fix="Check the gateway between the client and the model: the model got other settings than the client sent.",
    not_when=("The answer repeats no parameter", "The two values are the same number"),
)
def parameter_changed(context: RuleContext) -> Iterator[Note]:
    if not _answered(context):
        return
    answer = _echo(context)
    for demand, value in demands(context, "echo"):
        *way, name = demand.field
        holder = as_object(value_at(answer, way))
        back = holder.get(name)
        if name not in holder or _is_same(value, back) or (back is None and not _always(value)):
            continue
        place = "/".join(demand.field)
        yield Note(
            f"the request says {'.'.join(demand.field)} {_shown(value)} and the answer repeats it as {_shown(back)}",
            (f"{context.at} request /{place}", f"{context.at} response /{place}"),
            key=place,
        )
    lost = _lost_tools(context.fields.get("tools"), answer.get("tools"))
    if lost:
        which = "none" if not answer["tools"] else f"no {lost[0]!r}"
        yield Note(
            f"the request offers {several(len(as_array(context.fields['tools'])), 'tool')} and the answer repeats {which}: "
            f"the model did not get {'them' if len(lost) > 1 else 'it'}",
            (f"{context.at} request /tools", f"{context.at} response /tools"),
            key="tools",
        )


def _lost_tools(offered: object, back: object) -> list[str]:
    """The tools, by their name or type, that the answer leaves out of the list that it repeats."""
    if not is_array(back):
        return []
    kept = {_name_of(tool) for tool in objects_in(back)}
    return [name for tool in objects_in(offered) if (name := _name_of(tool)) not in kept]


def _name_of(tool: Object) -> str:
    return as_text(tool.get("name")) or as_text(tool.get("server_label")) or as_text(tool.get("type")) or ""


def _is_same(asked: object, back: object) -> bool:
    """True for the same value, and for a word or an object in whose place the API says what it chose."""
    if asked in ("auto", "default") or back == asked:
        return True
    return is_object(asked) and is_object(back) and back.items() >= asked.items()


def _always(value: object) -> bool:
    """True for a value whose loss is no matter of form: an object or an id, not a number."""
    return is_object(value) or isinstance(value, str)


def _shown(value: object) -> str:
    return repr(value)[:60] if is_object(value) or is_array(value) or isinstance(value, str) else _json(value)


def _echo(context: RuleContext) -> Object:
    """The answer's own fields: of the body, or of the event that completes the stream."""
    if context.exchange.framing is None:
        return context.exchange.answer_fields
    bodies = (as_object(event.value) for event in reversed(context.exchange.events))
    return next((as_object(body["response"]) for body in bodies if "response" in body), as_object(None))


RULES = (
    answers_missing,
    answers_extra,
    cap_ignored,
    logprobs_missing,
    logprobs_of_another_text,
    reasoning_unwanted,
    parameter_changed,
)
