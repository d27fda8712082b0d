"""Whether the system prompt of a thread stays in its requests."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import without_space
from ...analysis.history_diff import lost_space
from ...analysis.turn import Turn
from ...wire.values import Part
from ..finding import became
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..transformations import transformation
from .user_text import ends_in_a_word, has_no_beginning, is_cut_off


@rule(
    "client-system-prompt-lost",
    "client",
    "warning",
    "S",
    says="The client answers the model's calls without the system prompt that it sent before, or sends only a part of it, "
    "damages it, sends another one in its place, or sends it as a message of the user.",
    fix="Send the system prompt with every request; APIs do not keep it.",
    not_when=(
        "The API holds the conversation with its instructions",
        "The prompt, or its first line, is now a part of a message",
        "The request brings no result and offers other tools: another agent may continue",
        "Another prompt is in its place, which shares words with it, or is sent to another model or with other tools",
    ),
)
def system_lost(context: RuleContext) -> Iterator[Note]:
    before, request = context.previous, context.request
    if before is None or context.turn.edge.kind != "continuation":
        return
    if request.continues is not None and context.protocol.requests.keeps_instructions:
        return
    # With the history, the API holds messages, but not always the field for instructions.
    asked = before.reading.request
    was = asked.instructions if request.continues is None else asked.system
    if request.instructions or not was or not (_answers_calls(context) or _same_tools(context, before)):
        return
    said = "\n".join(part.text for part in was)
    if not said.strip():
        return
    if (moved := _as_users(said, context)) is not None:
        yield Note(
            f"the system prompt of #{before.round_trip.index} comes as a message of the user: {cut(said.strip(), 60)!r}",
            (f"#{before.round_trip.index} request {was[0].pointer}", f"{context.at} request {moved.pointer}"),
        )
        return
    if _is_still_there(said, context):
        return
    yield Note(
        f"the request continues #{before.round_trip.index} without its system prompt of "
        f"{len(said):,} characters: {cut(said.strip(), 60)!r}",
        (f"#{before.round_trip.index} request {was[0].pointer}", f"{context.at} request"),
    )


def _answers_calls(context: RuleContext) -> bool:
    """True when the request brings new results, so that it is another step of the same work."""
    return context.echo is not None and any(unit.kind == "result" for unit in context.echo.new)


def _same_tools(context: RuleContext, before: Turn) -> bool:
    """True when the request offers the tools of the turn before, and its history is whole: the same agent continues."""
    echo, tools = context.echo, context.request.tools
    whole = echo is not None and echo.state in ("verbatim", "respelled")
    return (
        whole and bool(tools) and [tool.name for tool in tools] == [tool.name for tool in before.reading.request.tools]
    )


def _as_users(said: str, context: RuleContext) -> Part | None:
    """The text of the user that is the whole prompt and nothing else, and that the user had not said before.

    Another model may know no system prompt.
    """
    prompt = without_space(said)
    before = context.previous
    if before is None or before.reading.request.model != context.request.model:
        return None
    earlier = before.reading.request.messages
    if any(
        part.text and without_space(part.text) == prompt for one in earlier if one.role == "user" for part in one.parts
    ):
        return None
    texts = (part for one in context.request.messages if one.role == "user" for part in one.parts)
    return next((part for part in texts if part.kind == "text" and without_space(part.text) == prompt), None)


def _is_still_there(said: str, context: RuleContext) -> bool:
    """True when a message holds the prompt, whole or by its first line."""
    first = next(line.strip() for line in said.splitlines() if line.strip())
    texts = (part.text for message in context.request.messages for part in message.parts)
    return any(first in text for text in texts)


@system_lost.also("ended")
def system_cut(context: RuleContext) -> Iterator[Note]:
    """A system prompt of which a part is left that begins or ends inside a sentence, or that was damaged."""
    before, request = context.previous, context.request
    if before is None or context.turn.edge.kind != "continuation":
        return
    asked = before.reading.request
    if request.continues is None:
        was, now = _joined(asked.instructions), _joined(request.instructions)
    else:
        was, now = _joined(asked.system), _joined(request.system)  # the messages in front are held by the API
    if (what := _damaged(was, now)) is not None:
        yield Note(
            f"the system prompt of #{before.round_trip.index} {what}",
            (f"#{before.round_trip.index} request system", f"{context.at} request system"),
            key="cut",
        )


@system_lost.also("ended")
def system_replaced(context: RuleContext) -> Iterator[Note]:
    """Another system prompt between a call and its result, for the same model with the same tools."""
    before, request = context.previous, context.request
    if before is None or context.turn.edge.kind != "continuation" or request.continues is not None:
        return
    asked = before.reading.request
    if asked.instructions == request.instructions or asked.model != request.model or not _answers_calls(context):
        return
    was, now = _joined(asked.instructions), _joined(request.instructions)
    if not _is_another(was, now) or not _same_tools(context, before) or _is_still_there(was, context):
        return
    yield Note(
        f"another system prompt is in the place of that of #{before.round_trip.index}, between a call and its result: "
        f"{became(was.strip()[:60], now.strip()[:60])}",
        (f"#{before.round_trip.index} request system", f"{context.at} request system"),
        key="replaced",
    )


def _is_another(was: str, now: str) -> bool:
    """True for two prompts of some length that have little in common: no line, and few of their words."""
    if min(len(was.strip()), len(now.strip())) < _PROMPT or not {*_lines(was)}.isdisjoint(_lines(now)):
        return False
    old, new = ({*_WORD.findall(text.casefold())} for text in (was, now))
    return len(old & new) <= min(len(old), len(new)) * _SHARED


_PROMPT = 40
"""Characters. A shorter prompt says too little to show whether another one is meant as its new version."""
_SHARED = 0.34
"""Share of the words of the shorter prompt: two prompts about different things share `tools`, `answer` and the like."""
_WORD = regex(r"\w{4,}")


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if len(line.strip()) >= _CUT)


def _damaged(was: str, now: str) -> str | None:
    """What a program did to a system prompt by mistake; None for one that was changed on purpose, or not at all."""
    if was == now:
        return None
    missing = f"{len(was) - len(now):,} of its {len(was):,} characters are missing"
    if is_cut_off(was, now, least=_CUT) or ends_in_a_word(was, now):
        return f"is cut off inside a sentence: {missing}, and it ends with {now.strip()[-40:]!r}"
    if has_no_beginning(was, now):
        return f"has lost its beginning: {missing}, and it begins with {cut(now.strip(), 40)!r}"
    if (how := transformation(was, now)) is not None:
        return f"is now {how}: {cut(now.strip(), 60)!r}"
    if without_space(was) == without_space(now) and (lost := lost_space(was, now)) is not None:
        return f"lost its {lost}: {cut(now.strip(), 60)!r}"
    return None


_CUT = 12
"""Characters. People change a prompt between runs; what goes away within one, inside a sentence, was cut off."""


def _joined(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts)


RULES = (system_lost, system_cut, system_replaced)
