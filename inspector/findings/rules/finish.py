"""How the API finished an answer: caps, filters, labels that disagree with what was emitted."""

import re
from collections.abc import Iterator

from ...wire.json_value import parse_json
from ...wire.values import ToolCall
from ..finding import Note, rule
from ..rule_context import Case

_WORD_END = re.compile(r"[A-Za-z0-9,;(\[{\"'-]\Z")


def _spent(case: Case) -> str:
    usage, cap = case.reading.usage, case.request.max_output
    spent = f" after {usage.output} output tokens" if usage and usage.output is not None else ""
    if usage and usage.reasoning and usage.output and usage.reasoning >= 0.95 * usage.output:
        spent += ", all of them reasoning"
    return spent + (f" (the request allowed {cap})" if cap else "")


@rule(
    "api-length-truncated",
    "api",
    "warning",
    "P",
    says="The answer hit the cap on output tokens.",
    fix="Raise the cap, lower the reasoning effort, or cut the task into pieces.",
)
def length_truncated(case: Case) -> Iterator[Note]:
    if case.finish.label == "length" and not case.emission.calls:
        ping = (case.request.max_output or 100) <= 1
        yield Note(
            f"the answer was cut by the output cap{_spent(case)}",
            (f"{case.at} finish {case.finish.raw}",),
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
def length_truncated_call(case: Case) -> Iterator[Note]:
    calls = case.emission.calls
    if not calls or not case.succeeded:
        return
    partial = next((call for call in calls if not call.complete), None)
    capped = case.finish.label in ("length", "context_full")
    if not capped and (partial is None or case.finish.effective == "cut" or case.finish.label == "malformed"):
        return
    name = (partial or calls[-1]).name
    yield Note(
        f"the output cap was hit{_spent(case)} while the call of {name!r} was being written: do not run it",
        (f"{case.at} finish {case.finish.raw}", f"{case.at} call {(partial or calls[-1]).id or name}"),
    )


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERAL_CUT = re.compile(r"(?:\b(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)|[-.eE])\Z")


def _begun(call: ToolCall) -> str | None:
    """The arguments without their whole strings, when they are the beginning of a JSON text; else None."""
    raw = call.arguments_raw.strip()
    if call.arguments is not None or not raw.startswith(("{", "[")):
        return None
    rest = _STRING.sub("", raw)
    closed = rest.count("{") + rest.count("[") <= rest.count("}") + rest.count("]")
    return None if closed and '"' not in rest else rest


def _inside_a_token(rest: str) -> bool:
    """True when a string or a literal was being written as the text ended."""
    return '"' in rest or bool(_LITERAL_CUT.search(rest))


@rule(
    "api-truncated-call-mislabelled",
    "api",
    "error",
    "P",
    says="A call was cut by the output cap and the API's label does not say so.",
    fix="Treat it as truncated: never run it; report it to the server, whose label is wrong.",
    not_when="Fewer tokens came than were allowed, or no token was cut: then the model wrote no JSON.",
)
def truncated_mislabelled(case: Case) -> Iterator[Note]:
    if case.finish.label not in ("tool_calls", "complete", "stop_sequence", "unknown") or not case.succeeded:
        return
    if case.finish.effective == "cut":
        return
    usage, cap = case.reading.usage, case.request.max_output
    exact = usage is not None and cap is not None and usage.output == cap
    last = case.emission.calls[-1] if case.emission.calls else None
    rest = _begun(last) if last is not None else None
    if last is None or rest is None or _collided(last):
        return
    below = usage is not None and cap is not None and 0 < (usage.output or 0) < cap
    if not exact and (below or not _inside_a_token(rest)):
        return
    why = f"exactly the {cap} output tokens that were allowed" if exact else "and its arguments end in the middle"
    yield Note(
        f"the call of {last.name!r} was cut, {why}, but the API finished with {case.finish.raw!r}",
        (f"{case.at} finish {case.finish.raw}", f"{case.at} call {last.id or last.name}"),
        tier="P" if exact else "S",
    )


def _collided(call: ToolCall) -> bool:
    return bool(re.search(r"\}\s*\{", call.arguments_raw))


@rule(
    "api-context-full",
    "api",
    "error",
    "P",
    says="The conversation no longer fits into the model's window.",
    fix="Cap tool results, compact the history, or choose a model with a larger window.",
)
def context_full(case: Case) -> Iterator[Note]:
    said = case.complaint
    rejected = said is not None and "api-context-full" in said.ids
    if case.finish.label != "context_full" and not rejected:
        return
    usage = case.reading.usage
    tokens = f"; {usage.input} input tokens" if usage and usage.input is not None else ""
    parts = sorted(
        ((len(part.text), part.pointer) for message in case.request.messages for part in message.parts), reverse=True
    )
    biggest = ", ".join(f"{pointer} ({size:,} characters)" for size, pointer in parts[:3])
    quoted = f": {said.text}" if rejected and said else ""
    yield Note(
        f"the context window is full{tokens}{quoted}; the largest pieces are {biggest or 'unknown'}",
        (f"{case.at} finish {case.finish.raw}", *(f"{case.at} request {pointer}" for _, pointer in parts[:3])),
        because_of=case.has("client-huge-tool-result"),
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
def content_filter(case: Case) -> Iterator[Note]:
    said = case.complaint
    rejected = said is not None and "api-content-filter" in said.ids
    if case.finish.label != "content_filter" and not rejected:
        return
    side = "the prompt" if rejected or not case.emission.text else "the answer"
    detail = said.text if rejected and said else case.finish.detail
    yield Note(
        f"the API's filter stopped {side} ({case.finish.raw or 'error'}{': ' + detail if detail else ''})",
        (f"{case.at} finish {case.finish.raw}",),
    )


@rule(
    "api-malformed-output",
    "api",
    "error",
    "P",
    says="The API could not parse what the model emitted.",
    fix="Ask again once; simplify the schemas and offer fewer tools.",
)
def malformed_output(case: Case) -> Iterator[Note]:
    if case.finish.label != "malformed":
        return
    said = f"{case.finish.raw}: {case.finish.detail}" if case.finish.detail else str(case.finish.raw)
    none = case.finish.raw == "UNEXPECTED_TOOL_CALL" and not case.request.tools
    yield Note(
        f"the API could not parse what the model emitted ({said})"
        + ("; the request offers no tools, so a call could only be unexpected" if none else ""),
        (f"{case.at} finish {case.finish.raw}",),
        layer="client" if none else None,
    )


@rule(
    "api-pause",
    "api",
    "info",
    "P",
    says="The API paused the turn and wants the same answer sent back.",
    fix="Send the answer back unchanged, a bounded number of times.",
)
def pause(case: Case) -> Iterator[Note]:
    if case.finish.label == "pause":
        yield Note(
            f"the API paused the turn ({case.finish.raw}); send it back as it is",
            (f"{case.at} finish {case.finish.raw}",),
        )


@rule(
    "api-server-limit",
    "api",
    "warning",
    "P",
    says="A limit of the API's own loop ended the turn: calls, messages or budget.",
    fix="Raise the limit where the request sets it, or continue with a new request.",
)
def server_limit(case: Case) -> Iterator[Note]:
    if case.finish.label == "limit":
        detail = f": {case.finish.detail}" if case.finish.detail else ""
        yield Note(
            f"a limit of the API ended the turn ({case.finish.raw}{detail})", (f"{case.at} finish {case.finish.raw}",)
        )


_STATELESS_WORDS = frozenset({"gemini-generate", "openai-responses", "gemini-interactions", "ollama-chat"})
"""Protocols that have no word for tool calls: `completed` or `stop` beside a call is right there."""


@rule(
    "api-finish-label-disagrees",
    "api",
    "warning",
    "P",
    says="The API's finish word and what was emitted do not fit together.",
    fix="Let the loop go by the calls that are there, not by the word.",
    not_when="The API has no word for tool calls (Gemini, Responses, Ollama); a forced tool, where `stop` is known.",
)
def label_disagrees(case: Case) -> Iterator[Note]:
    finish, calls = case.finish, case.emission.calls
    if not case.succeeded or finish.effective == "cut":
        return
    evidence = (f"{case.at} finish {finish.raw}", *(f"{case.at} call {c.id or c.name}" for c in calls[:3]))
    if finish.label == "tool_calls" and not calls and not case.emission.server_calls:
        if case.request.tools:
            yield Note(f"the API finished with {finish.raw!r} and sent no tool call", evidence)
    elif finish.label in ("complete", "stop_sequence", "unknown") and case.emission.emitted == "calls":
        if case.reading.protocol in _STATELESS_WORDS:
            return
        choice = case.request.tool_choice
        forced = choice is not None and choice.mode in ("named", "required")
        yield Note(
            f"the API finished with {finish.raw!r} beside {len(calls)} whole tool call{'s' * (len(calls) > 1)}"
            + ("; the request forced the tool, where this is known" if forced else ""),
            evidence,
            severity="info" if forced else None,
        )
    elif (
        finish.label in ("content_filter", "refusal")
        and calls
        and all(parse_json(c.arguments_raw or "{}") for c in calls)
    ):
        yield Note(f"the API finished with {finish.raw!r} beside whole tool calls: do not run them", evidence)


@rule(
    "api-fabricated-finish",
    "api",
    "error",
    "S",
    says="The stream ends with a finish word that the provider cannot have sent: no usage, and a text or block cut off.",
    fix="Treat the answer as cut and ask for the whole turn again; a gateway made the ending up.",
)
def fabricated_finish(case: Case) -> Iterator[Note]:
    if not case.reading.streamed or case.finish.label not in ("complete", "tool_calls") or not case.succeeded:
        return
    if case.finish.effective == "cut":
        return
    usage = case.reading.usage
    zero = usage is not None and not usage.output and (case.emission.text or case.emission.calls)
    text = case.emission.text.rstrip()
    hanging = bool(text) and not case.emission.calls and len(text) > 20 and bool(_WORD_END.search(text))
    open_block = any("was not closed" in p or "never closed" in p for p in case.reading.problems)
    open_call = any(not call.complete for call in case.emission.calls)
    hollow = (
        case.reading.protocol == "openai-responses"
        and case.emission.emitted == "empty"
        and usage is not None
        and not usage.output
    )
    if (zero and (hanging or open_block or open_call)) or hollow:
        yield Note(
            f"the stream says {case.finish.raw!r} with no output tokens counted although the answer breaks off: "
            f"{text[-60:]!r}",
            (f"{case.at} finish {case.finish.raw}", f"{case.at} usage output {usage.output if usage else None}"),
        )


RULES = (
    truncated_mislabelled,
    length_truncated,
    length_truncated_call,
    context_full,
    content_filter,
    malformed_output,
    pause,
    server_limit,
    label_disagrees,
    fabricated_finish,
)
