"""Requests that continue no earlier turn although the same agent had begun one: what they leave behind or write down.

An agent is known by its system prompt and its tools. A request that begins a new thread may do so on purpose, so only
what has no other explanation is more than an info.
"""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning, text_meaning
from ...wire.json_value import is_array, is_object, parse_json
from ...wire.values import ToolCall
from ..agents import agent_of
from ..model_words import is_user_text, surely_continues
from ..rule import Note, rule
from ..rule_context import RuleContext
from .history import truncated
from .loop import NUDGE, not_dispatched

_OWN_THREAD = frozenset({"main", "side_call", "fork", "rebuilt", "compaction"})
"""How a request begins, or is written again, that is not a subagent's."""
_SPOKEN = regex(
    r"^[ \t]*+[*#\[-]*+[ \t]*+(human|user|ai|assistant|model|bot|tool|system|role|content|text)\b[^\w\n]{0,3}[:>]",
    re.IGNORECASE | re.MULTILINE,
)
"""How a transcript names who speaks, or YAML the fields of a message."""
_AI = frozenset({"ai", "assistant", "model", "bot", "content", "text"})
_LEAST_JSON = 2
_SHORT_ID = 6


@rule(
    "client-history-as-text",
    "client",
    "warning",
    "S",
    says="The client sends its history as text in one message of the user; the turns before were messages. The model takes it for "
    "something that the user wrote.",
    fix="Pass the list of messages itself to the API; look for what turns it into a string.",
    not_when=(
        "Another system prompt or other tools: a judge or a summary gets the conversation as text",
        "The text has no answer or call of the run",
        "It begins a new conversation with what came before: a client may have compacted its history, so it is an info",
    ),
)
def history_as_text(context: RuleContext) -> Iterator[Note]:
    agent = agent_of(context.request)
    if agent is None or not context.run.agents.get(agent) or context.turn.edge.kind not in _OWN_THREAD:
        return
    if context.request.continues is not None or any(
        message.role == "assistant" for message in context.request.messages
    ):
        return
    for message in context.request.messages:
        for part in message.parts if message.role == "user" else ():
            found = _form_of(part.text, context) if part.kind == "text" else None
            if found is not None:
                form, index = found
                yield Note(
                    f"the history is sent as {form} in a message of the user, with what #{index} answered",
                    (f"#{index} response", f"{context.at} request {part.pointer}"),
                    severity="info" if context.turn.edge.kind == "compaction" else None,
                    key="as text",
                )
                return


def _form_of(text: str, context: RuleContext) -> tuple[str, int] | None:
    """How a text holds the conversation, and the round trip of an answer that it holds; None for any other text."""
    value = parse_json(text) if text.lstrip()[:1] in ("[", "{") else None
    if value is not None and _is_history(value):
        for words in _strings(value):
            index = context.run.said.get(text_meaning("assistant", words))
            if index is None and len(words) >= _SHORT_ID:
                index = context.run.called_in.get(words)
            if index is not None:
                return "JSON", index
    names = list(_SPOKEN.finditer(text))
    for place, found in enumerate(names):
        if found[1].lower() in _AI and len(names) > 1:
            end = names[place + 1].start() if place + 1 < len(names) else len(text)
            words = text[found.end() : end]
            index = context.run.said.get(text_meaning("assistant", words))
            index = _call_in(words, context) if index is None else index
            if index is not None:
                return "a transcript", index
    return None


def _call_in(words: str, context: RuleContext) -> int | None:
    """The round trip of a call whose arguments, as JSON, end what a transcript lets the model say."""
    start, end = words.find("{"), words.rfind("}")
    arguments = parse_json(words[start : end + 1]) if 0 <= start < end else None
    if not is_object(arguments) or not arguments:
        return None
    meanings = (call_meaning(ToolCall(name, None, arguments, words)) for name in context.tools)
    return next((index for one in meanings if (index := context.run.said.get(one)) is not None), None)


def _is_history(value: object) -> bool:
    """True for a list of messages or items, or an object that holds one."""
    if is_object(value):
        return any(is_array(inner) and _is_history(inner) for inner in value.values())
    if not is_array(value) or len(value) < _LEAST_JSON:
        return False
    return all(is_object(one) and ("role" in one or "type" in one) for one in value)


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif is_object(one):
            waiting.extend(one.values())
        elif is_array(one):
            waiting.extend(one)


@truncated.also("ended", tier="S")
def nothing_to_continue(context: RuleContext) -> Iterator[Note]:
    """A request that only asks to go on, in a conversation that has nothing to go on from."""
    if context.before is not None or context.request.continues is not None:
        return
    messages = [message for message in context.request.messages if message.role != "system"]
    said = [part.text.strip() for message in messages for part in message.parts]
    if any(message.role != "user" for message in messages) or len(said) != 1:
        return
    known = agent_of(context.request) in context.run.agents
    if known and NUDGE.fullmatch(said[0]):
        yield Note(
            f"the request says only {said[0]!r} and holds nothing of what came before",
            (f"{context.at} request {messages[0].pointer}",),
            severity="warning",
        )


@truncated.also("ended")
def went_back(context: RuleContext) -> Iterator[Note]:
    """A request that continues from an earlier point, without what came after it."""
    edge, earlier = context.turn.edge, context.sent_before
    if edge.of is not None and (edge.kind == "fork" or _left_behind(context)):
        if earlier is not None and earlier.effective in _ANSWERED and not context.is_attempt:
            yield Note(
                f"the request of #{earlier.index} is sent again unchanged although it got an answer: what the client does "
                "with the answer may happen twice",
                (f"#{earlier.index} response", f"{context.at} request"),
                severity="info",
            )
            return
        yield Note(
            f"the request goes back: what came {'after the request' if edge.kind == 'fork' else 'with the answer'} of "
            f"#{edge.of} is not in its history",
            (f"#{edge.of} request", f"{context.at} request"),
            severity="info",
        )


@not_dispatched.also("ended", tier="S")
def calls_forgotten(context: RuleContext) -> Iterator[Note]:
    """A new conversation that holds a request whole, not the calls that answered it, and then the user's words alone.

    A client that writes every message as the user's sends the results so, too. It may then offer no tools, but a message
    without content is where the answer was.
    """
    now = context.turn.conversation
    if context.before is not None or context.request.continues is not None:
        return
    agent = agent_of(context.request)
    blank = any(not message.parts for message in context.request.messages)
    for end in range(len(now.units) - 1, 0, -1):
        if now.units[end].role != "user" or now.units[end].kind not in ("text", "media"):
            return
        prefix = now.prefixes[end]
        index = context.run.calls_after.get((agent, prefix))
        if index is None and blank:
            index = context.run.calls_behind.get(prefix)
        if index is not None:
            yield Note(
                f"the request holds all of #{index} and not the calls that the model made there; the user's words follow: "
                f"{cut(now.units[end].text, 60)!r}",
                (f"#{index} response", f"{context.at} request {now.units[end].pointer}"),
                severity="warning",
                key=index,
            )
            return


_ANSWERED = frozenset({"complete", "tool_calls", "stop_sequence"})


def _left_behind(context: RuleContext) -> bool:
    """True when the history holds an older answer of the thread, and neither the last one nor its question."""
    echo = context.echo
    if echo is None or context.turn.edge.tier == "P" or not any(map(is_user_text, echo.removed)):
        return False
    return not surely_continues(context, echo) and any(change.emitted for change in echo.changes)


@not_dispatched.also("ended")
def asked_again(context: RuleContext) -> Iterator[Note]:
    """What an earlier turn asked, sent again although the model had answered it with calls that nobody ran."""
    earlier = context.sent_before
    if context.is_attempt or not context.turn.round_trip.request.body:
        return
    if earlier is not None:
        index, what = earlier.index if earlier.effective == "tool_calls" else None, "the request"
    else:
        asked = agent_of(context.request), context.turn.conversation.prefixes[-1]
        index, what = context.run.calls_after.get(asked), "the conversation"
    if index is not None and index in context.run.open_calls.values():
        yield Note(
            f"{what} of #{index} is sent again, and nobody has answered the calls that the model made there",
            (f"#{index} response", f"{context.at} request"),
            severity="info",
            key=index,
        )


RULES = (history_as_text, nothing_to_continue, went_back, asked_again, calls_forgotten)
